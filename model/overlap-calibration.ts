// Prints the calibration table of src/core/detector/overlap.ts, measured on labelled pairs:
//   npm run model:calibrate -- DEV.jsonl.gz

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { baseRate } from '../src/core/detector/contract/constants.ts'
import { overlapOf } from '../src/core/detector/words/compare.ts'
import { wordsOf } from '../src/core/detector/words/words.ts'
import { readGoals } from './pairs.ts'

/** A labelled pair. Pairs with a text without words are left out, and get the base rate. */
interface Pair {
  overlap: number
  drift: boolean
  source: string | null
}

/**
 * The pairs with an overlap below `below` and not below the bin before: those with drift and those without.
 */
interface Bin {
  below: number
  drift: number
  same: number
}

interface Row {
  below: number
  driftProbability: number
}

// The first bin holds an overlap of exactly 0. From one half on, nearly every pair is on the errand.
const edges = [
  Number.MIN_VALUE,
  ...[0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5],
  Number.POSITIVE_INFINITY,
]

const fewestPairs = 150

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('Name the labelled pairs: npm run model:calibrate -- DEV.jsonl.gz')
  process.exit(2)
}
const pairs = readPairs(file)
const bins = fill(mergedEdges(pairs), pairs)
const table = calibrate(bins)
console.log(
  `${pairs.length} pairs, ${total(bins).drift} of them drift; the table assumes ${baseRate}\n`,
)
console.log('overlap   pairs   drift  95 % interval  at that rate               table')
for (const [place, bin] of bins.entries()) console.log(describe(bin, table[place]))
console.log(
  `\nexpected calibration error, same pairs:                      ${errorOf(bins, table).toFixed(4)}`,
)
console.log(
  `each source by a table from the others, mean over the pairs: ${heldOutError().toFixed(4)}\n`,
)
for (const row of joined(table)) console.log(literal(row))

function readPairs(path: string): Pair[] {
  const bytes = readFileSync(path)
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()
  const read: Pair[] = []
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const labelled = readGoals(JSON.parse(line))
    const ground = wordsOf(labelled.ground)
    for (const { goal, label } of labelled.steps) {
      const words = wordsOf(goal)
      if (words.length === 0 || ground.length === 0) continue
      const overlap = overlapOf(words, ground)
      read.push({ overlap, drift: label === 'drift', source: labelled.source })
    }
  }
  return read
}

/** The edges, except those with too few pairs below them. */
function mergedEdges(from: readonly Pair[]): number[] {
  const kept: number[] = []
  let waiting = 0
  for (const { below, drift, same } of fill(edges, from)) {
    waiting += drift + same
    if (waiting < fewestPairs && below !== Number.POSITIVE_INFINITY) continue
    if (waiting < fewestPairs) kept.pop()
    kept.push(below)
    waiting = 0
  }
  return kept
}

function fill(below: readonly number[], from: readonly Pair[]): Bin[] {
  const filled = below.map((edge) => ({ below: edge, drift: 0, same: 0 }))
  for (const { overlap, drift } of from) {
    const bin = filled.find((each) => overlap < each.below)
    if (bin !== undefined) bin[drift ? 'drift' : 'same']++
  }
  return filled
}

/**
 * Computes the probability of drift in each bin at the assumed rate. Neighbours are pooled until it falls
 * with the overlap (pool adjacent violators).
 */
function calibrate(from: readonly Bin[]): Row[] {
  const all = total(from)
  const pools: { bins: Bin[]; drift: number; same: number }[] = []
  for (const bin of from) {
    let pool = { bins: [bin], drift: bin.drift, same: bin.same }
    for (;;) {
      const before = pools.at(-1)
      if (before === undefined || probability(before, all) >= probability(pool, all)) break
      pools.pop()
      pool = {
        bins: [...before.bins, ...pool.bins],
        drift: before.drift + pool.drift,
        same: before.same + pool.same,
      }
    }
    pools.push(pool)
  }
  return pools.flatMap((pool) =>
    pool.bins.map(({ below }) => ({
      below,
      driftProbability: Number(probability(pool, all).toFixed(3)),
    })),
  )
}

/** Bayes' rule: the bin's share of all drift and its share of the rest, weighted by the assumed rate. */
function probability(bin: Omit<Bin, 'below'>, all: Omit<Bin, 'below'>): number {
  const drift = baseRate * share(bin.drift, all.drift)
  const same = (1 - baseRate) * share(bin.same, all.same)
  return share(drift, drift + same)
}

function total(from: readonly Bin[]): Omit<Bin, 'below'> {
  return {
    drift: from.reduce((sum, { drift }) => sum + drift, 0),
    same: from.reduce((sum, { same }) => sum + same, 0),
  }
}

/** The mean distance between the table and the bins at the assumed rate, 0–1. */
function errorOf(measured: readonly Bin[], by: readonly Row[]): number {
  const all = total(measured)
  return measured.reduce((sum, bin, place) => {
    const weight =
      baseRate * share(bin.drift, all.drift) + (1 - baseRate) * share(bin.same, all.same)
    const said = by[place]?.driftProbability ?? 0
    return sum + weight * Math.abs(said - probability(bin, all))
  }, 0)
}

function heldOutError(): number {
  const below = bins.map((bin) => bin.below)
  const sources = Map.groupBy(pairs, ({ source }) => source)
  let sum = 0
  for (const [source, own] of sources) {
    const others = pairs.filter((pair) => pair.source !== source)
    sum += own.length * errorOf(fill(below, own), calibrate(fill(below, others)))
  }
  return sum / pairs.length
}

/** Joins neighbours with the same probability to one row. */
function joined(rows: readonly Row[]): Row[] {
  return rows.filter((row, place) => row.driftProbability !== rows[place + 1]?.driftProbability)
}

function describe(bin: Bin, row: Row | undefined): string {
  const all = total(bins)
  const pairCount = bin.drift + bin.same
  const [low, high] = wilson(bin.drift, pairCount)
  const scaled = (part: number) =>
    probability({ drift: part * pairCount, same: (1 - part) * pairCount }, all).toFixed(3)
  const measured = share(bin.drift, pairCount)
  return [
    nameOf(bin.below).padEnd(7),
    String(pairCount).padStart(7),
    measured.toFixed(3).padStart(7),
    `[${low.toFixed(3)}, ${high.toFixed(3)}]`,
    ` ${scaled(measured)} [${scaled(low)}, ${scaled(high)}]`,
    row?.driftProbability.toFixed(3).padStart(7),
  ].join(' ')
}

/** Wilson's 95 % interval of a share. */
function wilson(part: number, whole: number): [low: number, high: number] {
  const z = 1.96
  const measured = share(part, whole)
  const middle = (measured + z ** 2 / (2 * whole)) / (1 + z ** 2 / whole)
  const variance = (measured * (1 - measured)) / whole + z ** 2 / (4 * whole ** 2)
  const reach = (z * Math.sqrt(variance)) / (1 + z ** 2 / whole)
  return [middle - reach, middle + reach]
}

function literal({ below, driftProbability }: Row): string {
  const named = { [Number.MIN_VALUE]: 'Number.MIN_VALUE', [Infinity]: 'Number.POSITIVE_INFINITY' }
  return `  { below: ${named[below] ?? below}, driftProbability: ${driftProbability} },`
}

function nameOf(below: number): string {
  if (below === Number.MIN_VALUE) return '0'
  return below === Number.POSITIVE_INFINITY ? 'more' : `< ${below.toFixed(2)}`
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
