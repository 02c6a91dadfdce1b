/** A time in milliseconds since 1970 as ISO 8601 in UTC. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}
