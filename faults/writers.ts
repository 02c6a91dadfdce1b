import { Agent } from 'node:http'
import { createHistogram } from 'node:perf_hooks'
import { type Answer, type Outcome, post } from './http.ts'
import type { Stage } from './stage.ts'
import { pause } from './time.ts'

/** A step that was sent; times are of `performance.now()`. */
export interface Sent {
  /** Its number, which its goal carries; every step has its own. */
  readonly n: number
  readonly run: string
  readonly firstMs: number
  /** When and as which step of its run it was acknowledged, or null. */
  acknowledged: Acknowledged | null
}

/** The answer to a step that was stored. */
export interface Acknowledged {
  readonly step: number
  readonly atMs: number
  /** Whether the answer is that of an earlier try, recorded under its idempotency key. */
  readonly replayed: boolean
}

/** A request that was not acknowledged. */
export interface Failed {
  readonly n: number
  readonly sentMs: number
  readonly atMs: number
  readonly outcome: Outcome
}

/** Clients that write steps, each over a connection that it keeps, one step at a time. */
export interface Writers {
  /** Every step, by its number. */
  readonly sent: ReadonlyMap<number, Sent>
  readonly failed: readonly Failed[]
  acknowledged(): number
  p50Ms(): number
  p99Ms(): number
  /** The longest that a request waited for its answer, a refusal too. */
  slowestMs(): number
  /** Resolves at the first acknowledgement of a step from now on; rejects after `limitMs`. */
  nextAcknowledgement(limitMs: number): Promise<void>
  /** Resolves when no more steps are begun and those that were have been acknowledged or given up. */
  stop(): Promise<void>
  /** Resolves when all `steps` have been acknowledged or given up. */
  done: Promise<void>
}

/** What writers do. */
export interface Plan {
  /** Where a writer sends its next request. */
  url(writer: number): string
  readonly key: string
  readonly writers: number
  /** How many runs they share. */
  readonly runs: number
  /** The most steps that are sent; without a limit when absent. */
  readonly steps?: number
  /** What follows a failure: the same request again, without its idempotency key, or nothing. */
  readonly retry: 'same key' | 'no key' | 'never'
  /** How long a step is tried again after `stop`; 15 seconds unless given. */
  readonly patienceMs?: number
  /** Pause between tries of a step; 100 ms unless given. */
  readonly pauseMs?: number
  /** Characters that each goal is made longer by. */
  readonly padding?: number
}

/** Starts writers; every one begins its next step when the one before is acknowledged or given up. */
export function startWriters(stage: Stage, plan: Plan): Writers {
  const { key, runs, steps = Number.POSITIVE_INFINITY, retry, patienceMs = 15_000 } = plan
  const sent = new Map<number, Sent>()
  const failed: Failed[] = []
  const micros = createHistogram()
  const padding = ' and again'.repeat(Math.ceil((plan.padding ?? 0) / 10))
  let acknowledged = 0
  let slowestMs = 0
  let waiting: (() => void)[] = []
  let giveUpMs = Number.POSITIVE_INFINITY
  let stopping = false

  async function write(writer: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!stopping && sent.size < steps) {
      const n = sent.size + 1
      const run = `run-${n % runs}`
      const step: Sent = { n, run, firstMs: performance.now(), acknowledged: null }
      sent.set(n, step)
      await writeStep(step, writer, agent)
    }
    agent.destroy()
  }

  async function writeStep(step: Sent, writer: number, agent: Agent): Promise<void> {
    const { n, run } = step
    const body = JSON.stringify({ run_id: run, goal: `${goalOf(n)}${padding}` })
    const headers = {
      authorization: `Bearer ${key}`,
      ...(retry === 'no key' ? {} : { 'idempotency-key': `step-${n}` }),
    }
    for (;;) {
      const sentMs = performance.now()
      const outcome = await post(`${plan.url(writer)}/v1/drift`, body, headers, agent)
      const atMs = performance.now()
      if ('status' in outcome) slowestMs = Math.max(slowestMs, atMs - sentMs)
      if ('status' in outcome && outcome.status === 200) {
        micros.record(Math.max(1, Math.round((atMs - sentMs) * 1000)))
        const replayed = outcome.headers['idempotent-replayed'] === 'true'
        step.acknowledged = { step: JSON.parse(outcome.text).step, atMs, replayed }
        acknowledged++
        for (const wake of waiting.splice(0)) wake()
        return
      }
      failed.push({ n, sentMs, atMs, outcome })
      if (retry === 'never' || atMs > giveUpMs) return
      await pause(plan.pauseMs ?? 100)
    }
  }

  const done = Promise.all(Array.from({ length: plan.writers }, (_, writer) => write(writer))).then(
    () => {},
  )
  // Nobody may go on writing to a stage that is over.
  stage.after(() => {
    stopping = true
    giveUpMs = 0
  })
  return {
    sent,
    failed,
    acknowledged: () => acknowledged,
    p50Ms: () => micros.percentile(50) / 1000,
    p99Ms: () => micros.percentile(99) / 1000,
    slowestMs: () => slowestMs,
    nextAcknowledgement: (limitMs) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          waiting = waiting.filter((each) => each !== wake)
          reject(new Error(`no step was acknowledged within ${limitMs} ms`))
        }, limitMs)
        const wake = () => {
          clearTimeout(late)
          resolve()
        }
        waiting.push(wake)
      }),
    stop() {
      stopping = true
      giveUpMs = performance.now() + patienceMs
      return done
    },
    done,
  }
}

/** The number that a goal carries. */
export function numberIn(goal: string): number {
  return Number(/\d+/.exec(goal)?.[0])
}

function goalOf(n: number): string {
  return `write line ${n} of the report`
}

/** Failures that are answers of 500 and more. */
export function answersOf5xx(failed: readonly Failed[]): Answer[] {
  return failed.flatMap(({ outcome }) =>
    'status' in outcome && outcome.status >= 500 ? [outcome] : [],
  )
}

/** Failures that are no answer that the documents promise: neither cut off nor a 503 that says when to try again. */
export function undocumented(failed: readonly Failed[]): string[] {
  return failed.flatMap(({ outcome }) => {
    if ('failure' in outcome || isPolite(outcome)) return []
    return [`${outcome.status} ${wordOf(outcome)}`]
  })
}

function isPolite(answer: Answer): boolean {
  return (
    answer.status === 503 &&
    answer.headers['retry-after'] !== undefined &&
    wordOf(answer) === 'unavailable'
  )
}

/** The stable word of a refusal; the text itself when it is not ours. */
function wordOf({ text }: Answer): string {
  try {
    return JSON.parse(text).error
  } catch {
    return text.slice(0, 100)
  }
}
