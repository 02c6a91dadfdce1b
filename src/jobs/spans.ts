import type { NewJob } from '../storage/database/jobs.ts'
import type { OpenStore } from '../storage/store.ts'
import type { JobContext, JobKind } from './scheduler.ts'

/** A trace of an account. */
interface TraceOf {
  account: string
  traceId: string
}

/** The dependencies of the job. */
export interface SpansParts {
  store: Pick<OpenStore, 'pendingSpans'>
  /** Folds what has arrived of a trace, and removes it with the steps that it shows. */
  fold(account: string, traceId: string): Promise<void>
  /** Milliseconds since 1970. */
  now(): number
}

const kindName = 'spans'
/** A trace is folded when nothing has arrived for this long, and at the latest this long after its first span. */
const quietMs = 5_000
const longestMs = 30_000

/** The job that folds a trace whose spans arrived at `now`. */
export function spansJob(trace: TraceOf, now: number): NewJob {
  const { account, traceId } = trace
  const id = `${kindName}:${account}:${traceId}`
  return { id, kind: kindName, input: JSON.stringify(trace), due: now + quietMs }
}

/**
 * Folds traces. Spans arrive in any order and are acknowledged before they are folded, so they wait in the database:
 * a buffer in memory would lose them with the process. An agent that never pauses is judged in parts, because an alarm
 * after the end of its work helps nobody. Each trace has a job of its own, so that one that cannot be folded stops no
 * other.
 */
export function createSpansJob({ store, fold, now }: SpansParts): JobKind {
  async function run({ input }: JobContext): Promise<number | null> {
    const { account, traceId } = JSON.parse(input) as TraceOf
    const times = await store.pendingSpans.times(account, traceId)
    if (times === null) return null
    const due = Math.min(times.last + quietMs, times.first + longestMs)
    if (due > now()) return due
    await fold(account, traceId)
    // What arrived meanwhile, or was too much for one time.
    return (await store.pendingSpans.times(account, traceId)) === null ? null : now() + quietMs
  }

  return { name: kindName, leaseMs: 60_000, atOnce: 4, maxAttempts: 5, run }
}
