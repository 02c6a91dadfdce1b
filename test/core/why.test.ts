import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifies } from '../verifies.ts'
import { lastOf } from './replay.ts'

const ground = 'build the csv parser'
const other = 'water garden plants'
const stuck = { goal: ground, progress: 'stuck' }
const flat = [ground, ground, ground, ground, ground]

test('why gives the numbers that decided', () => {
  verifies('check.result.additive')
  for (const [why, steps] of [
    ['The goal is blank.', ['']],
    [
      'The progress "done" is not one of advancing, stuck, circling.',
      [{ goal: ground, progress: 'done' }],
    ],
    ['This goal is the ground; there was nothing to measure it against.', [ground]],
    [
      'This goal is the ground, but it has no word that later goals could be compared with.',
      ['the'],
    ],
    [
      'The goal and the ground share 3 of 4 words (build, csv, pars): overlap 0.75, at or above the floor of 0.30.',
      [ground, 'build csv parser tests'],
    ],
    [
      'The goal and the ground share 0 of 6 words: overlap 0.00, below the floor of 0.30.',
      [ground, other],
    ],
    [
      'The goal has no word that can be compared: overlap 0.00, below the floor of 0.30.',
      [ground, '!!!'],
    ],
    [
      'The ground has no word that can be compared: overlap 0.00, below the floor of 0.30.',
      ['!!!', ground],
    ],
    [
      "The goal and the ground share 0 of 6 words: overlap 0.00, below the floor of 0.30, and the declared parent's is 0.67.",
      [ground, { goal: other, parentGoal: 'csv parser' }],
    ],
    [
      'The step reports stuck with no sign of drift just before, and phi 0.20 is above 0.15.',
      [ground, stuck, ground, stuck],
    ],
    [
      'The step reports stuck after a step with a sign of drift, and phi 0.20 is above 0.15.',
      [ground, other, stuck],
    ],
    ['None of the newest 4 distances is below the one before them: 5, 5, 5, 5, 5.', flat],
    ['The newest goals repeat every 2 steps.', [ground, other, ground, other, ground, other]],
  ] as const) {
    assert.equal(lastOf(steps).why, why)
  }
})

test('why quotes the beginning of a progress it does not know, as well-formed text', () => {
  verifies('check.result.additive')
  const { why } = lastOf([{ goal: ground, progress: `${'x'.repeat(39)}🙂${'y'.repeat(4_000)}` }])
  assert.ok(why.length < 150 && why.isWellFormed(), why)
})
