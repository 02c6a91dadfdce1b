import { hourMs, minuteMs } from '../time.ts'
import type { LogEntry, OutboxEvent } from './outbox.ts'

/** Where an event stands: still to be sent, taken by the webhook, or given up. */
export const deliveryStates = ['waiting', 'delivered', 'failed'] as const

export type DeliveryState = (typeof deliveryStates)[number]

/** What is known of an address whose last attempt failed; of others nothing is kept. */
export interface Endpoint {
  /** Failed attempts without a good one between them. */
  failures: number
  /** Milliseconds since 1970 of the first of them. */
  failing_since: number | null
  /** Until when nothing is sent to it; null unless it is paused. */
  paused_until: number | null
  /** What the log says of events that are held back meanwhile. */
  pause_detail: string | null
}

/** What became of one attempt, as far as it decides what comes next. */
export interface Outcome {
  status: number
  retryAfterMs: number | null
  /** Whether the receiver says that it is no longer there. */
  gone: boolean
}

/** How long to wait after the first, second … failed attempt; the last also counts for all further ones. */
const retryDelaysMs = [5_000, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs] as const
const longestDelayMs = 2 * hourMs
const jitter = 0.2
const longestRetryAfterMs = hourMs

const failuresToPause = 10
const failingToPauseMs = 10 * minuteMs
const probeEveryMs = 5 * minuteMs

const maxDetailLength = 200

/** Whether the webhook took the event. */
export function isDelivered(status: number): boolean {
  return status >= 200 && status < 300
}

/**
 * Milliseconds until the next attempt after `tries` have failed, or null when there is to be none:
 * `retries` are the further attempts allowed, and an answer that says "no" is no reason for another.
 * Up to 20 % more or less; a receiver that asks for more time gets up to an hour. `random` is in [0, 1).
 */
export function retryDelayMs(
  { status, retryAfterMs }: Pick<Outcome, 'status' | 'retryAfterMs'>,
  tries: number,
  retries: number,
  random: number,
): number | null {
  if (tries > retries || !isWorthRetrying(status)) return null
  return Math.max(retryPauseMs(tries, random), Math.min(retryAfterMs ?? 0, longestRetryAfterMs))
}

/** Milliseconds to wait after `tries` have failed, up to 20 % more or less. `random` is in [0, 1). */
export function retryPauseMs(tries: number, random: number): number {
  const delayMs = retryDelaysMs[tries - 1] ?? longestDelayMs
  return Math.round(delayMs * (1 + jitter * (2 * random - 1)))
}

/**
 * What is known of an address after one more attempt at `now`, or null when there is nothing to tell.
 * After 10 failures in a row over at least 10 minutes, or when the receiver is gone, it is paused; the
 * attempt that the pause lets through every 5 minutes ends it when it succeeds.
 */
export function endpointAfter(
  endpoint: Endpoint | null,
  { status, gone }: Pick<Outcome, 'status' | 'gone'>,
  now: number,
): Endpoint | null {
  if (isDelivered(status)) return null
  const failures = (endpoint?.failures ?? 0) + 1
  const failing_since = endpoint?.failing_since ?? now
  const worn = failures >= failuresToPause && now - failing_since >= failingToPauseMs
  const pause_detail =
    endpoint?.pause_detail ??
    (gone
      ? 'endpoint paused after 410'
      : worn
        ? `endpoint paused after ${failuresToPause} failures`
        : null)
  return {
    failures,
    failing_since,
    paused_until: pause_detail === null ? null : now + probeEveryMs,
    pause_detail,
  }
}

/** Why an attempt failed, at most 200 characters; null when it did not. */
export function detailOf({
  status,
  error,
}: {
  status: number
  error: string | null
}): string | null {
  if (isDelivered(status)) return null
  return (error ?? `webhook returned ${status}`).slice(0, maxDetailLength)
}

/** What the log says of an attempt that was begun at `ts`. */
export function attemptEntry(
  { run_id, reason, severity, phi }: OutboxEvent,
  ts: number,
  answer: { status: number; error: string | null },
): LogEntry {
  const { status } = answer
  const delivered = isDelivered(status)
  return { ts, run_id, reason, severity, phi, delivered, status, detail: detailOf(answer) }
}

function isWorthRetrying(status: number): boolean {
  return status === 0 || status >= 500 || [408, 409, 425, 429].includes(status)
}
