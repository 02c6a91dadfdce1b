import type { EarlierRuns } from '../core/detector/judgment.ts'
import { isSpelled } from '../core/detector/rules.ts'
import { contextOf } from '../core/detector/spelling.ts'
import { wordsOf } from '../core/detector/words.ts'
import type { DriftRequest } from '../core/drift.ts'
import type { Database, Queries } from './database.ts'
import { type Columns, keyOf, type Row } from './rows.ts'
import type { Entry } from './steps.ts'
import { createTable } from './table.ts'

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

/** What the account's runs made of one context, and what this batch adds to it. */
interface Context {
  account: string
  context: string
  runs: number
  /** 0–10, or null before any run opened it. */
  lowest: number | null
  /** Runs of this batch that open it now. */
  opening: Set<string>
  addedRuns: number
  addedLowest: number | null
}

/** The contexts of a batch: of each request that has one, and each once. */
export interface Contexts {
  readonly of: ReadonlyMap<DriftRequest, Context>
  readonly all: readonly Context[]
}

/** The contexts of a batch with what is known of them; those that are new to a run are opened. */
export async function openContexts(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly Entry[],
): Promise<Contexts> {
  const { openings, contexts } = tables[kind]
  const of = new Map<DriftRequest, Context>()
  const byKey = new Map<string, Context>()
  const opening = new Map<string, Row<typeof openingColumns>>()
  for (const { account, request } of entries) {
    const context = contextOfRequest(request)
    if (context === null) continue
    const key = keyOf(account, context)
    const entry = byKey.get(key) ?? newContext(account, context)
    byKey.set(key, entry)
    of.set(request, entry)
    const { runId } = request
    opening.set(keyOf(account, runId, context), { account, run_id: runId, context })
  }
  // In one order on every node, lest two wait for each other.
  const all = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, context]) => context)
  if (all.length === 0) return { of, all }
  for (const { account, run_id, context } of await openings.addMissing(tx, [...opening.values()])) {
    byKey.get(keyOf(String(account), String(context)))?.opening.add(String(run_id))
  }
  for (const { account, context, runs, lowest } of await contexts.find(tx, all)) {
    const entry = byKey.get(keyOf(String(account), String(context)))
    if (entry !== undefined) Object.assign(entry, { runs, lowest })
  }
  return { of, all }
}

function newContext(account: string, context: string): Context {
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

/** The context of a step, or null for one that has none or cannot be spelled. */
function contextOfRequest({ step }: DriftRequest): string | null {
  return isSpelled(step.goal, step.progress) ? contextOf(wordsOf(step.goal)) : null
}

/** Tells what earlier runs made of the context of a step, and counts the step into it. */
export function visit({ of }: Contexts, request: DriftRequest): EarlierRuns | null {
  const entry = of.get(request)
  if (entry === undefined) return null
  const { runId, step } = request
  const opens = entry.opening.delete(runId)
  const runs = entry.runs + entry.addedRuns - (opens ? 0 : 1)
  const lowest = lower(entry.lowest, entry.addedLowest)
  if (opens) entry.addedRuns++
  entry.addedLowest = lower(entry.addedLowest, step.distance)
  return runs > 0 ? { runs, lowest } : null
}

function lower(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

/** Stores what a batch added to its contexts. */
export async function saveContexts(
  tx: Queries,
  kind: Database['kind'],
  { all }: Contexts,
): Promise<void> {
  const changed = all.filter(
    ({ addedRuns, lowest, addedLowest }) => addedRuns > 0 || lower(lowest, addedLowest) !== lowest,
  )
  await tables[kind].contexts.put(
    tx,
    changed.map(({ account, context, addedRuns, addedLowest }) => ({
      account,
      context,
      runs: addedRuns,
      lowest: addedLowest,
    })),
  )
}
