import { isSpelled } from '../../core/detector/rules.ts'
import { contextOf } from '../../core/detector/spelling.ts'
import type { EarlierRuns } from '../../core/detector/step.ts'
import { wordsOf } from '../../core/detector/words/words.ts'
import type { DriftRequest } from '../../core/runs/drift.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Columns, jsonRows, keyOf, type Row } from '../database/rows.ts'
import { createTable } from '../database/table.ts'
import type { Entry } from './entries.ts'
import type { KnownContext, KnownRun, Place } from './known.ts'
import type { RunCache } from './run-cache.ts'

const contextColumns = {
  account: 'TEXT',
  context: 'TEXT',
  runs: 'BIGINT',
  lowest: 'BIGINT',
} as const satisfies Columns

const openingColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  context: 'TEXT',
} as const satisfies Columns

const tables = { sqlite: tablesFor('sqlite'), postgres: tablesFor('postgres') }

function tablesFor(kind: Database['kind']) {
  return {
    openings: createTable(kind, 'openings', ['account', 'run_id', 'context'], openingColumns),
    contexts: createTable(
      kind,
      'contexts',
      ['account', 'context'],
      contextColumns,
      `runs = contexts.runs + excluded.runs,
       lowest = CASE WHEN excluded.lowest < contexts.lowest THEN excluded.lowest ELSE contexts.lowest END`,
    ),
  }
}

/** The contexts of a batch, by request and by key. */
export interface Contexts {
  readonly of: ReadonlyMap<DriftRequest, KnownContext>
  readonly byKey: ReadonlyMap<string, KnownContext>
}

/** Reads the contexts of a batch. */
export async function readContexts(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly Entry[],
  cache: RunCache,
): Promise<Contexts> {
  const of = new Map<DriftRequest, KnownContext>()
  const byKey = new Map<string, KnownContext>()
  const unread: KnownContext[] = []
  for (const { account, request } of entries) {
    const context = contextOfRequest(request)
    if (context === null) continue
    const key = keyOf(account, context)
    let known = byKey.get(key) ?? cache.contexts.get(key)
    if (known === undefined) {
      known = newContext(account, context)
      unread.push(known)
    }
    byKey.set(key, known)
    of.set(request, known)
  }
  const found = unread.length > 0 ? await tables[kind].contexts.find(tx, unread) : []
  for (const { account, context, runs, lowest } of found) {
    const known = byKey.get(keyOf(String(account), String(context)))
    if (known !== undefined) Object.assign(known, { runs, lowest })
  }
  for (const [key, known] of byKey) cache.contexts.set(key, known)
  return { of, byKey }
}

/** Opens the contexts that are new to a run. The runs must be locked. */
export async function openContexts(
  tx: Queries,
  kind: Database['kind'],
  { of }: Contexts,
  places: readonly Place[],
): Promise<void> {
  const unopened = new Map<string, { run: KnownRun; known: KnownContext }>()
  const certain: Opening[] = []
  for (const { entry, run } of places) {
    const known = of.get(entry.request)
    if (known === undefined || run.opened.has(known.context)) continue
    run.opened.add(known.context)
    if (run.isOpenedAll) {
      known.opening.add(run)
      certain.push(openingOf(run, known))
    } else {
      unopened.set(keyOf(run.key, known.context), { run, known })
    }
  }
  const { openings } = tables[kind]
  openings.insert(tx, certain)
  if (unopened.size === 0) return
  const rows = [...unopened.values()].map(({ run, known }) => openingOf(run, known))
  for (const { account, run_id, context } of await openings.insertMissing(tx, rows)) {
    const opened = unopened.get(keyOf(String(account), String(run_id), String(context)))
    opened?.known.opening.add(opened.run)
  }
}

type Opening = Row<typeof openingColumns>

function openingOf({ account, run }: KnownRun, { context }: KnownContext): Opening {
  return { account, run_id: run.run_id, context }
}

function newContext(account: string, context: string): KnownContext {
  return {
    account,
    context,
    runs: 0,
    lowest: null,
    opening: new Set(),
    addedRuns: 0,
    addedLowest: null,
  }
}

/** The context of a step, or null if the step has no context or cannot be spelled. */
function contextOfRequest({ step }: DriftRequest): string | null {
  return isSpelled(step.goal, step.progress) ? contextOf(wordsOf(step.goal)) : null
}

/** Returns the totals of earlier runs in the context of a step, and adds the step to them. */
export function visit({ of }: Contexts, { entry, run }: Place): EarlierRuns | null {
  const known = of.get(entry.request)
  if (known === undefined) return null
  const opens = known.opening.delete(run)
  const runs = known.runs + known.addedRuns - (opens ? 0 : 1)
  const lowest = lower(known.lowest, known.addedLowest)
  if (opens) known.addedRuns++
  known.addedLowest = lower(known.addedLowest, entry.request.step.distance)
  return runs > 0 ? { runs, lowest } : null
}

function lower(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

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
  tables[kind].contexts.upsert(tx, rows)
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

/** Stores the changes of a batch to its contexts. */
export function saveContexts(tx: Queries, kind: Database['kind'], { byKey }: Contexts): void {
  const changed = [...byKey].filter(
    ([, { addedRuns, lowest, addedLowest }]) =>
      addedRuns > 0 || lower(lowest, addedLowest) !== lowest,
  )
  // A fixed order on every node prevents deadlocks.
  changed.sort(([a], [b]) => (a < b ? -1 : 1))
  tables[kind].contexts.upsert(
    tx,
    changed.map(([, { account, context, addedRuns, addedLowest }]) => ({
      account,
      context,
      runs: addedRuns,
      lowest: addedLowest,
    })),
  )
  for (const known of byKey.values()) {
    known.runs += known.addedRuns
    known.lowest = lower(known.lowest, known.addedLowest)
    known.addedRuns = 0
    known.addedLowest = null
  }
}
