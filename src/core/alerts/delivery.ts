import { hourMs, minuteMs } from '../time.ts'
import type { LogEntry, OutboxEvent } from './outbox.ts'

/** Delivery states: waiting, delivered or failed. */
export const deliveryStates = ['waiting', 'delivered', 'failed'] as const

export type DeliveryState = (typeof deliveryStates)[number]

/** The state of an address whose last attempt failed; other addresses have none. */
export interface Endpoint {
  /** Consecutive failed attempts. */
  failures: number
  /** Time of the first of them, milliseconds since 1970. */
  failing_since: number | null
  /** End of the pause; null if it is not paused. */
  paused_until: number | null
  /** The log detail of events that the pause holds back. */
  pause_detail: string | null
}

/** The result of an attempt, as far as it affects the next one. */
export interface Outcome {
  status: number
  retryAfterMs: number | null
  /** Whether the receiver answered 410 (gone). */
  gone: boolean
}

/** Waits after the first, second … failed attempt; the last one repeats. */
const retryDelaysMs = [5_000, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs] as const
const longestDelayMs = 2 * hourMs
const jitter = 0.2
const longestRetryAfterMs = hourMs

const failuresToPause = 10
const failingToPauseMs = 10 * minuteMs
const probeEveryMs = 5 * minuteMs

const maxDetailLength = 200

/** Whether the webhook accepted the event. */
export function isDelivered(status: number): boolean {
  return status >= 200 && status < 300
}

/**
 * Milliseconds until the next attempt after `tries` failures, or null for no further attempt: after
 * `retries` retries, or after an answer that refuses the event. Varies by up to 20 %; a receiver that asks
 * for more time gets up to an hour. `random` is in [0, 1).
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

/** Milliseconds to wait after `tries` failures, varied by up to 20 %. `random` is in [0, 1). */
export function retryPauseMs(tries: number, random: number): number {
  const delayMs = retryDelaysMs[tries - 1] ?? longestDelayMs
  return Math.round(delayMs * (1 + jitter * (2 * random - 1)))
}

/**
 * The state of an address after an attempt at `now`, or null if there is none to keep. It pauses after 10
 * consecutive failures over at least 10 minutes, or when the receiver is gone. A pause lets one attempt
 * through every 5 minutes, and a success ends it.
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

/** The log entry of an attempt that began at `ts`. */
export function attemptEntry(
  { run_id, reason, severity, phi }: OutboxEvent,
  ts: number,
  answer: { status: number; error: string | null },
): LogEntry {
  const { status } = answer
  const delivered = isDelivered(status)
  return { ts, run_id, reason, severity, phi, delivered, status, detail: detailOf(answer) }
}

/** Whether the same request may succeed later; 0 is no answer. */
export function isWorthRetrying(status: number): boolean {
  return status === 0 || status >= 500 || [408, 409, 425, 429].includes(status)
}
