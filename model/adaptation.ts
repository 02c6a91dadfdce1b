// Measures what a table of one's own work adds to the pair score:
//   npm run model:adaptation -- FOLDER
// The table of a source is built from its training pairs that are on the errand, and measured on its
// development pairs, whose errands the table has not seen. A source without training pairs lends 60 %
// of its errands to the table. The data does not say in which order the work was done.

import { join } from 'node:path'
import { type Adaptation, adapted } from '../src/core/detector/adaptation.ts'
import { buildTable, type Example, readTable } from '../src/core/detector/adaptation-table.ts'
import { hashOf } from '../src/core/detector/hash.ts'
import { scorePair } from '../src/core/detector/meaning-score.ts'
import { analyse } from '../src/core/detector/meaning-text.ts'
import { type Labelled, predict, readLabelled } from '../src/core/labelled.ts'
import { aucOf, type Ranking } from '../src/core/ranking.ts'
import { createRandom, drawAnew, middleOf, seed } from '../src/core/resampling.ts'
import { type Pair, readLines, readPairs } from './pairs.ts'

/** A pair with its score without and with a table. */
interface Scored {
  ground: string
  drift: boolean
  kind: string
  alone: number
  added: number
}

const resamples = 500
const fewestExamples = 100
const lentShare = 0.6

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Name the folder of the labelled data: npm run model:adaptation -- FOLDER')
  process.exit(2)
}
const training = Map.groupBy(readPairs(join(folder, 'train.jsonl.gz')), ({ source }) => source)
const development = Map.groupBy(readPairs(join(folder, 'dev.jsonl.gz')), ({ source }) => source)

console.log('source            pairs  table kB   AUC alone  with table   gain (95 % interval)')
const repositories: Scored[] = []
const others: Scored[] = []
for (const [source, pairs] of [...development].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const measured = measure(source, pairs)
  if (measured === null) continue
  if (source.startsWith('pr:')) repositories.push(...measured)
  else others.push(...measured)
}
report('repositories', repositories)
for (const kind of ['file', 'commit']) {
  report(
    `  ${kind} goals`,
    repositories.filter((pair) => pair.kind === kind),
  )
}
report('other sources', others)

console.log('\nruns of            clean steps  switches  false alarms per 1,000  found within 3')
const runs = Map.groupBy(readRuns(join(folder, 'sequences-dev.jsonl.gz')), ({ source }) =>
  source?.startsWith('pr:') === true ? 'repositories' : 'other sources',
)
for (const [name, group] of runs) reportRuns(name, group)

function measure(source: string, pairs: readonly Pair[]): Scored[] | null {
  const own = training.get(source) ?? []
  const isLent = ({ ground }: Pair) => (hashOf(ground) >>> 0) / 2 ** 32 < lentShare
  const known = own.length > 0 ? own : pairs.filter(isLent)
  const asked = own.length > 0 ? pairs : pairs.filter((pair) => !isLent(pair))
  const built = build(known)
  if (built === null) return null
  const { table, length } = built
  const scored = asked.map(({ ground, goal, drift, kind }) => {
    const [errand, part] = [analyse(ground), analyse(goal)]
    return {
      ground,
      drift,
      kind,
      alone: scorePair(errand, part),
      added: adapted(table, errand, part),
    }
  })
  report(source, scored, length)
  return scored
}

function build(pairs: readonly Pair[]): { table: Adaptation; length: number } | null {
  const examples = examplesOf(pairs)
  const text = examples.length < fewestExamples ? null : buildTable('git', examples)
  if (text === null) return null
  const table = readTable(text)
  if ('fault' in table) throw new Error(table.fault)
  return { table, length: text.length }
}

/** Alarms on runs of sources with training pairs, without and with the table of the source. */
function reportRuns(name: string, group: readonly Labelled[]): void {
  const sources = new Set(group.map(({ source }) => source ?? ''))
  const tables = new Map<string, Adaptation | null>()
  for (const source of sources) tables.set(source, build(training.get(source) ?? [])?.table ?? null)
  for (const isAsked of [false, true]) {
    let [clean, alarms, switches, found] = [0, 0, 0, 0]
    for (const run of group) {
      const table = tables.get(run.source ?? '') ?? null
      if (table === null) continue
      const judged = predict('meaning', run, isAsked ? table : null)
      const same = judged.filter(({ label }) => label === 'same')
      clean += same.length
      alarms += same.filter(({ drifting }) => drifting).length
      const first = judged.findIndex(({ label }) => label === 'drift')
      if (first < 0) continue
      switches += 1
      if (judged.slice(first, first + 3).some(({ drifting }) => drifting)) found += 1
    }
    console.log(
      `${(isAsked ? '  with table' : name).padEnd(16)} ${String(clean).padStart(12)} ${String(switches).padStart(9)} ${((1000 * alarms) / clean).toFixed(1).padStart(22)} ${(found / switches).toFixed(2).padStart(16)}`,
    )
  }
}

function readRuns(file: string): Labelled[] {
  return readLines<unknown>(file).map((line) => {
    const labelled = readLabelled(line)
    if ('fault' in labelled) throw new Error(labelled.fault)
    return labelled
  })
}

function examplesOf(pairs: readonly Pair[]): Example[] {
  const byErrand = Map.groupBy(
    pairs.filter(({ drift }) => !drift),
    ({ ground }) => ground,
  )
  return [...byErrand].map(([errand, parts]) => ({ errand, parts: parts.map(({ goal }) => goal) }))
}

function report(name: string, pairs: readonly Scored[], length?: number): void {
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
