import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calibration } from '../../src/core/detector/overlap.ts'
import { verifies } from '../verifies.ts'
import { lastOf } from './replay.ts'

const ground = 'build the csv parser'
const other = 'water garden plants'
const flat = [ground, ground, ground, ground, ground]

test('an alarm is as sure as such alarms were right', () => {
  verifies('check.result.additive')
  const stuck = { goal: ground, progress: 'stuck' }
  const circling = { goal: ground, progress: 'circling' }
  for (const [reason, steps, confidence] of [
    ['ungrammatical', [''], 1],
    ['self-report:stuck', [ground, stuck, stuck], 0.33],
    ['self-report:circling', [ground, circling, circling], 0.67],
    ['stalled', [...flat, ground], 0.25],
    ['oscillating', [ground, other, ground, other, ground, other], 0.5],
    ['goal-drift', [ground, other], 0.19],
    ['goal-drift', [ground, 'write csv docs for people'], 0.03],
    ['goal-drift', ['the', 'the'], 0.1],
  ] as const) {
    const verdict = lastOf(steps)
    assert.deepEqual(
      [verdict.reason, verdict.drifting, verdict.confidence],
      [reason, true, confidence],
    )
  }
})

test('no alarm is as sure as the goal is close, whatever else was warned of', () => {
  verifies('check.result.additive')
  for (const [reason, steps, confidence] of [
    ['grounded', [ground], 1],
    ['advancing', [ground, ground], 1],
    ['stalled', flat, 1],
    ['excursion', [ground, { goal: other, parentGoal: ground }], 0.81],
    ['self-report:stuck', [ground, { goal: other, progress: 'stuck' }], 0.81],
    ['grounded', ['the'], 0.9],
  ] as const) {
    const verdict = lastOf(steps)
    assert.deepEqual(
      [verdict.reason, verdict.drifting, verdict.confidence],
      [reason, false, confidence],
    )
  }
})

test('drift grows less probable with the overlap', () => {
  verifies('check.result.additive')
  calibration.slice(1).forEach(({ below, driftProbability }, place) => {
    const before = calibration[place]!
    assert.ok(below > before.below && driftProbability <= before.driftProbability)
  })
  assert.ok(calibration.every(({ driftProbability }) => driftProbability > 0))
  assert.ok(calibration.at(-1)!.below > 1)
})

test('uncertain is a step without words to compare that does not drift', () => {
  verifies('check.result.additive')
  for (const [steps, uncertain] of [
    [['the'], true],
    [['the', { goal: other, parentGoal: 'of' }], false],
    [['the', { goal: 'the', progress: 'stuck' }], true],
    [[ground, { goal: '!!!', parentGoal: ground }], true],
    [[ground, other], false],
    [[ground], false],
    [[''], false],
  ] as const) {
    assert.equal(lastOf(steps).uncertain, uncertain, JSON.stringify(steps))
  }
})
