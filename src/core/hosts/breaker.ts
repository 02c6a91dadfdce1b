import { backoffMs } from '../backoff.ts'

/** Whether a server may be asked: calls in a row that failed, and when the next one may go. */
export interface Breaker {
  /** Failures since the last success. */
  failures: number
  /** Milliseconds since 1970 before which nothing is sent; 0 if at once. */
  restsUntil: number
}

/** Failures in a row after which a server is left alone for a while. */
export const failuresToOpen = 3
/** The longest time that it is left alone, in milliseconds, unless it asks for more. */
const longestMs = 60_000

/** A server that has failed no call. */
export const atRest: Breaker = { failures: 0, restsUntil: 0 }

/** `open` while nothing is sent after too many failures, `probing` when one call is to show whether the server is back. */
export type BreakerState = 'closed' | 'open' | 'probing'

/** The state at a moment. */
export function stateOf({ failures, restsUntil }: Breaker, now: number): BreakerState {
  if (failures < failuresToOpen) return 'closed'
  return now < restsUntil ? 'open' : 'probing'
}

/**
 * The breaker after a call that failed. The first failures are tried again after a second; from the third in a row on
 * the wait doubles up to a minute, or is what the server asked for (`retryAfterMs`, at most an hour).
 */
export function afterFailure(
  { failures }: Breaker,
  { now, random, retryAfterMs }: { now: number; random: number; retryAfterMs: number | null },
): Breaker {
  const count = failures + 1
  const own = Math.min(backoffMs(Math.max(1, count - failuresToOpen + 1), random), longestMs)
  const asked = Math.min(retryAfterMs ?? 0, 3_600_000)
  return { failures: count, restsUntil: now + Math.max(own, asked) }
}
