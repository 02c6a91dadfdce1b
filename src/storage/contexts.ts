import type { EarlierRuns } from '../core/detector/judgment.ts'
import { isSpelled } from '../core/detector/rules.ts'
import { contextOf } from '../core/detector/spelling.ts'
import { wordsOf } from '../core/detector/words.ts'
import type { DriftRequest } from '../core/drift.ts'
import type { Database, Queries } from './database.ts'
import { type Columns, insertRows, joinRows, json, keyOf, type Row } from './rows.ts'
import type { Entry } from './steps.ts'

const contextColumns = {
  account: 'TEXT',
  context: 'TEXT',
  runs: 'BIGINT',
  lowest: 'BIGINT',
} as const satisfies Columns

const openingKey = { account: 'TEXT', run_id: 'TEXT', context: 'TEXT' } as const
const contextKey = { account: 'TEXT', context: 'TEXT' } as const

const statements = { sqlite: statementsFor('sqlite'), postgres: statementsFor('postgres') }

function statementsFor(kind: Database['kind']) {
  return {
    openContexts: `${insertRows(kind, 'openings', openingKey, 'ON CONFLICT (account, run_id, context) DO NOTHING')}
      RETURNING account, run_id, context`,
    readContexts: `SELECT contexts.account, contexts.context, contexts.runs, contexts.lowest
      FROM ${joinRows(kind, 'contexts', contextKey)}`,
    saveContexts: insertRows(
      kind,
      'contexts',
      contextColumns,
      `ON CONFLICT (account, context) DO UPDATE SET runs = contexts.runs + excluded.runs,
         lowest = CASE WHEN excluded.lowest < contexts.lowest THEN excluded.lowest ELSE contexts.lowest END`,
    ),
  }
}

/** What the account's runs made of one context, and what this batch adds to it. */
export interface Context {
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

/** The contexts of a batch, by account and context, with what is known of them; those new to a run are opened. */
export async function openContexts(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly Entry[],
): Promise<Map<string, Context>> {
  const contexts = new Map<string, Context>()
  const openings = new Map<string, object>()
  for (const { account, request } of entries) {
    const context = contextOfRequest(request)
    if (context === null) continue
    openings.set(keyOf(account, request.runId, context), {
      account,
      run_id: request.runId,
      context,
    })
    contexts.set(keyOf(account, context), {
      account,
      context,
      runs: 0,
      lowest: null,
      opening: new Set(),
      addedRuns: 0,
      addedLowest: null,
    })
  }
  if (contexts.size === 0) return contexts
  const opened = await tx.all<{ account: string; run_id: string; context: string }>(
    statements[kind].openContexts,
    json([...openings.values()]),
  )
  for (const { account, run_id, context } of opened) {
    contexts.get(keyOf(account, context))?.opening.add(run_id)
  }
  const known = await tx.all<{ account: string; context: string; runs: number; lowest: number }>(
    statements[kind].readContexts,
    json([...contexts.values()].map(({ account, context }) => ({ account, context }))),
  )
  for (const { account, context, runs, lowest } of known) {
    const entry = contexts.get(keyOf(account, context))
    if (entry !== undefined) Object.assign(entry, { runs, lowest })
  }
  return contexts
}

/** The context of a step, or null for one that has none or cannot be spelled. */
function contextOfRequest({ step }: DriftRequest): string | null {
  return isSpelled(step.goal, step.progress) ? contextOf(wordsOf(step.goal)) : null
}

/** Tells what earlier runs made of the context of a step, and counts the step into it. */
export function visit(
  contexts: ReadonlyMap<string, Context>,
  account: string,
  request: DriftRequest,
): EarlierRuns | null {
  const context = contextOfRequest(request)
  const entry = context === null ? undefined : contexts.get(keyOf(account, context))
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
  contexts: ReadonlyMap<string, Context>,
): Promise<void> {
  const changed = changedContexts(contexts)
  if (changed.length > 0) await tx.run(statements[kind].saveContexts, json(changed))
}

/** The contexts that this batch changes, in one order on every node. */
function changedContexts(contexts: ReadonlyMap<string, Context>): Row<typeof contextColumns>[] {
  return [...contexts]
    .filter(
      ([, { addedRuns, lowest, addedLowest }]) =>
        addedRuns > 0 || lower(lowest, addedLowest) !== lowest,
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { account, context, addedRuns, addedLowest }]) => ({
      account,
      context,
      runs: addedRuns,
      lowest: addedLowest,
    }))
}
