import { forgetIdleOutboxes, holdOutbox } from '../alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import { runInAnswer } from '../database/idempotency.ts'
import { closeContexts, type OpenedContext } from './contexts.ts'

const runsASlice = 50

/** What hangs on a run: rows `of` it, and the columns that order them within it. */
const parts = [
  { table: 'steps', of: '', order: 'step' },
  { table: 'openings', of: '', order: 'context' },
  { table: 'grounds', of: '', order: 'agent_id, revision' },
  { table: 'agents', of: '', order: 'agent_id' },
  { table: 'alert_events', of: '', order: 'seq' },
  { table: 'alert_incidents', of: 'AND dialogue = 0', order: 'seq' },
  // Stored answers quote the goals of their run.
  { table: 'idempotency', of: '', order: 'scope, key' },
] as const

interface RunKey {
  account: string
  run_id: string
}

interface ExpiredRun extends RunKey {
  expires: number
}

/** When a run expires that its account has deleted. */
export const deletedAt = 0

/**
 * Deletes all that hangs on runs, in the transaction that holds them; their own rows stay. The counts of
 * the contexts that they opened go down, so a transaction that has read contexts reads them again.
 */
export async function forgetRuns(
  tx: Queries,
  kind: Database['kind'],
  runs: readonly RunKey[],
): Promise<void> {
  if (runs.length === 0) return
  await holdOutbox(tx, kind, accountsOf(runs))
  const closed: OpenedContext[] = []
  for (const run of runs) {
    for (const part of parts) closed.push(...closedBy(part, run, await deletePart(tx, part, run)))
    await forgetSharedAnswers(tx, run)
  }
  await closeContexts(tx, kind, closed)
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
  const runs = await tx.all<ExpiredRun>(
    `SELECT account, run_id, expires FROM runs WHERE expires <= ? ORDER BY expires LIMIT ${runsASlice}
     ${kind === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''}`,
    now,
  )
  if (runs.length === 0) return false
  await holdOutbox(tx, kind, accountsOf(runs))
  const closed: OpenedContext[] = []
  const more = await deleteRuns(tx, runs, maxRows, closed)
  await closeContexts(tx, kind, closed)
  await forgetIdleOutboxes(tx, kind, accountsOf(runs))
  return more
}

/** Deletes about `maxRows` rows of runs and answers whether there may be more; adds what they had opened to `closed`. */
async function deleteRuns(
  tx: Queries,
  runs: readonly ExpiredRun[],
  maxRows: number,
  closed: OpenedContext[],
): Promise<boolean> {
  let deleted = 0
  for (const run of runs) {
    for (const part of parts) {
      const gone = await deletePart(tx, part, run, maxRows - deleted)
      closed.push(...closedBy(part, run, gone))
      deleted += gone.length
      if (deleted >= maxRows) return true
    }
    const { account, run_id, expires } = run
    // An answer is kept for a day and a run for no less, so that only a deleted run can leave some.
    if (expires === deletedAt) await forgetSharedAnswers(tx, run)
    deleted += await tx.run('DELETE FROM runs WHERE account = ? AND run_id = ?', account, run_id)
  }
  return runs.length === runsASlice
}

type PartRow = Record<string, string | number>

/** Deletes the first `limit` rows of a run in one table, all of them without a limit; answers their places in it. */
async function deletePart(
  tx: Queries,
  { table, of, order }: (typeof parts)[number],
  { account, run_id }: RunKey,
  limit?: number,
): Promise<PartRow[]> {
  const columns = order.split(', ')
  const ofRun = `FROM ${table} WHERE account = ? AND run_id = ? ${of}`
  const next =
    limit === undefined
      ? undefined
      : await tx.get<PartRow>(
          `SELECT ${order} ${ofRun} ORDER BY ${order} LIMIT 1 OFFSET ?`,
          account,
          run_id,
          limit,
        )
  const place = next === undefined ? [] : columns.map((column) => next[column] ?? null)
  const before = next === undefined ? '' : `AND (${order}) < (${columns.map(() => '?').join(', ')})`
  return tx.all<PartRow>(`DELETE ${ofRun} ${before} RETURNING ${order}`, account, run_id, ...place)
}

/** The contexts that a run is no longer counted in when these rows of a table are gone. */
function closedBy(
  { table }: (typeof parts)[number],
  { account }: RunKey,
  gone: readonly PartRow[],
): OpenedContext[] {
  if (table !== 'openings') return []
  return gone.map(({ context }) => ({ account, context: String(context) }))
}

/** Deletes the stored answers that speak of this run among others. */
async function forgetSharedAnswers(tx: Queries, { account, run_id }: RunKey): Promise<void> {
  await tx.run(
    `DELETE FROM idempotency
     WHERE account = ? AND run_id = '' AND REPLACE(answer, ?, '') <> answer`,
    account,
    runInAnswer(run_id),
  )
}

function accountsOf(runs: readonly RunKey[]): string[] {
  return [...new Set(runs.map(({ account }) => account))]
}
