import { useEffect } from 'preact/hooks'
import { silentAfterMs } from '../../src/core/hosts/silence.ts'
import type { StoredRun } from '../../src/surfaces/client/client.ts'
import { clock, now } from './time.ts'

type Heard = Pick<StoredRun, 'silent' | 'outcome' | 'last_event_at' | 'session_ended_at'>

/** Since when nothing is heard of a run, in words; null if it is heard, or over. */
export function saysOfSilence({ silent }: Heard): string | null {
  return silent === null ? null : `silent since ${clock(silent.since)}`
}

/** Whether a run may have fallen silent since it was read. Acts that open no step are not told to pages. */
function mayBeSilent({ silent, outcome, last_event_at, session_ended_at }: Heard): boolean {
  if (silent !== null || outcome !== null || session_ended_at !== null) return false
  return last_event_at !== null && now.value - Date.parse(last_event_at) >= silentAfterMs
}

/** Reads runs again once that may have fallen silent since they were read. */
export function useSilence<Run extends Heard>(
  runs: readonly Run[],
  read: (run: Run) => Promise<unknown>,
): void {
  const at = now.value
  useEffect(() => {
    for (const run of runs.filter(mayBeSilent)) void read(run)
  }, [at])
}
