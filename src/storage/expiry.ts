import type { Database, Queries } from './database.ts'
import { holdOutbox } from './outbox.ts'

const runsASlice = 50

/** What hangs on a run: rows `of` it, and the columns that order them within it. */
const parts = [
  { table: 'steps', of: '', order: 'step' },
  { table: 'openings', of: '', order: 'context' },
  { table: 'grounds', of: '', order: 'agent_id, revision' },
  { table: 'agents', of: '', order: 'agent_id' },
  { table: 'alert_events', of: '', order: 'seq' },
  { table: 'alert_incidents', of: 'AND dialogue = 0', order: 'seq' },
] as const

/** Deletes all that hangs on runs, in the transaction that holds them; their own rows stay. */
export async function forgetRuns(
  tx: Queries,
  kind: Database['kind'],
  runs: readonly { account: string; run_id: string }[],
): Promise<void> {
  if (runs.length === 0) return
  await holdOutbox(
    tx,
    kind,
    runs.map(({ account }) => account),
  )
  for (const { account, run_id } of runs) {
    for (const { table, of } of parts) {
      await tx.run(`DELETE FROM ${table} WHERE account = ? AND run_id = ? ${of}`, account, run_id)
    }
  }
}

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
    for (const part of parts) {
      deleted += await deletePart(tx, part, account, run_id, maxRows - deleted)
      if (deleted >= maxRows) return true
    }
    deleted += await tx.run('DELETE FROM runs WHERE account = ? AND run_id = ?', account, run_id)
  }
  return runs.length === runsASlice
}

/** Deletes the first `limit` rows of a run in one table; answers how many there were. */
async function deletePart(
  tx: Queries,
  { table, of, order }: (typeof parts)[number],
  account: string,
  runId: string,
  limit: number,
): Promise<number> {
  const columns = order.split(', ')
  const next = await tx.get<Record<string, string | number>>(
    `SELECT ${order} FROM ${table} WHERE account = ? AND run_id = ? ${of}
     ORDER BY ${order} LIMIT 1 OFFSET ?`,
    account,
    runId,
    limit,
  )
  const place = next === undefined ? [] : columns.map((column) => next[column] ?? null)
  const before = next === undefined ? '' : `AND (${order}) < (${columns.map(() => '?').join(', ')})`
  return tx.run(
    `DELETE FROM ${table} WHERE account = ? AND run_id = ? ${of} ${before}`,
    account,
    runId,
    ...place,
  )
}
