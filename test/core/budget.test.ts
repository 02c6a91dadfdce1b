import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  alarmScore,
  type Budget,
  burstOf,
  pace,
  rateOf,
  spend,
  startBudget,
} from '../../src/core/alerts/budget.ts'
import { verifies } from '../verifies.ts'

const score = fc.double({ min: 0, max: 1, noNaN: true })
const step = fc.record({
  score,
  drifting: fc.boolean(),
  ms: fc.integer({ min: 0, max: 3_600_000 }),
})
const begin = Date.UTC(2026, 0, 15)

/** Spends a budget on steps, and counts those that pass the threshold and those whose alarm is sent. */
function spendAll(
  budget: Budget,
  steps: readonly { score: number; drifting: boolean; ms: number }[],
) {
  let state = startBudget(budget, { scores: [], days: [1_000], today: 0 }, begin)
  let now = begin
  let passed = 0
  let sent = 0
  for (const { score, drifting, ms } of steps) {
    now += ms
    if (score > state.threshold) passed++
    const taken = spend(state, { score, drifting, now })
    if (drifting && !taken.holds) sent++
    state = taken.state
  }
  return { state, passed, sent, ms: now - begin }
}

test('whatever the scores, the share that passes comes near the rate', () => {
  verifies('budget.follows')
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 2_000, size: 'max' }),
      fc.integer({ min: 1, max: 1_000 }),
      (steps, per_1000_steps) => {
        const { passed, state } = spendAll({ per_1000_steps }, steps)
        const off = Math.abs(passed / steps.length - per_1000_steps / 1_000)
        assert.ok(off <= (1 + pace) / (pace * steps.length) + 1e-9)
        assert.ok(state.threshold >= -pace && state.threshold <= 1 + pace)
      },
    ),
    { numRuns: 60 },
  )
})

test('alarms never exceed the burst and the rate', () => {
  verifies('budget.cap')
  const budgets: fc.Arbitrary<Budget> = fc.oneof(
    fc.integer({ min: 1, max: 1_000 }).map((per_1000_steps) => ({ per_1000_steps })),
    fc.integer({ min: 1, max: 500 }).map((per_day) => ({ per_day })),
  )
  fc.assert(
    fc.property(
      budgets,
      fc.array(
        fc.record({
          ...{ score },
          drifting: fc.constant(true),
          ms: fc.integer({ min: 0, max: 10_000 }),
        }),
        {
          minLength: 1,
          maxLength: 1_000,
          size: 'max',
        },
      ),
      (budget, steps) => {
        const start = startBudget(budget, { scores: [], days: [1_000], today: 0 }, begin)
        const { sent, ms } = spendAll(budget, steps)
        const refilled =
          'per_day' in budget ? (budget.per_day * ms) / 86_400_000 : rateOf(start) * steps.length
        assert.ok(sent <= burstOf(start) + refilled + 1e-6)
      },
    ),
    { numRuns: 60 },
  )
})

test('it begins at the quantile of what was before, if there is enough', () => {
  verifies('budget.start')
  const scores = Array.from({ length: 999 }, (_, place) => place / 1_000)
  const at = (per_1000_steps: number, known = scores) =>
    startBudget({ per_1000_steps }, { scores: known, days: [], today: 0 }, begin).threshold
  assert.equal(at(10), scores[989])
  assert.equal(at(100), scores[899])
  assert.equal(at(10, scores.slice(0, 98)), 0, 'fewer than 1/r − 1')
  const daily = startBudget({ per_day: 10 }, { scores, days: [100, 1_000, 5_000], today: 0 }, begin)
  assert.equal(daily.threshold, scores[989])
})

test('a step that does not drift is never an alarm, and held ones leave the bucket full', () => {
  verifies('budget.rule')
  const state = startBudget({ per_1000_steps: 1 }, { scores: [], days: [], today: 0 }, begin)
  assert.equal(spend(state, { score: 1, drifting: false, now: begin }).holds, false)
  assert.equal(spend(state, { score: 1, drifting: true, now: begin }).holds, false)
  const strict = { ...state, threshold: 0.9 }
  assert.equal(spend(strict, { score: 0.8, drifting: true, now: begin }).holds, true)
  const empty = { ...state, tokens: 0 }
  assert.equal(spend(empty, { score: 1, drifting: true, now: begin }).holds, true)
  const low = alarmScore(
    { drifting: false, confidence: 0.9 },
    { account: 'a', runId: 'b', step: 1 },
  )
  assert.ok(low <= 0.1 && low >= 0.098)
})
