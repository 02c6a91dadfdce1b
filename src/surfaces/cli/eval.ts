import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { DetectorName } from '../../core/detector/contract/detector.ts'
import { defaultResamples } from '../../core/evaluation/evaluation.ts'
import {
  type DeclaredPlan,
  type JudgedRun,
  type Labelled,
  type LabelledEvents,
  type Prediction,
  readLabelled,
  withDeclaredPlan,
} from '../../core/evaluation/labelled.ts'
import {
  type JudgedEvent,
  type Judging,
  labelledSteps,
  predict,
  predictEvents,
} from '../../core/evaluation/predict.ts'
import { measure } from '../../core/evaluation/report.ts'
import { parseJson } from '../../core/text.ts'
import { printReport } from './eval-table.ts'
import { usageFault } from './usage-fault.ts'

/** The options of an evaluation. */
export interface EvalOptions {
  /** JSON lines of pairs and runs, plain or gzipped. */
  file: string
  detector: DetectorName
  /** What the detector has beside the texts. */
  hints?: Judging
  /** The file of the predictions. An existing file is replaced. */
  predictions?: string
  /** Whether to print the measures as JSON instead of tables. */
  json: boolean
  /** How often to resample the data for the intervals. */
  resamples?: number
  /**
   * The affordable number of alarms per 1,000 clean steps. The report adds the measures with the threshold
   * that keeps to it.
   */
  budget?: number
  /** Lets every run declare its own on-errand steps as its plan. */
  declarePlan?: DeclaredPlan
}

/** The output of the command: `out` takes the measures, and `progress` the state of the work. */
export interface EvalIo {
  out(text: string): void
  progress(text: string): void
  /** Whether a line of `progress` can be overwritten. */
  isTty: boolean
}

/**
 * Measures a detector on a file of labelled data and prints the measures. If the data is unreadable, throws
 * an error whose message names the file, and the line and the field if it can.
 */
export async function evaluate(options: EvalOptions, io: EvalIo): Promise<void> {
  const { file, detector, resamples = defaultResamples, budget = null, declarePlan } = options
  if (options.predictions !== undefined && resolve(options.predictions) === resolve(file)) {
    throw usageFault(`the predictions would overwrite ${file}`)
  }
  const judged: Record<Labelled['kind'], JudgedRun[]> = { pair: [], run: [] }
  const withMessages: JudgedEvent[][] = []
  const progress = createProgress(io)
  const predictions =
    options.predictions === undefined ? null : createPredictionWriter(options.predictions)
  try {
    for await (const { line, labelled: read } of labelledLines(file)) {
      const labelled = declarePlan === undefined ? read : withDeclaredPlan(read, declarePlan)
      if (labelled.kind === 'events') {
        const events = predictEvents(detector, labelled, options.hints)
        withMessages.push(events)
        judged.run.push({ source: labelled.source, steps: labelledSteps(events) })
        progress.count(events.length)
        await predictions?.add(events.map((event, place) => [{ line, event: place + 1 }, event]))
        continue
      }
      const steps = predict(detector, labelled, options.hints)
      judged[labelled.kind].push({ source: labelled.source, steps })
      progress.count(steps.length)
      const isRun = labelled.kind === 'run'
      await predictions?.add(
        steps.map((step, place) => [isRun ? { line, step: place + 1 } : { line }, step]),
      )
    }
    await predictions?.flush()
    progress.say(`drawing ${resamples} resamples`)
    const report = measure(judged.pair, judged.run, withMessages, { detector, resamples, budget })
    io.out(options.json ? `${JSON.stringify(report, null, 2)}\n` : printReport(report))
  } finally {
    progress.stop()
    await predictions?.close()
  }
}

/** Collects predictions and writes them in large pieces. The first piece opens the file. */
function createPredictionWriter(path: string) {
  let file: FileHandle | null = null
  let waiting = ''
  const flush = async () => {
    file ??= await open(path, 'w')
    await file.appendFile(waiting)
    waiting = ''
  }
  return {
    /** Adds predictions, each with its place in the file. */
    async add(placed: readonly [place: object, judged: Prediction | JudgedEvent][]) {
      for (const [place, judged] of placed) {
        waiting += `${JSON.stringify({ ...place, ...predictionOf(judged) })}\n`
      }
      if (waiting.length > 100_000) await flush()
    },
    flush,
    async close() {
      await file?.close()
    },
  }
}

function predictionOf(judged: Prediction | JudgedEvent) {
  if ('read' in judged) return { user_effect: judged.read }
  const { drifting, uncertain, confidence, phi, score } = judged
  return { drifting, uncertain, confidence, phi, score }
}

async function* labelledLines(
  file: string,
): AsyncGenerator<{ line: number; labelled: Labelled | LabelledEvents }> {
  let line = 0
  let items = 0
  for await (const text of textLines(file)) {
    line++
    if (text.trim() === '') continue
    const value = parseJson(text)
    if (value === undefined) throw usageFault(`${file} line ${line}: is not JSON`)
    const labelled = readLabelled(value)
    if ('fault' in labelled) throw usageFault(`${file} line ${line}: ${labelled.fault}`)
    items++
    yield { line, labelled }
  }
  if (items === 0) throw usageFault(`${file} holds no pair and no run`)
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

/**
 * Reads the bytes of a file and unpacks them if they begin like gzip. It reads the file once, so that the
 * file can be a pipe.
 */
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

/** Shows the progress: on a terminal once a second, else after one second and then every ten seconds. */
function createProgress({ progress, isTty }: EvalIo) {
  let items = 0
  let seconds = 0
  const show = (doing: string) => {
    const text = `${items.toLocaleString('en-US')} items judged${doing}`
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
