import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type RunCost, summariseCost } from '../../src/core/accounts/cost.ts'
import { verifies } from '../verifies.ts'

test('three runs, added up by hand', () => {
  verifies(
    'cost.runs-with-tokens',
    'cost.steps',
    'cost.tokens-per-step',
    'cost.overhead-fraction',
    'cost.always',
  )
  const runs = [
    { steps: 4, token_steps: 3, tokens: 900, overhead_tokens: 100 },
    { steps: 1, token_steps: 1, tokens: 0, overhead_tokens: 0 },
    { steps: 5, token_steps: 0, tokens: 0, overhead_tokens: 0 },
  ]
  assert.deepEqual(summariseCost('solo', runs), {
    tier: 'solo',
    runs: 3,
    runs_with_tokens: 2,
    steps: 10,
    tokens: 900,
    overhead_tokens: 100,
    work_tokens: 800,
    overhead_fraction: 1 / 9,
    tokens_per_step: 90,
  })
})

test('nothing divided by nothing is 0', () => {
  verifies('cost.always', 'cost.tokens-per-step', 'cost.overhead-fraction')
  const nothing = { runs_with_tokens: 0, tokens: 0, overhead_tokens: 0, work_tokens: 0 }
  const rates = { overhead_fraction: 0, tokens_per_step: 0 }
  assert.deepEqual(summariseCost('ground', []), {
    tier: 'ground',
    runs: 0,
    steps: 0,
    ...nothing,
    ...rates,
  })
  const silent = { steps: 7, token_steps: 0, tokens: 0, overhead_tokens: 0 }
  assert.deepEqual(summariseCost('pro', [silent]), {
    tier: 'pro',
    runs: 1,
    steps: 7,
    ...nothing,
    ...rates,
  })
})

test('for any runs the parts make the whole', () => {
  const run = fc
    .record({
      work: fc.double({ min: 0, max: 1e9, noNaN: true }),
      overhead: fc.nat(),
      steps: fc.nat(),
    })
    .map(
      ({ work, overhead, steps }): RunCost => ({
        steps: steps + 1,
        token_steps: 1,
        tokens: work + overhead,
        overhead_tokens: overhead,
      }),
    )
  fc.assert(
    fc.property(fc.array(run), (runs) => {
      const cost = summariseCost('group', runs)
      assert.equal(cost.work_tokens + cost.overhead_tokens, cost.tokens)
      assert.ok(cost.overhead_fraction >= 0 && cost.overhead_fraction <= 1)
      for (const value of Object.values(cost).slice(1)) assert.ok(Number.isFinite(value))
      for (const whole of [cost.tokens, cost.overhead_tokens]) assert.ok(Number.isInteger(whole))
    }),
  )
})
