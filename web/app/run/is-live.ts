import type { StoredRun } from '../../../src/surfaces/client/client.ts'

const liveMs = 15 * 60_000

/** Whether a run may go on: it has no outcome, and its last step is not long ago. */
export function isLive({ outcome, updated }: StoredRun, at: number): boolean {
  return outcome === null && at - Date.parse(updated) < liveMs
}
