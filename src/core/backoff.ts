const firstMs = 1_000
const longestMs = 3_600_000
const jitter = 0.2

/**
 * Milliseconds to wait after attempt number `attempt` (1 for the first) has failed: one second,
 * doubled with each further failure up to an hour, and up to 20 % more or less, so that what failed
 * together does not come back together. `random` is a number in [0, 1).
 */
export function backoffMs(attempt: number, random: number): number {
  const delayMs = Math.min(firstMs * 2 ** (attempt - 1), longestMs)
  return Math.round(delayMs * (1 + jitter * (2 * random - 1)))
}
