import type { Adaptation } from '../src/core/detector/contract/adaptation.ts'
// Measures what an adaptation table adds to the pair score:
//   npm run model:adaptation -- FOLDER
// The table of a source is built from its training pairs on the errand, and measured on its development
// pairs, whose errands the table has not seen. A source without training pairs gives 60 % of its errands to
// the table. The data does not have the order of the work; adaptation-newer.ts measures histories, which have
// it.

import { join } from 'node:path'
import type { Example } from '../src/core/detector/meaning/adaptation-table.ts'
import { hashOf } from '../src/core/detector/words/hash.ts'
import type { Labelled } from '../src/core/evaluation/labelled.ts'
import {
  alarmsHead,
  alarmsOf,
  build,
  gainHead,
  report,
  reportAlarms,
  type Scored,
  scored,
} from './adaptation-scores.ts'
import { type Pair, readGoals, readLines, readPairs } from './pairs.ts'

const fewestExamples = 100
const lentShare = 0.6

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Name the folder of the labelled data: npm run model:adaptation -- FOLDER')
  process.exit(2)
}
const training = Map.groupBy(readPairs(join(folder, 'train.jsonl.gz')), ({ source }) => source)
const development = Map.groupBy(readPairs(join(folder, 'dev.jsonl.gz')), ({ source }) => source)

console.log(gainHead)
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

console.log(alarmsHead)
const runs = Map.groupBy(readRuns(join(folder, 'sequences-dev.jsonl.gz')), ({ source }) =>
  source?.startsWith('pr:') === true ? 'repositories' : 'other sources',
)
for (const [name, group] of runs) reportRuns(name, group)

function measure(source: string, pairs: readonly Pair[]): Scored[] | null {
  const own = training.get(source) ?? []
  const isLent = ({ ground }: Pair) => (hashOf(ground) >>> 0) / 2 ** 32 < lentShare
  const known = own.length > 0 ? own : pairs.filter(isLent)
  const asked = own.length > 0 ? pairs : pairs.filter((pair) => !isLent(pair))
  const built = buildFrom(known)
  if (built === null) return null
  const measured = scored(built.table, asked)
  report(source, measured, built.length)
  return measured
}

function buildFrom(pairs: readonly Pair[]): { table: Adaptation; length: number } | null {
  const examples = examplesOf(pairs)
  return examples.length < fewestExamples ? null : build(examples)
}

/** Counts alarms on runs of sources with training pairs, without and with the table of the source. */
function reportRuns(name: string, group: readonly Labelled[]): void {
  const sources = new Set(group.map(({ source }) => source ?? ''))
  const tables = new Map<string, Adaptation>()
  for (const source of sources) {
    const table = buildFrom(training.get(source) ?? [])?.table
    if (table !== undefined) tables.set(source, table)
  }
  const runs = group.flatMap((run) => {
    const table = tables.get(run.source ?? '')
    return table === undefined ? [] : [{ run, table }]
  })
  reportAlarms(name, alarmsOf(runs.map(({ run }) => ({ run, table: null }))))
  reportAlarms('  with table', alarmsOf(runs))
}

function readRuns(file: string): Labelled[] {
  return readLines<unknown>(file).map(readGoals)
}

function examplesOf(pairs: readonly Pair[]): Example[] {
  const byErrand = Map.groupBy(
    pairs.filter(({ drift }) => !drift),
    ({ ground }) => ground,
  )
  return [...byErrand].map(([errand, parts]) => ({ errand, parts: parts.map(({ goal }) => goal) }))
}
