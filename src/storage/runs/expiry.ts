import { forgetIdleOutboxes, lockOutbox } from '../alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import { runInAnswer } from '../database/idempotency.ts'
import { closeContexts, type OpenedContext } from './contexts.ts'

const runsPerCall = 50

/** The tables with rows of a run, a condition `of` those rows, and the columns that order them. */
const parts = [
  { table: 'steps', of: '', order: 'step' },
  { table: 'openings', of: '', order: 'context' },
  { table: 'alarms', of: '', order: 'step' },
  { table: 'labels', of: '', order: 'step, seq' },
  { table: 'grounds', of: '', order: 'agent_id, revision' },
  { table: 'agents', of: '', order: 'agent_id' },
  { table: 'alert_events', of: '', order: 'seq' },
  { table: 'evaluation_results', of: '', order: 'step' },
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

/** The `expires` of a run that its account has deleted. */
export const deletedAt = 0

/**
 * Deletes the dependent rows of runs that this transaction has locked, and keeps the rows of the runs. It
 * lowers the counts of their contexts, so a transaction that has read contexts must read them again.
 */
export async function forgetRuns(
  tx: Queries,
  kind: Database['kind'],
  runs: readonly RunKey[],
): Promise<void> {
  if (runs.length === 0) return
  await lockOutbox(tx, kind, accountsOf(runs))
  const closed: OpenedContext[] = []
  for (const run of runs) {
    for (const part of parts) closed.push(...closedBy(part, run, await deletePart(tx, part, run)))
    await forgetSharedAnswers(tx, run)
  }
  await closeContexts(tx, kind, closed)
}

/**
 * Deletes about `maxRows` rows of runs that expired at `now` or before, in one transaction, longest
 * expired first. Returns whether there may be more. A long run takes several calls; its own row is deleted
 * last, so that the next call finds the rest. Runs that another transaction has locked are skipped,
 * because a step may be reviving them.
 */
export async function deleteExpiredRuns(
  tx: Queries,
  kind: Database['kind'],
  now: number,
  maxRows: number,
): Promise<boolean> {
  const runs = await tx.all<ExpiredRun>(
    `SELECT account, run_id, expires FROM runs WHERE expires <= ? ORDER BY expires LIMIT ${runsPerCall}
     ${kind === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''}`,
    now,
  )
  if (runs.length === 0) return false
  await lockOutbox(tx, kind, accountsOf(runs))
  const closed: OpenedContext[] = []
  const more = await deleteRuns(tx, runs, maxRows, closed)
  await closeContexts(tx, kind, closed)
  await forgetIdleOutboxes(tx, kind, accountsOf(runs))
  return more
}

/**
 * Deletes about `maxRows` rows of runs, appends the contexts that they had opened to `closed`, and returns
 * whether there may be more.
 */
async function deleteRuns(
  tx: Queries,
  runs: readonly ExpiredRun[],
  maxRows: number,
  closed: OpenedContext[],
): Promise<boolean> {
  let deleted = 0
  for (const run of runs) {
    for (const part of parts) {
      const deletedRows = await deletePart(tx, part, run, maxRows - deleted)
      closed.push(...closedBy(part, run, deletedRows))
      deleted += deletedRows.length
      if (deleted >= maxRows) return true
    }
    const { account, run_id, expires } = run
    // Answers are kept for a day and runs for at least a day, so only a deleted run can still have
    // answers.
    if (expires === deletedAt) await forgetSharedAnswers(tx, run)
    deleted += await tx.run('DELETE FROM runs WHERE account = ? AND run_id = ?', account, run_id)
  }
  return runs.length === runsPerCall
}

type PartRow = Record<string, string | number>

/**
 * Deletes the first `limit` rows of a run in one table, or all rows without a limit, and returns their
 * order columns.
 */
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

/** The contexts that the deleted rows of a table had opened. */
function closedBy(
  { table }: (typeof parts)[number],
  { account }: RunKey,
  deletedRows: readonly PartRow[],
): OpenedContext[] {
  if (table !== 'openings') return []
  return deletedRows.map(({ context }) => ({ account, context: String(context) }))
}

/** Deletes the stored answers that name this run and other runs. */
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
