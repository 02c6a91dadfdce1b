import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  compareArms as compareInSlices,
  type Experiment,
  type ExperimentRun,
} from '../../src/core/evaluation/experiment.ts'
import { verifies } from '../verifies.ts'

/** Compares without a pause between the slices. */
function compareArms(runs: readonly ExperimentRun[]): Experiment {
  const work = compareInSlices(runs)
  let slice = work.next()
  while (!slice.done) slice = work.next()
  return slice.value
}

function run(
  pair: string,
  arm: 'treatment' | 'control',
  tokens: number | null,
  more: Partial<ExperimentRun> = {},
): ExperimentRun {
  return { run_id: `${pair}-${arm}`, pair, arm, tokens, score: null, outcome: null, ...more }
}

/** One pair for each difference, around 1,000 tokens. */
function pairsOf(deltas: readonly number[], control = 1000): ExperimentRun[] {
  return deltas.flatMap((delta, place) => [
    run(`pair ${place}`, 'treatment', control + delta),
    run(`pair ${place}`, 'control', control),
  ])
}

const judged = (deltas: readonly number[]) => compareArms(pairsOf(deltas, 0))

test('a table, computed by hand', () => {
  verifies('experiment.pairs', 'experiment.totals')
  const rows = [
    run('login', 'treatment', 800, { score: 0.9, outcome: 'success' }),
    run('login', 'control', 1000, { score: 0.5, outcome: 'failure' }),
    run('logo', 'treatment', 300, { run_id: 'b', score: 0.5, outcome: 'failure' }),
    run('logo', 'treatment', 450, { run_id: 'a', score: 0.76, outcome: 'success' }),
    run('logo', 'control', 700, { outcome: 'success' }),
    run('alone', 'control', 99),
    run('silent', 'treatment', 500),
    run('silent', 'control', null),
    run('half silent', 'treatment', 1, { run_id: '1' }),
    run('half silent', 'treatment', null, { run_id: '2' }),
    run('half silent', 'control', 5),
  ]
  const alone = (row: ExperimentRun, tokens = row.tokens) => ({
    run_id: row.run_id,
    run_ids: [row.run_id],
    tokens,
    score: row.score,
    outcome: row.outcome,
  })
  assert.deepEqual(compareArms(rows), {
    pairs: [
      { pair: 'alone', treatment: null, control: alone(rows[5]!), delta_tokens: null },
      {
        pair: 'half silent',
        treatment: { run_id: '2', run_ids: ['1', '2'], tokens: null, score: null, outcome: null },
        control: alone(rows[10]!),
        delta_tokens: null,
      },
      {
        pair: 'login',
        treatment: alone(rows[0]!),
        control: alone(rows[1]!),
        delta_tokens: -200,
      },
      {
        pair: 'logo',
        treatment: {
          run_id: 'b',
          run_ids: ['a', 'b'],
          tokens: 750,
          score: 0.63,
          outcome: 'unknown',
        },
        control: alone(rows[4]!),
        delta_tokens: 50,
      },
      {
        pair: 'silent',
        treatment: alone(rows[6]!),
        control: alone(rows[7]!),
        delta_tokens: null,
      },
    ],
    complete_pairs: 2,
    incomplete_pairs: 3,
    treatment_tokens: 1550,
    control_tokens: 1700,
    net_tokens: -150,
    mean_delta: -75,
    ci95: null,
    p_value: null,
    verdict: 'too few',
  })
})

test('without runs there is nothing to say', () => {
  verifies('experiment.too-few')
  assert.deepEqual(compareArms([]), {
    pairs: [],
    complete_pairs: 0,
    incomplete_pairs: 0,
    treatment_tokens: 0,
    control_tokens: 0,
    net_tokens: 0,
    mean_delta: 0,
    ci95: null,
    p_value: null,
    verdict: 'too few',
  })
})

test('five pairs are too few, whatever they say, and six may be enough', () => {
  verifies('experiment.too-few')
  for (let pairs = 1; pairs < 6; pairs++) {
    const { verdict, ci95, p_value } = judged(Array(pairs).fill(-100))
    assert.deepEqual([verdict, ci95, p_value], ['too few', null, null])
  }
  const incomplete = run('late', 'treatment', 5)
  assert.equal(compareArms([...pairsOf(Array(5).fill(-100)), incomplete]).verdict, 'too few')
  assert.equal(judged(Array(6).fill(-100)).verdict, 'less')
})

test('exact p, counted by hand', () => {
  verifies('experiment.test')
  for (const [deltas, p, verdict] of [
    // All agree: two of 64 ways to sign them are as extreme.
    [[-1, -2, -3, -4, -5, -6], 2 / 64, 'less'],
    [[10, 20, 30, 40, 50, 60], 2 / 64, 'more'],
    // The sum is 15 of 21: the subsets of 1–6 that sum to 3 or less are {}, 1, 2, 3 and 1 + 2.
    [[-1, -2, 3, 4, 5, 6], 10 / 64, 'no evidence'],
    [[1, 2, -3, -4, -5, -6], 10 / 64, 'no evidence'],
    // The sum is 9: the subsets that sum to 6 or less are 1 + 1 + 1 + 2 + 2 + 3 + 4.
    [[-1, -2, -3, -4, -5, 6], 28 / 64, 'no evidence'],
    // Equal differences: one of six may have the other sign.
    [[-7, -7, -7, -7, -7, 7], 14 / 64, 'no evidence'],
    // A pair without a difference doubles both counts.
    [[-1, -2, -3, -4, -5, -6, 0], 2 / 64, 'less'],
    [[-1, -2, -3, -4, -5, -6, 0, 0, 0, 0], 2 / 64, 'less'],
    [[0, 0, 0, 0, 0, 0], 1, 'no evidence'],
    [[5, -5, 5, -5, 5, -5], 1, 'no evidence'],
    // Just above and just below 0.05, with seven pairs: 8 / 128 and 6 / 128.
    [[1, 2, 4, 8, 16, 32, -2], 8 / 128, 'no evidence'],
    [[1, 4, 8, 16, 32, 64, -2], 6 / 128, 'more'],
    [Array(20).fill(-3), 2 / 2 ** 20, 'less'],
  ] as const) {
    const answer = judged(deltas)
    assert.deepEqual([answer.p_value, answer.verdict], [p, verdict], String(deltas))
  }
})

test('differences that binary fractions cannot say exactly still tie', () => {
  verifies('experiment.test')
  assert.equal(judged([-0.1, -0.2, -0.3, -0.4, -0.5, 0.6]).p_value, 28 / 64)
  assert.equal(judged([-0.7, -0.7, -0.7, -0.7, -0.7, 0.7]).p_value, 14 / 64)
  assert.equal(judged([-1, -2, 3, 4, 5, 6].map((delta) => delta * 1e11)).p_value, 10 / 64)
})

test('the exact p is that of every way to sign the differences', () => {
  verifies('experiment.test')
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -40, max: 40 }), { minLength: 6, maxLength: 12 }),
      (deltas) => {
        const sum = Math.abs(deltas.reduce((total, delta) => total + delta, 0))
        let extreme = 0
        for (let signs = 0; signs < 2 ** deltas.length; signs++) {
          const signed = deltas.reduce(
            (total, delta, place) => total + ((signs >> place) & 1 ? delta : -delta),
            0,
          )
          if (Math.abs(signed) >= sum) extreme += 1
        }
        assert.equal(judged(deltas).p_value, extreme / 2 ** deltas.length)
      },
    ),
    { numRuns: 60 },
  )
})

test('above 20 pairs the signs are drawn, and p is near the exact one', () => {
  verifies('experiment.test')
  const unanimous = judged(Array(21).fill(-3))
  assert.deepEqual([unanimous.p_value, unanimous.verdict], [1 / 100_001, 'less'])
  const deltas = Array.from({ length: 24 }, (_, place) => ((place * 37) % 41) - 16)
  assert.ok(Math.abs(judged(deltas).p_value! - exactByCounting(deltas)) < 0.005)
  assert.equal(judged(Array(21).fill(0)).p_value, 1)
  assert.equal(judged(deltas).p_value, judged(deltas).p_value)
})

/** The exact p from the number of ways to reach each sum, for small whole differences. */
function exactByCounting(deltas: readonly number[]): number {
  let ways = new Map([[0, 1]])
  for (const delta of deltas) {
    const next = new Map<number, number>()
    for (const [sum, count] of ways) {
      for (const reached of [sum + delta, sum - delta]) {
        next.set(reached, (next.get(reached) ?? 0) + count)
      }
    }
    ways = next
  }
  const observed = Math.abs(deltas.reduce((sum, delta) => sum + delta, 0))
  const extreme = [...ways].filter(([sum]) => Math.abs(sum) >= observed)
  return extreme.reduce((sum, [, count]) => sum + count, 0) / 2 ** deltas.length
}

test('the interval is where the mean lies when the pairs are drawn anew', () => {
  verifies('experiment.interval')
  assert.deepEqual(judged(Array(6).fill(-100)).ci95, [-100, -100])
  const deltas = Array.from({ length: 60 }, (_, place) => ((place * 7919) % 401) - 260)
  const { ci95, mean_delta: mean } = judged(deltas)
  const variance = deltas.reduce((sum, delta) => sum + (delta - mean) ** 2, 0) / deltas.length
  const reach = 1.96 * Math.sqrt(variance / deltas.length)
  for (const [end, expected] of [
    [ci95![0], mean - reach],
    [ci95![1], mean + reach],
  ] as const) {
    assert.ok(Math.abs(end - expected) < 0.05 * reach, `${end} is not near ${expected}`)
  }
})

test('a large experiment is judged without waiting', () => {
  const answer = judged(Array.from({ length: 20_000 }, (_, place) => (place % 10) - 6))
  assert.equal(answer.verdict, 'less')
  assert.ok(answer.ci95![0] < -1.5 && answer.ci95![1] > -1.5)
})

const someRuns = fc.array(
  fc.record({
    pair: fc.constantFrom(...'abcdefghij'),
    arm: fc.constantFrom('treatment' as const, 'control' as const),
    tokens: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { freq: 20 }),
    score: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    outcome: fc.option(fc.constantFrom('success', 'failure', 'abandoned', 'unknown')),
  }),
  { minLength: 10, maxLength: 60, size: 'max' },
)
const withIds = someRuns.map((rows) =>
  rows.map((row, place) => ({ run_id: `run ${place}`, ...row })),
)

test('the order of the runs changes nothing', () => {
  fc.assert(
    fc.property(
      withIds.chain((rows) =>
        fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
      ),
      ([rows, shuffled]) => {
        assert.equal(JSON.stringify(compareArms(shuffled)), JSON.stringify(compareArms(rows)))
      },
    ),
  )
})

test('with the arms exchanged everything is mirrored', () => {
  const other = { treatment: 'control', control: 'treatment' } as const
  const mirrored = { less: 'more', more: 'less' } as Record<string, string>
  const negative = (number: number | null) => (number === null ? null : 0 - number)
  const mirror = (answer: Experiment) => ({
    ...answer,
    pairs: answer.pairs.map(({ treatment, control, delta_tokens, ...rest }) => ({
      ...rest,
      treatment: control,
      control: treatment,
      delta_tokens: negative(delta_tokens),
    })),
    treatment_tokens: answer.control_tokens,
    control_tokens: answer.treatment_tokens,
    net_tokens: negative(answer.net_tokens),
    mean_delta: negative(answer.mean_delta),
    ci95: answer.ci95 && [negative(answer.ci95[1]), negative(answer.ci95[0])],
    verdict: mirrored[answer.verdict] ?? answer.verdict,
  })
  const verdicts = new Set<string>()
  fc.assert(
    fc.property(withIds, (rows) => {
      const answer = compareArms(rows)
      verdicts.add(answer.verdict)
      const exchanged = compareArms(rows.map((row) => ({ ...row, arm: other[row.arm] })))
      assert.deepEqual(exchanged, mirror(answer))
    }),
  )
  assert.ok(verdicts.size > 1, String([...verdicts]))
})

test('incomplete pairs change nothing but their number', () => {
  fc.assert(
    fc.property(withIds, (rows) => {
      const { pairs: _, incomplete_pairs, ...answer } = compareArms(rows)
      const late = compareArms([...rows, run('z', 'control', 5), run('y', 'treatment', null)])
      const { pairs: __, incomplete_pairs: more, ...again } = late
      assert.deepEqual(again, answer)
      assert.equal(more, incomplete_pairs + 2)
    }),
  )
})

test('p and its interval stay within what they can be', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 6, maxLength: 30 }),
      (deltas) => {
        const { p_value: p, ci95, mean_delta: mean, verdict, net_tokens: net } = judged(deltas)
        assert.ok(p !== null && p > 0 && p <= 1)
        assert.ok(ci95 !== null && ci95[0] <= mean && mean <= ci95[1])
        assert.equal(verdict === 'no evidence', p >= 0.05)
        if (verdict === 'less') assert.ok(net < 0)
        if (verdict === 'more') assert.ok(net > 0)
      },
    ),
    { numRuns: 50 },
  )
})

test('many pairs are compared in slices', () => {
  verifies('experiment.turns')
  const work = compareInSlices(pairsOf(Array.from({ length: 8_000 }, (_, place) => place % 13)))
  let slices = 0
  for (let slice = work.next(); !slice.done; slice = work.next()) slices += 1
  // 8,000 pairs at 2,000 each, 625 and 1,000 drawings of them at 500,000 pairs each.
  assert.equal(slices, 4 + 9 + 16)
})
