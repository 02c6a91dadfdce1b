import type { Database, Queries } from './database.ts'

const runsASlice = 50

/** What hangs on a run, and the columns that order it within the run. */
const parts = [
  { table: 'steps', order: 'step' },
  { table: 'openings', order: 'context' },
  { table: 'grounds', order: 'agent_id, revision' },
  { table: 'agents', order: 'agent_id' },
  { table: 'alert_events', order: 'seq' },
  { table: 'alert_incidents', order: 'seq' },
] as const

/**
 * Deletes about `maxRows` rows of runs that expired at `now` or before, longest expired first, in one
 * transaction, and answers whether there may be more. A long run goes over several slices, its own row
 * last, so that what is left of it is found again. A run that another transaction holds is passed over:
 * a step may be reviving it.
 */
export async function deleteExpiredRuns(
  tx: Queries,
  kind: Database['kind'],
  now: number,
  maxRows: number,
): Promise<boolean> {
  const runs = await tx.all<{ account: string; run_id: string }>(
    `SELECT account, run_id FROM runs WHERE expires <= ? ORDER BY expires LIMIT ${runsASlice}
     ${kind === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''}`,
    now,
  )
  let deleted = 0
  for (const { account, run_id } of runs) {
    for (const { table, order } of parts) {
      deleted += await deletePart(tx, table, order, account, run_id, maxRows - deleted)
      if (deleted >= maxRows) return true
    }
    deleted += await tx.run('DELETE FROM runs WHERE account = ? AND run_id = ?', account, run_id)
  }
  return runs.length === runsASlice
}

/** Deletes the first `limit` rows of a run in one table; answers how many there were. */
async function deletePart(
  tx: Queries,
  table: string,
  order: string,
  account: string,
  runId: string,
  limit: number,
): Promise<number> {
  const columns = order.split(', ')
  const next = await tx.get<Record<string, string | number>>(
    `SELECT ${order} FROM ${table} WHERE account = ? AND run_id = ?
     ORDER BY ${order} LIMIT 1 OFFSET ?`,
    account,
    runId,
    limit,
  )
  const place = next === undefined ? [] : columns.map((column) => next[column] ?? null)
  const before = next === undefined ? '' : `AND (${order}) < (${columns.map(() => '?').join(', ')})`
  return tx.run(
    `DELETE FROM ${table} WHERE account = ? AND run_id = ? ${before}`,
    account,
    runId,
    ...place,
  )
}
