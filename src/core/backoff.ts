const firstMs = 1_000
const longestMs = 3_600_000
const jitter = 0.2

/**
 * Milliseconds to wait after attempt number `attempt` (1 for the first) failed: one second, doubled with
 * each failure up to an hour, varied by up to 20 % so that jobs that failed together do not retry
 * together. `random` is in [0, 1).
 */
export function backoffMs(attempt: number, random: number): number {
  const delayMs = Math.min(firstMs * 2 ** (attempt - 1), longestMs)
  return Math.round(delayMs * (1 + jitter * (2 * random - 1)))
}
