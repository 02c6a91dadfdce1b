import { get } from './http.ts'
import type { Broken, Measured } from './trial.ts'
import { createVerdict } from './trial.ts'
import { answersOf5xx, numberIn, type Sent, type Writers } from './writers.ts'

/** A run in the answer of `GET /v1/export`. */
export interface StoredRun {
  readonly run: string
  readonly ground: string | null
  /** The number of steps in the run's own fields. */
  readonly count: number
  readonly steps: readonly StoredStep[]
}

interface StoredStep {
  readonly step: number
  readonly n: number
}

/** Reads all stored runs and steps of an account. */
export async function readBack(url: string, key: string): Promise<StoredRun[]> {
  const answer = await get(`${url}/v1/export`, { authorization: `Bearer ${key}` })
  if ('failure' in answer || answer.status !== 200) {
    throw new Error(`the export failed: ${JSON.stringify(answer).slice(0, 300)}`)
  }
  const runs: (StoredRun & { steps: StoredStep[] })[] = []
  for (const text of answer.text.split('\n').filter((line) => line !== '')) {
    const line = JSON.parse(text)
    if (line.type === 'run') {
      runs.push({ run: line.run_id, ground: line.ground, count: line.steps, steps: [] })
    } else {
      runs.at(-1)?.steps.push({ step: line.step, n: numberIn(line.goal) })
    }
  }
  return runs
}

/** The longest wait for any answer or refusal, under any fault. */
const answerLimitMs = 5_000

/** The result of comparing the sent steps with the stored ones. */
export interface Checked {
  readonly measured: Measured
  readonly broken: Broken[]
}

/**
 * Compares the acknowledged steps with the stored ones. No step is lost, stored twice or unsent. Each run is
 * numbered 1 to n without a gap, and each step has the number of its answer. No step has a lower number than
 * one that was acknowledged before it was first sent. Every answer came in time.
 */
export function compare(writers: Writers, stored: readonly StoredRun[]): Checked {
  const { broken, expect } = createVerdict()
  const places = new Map<number, string[]>()
  for (const { run, steps } of stored) {
    for (const { n, step } of steps) places.set(n, [...(places.get(n) ?? []), `${run} ${step}`])
  }
  const acknowledged = [...writers.sent.values()].filter((sent) => sent.acknowledged !== null)
  const lost = acknowledged.filter(({ n }) => !places.has(n))
  const twice = [...places.values()].reduce((sum, { length }) => sum + length - 1, 0)
  const invented = [...places.keys()].filter((n) => !writers.sent.has(n))
  const moved = acknowledged.filter(
    ({ n, run, acknowledged }) =>
      places.has(n) && !places.get(n)?.includes(`${run} ${acknowledged?.step}`),
  )
  const gapped = stored.filter(
    ({ count, steps }) => count !== steps.length || steps.some(({ step }, at) => step !== at + 1),
  )
  const overtaken = stored.reduce((sum, run) => sum + overtakenIn(run, writers.sent), 0)

  expect(lost.length === 0, 'nothing lost', `${lost.length} acknowledged steps lost`)
  expect(twice === 0, 'nothing twice', `${twice} steps stored twice`)
  expect(invented.length === 0, 'nothing invented', `${invented.length} steps nobody sent`)
  expect(moved.length === 0, 'answers tell the place', `${moved.length} steps elsewhere`)
  expect(gapped.length === 0, 'no gaps', `gaps in ${gapped.length} of ${stored.length} runs`)
  const slowestMs = writers.slowestMs()
  expect(slowestMs <= answerLimitMs, 'answers in time', `one after ${Math.round(slowestMs)} ms`)
  expect(overtaken === 0, 'order', `${overtaken} steps numbered before earlier ones`)
  return {
    broken,
    measured: {
      acknowledged: acknowledged.length,
      lost: lost.length,
      duplicated: twice,
      answers5xx: answersOf5xx(writers.failed).length,
      readyMs: null,
      p50Ms: writers.p50Ms(),
      p99Ms: writers.p99Ms(),
      slowestMs,
      seen: '',
    },
  }
}

/**
 * Counts the steps that stand before another one, although that one was acknowledged before they were sent.
 */
function overtakenIn({ steps }: StoredRun, sent: ReadonlyMap<number, Sent>): number {
  let found = 0
  let earliest = Number.POSITIVE_INFINITY
  for (const { n } of steps.toReversed()) {
    const step = sent.get(n)
    if (step !== undefined && step.firstMs > earliest) found++
    earliest = Math.min(earliest, step?.acknowledged?.atMs ?? Number.POSITIVE_INFINITY)
  }
  return found
}
