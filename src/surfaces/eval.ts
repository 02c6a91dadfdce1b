import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { DetectorName } from '../core/detector/detectors.ts'
import {
  afterFirstStep,
  type DetectionMeasures,
  defaultResamples,
  type Estimate,
  type ItemCounts,
  type ItemMeasures,
  type JudgedRun,
  measurePairs,
  measureRuns,
  type PairReport,
  type RunReport,
  type SourceReport,
} from '../core/evaluation.ts'
import { type Judged, type Labelled, predict, readLabelled } from '../core/labelled.ts'
import { usageFault } from './usage-fault.ts'

/** What to measure and what to leave behind. */
export interface EvalOptions {
  /** JSON lines of pairs and runs, plain or gzipped. */
  file: string
  detector: DetectorName
  /** File for the predictions, replaced when it exists. */
  predictions?: string
  /** The measures as JSON instead of a table. */
  json: boolean
  /** How often the data is drawn anew for the intervals. */
  resamples?: number
}

/** Where the command writes: the measures to `out`, what it is doing meanwhile to `progress`. */
export interface EvalIo {
  out(text: string): void
  progress(text: string): void
  /** Whether a line of `progress` can be overwritten. */
  isTty: boolean
}

/** Everything measured on one file; null where it holds no pair or no run. */
interface Report {
  detector: DetectorName
  resamples: number
  pairs: PairReport | null
  runs: RunReport | null
  /** The same runs with their first goals taken as given and not measured. */
  runs_after_first_step: RunReport | null
}

/**
 * Measures a detector on a file of labelled data and prints the measures. Throws an error whose
 * message names the file, and the line and field where it can, when the data cannot be read.
 */
export async function evaluate(options: EvalOptions, io: EvalIo): Promise<void> {
  const { file, detector, resamples = defaultResamples } = options
  if (options.predictions !== undefined && resolve(options.predictions) === resolve(file)) {
    throw usageFault(`the predictions would overwrite ${file}`)
  }
  const judged: Record<Labelled['kind'], JudgedRun[]> = { pair: [], run: [] }
  const progress = createProgress(io)
  const predictions =
    options.predictions === undefined ? null : createPredictionWriter(options.predictions)
  try {
    for await (const { line, labelled } of labelledLines(file)) {
      const steps = predict(detector, labelled)
      judged[labelled.kind].push({ source: labelled.source, steps })
      progress.count(steps.length)
      await predictions?.add(line, labelled.kind, steps)
    }
    await predictions?.flush()
    progress.say(`drawing ${resamples} resamples`)
    const report = measure(judged.pair, judged.run, detector, resamples)
    io.out(options.json ? `${JSON.stringify(report, null, 2)}\n` : printReport(report))
  } finally {
    progress.stop()
    await predictions?.close()
  }
}

function measure(
  pairs: readonly JudgedRun[],
  runs: readonly JudgedRun[],
  detector: DetectorName,
  resamples: number,
): Report {
  return {
    detector,
    resamples,
    pairs: pairs.length === 0 ? null : measurePairs(pairs, resamples),
    runs: runs.length === 0 ? null : measureRuns(runs, resamples),
    runs_after_first_step: runs.length === 0 ? null : measureRuns(afterFirstStep(runs), resamples),
  }
}

/** Collects predictions and writes them in large pieces; the file is opened with the first of them. */
function createPredictionWriter(path: string) {
  let file: FileHandle | null = null
  let waiting = ''
  const flush = async () => {
    file ??= await open(path, 'w')
    await file.appendFile(waiting)
    waiting = ''
  }
  return {
    async add(line: number, kind: Labelled['kind'], steps: readonly Judged[]) {
      for (const [place, prediction] of steps.entries()) {
        const { drifting, uncertain, confidence, phi, score } = prediction
        const item = kind === 'run' ? { line, step: place + 1 } : { line }
        waiting += `${JSON.stringify({ ...item, drifting, uncertain, confidence, phi, score })}\n`
      }
      if (waiting.length > 100_000) await flush()
    },
    flush,
    async close() {
      await file?.close()
    },
  }
}

async function* labelledLines(file: string): AsyncGenerator<{ line: number; labelled: Labelled }> {
  let line = 0
  let items = 0
  for await (const text of textLines(file)) {
    line++
    if (text.trim() === '') continue
    const labelled = readLabelled(parse(text, `${file} line ${line}`))
    if ('fault' in labelled) throw usageFault(`${file} line ${line}: ${labelled.fault}`)
    items++
    yield { line, labelled }
  }
  if (items === 0) throw usageFault(`${file} holds no pair and no run`)
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usageFault(`${where}: is not JSON`)
  }
}

async function* textLines(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let unfinished = ''
  try {
    for await (const bytes of await unpacked(file)) {
      const [first = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n')
      unfinished += first
      for (const start of others) {
        yield unfinished
        unfinished = start
      }
    }
  } catch (error) {
    throw usageFault(readFault(file, error))
  }
  yield unfinished + decoder.decode()
}

/** The bytes of a file, unpacked when they begin like gzip. Reads the file once, so that it can be a pipe. */
async function unpacked(file: string): Promise<AsyncIterable<Uint8Array>> {
  const chunks: AsyncIterator<Uint8Array> = createReadStream(file)[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done === true) return Readable.from([])
  const whole = Readable.from(
    (async function* () {
      yield first.value
      yield* { [Symbol.asyncIterator]: () => chunks }
    })(),
  )
  const isGzip = first.value[0] === 0x1f && first.value[1] === 0x8b
  return isGzip ? pipeline(whole, createGunzip(), () => {}) : whole
}

function readFault(file: string, error: unknown): string {
  if (!(error instanceof Error && 'code' in error)) throw error
  if (error.code === 'ENOENT') return `${file} does not exist`
  if (error.code === 'EISDIR') return `${file} is a folder`
  return `${file} cannot be read: ${error.message}`
}

/** Says how far it is once a second on a terminal, else after one second and then every ten. */
function createProgress({ progress, isTty }: EvalIo) {
  let items = 0
  let seconds = 0
  const show = (doing: string) => {
    const text = `${grouped(items)} items judged${doing}`
    progress(isTty ? `\r${text}\x1b[K` : `${text}\n`)
  }
  const timer = setInterval(() => {
    seconds++
    if (isTty || seconds === 1 || seconds % 10 === 0) show('')
  }, 1000)
  return {
    count(more: number) {
      items += more
    },
    say(doing: string) {
      if (seconds > 0) show(`, ${doing}`)
    },
    stop() {
      clearInterval(timer)
      if (isTty && seconds > 0) progress('\r\x1b[K')
    },
  }
}

function printReport({ detector, resamples, pairs, runs, ...report }: Report): string {
  const parts: string[] = []
  if (pairs !== null) {
    parts.push(`pairs judged by ${detector}: ${counted(pairs)}`)
    parts.push(table(measureCells(itemRows, [pairs]), 'left'))
    parts.push(table(sourceCells(pairs.sources, 'pairs'), 'right'))
  }
  if (runs !== null && report.runs_after_first_step !== null) {
    const both = [runs, report.runs_after_first_step]
    parts.push(
      `runs judged by ${detector}: ${grouped(runs.runs)} (${grouped(runs.clean_runs)} clean), switches: ${grouped(runs.switches)}, steps: ${counted(runs)}`,
    )
    parts.push(
      table(
        [
          ['', 'every step', 'after the first'],
          ...measureCells(itemRows, both),
          ...measureCells(runRows, both),
        ],
        'left',
      ),
    )
    parts.push(table(sourceCells(runs.sources, 'steps'), 'right'))
  }
  if (resamples > 0) parts.push(`[…] is the 95 % interval from ${grouped(resamples)} resamples.`)
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

type Print = (value: number) => string
type Rows<Name> = readonly (readonly [name: Name, label: string, print: Print])[]

const share: Print = (value) => value.toFixed(2)
const perThousand: Print = (value) => (value < 10 ? value.toFixed(1) : grouped(Math.round(value)))

const itemRows: Rows<keyof ItemMeasures<Estimate>> = [
  ['precision', 'precision', share],
  ['recall', 'recall', share],
  ['false_alarms_per_1000', 'false alarms per 1,000 clean', perThousand],
  ['auc', 'AUC', share],
  ['uncertain_share', 'answered uncertain', share],
  ['precision_at_10_percent', 'precision at 10 % drift', share],
]

const runRows: Rows<keyof DetectionMeasures<Estimate>> = [
  ['found_within_1', 'switches found on the 1st drifted step', share],
  ['found_within_2', 'switches found by the 2nd', share],
  ['found_within_3', 'switches found by the 3rd', share],
  ['mean_delay_steps', 'mean delay of those found, in steps', share],
  ['clean_runs_alarmed', 'clean runs with any alarm', share],
]

function measureCells<Name extends string>(
  rows: Rows<Name>,
  columns: readonly Record<Name, Estimate>[],
): string[][] {
  return rows.map(([name, label, print]) => [
    label,
    ...columns.map((measures) => printEstimate(measures[name], print)),
  ])
}

function printEstimate({ value, low, high }: Estimate, print: Print): string {
  const number = printNumber(value, print).padStart(4)
  return low === null || high === null ? number : `${number} [${print(low)}, ${print(high)}]`
}

function printNumber(value: number | null, print: Print): string {
  return value === null ? '–' : print(value)
}

function sourceCells(sources: readonly SourceReport[], items: string): string[][] {
  if (sources.every(({ source }) => source === null)) return []
  return [
    ['source', items, 'drift', 'AUC', 'precision', 'recall', 'false alarms per 1,000 clean'],
    ...sources.map(({ source, items, drift, auc, precision, recall, false_alarms_per_1000 }) => [
      source ?? '(none named)',
      grouped(items),
      grouped(drift),
      printNumber(auc, share),
      printNumber(precision, share),
      printNumber(recall, share),
      printNumber(false_alarms_per_1000, perThousand),
    ]),
  ]
}

function counted({ items, drift, same }: ItemCounts): string {
  return `${grouped(items)} (${grouped(drift)} drift, ${grouped(same)} same)`
}

/** Rows of cells in columns: the first to the left, the others to the side that makes them easy to compare. */
function table(rows: readonly string[][], side: 'left' | 'right'): string {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map((row) =>
    row.map((cell, column) => {
      const width = widths?.[column] ?? 0
      return side === 'left' || column === 0 ? cell.padEnd(width) : cell.padStart(width)
    }),
  )
  return lines.map((cells) => `  ${cells.join('  ')}`.trimEnd()).join('\n')
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
