import { dayMs } from '../time.ts'

/** How long a session of a browser lives without use, and in all; milliseconds. */
export const sessionIdleMs = 7 * dayMs
export const sessionLongestMs = 30 * dayMs

/** The most sessions of an account; one more ends the oldest. */
export const maxSessions = 50

/** When a session ends that is used at `now` and never again; milliseconds since 1970. */
export function sessionEnd(created: number, now: number): number {
  return Math.min(now + sessionIdleMs, created + sessionLongestMs)
}
