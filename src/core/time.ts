/** A second, a minute, an hour and a day in milliseconds. */
export const secondMs = 1_000
export const minuteMs = 60_000
export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** Days since 1970-01-01 UTC of a time in milliseconds since 1970; daily counts use it. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs)
}

/** A time in milliseconds since 1970 as ISO 8601 in UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
