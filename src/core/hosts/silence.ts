/** A session that goes on and of which nothing is heard for so long is silent. */
export const silentAfterMs = 10 * 60_000

/** When a session was heard last (null if never), and when it ended (null while it goes on); milliseconds since 1970. */
export interface Hearing {
  heardAt: number | null
  overAt: number | null
}

/** Since when a session is silent; null if it is over, or something was heard of it within ten minutes. */
export function silentSince({ heardAt, overAt }: Hearing, now: number): number | null {
  return heardAt !== null && overAt === null && now - heardAt >= silentAfterMs ? heardAt : null
}

/** Whether a session that was silent is heard again, or has ended or gone on: whoever shows its run has to show it anew. */
export function isOtherwise(before: Hearing, after: Hearing): boolean {
  const gap = (after.heardAt ?? 0) - (before.heardAt ?? after.heardAt ?? 0)
  return gap >= silentAfterMs || before.overAt !== after.overAt
}
