import { Agent } from 'node:http'
import { createHistogram } from 'node:perf_hooks'
import { type Answer, type Outcome, post } from './http.ts'
import type { Stage } from './stage.ts'
import { pause } from './time.ts'

/** A sent step. Times are of `performance.now()`. */
export interface Sent {
  /** Its number, unique among all steps. The goal contains it. */
  readonly n: number
  readonly run: string
  readonly firstMs: number
  /** The time and the step number of its acknowledgement, or null. */
  acknowledged: Acknowledged | null
}

/** The answer to a stored step. */
export interface Acknowledged {
  readonly step: number
  readonly atMs: number
  /** Whether the answer is the recorded one of an earlier try with the same idempotency key. */
  readonly replayed: boolean
}

/** A request without an acknowledgement. */
export interface Failed {
  readonly n: number
  readonly sentMs: number
  readonly atMs: number
  readonly outcome: Outcome
}

/** Clients that write steps, each over a keep-alive connection and one step at a time. */
export interface Writers {
  /** All steps by their number. */
  readonly sent: ReadonlyMap<number, Sent>
  readonly failed: readonly Failed[]
  acknowledged(): number
  p50Ms(): number
  p99Ms(): number
  /** The longest wait of a request for an answer or a refusal. */
  slowestMs(): number
  /** Resolves at the next acknowledgement of a step. Rejects after `limitMs`. */
  nextAcknowledgement(limitMs: number): Promise<void>
  /** Begins no more steps. Resolves when those in flight have been acknowledged or given up. */
  stop(): Promise<void>
  /** Resolves when all `steps` have been acknowledged or given up. */
  done: Promise<void>
}

/** The plan of the writers. */
export interface Plan {
  /** The URL for a writer's next request. */
  url(writer: number): string
  readonly key: string
  readonly writers: number
  /** The number of runs that they share. */
  readonly runs: number
  /** The most steps to send; unlimited if absent. */
  readonly steps?: number
  /**
   * The reaction to a failure: the same request again, the request without its idempotency key, or nothing.
   */
  readonly retry: 'same key' | 'no key' | 'never'
  /** How long a step is retried after `stop`. Defaults to 15 seconds. */
  readonly patienceMs?: number
  /** The pause between the tries of a step. Defaults to 100 ms. */
  readonly pauseMs?: number
  /** The number of characters added to each goal. */
  readonly padding?: number
}

/** Starts writers. Each begins its next step when the previous one is acknowledged or given up. */
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
  // The writers must end with their stage.
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

/** Reads the number from a goal. */
export function numberIn(goal: string): number {
  return Number(/\d+/.exec(goal)?.[0])
}

function goalOf(n: number): string {
  return `write line ${n} of the report`
}

/** The failures with a status of 500 or more. */
export function answersOf5xx(failed: readonly Failed[]): Answer[] {
  return failed.flatMap(({ outcome }) =>
    'status' in outcome && outcome.status >= 500 ? [outcome] : [],
  )
}

/**
 * The failures that the documents do not promise: neither a broken connection nor a 503 with a time to retry.
 */
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

/** The stable word of a refusal; the whole text if the answer is not ours. */
function wordOf({ text }: Answer): string {
  try {
    return JSON.parse(text).error
  } catch {
    return text.slice(0, 100)
  }
}
