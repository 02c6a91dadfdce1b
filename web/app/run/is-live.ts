import type { StoredRun } from '../../../src/surfaces/client/client.ts'

const liveMs = 15 * 60_000

/** Whether a run may go on: it has no outcome, it is not silent, and its last step is not long ago. */
export function isLive({ outcome, silent, updated }: StoredRun, at: number): boolean {
  return outcome === null && silent === null && at - Date.parse(updated) < liveMs
}
