import { meanOf, rounded, sumOf } from '../figures.ts'
import type { Arm } from '../runs/step-request.ts'
import { createRandom, drawAnew, middleOf, seed } from './resampling.ts'

/** A run that belongs to an arm of a pair. */
export interface ExperimentRun {
  readonly run_id: string
  readonly pair: string
  readonly arm: Arm
  /** Null if no step reported its tokens. */
  readonly tokens: number | null
  readonly score: number | null
  readonly outcome: string | null
}

/** One arm of a pair: its run, or the sum of its runs. */
export interface PairedArm {
  /** The run, or the last of several by id. */
  run_id: string
  /** All runs of the arm, by id. */
  run_ids: string[]
  /** Null if a run has no token count, because the sum would be too low. */
  tokens: number | null
  /** Mean score, 0–1, rounded to two decimals; null without scores. */
  score: number | null
  /** The common outcome of the runs; `unknown` if they differ. */
  outcome: string | null
}

/** A task that ran with and without the treatment; an arm is null if it has no run. */
export interface Pair {
  pair: string
  treatment: PairedArm | null
  control: PairedArm | null
  /** Treatment minus control; null unless both arms have token counts. */
  delta_tokens: number | null
}

/** The savings or costs of the treatment, as `GET /v1/experiment` returns them. */
export interface Experiment {
  /** By name. */
  pairs: Pair[]
  complete_pairs: number
  incomplete_pairs: number
  /** Complete pairs only, as for all numbers below. */
  treatment_tokens: number
  control_tokens: number
  /** Treatment minus control. */
  net_tokens: number
  /** 0 without complete pairs. */
  mean_delta: number
  /** 95 % percentile bootstrap interval of the mean difference. */
  ci95: [low: number, high: number] | null
  /** Two-sided; not rounded. */
  p_value: number | null
  verdict: 'less' | 'more' | 'no evidence' | 'too few'
}

/** Fewest complete pairs for a test: with fewer, p cannot be below 0.05 even if all agree. */
export const fewestPairs = 6

/** Most pairs for the exact test; above, signs are drawn at random. */
export const mostExactPairs = 20

const significance = 0.05

/** Pairs that one slice of some milliseconds sums or draws. */
const pairsOfSlice = { added: 2_000, drawn: 500_000 }

/**
 * Compares the arms of every pair. The result depends only on the runs, not on their order, and random
 * draws use a fixed seed. Yields after each slice.
 */
export function* compareArms(runs: readonly ExperimentRun[]): Generator<void, Experiment> {
  const pairs = yield* pairUp(runs)
  const complete = pairs.flatMap(({ treatment, control, delta_tokens: delta }) =>
    delta === null
      ? []
      : { treatment: treatment?.tokens ?? 0, control: control?.tokens ?? 0, delta },
  )
  const deltas = complete.map(({ delta }) => delta)
  const treatmentTokens = sumOf(complete.map(({ treatment }) => treatment))
  const controlTokens = sumOf(complete.map(({ control }) => control))
  return {
    pairs,
    complete_pairs: complete.length,
    incomplete_pairs: pairs.length - complete.length,
    treatment_tokens: treatmentTokens,
    control_tokens: controlTokens,
    net_tokens: treatmentTokens - controlTokens,
    mean_delta: meanOf(deltas),
    ...(yield* judge(deltas)),
  }
}

function* pairUp(runs: readonly ExperimentRun[]): Generator<void, Pair[]> {
  const byPair = [...Map.groupBy(runs, ({ pair }) => pair)]
  byPair.sort(([a], [b]) => byCodeUnit(a, b))
  const pairs: Pair[] = []
  for (const [pair, members] of byPair) {
    const treatment = addUp(members.filter(({ arm }) => arm === 'treatment'))
    const control = addUp(members.filter(({ arm }) => arm === 'control'))
    const [spent, spared] = [treatment?.tokens ?? null, control?.tokens ?? null]
    const delta = spent === null || spared === null ? null : spent - spared
    pairs.push({ pair, treatment, control, delta_tokens: delta })
    if (pairs.length % pairsOfSlice.added === 0) yield
  }
  return pairs
}

function addUp(runs: readonly ExperimentRun[]): PairedArm | null {
  const sorted = runs.toSorted((a, b) => byCodeUnit(a.run_id, b.run_id))
  const last = sorted.at(-1)
  if (last === undefined) return null
  const counts = sorted.flatMap(({ tokens }) => tokens ?? [])
  const scores = sorted.flatMap(({ score }) => score ?? [])
  const agreed = sorted.every(({ outcome }) => outcome === last.outcome)
  return {
    run_id: last.run_id,
    run_ids: sorted.map(({ run_id }) => run_id),
    tokens: counts.length < sorted.length ? null : sumOf(counts),
    score: scores.length === 0 ? null : rounded(meanOf(scores)),
    outcome: agreed ? last.outcome : 'unknown',
  }
}

function* judge(
  deltas: readonly number[],
): Generator<void, Pick<Experiment, 'ci95' | 'p_value' | 'verdict'>> {
  if (deltas.length < fewestPairs) return { ci95: null, p_value: null, verdict: 'too few' }
  const p = deltas.length <= mostExactPairs ? exactP(deltas) : yield* sampledP(deltas)
  const found = sumOf(deltas) < 0 ? 'less' : 'more'
  return {
    ci95: yield* intervalOfMean(deltas),
    p_value: p,
    verdict: p < significance ? found : 'no evidence',
  }
}

/**
 * Two-sided sign-flip test: the share of all ways to sign the differences whose sum is at least as
 * far from 0 as theirs is. Every sum of all n signs is one of the first half's and one of the second
 * half's, so that sorting twice 2^(n/2) sums counts all 2^n.
 */
function exactP(deltas: readonly number[]): number {
  const extreme = extremeOf(deltas)
  if (extreme <= 0) return 1
  const half = deltas.length >> 1
  const low = signedSums(deltas.slice(0, half))
  const high = signedSums(deltas.slice(half))
  let atLeast = 0
  let next = high.length - 1
  for (const sum of low) {
    while (next >= 0 && sum + (high[next] ?? 0) >= extreme) next -= 1
    atLeast += high.length - 1 - next
  }
  // By symmetry, as many sums lie below 0.
  return (2 * atLeast) / (low.length * high.length)
}

/** All sums of the numbers under every choice of signs, sorted. */
function signedSums(numbers: readonly number[]): Float64Array {
  let sums = [0]
  for (const number of numbers) sums = sums.flatMap((sum) => [sum - number, sum + number])
  return Float64Array.from(sums).sort()
}

/**
 * Estimates the same share from random signs. The observed signs count as one draw, which keeps the test
 * valid (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585).
 */
function* sampledP(deltas: readonly number[]): Generator<void, number> {
  const extreme = extremeOf(deltas)
  const draws = drawsFor(deltas.length, 1_000, 100_000)
  const random = createRandom(seed)
  const all = sumOf(deltas)
  let atLeast = 0
  for (let draw = 0; draw < draws; draw++) {
    if (endsSlice(draw, deltas)) yield
    let kept = 0
    let signs = 0
    for (let place = 0; place < deltas.length; place++) {
      if (place % 32 === 0) signs = random() * 2 ** 32
      kept += (signs & 1) * (deltas[place] ?? 0)
      signs >>>= 1
    }
    if (Math.abs(2 * kept - all) >= extreme) atLeast += 1
  }
  return (atLeast + 1) / (draws + 1)
}

/**
 * The distance from 0 at which a sum counts as extreme: that of the observed sum, less the largest
 * rounding error.
 */
function extremeOf(deltas: readonly number[]): number {
  const size = sumOf(deltas.map(Math.abs))
  return Math.abs(sumOf(deltas)) - 2 * deltas.length * Number.EPSILON * size
}

function* intervalOfMean(deltas: readonly number[]): Generator<void, [number, number] | null> {
  const random = createRandom(seed)
  const times = new Uint32Array(deltas.length)
  const means: number[] = []
  for (let draw = drawsFor(deltas.length, 500, 10_000); draw > 0; draw--) {
    if (endsSlice(draw, deltas)) yield
    drawAnew(times, random)
    let sum = 0
    for (let place = 0; place < deltas.length; place++) {
      sum += (times[place] ?? 0) * (deltas[place] ?? 0)
    }
    means.push(sum / deltas.length)
  }
  const middle = middleOf(means)
  return middle === null ? null : [middle.low, middle.high]
}

// Fewer draws for larger experiments, because the cost of a draw grows with the pairs.
const pairsDrawn = 5_000_000

function drawsFor(pairs: number, fewest: number, most: number): number {
  return Math.max(fewest, Math.min(most, Math.floor(pairsDrawn / pairs)))
}

/** Whether the slice is full. */
function endsSlice(draw: number, { length }: readonly number[]): boolean {
  return draw % Math.ceil(pairsOfSlice.drawn / length) === 0
}

function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
