import { parseJson } from '../text.ts'

/** The largest body that a hook may send, in bytes. */
export const mostEventBytes = 1024 * 1024
/** Most events of one body. */
export const mostEvents = 1000

/** The lines of a body that are not blank; null without one, or with more than 1,000. */
export function linesIn(body: string): string[] | null {
  const lines = body.split('\n').filter((line) => line.trim() !== '')
  return lines.length === 0 || lines.length > mostEvents ? null : lines
}

/** The events of a body: one JSON value, or one on each line; null if it is neither, or has more than 1,000 lines. */
export function eventsIn(body: string): unknown[] | null {
  const whole = parseJson(body)
  if (whole !== undefined) return [whole]
  const events = linesIn(body)?.map(parseJson)
  return events === undefined || events.includes(undefined) ? null : events
}
