import { isOnErrand } from '../../core/alerts/incidents.ts'
import type { Happening } from '../../core/alerts/outbox.ts'
import { emitAlerts } from '../alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import type { Entry, LoggedStep } from './entries.ts'
import type { RunCache } from './run-cache.ts'
import { logSteps } from './steps.ts'

/**
 * Logs steps with `logSteps` and emits the alerts of drifting steps in the same transaction. It sends no
 * alert query if no step drifts or returns from drifting.
 */
export async function logAndAlert(
  tx: Queries,
  kind: Database['kind'],
  requests: readonly (readonly Entry[])[],
  jobAdded: () => void,
  cache?: RunCache,
): Promise<LoggedStep[]> {
  const { logged, store } = await logSteps(tx, kind, requests, cache)
  const happenings = requests.flat().flatMap((entry, place) => happeningOf(entry, logged[place]))
  // Emit before writing the steps, so that the reads of the alerts do not wait for the writes.
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
