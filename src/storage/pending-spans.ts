import type { SpanNote } from '../core/telemetry/trace.ts'
import type { Database, Queries } from './database/database.ts'
import { type Columns, jsonRows, type Row } from './database/rows.ts'
import { createTable } from './database/table.ts'

/** The spans of a trace that wait: when the first and the last arrived, milliseconds since 1970. */
export interface PendingTrace {
  first: number
  last: number
}

/** The spans of accounts until their traces are folded. Call every method that writes in a transaction. */
export interface PendingSpans {
  /** Counts the spans of an account. */
  count(account: string): Promise<number>
  /** Finds out which of these traces have spans here. */
  known(account: string, traceIds: readonly string[]): Promise<Set<string>>
  /** Adds spans, each once in the list; one that is here already is replaced. */
  add(account: string, notes: readonly SpanNote[], now: number): Promise<void>
  /** When the spans of a trace arrived; null if none wait. */
  times(account: string, traceId: string): Promise<PendingTrace | null>
  /** Reads at most `limit` spans of a trace. */
  of(account: string, traceId: string, limit: number): Promise<SpanNote[]>
  remove(account: string, notes: readonly SpanNote[]): Promise<void>
  /** Deletes at most `limit` spans that arrived at `before` or earlier, and returns their number. */
  expire(before: number, limit: number): Promise<number>
}

/** Creates the spans on a database or a transaction. */
export function createPendingSpans(db: Queries, kind: Database['kind']): PendingSpans {
  return {
    async count(account) {
      const row = await db.get<{ count: number }>(
        'SELECT COUNT(*) AS count FROM pending_spans WHERE account = ?',
        account,
      )
      return row?.count ?? 0
    },
    async known(account, traceIds) {
      if (traceIds.length === 0) return new Set()
      const rows = await db.all<{ trace_id: string }>(
        `SELECT DISTINCT trace_id FROM pending_spans WHERE account = ?
         AND trace_id IN (SELECT rows.trace_id FROM ${jsonRows(kind, { trace_id: 'TEXT' })})`,
        account,
        JSON.stringify(traceIds.map((trace_id) => ({ trace_id }))),
      )
      return new Set(rows.map(({ trace_id }) => trace_id))
    },
    async add(account, notes, now) {
      const rows = notes.map((note) => ({
        ...keyOf(account, note),
        received: now,
        note: JSON.stringify(note),
      }))
      // A fixed order prevents deadlocks with the same spans in another request.
      rows.sort((a, b) => (`${a.trace_id} ${a.span_id}` < `${b.trace_id} ${b.span_id}` ? -1 : 1))
      await tables[kind].upsert(db, rows)
    },
    async times(account, traceId) {
      const row = await db.get<{ first: number | null; last: number | null }>(
        `SELECT MIN(received) AS first, MAX(received) AS last FROM pending_spans
         WHERE account = ? AND trace_id = ?`,
        account,
        traceId,
      )
      const { first = null, last = null } = row ?? {}
      return first === null || last === null ? null : { first, last }
    },
    async of(account, traceId, limit) {
      const rows = await db.all<{ note: string }>(
        `SELECT note FROM pending_spans WHERE account = ? AND trace_id = ?
         ORDER BY received, span_id LIMIT ?`,
        account,
        traceId,
        limit,
      )
      return rows.map(({ note }) => JSON.parse(note) as SpanNote)
    },
    async remove(account, notes) {
      const rows = JSON.stringify(notes.map((note) => keyOf(account, note)))
      await db.run(
        `DELETE FROM pending_spans WHERE (account, trace_id, span_id) IN (
           SELECT rows.account, rows.trace_id, rows.span_id FROM ${jsonRows(kind, key)}
         )`,
        rows,
      )
    },
    expire: (before, limit) =>
      db.run(
        `DELETE FROM pending_spans WHERE (account, trace_id, span_id) IN (
           SELECT account, trace_id, span_id FROM pending_spans WHERE received <= ? LIMIT ?
         )`,
        before,
        limit,
      ),
  }
}

const key = { account: 'TEXT', trace_id: 'TEXT', span_id: 'TEXT' } as const satisfies Columns
const columns = { ...key, received: 'BIGINT', note: 'TEXT' } as const satisfies Columns
const names = ['account', 'trace_id', 'span_id'] as const
const tables = {
  sqlite: createTable('sqlite', 'pending_spans', names, columns),
  postgres: createTable('postgres', 'pending_spans', names, columns),
}

function keyOf(account: string, { traceId, spanId }: SpanNote): Row<typeof key> {
  return { account, trace_id: traceId, span_id: spanId }
}
