import { isKeyless } from '../../core/keyless.ts'
import type { Changes, JudgedEntry } from '../../core/runs/batch.ts'
import { saveBudgets } from '../alerts/budgets.ts'
import { saveAlerts } from '../alerts/outbox.ts'
import { saveResults } from '../alerts/results.ts'
import type { Database, Queries } from '../database/database.ts'
import { recordEvents, type StreamEvent } from '../database/stream.ts'
import { agentRow, alarmRows, contextRow, groundRow, runRow, runTables, stepRow } from './tables.ts'

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
  const { runs, agents, contexts, openings, steps, grounds, alerts, results, budgets } = changes
  const tables = runTables[kind]
  // Every transaction locks outboxes before contexts.
  await saveAlerts(tx, kind, alerts, jobAdded)
  saveBudgets(tx, kind, budgets)
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
  tables.alarms.insert(tx, alarmRows(steps))
  tables.grounds.insert(tx, grounds.map(groundRow))
  tables.runs.upsert(tx, [...runs.values()].map(runRow))
  tables.agents.upsert(tx, [...agents.values()].map(agentRow))
  saveResults(tx, kind, results)
  await recordEvents(tx, kind, stepEvents(steps))
}

/** One event for the steps of each run; the run was locked, so their numbers follow one another. */
function stepEvents(steps: readonly JudgedEntry[]): StreamEvent[] {
  const events = new Map<string, StreamEvent & { first: number }>()
  for (const { entry, step } of steps) {
    const { account, request, now, keys } = entry
    if (isKeyless(account)) continue
    const first = events.get(keys.run)?.first ?? step
    events.set(keys.run, {
      account,
      at: now,
      kind: 'steps',
      run_id: request.runId,
      subject: `${first}-${step}`,
      first,
    })
  }
  return [...events.values()]
}
