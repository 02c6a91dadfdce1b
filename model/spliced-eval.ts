import type { DetectorName } from '../src/core/detector/contract/detector.ts'
// Measures the checked-in model on the development data, beside the published rule and the best
// lexical score:
//   npm run model:spliced -- FOLDER [--write]
// --write renews the figures of model/README.md and docs/detector.md.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { featureNames, measurePair } from '../src/core/detector/meaning/features.ts'
import { packagedModel } from '../src/core/detector/meaning/model.ts'
import { probabilityOf, scorePair } from '../src/core/detector/meaning/score.ts'
import { analyse } from '../src/core/detector/meaning/text.ts'
import { type Estimate, measurePairs, measureRuns } from '../src/core/evaluation/evaluation.ts'
import {
  type Judged,
  type JudgedRun,
  type Labelled,
  withDeclaredPlan,
} from '../src/core/evaluation/labelled.ts'
import { predict } from '../src/core/evaluation/predict.ts'
import { alarmedAbove, thresholdFor } from '../src/core/evaluation/ranking.ts'
import { measureReliability } from '../src/core/evaluation/reliability.ts'
import { readGoals, readLines } from './pairs.ts'

const [folder, option] = process.argv.slice(2)
if (folder === undefined || (option !== undefined && option !== '--write')) {
  console.error('Name the folder of the labelled data: npm run model:spliced -- FOLDER [--write]')
  process.exit(2)
}
const resamples = 200
const budget = 16
const printed: string[] = []

const pairs = readData('dev.jsonl.gz')
const runs = readData('sequences-dev.jsonl.gz')
const slots = readData('slots-dev.jsonl.gz')
const longPairs = withLongGrounds(pairs)
print(
  `model ${packagedModel().version}; ${pairs.length} pairs, ${runs.length} runs, ${slots.length} slot swaps\n`,
)

const lexical = featureNames.indexOf('cosine of rarities')
const rows = new Float64Array(featureNames.length)
const bySource = new Map<string, { pairs: number; areas: string[] }>()
const columns = [
  judge('published rule', by('overlap'), true),
  judge('rarity-weighted cosine', (item) => scored(item, lexicalDrift), false),
  judge('pair score', (item) => scored(item, pairDrift), false),
  judge('meaning', by('meaning'), true),
]
printTable()
printSources()
printReliability()
if (option === '--write') {
  renew('model/README.md', 'output', ['```text', ...printed, '```'])
  renew('docs/detector.md', 'figures', markdownTable())
}

function print(line: string): void {
  printed.push(...line.split('\n').map((each) => each.trimEnd()))
  console.log(line)
}

/**
 * Makes pairs whose ground joins six grounds of one source, with the pair's own at a different place in each.
 */
function withLongGrounds(of: readonly Labelled[]): Labelled[] {
  const bySource = Map.groupBy(of, ({ source }) => source)
  return [...bySource.values()].flatMap((same) => {
    const grounds = [...new Set(same.map(({ ground }) => ground))]
    return same.map((pair, at) => {
      const own = grounds.indexOf(pair.ground)
      const joined = Array.from({ length: 6 }, (_, other) => {
        return grounds[(own + other - (at % 6) + grounds.length) % grounds.length]
      })
      return { ...pair, ground: joined.join('. ') }
    })
  })
}

/** Replaces the text between the marks of a document. */
function renew(file: string, name: string, lines: readonly string[]): void {
  const text = readFileSync(file, 'utf8')
  const [begin, end] = [`<!-- ${name} begins -->`, `<!-- ${name} ends -->`]
  const [before, rest] = text.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`${file} has no ${begin}`)
  writeFileSync(file, `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${after}`)
}

/** The published rule, the best lexical score and the detector, without intervals. */
function markdownTable(): string[] {
  const shownColumns = [columns[0], columns[1], columns[3]].filter((each) => each !== undefined)
  const cells = (each: readonly string[]) => `| ${each.join(' | ')} |`
  return [
    cells(['on the development data', ...shownColumns.map(({ name }) => name)]),
    cells(['---', ...shownColumns.map(() => '---:')]),
    ...Object.keys(columns[0]?.figures ?? {}).map((row) => {
      const values = shownColumns.map(({ figures }) => (figures[row] ?? '').replace(/ \[.*/, ''))
      return cells([row.trim(), ...values])
    }),
  ]
}

/** The results of one way to judge: a name, and a figure for each row of the table. */
interface Column {
  name: string
  figures: Record<string, string>
}

/** `alarms` is false for a plain score, which has no alarms, no plan and no uncertain steps. */
function judge(name: string, predicted: (item: Labelled) => Judged[], alarms: boolean): Column {
  process.stderr.write(`${name}\n`)
  const all = (items: readonly Labelled[]): JudgedRun[] =>
    items.map((item) => ({ source: item.source, steps: predicted(item) }))
  const ofPairs = measurePairs(all(pairs), resamples)
  const judgedRuns = all(runs)
  const ofRuns = measureRuns(judgedRuns, resamples)
  const atBudget = measureRuns(
    alarmedAbove(judgedRuns, thresholdFor(judgedRuns, budget)),
    resamples,
  )
  const planned = all(runs.map((run) => withDeclaredPlan(run, 'all')))
  const half = all(runs.map((run) => withDeclaredPlan(run, 'half')))
  const ofPlanned = measureRuns(planned, resamples)
  const ofHalf = measureRuns(half, resamples)
  const ofSlots = measurePairs(all(slots), resamples)
  for (const { source, items, auc } of ofPairs.sources) {
    const line = bySource.get(source ?? '') ?? { pairs: items, areas: [] }
    bySource.set(source ?? '', line)
    line.areas.push(shown(auc))
  }
  const ifAlarms = (text: string) => (alarms ? text : '–')
  return {
    name,
    figures: {
      'pairs: AUC': interval(ofPairs.auc),
      'pairs on one of six joined grounds: AUC': interval(
        measurePairs(all(longPairs), resamples).auc,
      ),
      'runs: AUC of steps': interval(ofRuns.auc),
      'runs: false alarms per 1,000 clean steps': ifAlarms(
        interval(ofRuns.false_alarms_per_1000, 1),
      ),
      '  switches found within 3 steps': ifAlarms(interval(ofRuns.found_within_3)),
      '  clean runs with any alarm': ifAlarms(interval(ofRuns.clean_runs_alarmed)),
      '  precision at 10 % drift': ifAlarms(interval(ofRuns.precision_at_10_percent)),
      '  recall of steps': ifAlarms(interval(ofRuns.recall)),
      '  share of steps uncertain': ifAlarms(interval(ofRuns.uncertain_share)),
      [`at ${budget} per 1,000: found within 3 steps`]: interval(atBudget.found_within_3),
      '  clean runs with any alarm then': interval(atBudget.clean_runs_alarmed),
      '  precision at 10 % drift then': interval(atBudget.precision_at_10_percent),
      'plan declared: found within 3 steps': ifAlarms(interval(ofPlanned.found_within_3)),
      '  false alarms per 1,000 clean steps': ifAlarms(
        interval(ofPlanned.false_alarms_per_1000, 1),
      ),
      'half of it declared: found within 3 steps': ifAlarms(interval(ofHalf.found_within_3)),
      '  false alarms per 1,000 clean steps ': ifAlarms(interval(ofHalf.false_alarms_per_1000, 1)),
      'slot swaps drifting or uncertain': ifAlarms(interval(ofSlots.noticed)),
    },
  }
}

function by(detector: DetectorName): (item: Labelled) => Judged[] {
  return (item) => predict(detector, item)
}

/** Judges every step against its ground alone, without memory and without an alarm. */
function scored(item: Labelled, drift: (ground: string, goal: string) => number): Judged[] {
  return item.steps.map(({ goal, label }) => ({
    label,
    drifting: false,
    uncertain: false,
    confidence: 0,
    phi: 0,
    score: drift(item.ground, goal),
  }))
}

function lexicalDrift(ground: string, goal: string): number {
  measurePair(analyse(ground), analyse(goal), rows)
  return 1 - (rows[lexical] ?? 0)
}

function pairDrift(ground: string, goal: string): number {
  return scorePair(analyse(ground), analyse(goal))
}

function printTable(): void {
  const names = Object.keys(columns[0]?.figures ?? {})
  const width = 47
  print(`${' '.repeat(width)}${columns.map(({ name }) => name.padEnd(24)).join('')}`)
  for (const name of names) {
    const cells = columns.map(({ figures }) => (figures[name] ?? '').padEnd(24))
    print(`${name.padEnd(width)}${cells.join('')}`)
  }
}

function printSources(): void {
  print(
    `\nAUC of pairs by source${' '.repeat(6)}pairs  ${columns.map(({ name }) => name).join(' | ')}`,
  )
  for (const [source, { pairs: count, areas }] of [...bySource].sort()) {
    print(`${source.padEnd(24)}${String(count).padStart(9)}  ${areas.join('   ')}`)
  }
}

function printReliability(): void {
  const stated = pairs.map((item) => ({
    source: item.source,
    steps: scored(item, pairDrift).map((step) => {
      const probability = probabilityOf(step.score)
      return {
        ...step,
        drifting: probability >= 0.5,
        confidence: Math.max(probability, 1 - probability),
      }
    }),
  }))
  const reliability = measureReliability(stated)
  if (reliability === null) return
  const error = reliability.expected_calibration_error
  print(`\nprobability of the pair score where one in ten is drift; expected error ${shown(error)}`)
  for (const { from, below, items, said, measured } of reliability.rows) {
    print(
      `${from.toFixed(2)}–${below.toFixed(2)} ${String(items).padStart(7)}  said ${shown(said)}  measured ${shown(measured)}`,
    )
  }
}

function readData(name: string): Labelled[] {
  return readLines<unknown>(join(folder ?? '', name)).map(readGoals)
}

function interval({ value, low, high }: Estimate, digits = 3): string {
  if (value === null) return '–'
  return `${shown(value, digits)} [${shown(low, digits)}, ${shown(high, digits)}]`
}

function shown(value: number | null, digits = 3): string {
  return value === null ? '–' : value.toFixed(digits)
}
