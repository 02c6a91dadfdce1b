import { isDelivered, isWorthRetrying, retryPauseMs } from '../core/alerts/delivery.ts'
import { resultRequest } from '../core/telemetry/result-request.ts'
import { dayMs, hourMs, minuteMs } from '../core/time.ts'
import type { Collector, CollectorAnswer } from '../outbound/collector.ts'
import type { WaitingResult } from '../storage/alerts/results.ts'
import type { OpenStore } from '../storage/store.ts'
import type { JobContext, JobKind } from './scheduler.ts'

/** The dependencies of the job. */
export interface ResultsParts {
  store: Pick<OpenStore, 'results' | 'tx'>
  collector: Collector
  /** The version of this program. */
  version: string
  /** Milliseconds since 1970. */
  now(): number
  /** A number in [0, 1). */
  random(): number
  /** Called when the collector refuses results or they are given up; holds no header, address or words of a run. */
  refused(says: { results: number; detail: string }): void
}

const leaseMs = 60_000
/** Longer than one attempt and its records. */
const attemptMs = 12_000
const mostResults = 500
/** Collectors refuse large bodies; a result that is alone is never larger. */
const mostCharacters = 1_000_000
const longestPauseMs = 5 * minuteMs
const longestAskedMs = hourMs
/** A collector may be away for this long before results are given up, and this many wait for it. */
const longestWaitMs = dayMs
const mostWaiting = 100_000

/**
 * Sends the evaluation results of all accounts to the collector, the oldest first, many in one request. It recurs,
 * instead of being enqueued with each step: the row of that job would be one lock for all steps of all nodes. What a
 * failure holds back holds back the results behind it, because they have one receiver. A result that was sent by a
 * worker that then died is sent twice.
 */
export function createResultsJob(parts: ResultsParts): JobKind {
  const { store, now } = parts

  async function run({ heldUntil, signal }: JobContext): Promise<number | null> {
    await giveUpOld()
    while (heldUntil - now() > attemptMs && !signal.aborted) {
      const due = await store.results.heldUntil()
      if (due !== null && due > now()) return due
      const batch = within(await store.results.next(mostResults))
      if (batch.length === 0) return null
      const body = resultRequest(
        batch.map(({ result }) => result),
        parts.version,
      )
      await record(batch, await parts.collector.post(body))
    }
    return now()
  }

  async function giveUpOld(): Promise<void> {
    const behind = await store.results.behind(mostWaiting)
    const before = Math.max(behind ?? 0, now() - longestWaitMs)
    const detail = 'the collector was away for too long'
    const results = await store.tx(({ results }) => results.giveUpBefore(before, detail))
    if (results > 0) parts.refused({ results, detail })
  }

  async function record(batch: readonly WaitingResult[], answer: CollectorAnswer): Promise<void> {
    const { status, refused, error } = answer
    const isTaken = isDelivered(status)
    if (isTaken && refused === 0) return store.tx(({ results }) => results.taken(batch))
    // The protocol forbids to send again what was refused, and does not say which ones were.
    const detail = isTaken
      ? `the collector refused ${refused} of ${batch.length} records`
      : (error ?? `the collector answered ${status}`)
    if (!isTaken && isWorthRetrying(status)) {
      const due = now() + pauseMs(batch, answer)
      return store.tx(({ results }) => results.postpone(batch, due, detail))
    }
    await store.tx(({ results }) => results.giveUp(batch, detail))
    parts.refused({ results: batch.length, detail })
  }

  function pauseMs(batch: readonly WaitingResult[], { retryAfterMs }: CollectorAnswer): number {
    const tries = 1 + Math.max(...batch.map((each) => each.tries))
    const own = Math.min(longestPauseMs, retryPauseMs(tries, parts.random()))
    return Math.max(own, Math.min(retryAfterMs ?? 0, longestAskedMs))
  }

  return { name: 'results', everyMs: 5_000, leaseMs, run }
}

/** The first of them that fit into one request. */
function within(results: readonly WaitingResult[]): WaitingResult[] {
  let characters = 0
  return results.filter(({ characters: own }, place) => {
    characters += own
    return place === 0 || characters <= mostCharacters
  })
}
