import { isOnErrand } from '../../core/alerts/incidents.ts'
import type { Happening } from '../../core/alerts/outbox.ts'
import { emitAlerts } from '../alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import type { Entry, LoggedStep } from './entries.ts'
import type { RecentRuns } from './run-cache.ts'
import { logSteps } from './steps.ts'

/**
 * Logs steps as `logSteps` does and, in the same transaction, emits the alerts of those that drift.
 * Where none drifts and none comes back from drifting, that asks nothing of the database.
 */
export async function logAndTell(
  tx: Queries,
  kind: Database['kind'],
  requests: readonly (readonly Entry[])[],
  jobAdded: () => void,
  recent?: RecentRuns,
): Promise<LoggedStep[]> {
  const { logged, store } = await logSteps(tx, kind, requests, recent)
  const happenings = requests.flat().flatMap((entry, place) => happeningOf(entry, logged[place]))
  // Before the steps are written, so that what has to be read for them does not wait for that.
  await emitAlerts(tx, kind, happenings, jobAdded)
  store()
  return logged
}

function happeningOf({ account, now }: Entry, logged: LoggedStep | undefined): Happening[] {
  if (logged === undefined || logged === 'damaged') return []
  const { run_id, agent_id, verdict, previous } = logged
  const { drifting, reason, goal, phi, advice } = verdict
  const returns = previous !== null && !isOnErrand(previous) && isOnErrand(reason)
  if (!drifting && !returns) return []
  return [
    { account, run_id, dialogue: false, agent_id, goal, reason, phi, advice, ts: now, drifting },
  ]
}
