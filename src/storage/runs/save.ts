import type { Changes } from '../../core/runs/batch.ts'
import { saveAlerts } from '../alerts/outbox.ts'
import { saveResults } from '../alerts/results.ts'
import type { Database, Queries } from '../database/database.ts'
import { agentRow, contextRow, groundRow, runRow, runTables, stepRow } from './tables.ts'

/**
 * Stores the changes of a batch. The runs must be locked. Most writes are not awaited; see `notAwaited`.
 * `jobAdded` is called after every enqueue.
 */
export async function save(
  tx: Queries,
  kind: Database['kind'],
  changes: Changes,
  jobAdded: () => void,
): Promise<void> {
  const { runs, agents, contexts, openings, steps, grounds, alerts, results } = changes
  const tables = runTables[kind]
  // Every transaction locks outboxes before contexts.
  await saveAlerts(tx, kind, alerts, jobAdded)
  // A fixed order on every node prevents deadlocks.
  const changed = [...contexts].filter(([, each]) => each.changed)
  changed.sort(([a], [b]) => (a < b ? -1 : 1))
  tables.contexts.upsert(
    tx,
    changed.map(([, each]) => contextRow(each)),
  )
  const opened = [...openings.values()]
  tables.openings.insert(
    tx,
    opened.map(({ account, runId, context }) => ({ account, run_id: runId, context })),
  )
  tables.steps.insert(tx, steps.map(stepRow))
  tables.grounds.insert(tx, grounds.map(groundRow))
  tables.runs.upsert(tx, [...runs.values()].map(runRow))
  tables.agents.upsert(tx, [...agents.values()].map(agentRow))
  saveResults(tx, kind, results)
}
