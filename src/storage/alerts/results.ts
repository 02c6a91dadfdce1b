import type { EvaluationResult, PlacedResult } from '../../core/runs/evaluation-result.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Columns, jsonRows, type Row } from '../database/rows.ts'
import { createTable } from '../database/table.ts'

/** A result that waits for the collector. */
export interface WaitingResult extends PlacedResult {
  /** Attempts to send it. */
  tries: number
  /** The length of what is stored of it. */
  characters: number
}

/**
 * The outbox of evaluation results: those that wait, and those that were given up. What the collector has taken is
 * deleted. Call every method that writes in a transaction.
 */
export interface Results {
  /** Reads the oldest results that wait. */
  next(limit: number): Promise<WaitingResult[]>
  /** The latest time at which a failed result is due again, milliseconds since 1970; null if none waits after a failure. */
  heldUntil(): Promise<number | null>
  /** Deletes what the collector has taken. */
  taken(results: readonly PlacedResult[]): Promise<void>
  /** Counts a failed attempt; the results wait until `due`. */
  postpone(results: readonly PlacedResult[], due: number, detail: string): Promise<void>
  giveUp(results: readonly PlacedResult[], detail: string): Promise<void>
  /** Gives up the results from `before` or earlier, and returns their number. */
  giveUpBefore(before: number, detail: string): Promise<number>
  /** The time of the newest waiting result beyond the `kept` newest ones; null if no more than `kept` wait. */
  behind(kept: number): Promise<number | null>
  count(): Promise<{ waiting: number; failed: number; detail: string | null }>
  /** Deletes at most `limit` results from `before` or earlier, and returns their number. */
  expire(before: number, limit: number): Promise<number>
}

/** Stores results, which wait from now on. The runs must be locked; need not be awaited. */
export function saveResults(
  tx: Queries,
  kind: Database['kind'],
  results: readonly PlacedResult[],
): void {
  tables[kind].upsert(
    tx,
    results.map(({ account, runId, step, result }) => ({
      account,
      run_id: runId,
      step,
      at: result.at,
      result: JSON.stringify(result),
      state: 'waiting',
      tries: 0,
      due: result.at,
      detail: null,
    })),
  )
}

/** Creates the results on a database or a transaction. */
export function createResults(db: Queries, kind: Database['kind']): Results {
  const among = `(account, run_id, step, at) IN (
    SELECT rows.account, rows.run_id, rows.step, rows.at FROM ${jsonRows(kind, place)}
  )`
  const lockAmong = `SELECT step FROM evaluation_results WHERE ${among}
    ORDER BY account, run_id, step FOR UPDATE`

  /** Runs a statement that ends with the places of the results. */
  async function change(
    sql: string,
    values: readonly (string | number)[],
    results: readonly PlacedResult[],
  ): Promise<void> {
    const places = JSON.stringify(results.map(placeOf))
    // The deletion of a run locks the same rows in the same order; SQLite has one writer.
    if (kind === 'postgres') await db.all(lockAmong, places)
    await db.run(`${sql} ${among}`, ...values, places)
  }

  return {
    async next(limit) {
      const rows = await db.all<StoredResult>(
        `SELECT account, run_id, step, result, tries FROM evaluation_results
         WHERE state = 'waiting' ORDER BY at, account, run_id, step LIMIT ?`,
        limit,
      )
      return rows.map(({ account, run_id, step, result, tries }) => ({
        account,
        runId: run_id,
        step,
        tries,
        characters: result.length,
        result: JSON.parse(result) as EvaluationResult,
      }))
    },
    async heldUntil() {
      const row = await db.get<{ due: number | null }>(
        `SELECT MAX(due) AS due FROM evaluation_results WHERE state = 'waiting' AND tries > 0`,
      )
      return row?.due ?? null
    },
    taken: (results) => change('DELETE FROM evaluation_results WHERE', [], results),
    postpone: (results, due, detail) =>
      change(
        'UPDATE evaluation_results SET tries = tries + 1, due = ?, detail = ? WHERE',
        [due, detail],
        results,
      ),
    giveUp: (results, detail) =>
      change(
        `UPDATE evaluation_results SET tries = tries + 1, state = 'failed', detail = ? WHERE`,
        [detail],
        results,
      ),
    giveUpBefore: (before, detail) =>
      db.run(
        `UPDATE evaluation_results SET state = 'failed', detail = ?
         WHERE state = 'waiting' AND at <= ?`,
        detail,
        before,
      ),
    async behind(kept) {
      const row = await db.get<{ at: number }>(
        `SELECT at FROM evaluation_results WHERE state = 'waiting'
         ORDER BY at DESC LIMIT 1 OFFSET ?`,
        kept,
      )
      return row?.at ?? null
    },
    async count() {
      const counts = await db.get<{ waiting: number; failed: number }>(
        `SELECT COUNT(*) FILTER (WHERE state = 'waiting') AS waiting,
           COUNT(*) FILTER (WHERE state = 'failed') AS failed FROM evaluation_results`,
      )
      const newest = await db.get<{ detail: string | null }>(
        `SELECT detail FROM evaluation_results WHERE detail IS NOT NULL ORDER BY at DESC LIMIT 1`,
      )
      return { waiting: 0, failed: 0, ...counts, detail: newest?.detail ?? null }
    },
    expire: (before, limit) =>
      db.run(
        `DELETE FROM evaluation_results WHERE (account, run_id, step) IN (
           SELECT account, run_id, step FROM evaluation_results WHERE at <= ? LIMIT ?
         )`,
        before,
        limit,
      ),
  }
}

/** The key, and the time, because a deleted run may begin again with the same step. */
const place = {
  account: 'TEXT',
  run_id: 'TEXT',
  step: 'BIGINT',
  at: 'BIGINT',
} as const satisfies Columns

const columns = {
  ...place,
  result: 'TEXT',
  state: 'TEXT',
  tries: 'BIGINT',
  due: 'BIGINT',
  detail: 'TEXT',
} as const satisfies Columns

const key = ['account', 'run_id', 'step'] as const
const tables = {
  sqlite: createTable('sqlite', 'evaluation_results', key, columns),
  postgres: createTable('postgres', 'evaluation_results', key, columns),
}

interface StoredResult {
  account: string
  run_id: string
  step: number
  result: string
  tries: number
}

function placeOf({ account, runId, step, result }: PlacedResult): Row<typeof place> {
  return { account, run_id: runId, step, at: result.at }
}
