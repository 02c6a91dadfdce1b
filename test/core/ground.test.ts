import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detect } from '../../src/core/detector/detect.ts'
import { newMemory } from '../../src/core/detector/memory.ts'
import { verifies } from '../verifies.ts'
import { lastOf, type Reported, reasonsOf, replay, stepOf } from './replay.ts'

const ground = 'build the csv parser'
const other = 'water garden plants'

test('the ground never moves with the work', () => {
  verifies('reason.ground-frozen')
  const steps = [ground, 'build the csv writer', 'build csv exports', other, '', other, other]
  assert.deepEqual(new Set(replay(steps).map((verdict) => verdict.ground)), new Set([ground]))
  // The third goal is measured against the first, which it has left, not against the second.
  assert.equal(lastOf([ground, 'build the csv writer', 'write csv writer docs']).goal_score, 0.17)
})

test('a user turn whose goal is spelled otherwise moves the ground', () => {
  verifies('detector.user-turn')
  for (const goal of [other, 'build the csv parser tests', 'the', '🚀']) {
    const { verdict, memory } = after([ground, other], { goal: `  ${goal} `, userTurn: true })
    const { reason, drifting, phi, goal_score } = verdict
    assert.deepEqual(
      { reason, drifting, phi, goal_score, ground: verdict.ground },
      {
        reason: 'grounded',
        drifting: false,
        phi: 0,
        goal_score: 1,
        ground: goal,
      },
    )
    assert.equal(memory.revision, 2)
  }
})

test('a user turn that restates the ground, or cannot be spelled, moves nothing', () => {
  verifies('detector.user-turn')
  for (const [step, reason] of [
    [{ goal: ground }, 'advancing'],
    [{ goal: 'Parser: build CSV!' }, 'advancing'],
    [{ goal: 'building a CSV parser', distance: 9, progress: 'stuck' }, 'self-report:stuck'],
    [{ goal: other, ground: 'the CSV parser, build it' }, 'goal-drift'],
    [{ goal: ' ' }, 'ungrammatical'],
    [{ goal: other, progress: 'lost' }, 'ungrammatical'],
    [{ goal: '', ground: other }, 'ungrammatical'],
  ] as const) {
    const { verdict, memory } = after([ground], { ...step, userTurn: true })
    assert.equal(verdict.reason, reason, JSON.stringify(step))
    assert.deepEqual([verdict.ground, memory.revision], [ground, 1])
  }
  assert.equal(after([''], { goal: '', userTurn: true }).memory.revision, 0)
  // Without words to compare, the texts are.
  assert.equal(after(['!!!'], { goal: '!!!', userTurn: true }).memory.revision, 1)
  assert.equal(after(['!!!'], { goal: '🚀', userTurn: true }).memory.revision, 2)
})

test('after a user turn everything is measured from the new ground', () => {
  verifies('detector.user-turn')
  const move = { goal: other, userTurn: true, distance: 2 }
  const stuck = { goal: other, distance: 2, progress: 'stuck' }
  const flat = [ground, ground, ground, ground]
  const moved = lastOf([...flat, move, { goal: other, distance: 2 }])
  assert.deepEqual([moved.goal_score, moved.phi, moved.reason], [1, 0, 'advancing'])
  assert.equal(lastOf([ground, other, move, ground]).reason, 'goal-drift')
  assert.equal(lastOf([ground, '', move, stuck]).drifting, false, 'a drift before the move')
  const given = { ...stuck, userTurn: true, ground: 'water plants' }
  assert.equal(lastOf([ground, '', given]).drifting, false, 'a drift before a given ground')
  assert.deepEqual(reasonsOf([...flat, move, other, other, other, other]).slice(-2), [
    'advancing',
    'stalled',
  ])
  const alternating = [ground, other, ground, other, ground]
  assert.equal(lastOf([...alternating, move]).reason, 'grounded', 'a cycle across the move')
})

test('the judgments count from the ground', () => {
  verifies('detector.user-turn')
  const move = { goal: other, userTurn: true }
  const back = { goal: ground, userTurn: true }
  const many = Array.from({ length: 17 }, () => ground)
  assert.ok(lastOf(many).judgment)
  for (const steps of [
    [...many, move],
    [...many, { ...move, earlier: { runs: 5, lowest: 1 } }],
    [...many, move, 'water plants', 'garden plants'],
    [ground, other, other, other, move, { goal: other, distance: 4 }, ground],
    // This spelling was written three times before the ground moved away and back.
    [ground, ground, ground, move, back, 'csv parser', 'csv parser build tests'],
  ]) {
    assert.equal(lastOf(steps).judgment, undefined, JSON.stringify(steps.slice(-3)))
  }
  assert.equal(lastOf([ground, ground, move, back]).repetition, 3)
})

test('a ground given with the first step is frozen, and the goal is measured at once', () => {
  verifies('detector.user-turn')
  for (const [step, reason, phi] of [
    [{ goal: 'the csv parser' }, 'advancing', 0.17],
    [{ goal: ground }, 'advancing', 0],
    [{ goal: other }, 'goal-drift', 0.5],
    [{ goal: other, parentGoal: ground }, 'excursion', 0.5],
    [{ goal: ground, progress: 'stuck', distance: 9 }, 'self-report:stuck', 0.2],
  ] as const) {
    const { verdict, memory } = after([], { ...step, ground: ` ${ground} ` })
    assert.deepEqual([verdict.reason, verdict.phi, verdict.ground], [reason, phi, ground])
    assert.equal(memory.revision, 1)
  }
  assert.equal(lastOf([{ goal: ground, ground: ' ' }]).reason, 'grounded')
  assert.equal(lastOf([{ goal: '', ground }]).ground, null)
  assert.equal(lastOf(['', { goal: other, ground }]).ground, ground)
})

test('a given ground is no distance reading of its own', () => {
  verifies('detector.user-turn')
  const given = [{ goal: ground, ground }, ground, ground, ground]
  assert.equal(lastOf(given).reason, 'advancing')
  assert.equal(lastOf([...given, ground]).reason, 'stalled')
  const goals = ['one', 'two', 'three', 'four', 'five'].map((word) => `${ground} ${word}`)
  const high = goals.map((goal) => ({ goal, ground, distance: 9 }))
  assert.equal(lastOf(high.slice(0, 4)).judgment, undefined)
  assert.equal(lastOf(high).judgment?.verdict, 'narrow')
})

test('a ground given later counts with a user turn only', () => {
  verifies('detector.user-turn')
  const ignored = after([ground], { goal: ground, ground: other })
  assert.deepEqual([ignored.verdict.reason, ignored.verdict.ground], ['advancing', ground])
  const moved = after([ground], { goal: 'water plants', ground: other, userTurn: true })
  assert.deepEqual([moved.verdict.reason, moved.verdict.ground], ['advancing', other])
  assert.equal(moved.memory.revision, 2)
})

function after(before: readonly Reported[], step: Reported) {
  let memory = newMemory('overlap')
  for (const each of before) memory = detect(memory, stepOf(each)).memory
  return detect(memory, stepOf(step))
}
