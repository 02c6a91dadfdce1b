// Prints the calibration table of src/core/detector/meaning/evidence.ts, measured on labelled pairs and runs:
//   npm run model:evidence -- DEV.jsonl.gz SEQUENCES-DEV.jsonl.gz

import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { baseRate } from '../src/core/detector/contract/constants.ts'
import type { Judged } from '../src/core/evaluation/labelled.ts'
import { predict } from '../src/core/evaluation/predict.ts'
import { readGoals } from './pairs.ts'

/** An item with its evidence as a share of the limit, and its weight: one in ten is drift. */
interface Item {
  share: number
  isDrift: boolean
  weight: number
}

interface Pool {
  from: number
  items: number
  drift: number
  weight: number
}

// Shares of the limit. From 1 on the step is an alarm.
const edges = [
  Number.NEGATIVE_INFINITY,
  ...[-1.5, -1, -0.75, -0.5, -0.25, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.15],
]

const files = process.argv.slice(2)
if (files.length === 0) {
  console.error('Name the labelled data: npm run model:evidence -- PAIRS.jsonl.gz RUNS.jsonl.gz')
  process.exit(2)
}
const items = files.flatMap((file) => weighted(judge(file)))
for (const { from, items: count, drift, weight } of pooled(fill())) {
  const name = from === Number.NEGATIVE_INFINITY ? 'Number.NEGATIVE_INFINITY' : String(from)
  const probability = Number((drift / weight).toFixed(3))
  console.log(`  { from: ${name}, driftProbability: ${probability} }, // ${count} items`)
}

function judge(path: string): Judged[] {
  const bytes = readFileSync(path)
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => predict('meaning', readGoals(JSON.parse(line))))
}

/** Gives every file the same weight; in each, one item in ten is drift. */
function weighted(judged: readonly Judged[]): Item[] {
  const drift = judged.filter(({ label }) => label === 'drift').length
  return judged.map(({ label, score }) => ({
    share: shareOf(score),
    isDrift: label === 'drift',
    weight: label === 'drift' ? baseRate / drift : (1 - baseRate) / (judged.length - drift),
  }))
}

/** Converts a score from 0 to 1 to a share of the limit. */
function shareOf(score: number): number {
  const centred = 2 * score - 1
  return centred / (1 - Math.abs(centred))
}

function fill(): Pool[] {
  return edges.map((from, place) => {
    const below = edges[place + 1] ?? Number.POSITIVE_INFINITY
    const members = items.filter(({ share }) => share >= from && share < below)
    const sum = (of: readonly Item[]) => of.reduce((total, { weight }) => total + weight, 0)
    return {
      from,
      items: members.length,
      drift: sum(members.filter(({ isDrift }) => isDrift)),
      weight: sum(members),
    }
  })
}

/** Joins neighbours whose probability does not rise (pool adjacent violators). */
function pooled(pools: readonly Pool[]): Pool[] {
  const risen: Pool[] = []
  for (const pool of pools.filter(({ weight }) => weight > 0)) {
    let next = pool
    for (;;) {
      const before = risen.at(-1)
      if (before === undefined || before.drift / before.weight < next.drift / next.weight) break
      risen.pop()
      next = {
        from: before.from,
        items: before.items + next.items,
        drift: before.drift + next.drift,
        weight: before.weight + next.weight,
      }
    }
    risen.push(next)
  }
  return risen
}
