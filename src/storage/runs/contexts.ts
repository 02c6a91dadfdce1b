import { keyOf } from '../../core/text.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Columns, jsonRows } from '../database/rows.ts'
import { runTables } from './tables.ts'

/** A context that a deleted run had opened. */
export interface OpenedContext {
  account: string
  context: string
}

/**
 * Subtracts deleted runs from the contexts that they had opened, and deletes contexts without a run. The
 * lowest distance stays while any run that opened the context is kept. The transaction must have locked
 * the runs; like the logging of steps, it locks contexts after outboxes.
 */
export async function closeContexts(
  tx: Queries,
  kind: Database['kind'],
  closed: readonly OpenedContext[],
): Promise<void> {
  if (closed.length === 0) return
  const byKey = Map.groupBy(closed, ({ account, context }) => keyOf(account, context))
  // A fixed order on every node prevents deadlocks.
  const keys = [...byKey.keys()].sort()
  const rows = keys.flatMap((key) => {
    const opened = byKey.get(key) ?? []
    return opened.slice(0, 1).map((row) => ({ ...row, runs: -opened.length, lowest: highest }))
  })
  runTables[kind].contexts.upsert(tx, rows)
  await tx.run(
    `DELETE FROM contexts WHERE runs <= 0 AND (account, context) IN (
       SELECT rows.account, rows.context FROM ${jsonRows(kind, openedColumns)}
     )`,
    JSON.stringify(rows.map(({ account, context }) => ({ account, context }))),
  )
}

/** A distance that is never the lowest. */
const highest = 10
const openedColumns = { account: 'TEXT', context: 'TEXT' } as const satisfies Columns
