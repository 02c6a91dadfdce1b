import { keyOf } from '../../core/text.ts'
import { arrayRows, columnArrays } from '../database/column-arrays.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Columns, jsonRows } from '../database/rows.ts'
import { runTables } from './tables.ts'

const enteredColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  context: 'TEXT',
} as const satisfies Columns

/** A context that a run enters. */
export type EnteredContext = Record<keyof typeof enteredColumns, string>

/** The totals of an entered context; `opened` is 1 if the run has opened it before. */
interface FoundContext extends EnteredContext {
  runs: number
  lowest: number
  opened: 0 | 1
}

/** Finds the totals of contexts, and which of them their runs have opened. New contexts are left out. */
export async function findContexts(
  tx: Queries,
  kind: Database['kind'],
  entered: readonly EnteredContext[],
): Promise<FoundContext[]> {
  if (entered.length === 0) return []
  if (kind === 'postgres') {
    return tx.all<FoundContext>(findAll, ...columnArrays(enteredColumns, entered))
  }
  const found = await Promise.all(
    entered.map(({ account, run_id, context }) =>
      tx.get<FoundContext>(findOne, account, run_id, context),
    ),
  )
  return found.filter((row) => row !== undefined)
}

const isContext = 'contexts.account = rows.account AND contexts.context = rows.context'
const isOpening = `openings.account = rows.account AND openings.run_id = rows.run_id
  AND openings.context = rows.context`
const columns = `rows.account, rows.run_id, rows.context, contexts.runs, contexts.lowest,
  CASE WHEN openings.context IS NULL THEN 0 ELSE 1 END AS opened`

const findOne = `SELECT ${columns} FROM (SELECT ? AS account, ? AS run_id, ? AS context) AS rows
  JOIN contexts ON ${isContext} LEFT JOIN openings ON ${isOpening}`

// A lateral join looks up each key through the index; a plain join can scan a whole table.
const findAll = `SELECT ${columns} FROM ${arrayRows(enteredColumns)}
  CROSS JOIN LATERAL (SELECT runs, lowest FROM contexts WHERE ${isContext} OFFSET 0) AS contexts
  LEFT JOIN LATERAL (SELECT context FROM openings WHERE ${isOpening} OFFSET 0) AS openings ON true`

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
