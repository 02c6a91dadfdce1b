import assert from 'node:assert/strict'
import { test } from 'node:test'
import { distanceOf, overlapOf } from '../../src/core/detector/words/compare.ts'
import { verifies } from '../verifies.ts'
import { lastOf, type Reported } from './replay.ts'

test('overlap is shared words over all words', () => {
  verifies('detector.overlap')
  for (const [a, b, overlap] of [
    ['a b c', 'a b c', 1],
    ['a b c', 'b c d', 0.5],
    ['a b', 'c d', 0],
    ['a b c d', 'a', 0.25],
    ['', 'a', 0],
  ] as const) {
    const [one, other] = [setOf(a), setOf(b)]
    assert.equal(overlapOf(one, other), overlap, `${a} and ${b}`)
    assert.equal(overlapOf(other, one), overlap, `${b} and ${a}`)
    assert.equal(distanceOf(one, other), 1 - overlap, `${a} to ${b}`)
  }
})

test('two goals without words overlap in nothing and lie nowhere apart', () => {
  verifies('detector.overlap-empty')
  assert.equal(overlapOf([], []), 0)
  assert.equal(distanceOf([], []), 0)
  for (const goal of ['the', '!!!', '🚀', 'a an the of and']) {
    const { reason, phi, context } = lastOf([goal, goal])
    assert.deepEqual({ reason, phi, context }, { reason: 'goal-drift', phi: 0, context: null })
  }
})

test('goal_score is the overlap with the ground, to two decimals', () => {
  verifies('detector.goal-score')
  for (const [ground, goal, score] of [
    ['parse config', 'parse config', 1],
    ['parse config lines', 'parse config', 0.67],
    ['parse config lines', 'parse words', 0.25],
    ['parse config', 'ship it', 0],
    ['parse config', 'the', 0],
    ['the', 'ship it', 1],
    ['!!!', '!!!', 1],
  ] as const) {
    assert.equal(lastOf([ground, goal]).goal_score, score, `${ground} → ${goal}`)
  }
})

const ground = 'alpha beta'
const disjoint = 'gamma delta'
const start = { goal: ground, distance: 0 }

test('phi is made of goal, distance and progress', () => {
  verifies('detector.phi.formula')
  assertPhi([
    [[start, { goal: ground, distance: 7 }], 0.21],
    [
      [
        { goal: ground, distance: 9 },
        { goal: ground, distance: 2 },
      ],
      0.21,
    ],
    [[start, { goal: 'alpha gamma', distance: 0 }], 0.33],
    [[start, { goal: ground, distance: 0, progress: 'circling' }], 0.2],
    [
      [
        { ...start, progress: 'stuck' },
        { goal: ground, distance: 0, progress: 'stuck' },
      ],
      0,
    ],
    [
      [
        { ...start, progress: 'stuck' },
        { goal: ground, distance: 0 },
      ],
      0.2,
    ],
    [[start, { goal: 'alpha gamma', distance: 4, progress: 'stuck' }], 0.65],
    // Against the ground, never against the step before.
    [[start, { goal: ground, distance: 9 }, { goal: ground, distance: 0 }], 0],
  ])
})

test('the published table of phi', () => {
  verifies('detector.phi.table')
  assertPhi([
    [[start, start], 0],
    [[start, { goal: ground, distance: 5 }], 0.15],
    [[start, { goal: ground, distance: 0, progress: 'stuck' }], 0.2],
    [[start, { goal: disjoint, distance: 0 }], 0.5],
    [[start, { goal: disjoint, distance: 5, progress: 'stuck' }], 0.85],
    [[start, { goal: disjoint, distance: 10, progress: 'stuck' }], 1],
    [[start], 0],
    [[start, { goal: '', distance: 10 }], 0],
    [[start, { goal: disjoint, distance: 10, progress: 'lost' }], 0],
  ])
})

test('phi is rounded as toFixed(2) rounds', () => {
  verifies('detector.phi.rounding')
  assertPhi([
    [['alpha beta gamma delta', 'alpha beta gamma'], 0.13],
    [['one two three four five six seven', 'one two three four five six eight'], 0.13],
  ])
  const five = 'w1 w2 w3 w4 w5'
  assert.equal(lastOf([`${five} w6 w7 w8`, five]).goal_score, 0.63)
})

test('thresholds look at the unrounded numbers', () => {
  verifies('detector.phi.unrounded')
  // 8 of 27 words are answered as 0.30 and are below it; a phi of 0.152 is answered as 0.15.
  const below = lastOf([numbered(1, 17), numbered(10, 27)])
  assert.deepEqual([below.goal_score, below.reason], [0.3, 'goal-drift'])
  const above = lastOf([
    { goal: numbered(1, 23), progress: 'stuck' },
    { goal: numbered(1, 16), progress: 'stuck' },
  ])
  assert.deepEqual([above.phi, above.reason], [0.15, 'self-report:stuck'])
})

test('an overlap of exactly 0.30 is still the errand', () => {
  verifies('detector.goal-min')
  for (const [goal, overlap, reason] of [
    [numbered(1, 4), 0.4, 'advancing'],
    [numbered(1, 3), 0.3, 'advancing'],
    [`${numbered(1, 3)} other`, 0.27, 'goal-drift'],
    [numbered(1, 2), 0.2, 'goal-drift'],
  ] as const) {
    const verdict = lastOf([numbered(1, 10), goal])
    assert.deepEqual([verdict.goal_score, verdict.reason], [overlap, reason], goal)
  }
})

test('a self-report fires above a phi of 0.15 and not at it', () => {
  verifies('detector.self-report-min')
  const from = { goal: ground, progress: 'stuck', distance: 0 }
  for (const [distance, reason] of [
    [0, 'advancing'],
    [5, 'advancing'],
    [6, 'self-report:stuck'],
  ] as const) {
    assert.equal(lastOf([from, { ...from, distance }]).reason, reason, `distance ${distance}`)
  }
})

test('the published pairs that surprise', () => {
  verifies('detector.pairs')
  for (const [from, to, reason, score, phi] of [
    ['a', 'b', 'goal-drift', 1, 0.5],
    ['build the JSON parser', 'construct the JSON decoder', 'goal-drift', 0.2, 0.4],
    [
      'add rate limiting to the login endpoint',
      'throttle repeated sign-in attempts',
      'goal-drift',
      0,
      0.5,
    ],
    ['parse files', 'parser file', 'goal-drift', 0, 0.5],
    ['delete user account', 'do not delete user account', 'advancing', 0.6, 0.2],
    ['refund order 1234', 'refund order 9876', 'advancing', 0.5, 0.25],
    ['book flight to paris', 'cancel flight to paris', 'advancing', 0.5, 0.25],
    ['increase test coverage', 'decrease test coverage', 'advancing', 0.5, 0.25],
    ['migrate db to postgres', 'migrate postgres to db', 'advancing', 1, 0],
    ['a b c d e f g h', 'a b c', 'goal-drift', 0.29, 0.36],
  ] as const) {
    const verdict = lastOf([from, to])
    assert.deepEqual(
      [verdict.reason, verdict.goal_score, verdict.phi],
      [reason, score, phi],
      `${from} → ${to}`,
    )
  }
})

function assertPhi(rows: readonly [steps: readonly Reported[], phi: number][]): void {
  for (const [steps, phi] of rows) assert.equal(lastOf(steps).phi, phi, JSON.stringify(steps))
}

function setOf(letters: string): string[] {
  return letters === '' ? [] : letters.split(' ')
}

/** A goal of the words w`from` to w`to`, which no rule touches. */
function numbered(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, place) => `w${from + place}`).join(' ')
}
