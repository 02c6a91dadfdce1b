import type { Act, HostEvent } from './host-event.ts'

/** Acts of a session in one minute after which only every k-th is read. */
export const fullyReadAMinute = 200

/** The acts of a session in the newest minute. */
export interface ActRate {
  /** Minutes since 1970. */
  minute: number
  acts: number
}

/** The rate after one more act, and k: that act is the k-th since one was read, or it is passed over. */
export function rateAfter(
  rate: ActRate | null,
  act: HostEvent & Act,
): { rate: ActRate | null; every: number; isRead: boolean } {
  if (act.at === undefined) return { rate, every: 1, isRead: true }
  const minute = Math.floor(act.at / 60_000)
  const acts = rate?.minute === minute ? rate.acts + 1 : 1
  const every = Math.ceil(acts / fullyReadAMinute)
  // What failed, and what waits, tells more than its number.
  const isAlwaysRead = act.outcome === 'failed' || act.family === 'wait'
  return { rate: { minute, acts }, every, isRead: isAlwaysRead || acts % every === 0 }
}
