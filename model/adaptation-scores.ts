import type { Adaptation } from '../src/core/detector/contract/adaptation.ts'

// The effect of an adaptation table on the pair score and on the verdicts of runs.

import {
  buildTable,
  type Example,
  readTable,
} from '../src/core/detector/meaning/adaptation-table.ts'
import { adapted } from '../src/core/detector/meaning/adapted.ts'
import { scorePair } from '../src/core/detector/meaning/score.ts'
import { analyse } from '../src/core/detector/meaning/text.ts'
import type { Labelled } from '../src/core/evaluation/labelled.ts'
import { predict } from '../src/core/evaluation/predict.ts'
import { aucOf, type Ranking } from '../src/core/evaluation/ranking.ts'
import { createRandom, drawAnew, middleOf, seed } from '../src/core/evaluation/resampling.ts'

/** A pair with its score, and the part that a table adds. */
export interface Scored {
  ground: string
  drift: boolean
  kind: string
  alone: number
  added: number
}

const resamples = 500

/** A table of examples with its length in characters; null if the examples have nothing in common. */
export function build(examples: readonly Example[]): { table: Adaptation; length: number } | null {
  const text = buildTable('git', examples)
  if (text === null) return null
  const table = readTable(text)
  if ('fault' in table) throw new Error(table.fault)
  return { table, length: text.length }
}

/** Computes the scores of pairs. */
export function scored(
  table: Adaptation,
  pairs: readonly { ground: string; goal: string; drift: boolean; kind: string }[],
): Scored[] {
  return pairs.map(({ ground, goal, drift, kind }) => {
    const [errand, part] = [analyse(ground), analyse(goal)]
    return {
      ground,
      drift,
      kind,
      alone: scorePair(errand, part),
      added: adapted(table, errand, part),
    }
  })
}

/** The verdicts on labelled runs. */
export interface Alarms {
  /** The steps on the errand, and those of them that counted as drifting. */
  clean: number
  alarms: number
  /** The runs that leave it, and those of them that were found within three steps. */
  switches: number
  found: number
}

/** Adds up the verdicts on runs, each with a table of its own or without one. */
export function alarmsOf(runs: readonly { run: Labelled; table: Adaptation | null }[]): Alarms {
  const sum: Alarms = { clean: 0, alarms: 0, switches: 0, found: 0 }
  for (const { run, table } of runs) {
    const judged = predict('meaning', run, table === null ? {} : { adaptation: table })
    const same = judged.filter(({ label }) => label === 'same')
    sum.clean += same.length
    sum.alarms += same.filter(({ drifting }) => drifting).length
    const first = judged.findIndex(({ label }) => label === 'drift')
    if (first < 0) continue
    sum.switches += 1
    if (judged.slice(first, first + 3).some(({ drifting }) => drifting)) sum.found += 1
  }
  return sum
}

export const alarmsHead =
  '\nruns of            clean steps  switches  false alarms per 1,000  found within 3'

/** Prints a row under `alarmsHead`. */
export function reportAlarms(name: string, { clean, alarms, switches, found }: Alarms): void {
  console.log(
    `${name.padEnd(16)} ${String(clean).padStart(12)} ${String(switches).padStart(9)} ${((1000 * alarms) / clean).toFixed(1).padStart(22)} ${(found / switches).toFixed(2).padStart(16)}`,
  )
}

export const gainHead =
  'source            pairs  table kB   AUC alone  with table   gain (95 % interval)'

/** Prints a row under `gainHead`. The intervals come from resampled grounds. */
export function report(name: string, pairs: readonly Scored[], length?: number): void {
  const alone = rankingOf(pairs, ({ alone }) => alone)
  const both = rankingOf(pairs, ({ alone, added }) => alone + added)
  const grounds = new Set(pairs.map(({ ground }) => ground)).size
  const times = new Uint32Array(grounds).fill(1)
  const before = aucOf(alone, times)
  const after = aucOf(both, times)
  if (before === null || after === null) return
  const random = createRandom(seed)
  const gains: number[] = []
  for (let sample = 0; sample < resamples; sample++) {
    drawAnew(times, random)
    const drawn = [aucOf(alone, times), aucOf(both, times)] as const
    if (drawn[0] !== null && drawn[1] !== null) gains.push(drawn[1] - drawn[0])
  }
  const { low, high } = middleOf(gains) ?? { low: Number.NaN, high: Number.NaN }
  const size = length === undefined ? '' : (length / 1000).toFixed(0)
  console.log(
    `${name.padEnd(16)} ${String(pairs.length).padStart(6)} ${size.padStart(9)} ${before.toFixed(3).padStart(11)} ${after.toFixed(3).padStart(11)}   ${signed(after - before)} (${signed(low)} to ${signed(high)})`,
  )
}

function signed(value: number): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(3)}`
}

function rankingOf(pairs: readonly Scored[], scoreOf: (pair: Scored) => number): Ranking {
  const places = new Map<string, number>()
  const items = pairs
    .map((pair) => {
      const run = places.get(pair.ground) ?? places.size
      places.set(pair.ground, run)
      return { run, drift: pair.drift ? 1 : 0, score: scoreOf(pair) }
    })
    .sort((a, b) => a.score - b.score)
  return {
    runs: Int32Array.from(items, ({ run }) => run),
    drift: Uint8Array.from(items, ({ drift }) => drift),
    scores: Float64Array.from(items, ({ score }) => score),
  }
}
