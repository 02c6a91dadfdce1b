import type { DetectorName } from '../../core/detector/contract/detector.ts'
import { isKeyless } from '../../core/keyless.ts'
import { isAstray } from '../../core/runs/agent-totals.ts'
import type { ContextTotals, Loaded } from '../../core/runs/batch.ts'
import type { ReadEntry } from '../../core/runs/entry.ts'
import { type Agent, newRun, type Run } from '../../core/runs/run.ts'
import { keyOf } from '../../core/text.ts'
import { findHeldAgents, lockBudgets } from '../alerts/budgets.ts'
import { findOpenIncidents } from '../alerts/incidents.ts'
import { findConfigs } from '../alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import { type EnteredContext, findContexts } from './contexts.ts'
import { forgetRuns } from './expiry.ts'
import { agentOf, type RunRow, runOf, runRow, runTables } from './tables.ts'

/** The rows that entries need, by the keys of `ReadEntry`. */
interface Wanted {
  /** The runs, with the detector and the time that each has if it begins now. */
  readonly runs: Map<
    string,
    { account: string; run_id: string; detector: DetectorName; now: number }
  >
  readonly agents: Map<string, { account: string; run_id: string; agent_id: string }>
  /** The contexts that runs enter, by the key of their opening. */
  readonly contexts: Map<string, EnteredContext>
  /** The accounts that can have alerts. */
  readonly accounts: Set<string>
}

/** Lists the rows that entries need, each once. */
function wantedBy(entries: readonly ReadEntry[]): Wanted {
  const wanted: Wanted = {
    runs: new Map(),
    agents: new Map(),
    contexts: new Map(),
    accounts: new Set(),
  }
  for (const { account, request, detector, now, context, keys } of entries) {
    const { runId: run_id, agentId: agent_id } = request
    if (!wanted.runs.has(keys.run)) {
      wanted.runs.set(keys.run, { account, run_id, detector: request.detector ?? detector, now })
    }
    wanted.agents.set(keys.agent, { account, run_id, agent_id })
    if (!isKeyless(account)) wanted.accounts.add(account)
    if (context === null || keys.opening === null) continue
    wanted.contexts.set(keys.opening, { account, run_id, context })
  }
  return wanted
}

/** The rows that were found. */
interface Found extends Omit<Loaded, 'incidents' | 'heldAgents'> {
  readonly runs: Map<string, Run>
  readonly agents: Map<string, Agent | 'damaged'>
  readonly contexts: Map<string, ContextTotals>
  readonly openings: Set<string>
  /** Whether an expired run was forgotten, so that what was known of its rows before is wrong. */
  readonly hasForgotten: boolean
}

/** Finds wanted rows, and locks the runs among them. */
export type Find = (tx: Queries, wanted: Wanted) => Promise<Found>

/**
 * Loads the stored state that entries need. The runs stay locked until the transaction ends, so that each
 * run has one writer on all nodes.
 */
export async function load(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly ReadEntry[],
  find: Find,
): Promise<Loaded> {
  const wanted = wantedBy(entries)
  const found = await find(tx, wanted)
  // Only an agent that left its errand and is not back can have an open incident.
  const offErrand = [...wanted.agents].flatMap(([key, row]) => {
    const agent = found.agents.get(key)
    if (agent === undefined || agent === 'damaged' || isKeyless(row.account)) return []
    return isAstray(agent) ? [{ ...row, dialogue: false }] : []
  })
  const [incidents, heldAgents] = await Promise.all([
    findOpenIncidents(tx, kind, offErrand),
    findHeldAgents(
      tx,
      kind,
      offErrand.filter(({ account }) => found.budgets.has(account)),
    ),
  ])
  return { ...found, incidents, heldAgents }
}

/**
 * Finds rows in the database. The queries leave together, so that PostgreSQL is asked once. The dependent
 * rows of an expired run are deleted.
 */
export async function findRows(
  tx: Queries,
  kind: Database['kind'],
  wanted: Wanted,
  forgotten: ReadonlySet<string> = new Set(),
): Promise<Found> {
  const tables = runTables[kind]
  // A fixed order on every node prevents deadlocks.
  const sorted = [...wanted.runs].sort(([a], [b]) => (a < b ? -1 : 1))
  const [runRows, agentRows, contextRows, configs, budgets] = await Promise.all([
    tables.runs.lock(
      tx,
      sorted.map(([, run]) => run),
    ),
    tables.agents.find(tx, [...wanted.agents.values()]),
    findContexts(tx, kind, [...wanted.contexts.values()]),
    findConfigs(tx, kind, [...wanted.accounts]),
    lockBudgets(tx, kind, [...wanted.accounts]),
  ])
  // On PostgreSQL a missing run is inserted first, because another node could insert it meanwhile. Then all
  // is read again, because another node may have done so.
  if (kind === 'postgres' && runRows.length < sorted.length) {
    const locked = new Set(runRows.map((row) => keyIn(row, 'run_id')))
    const missing = sorted.filter(([key]) => !locked.has(key))
    await tables.runs.insertMissing(
      tx,
      missing.map(([, { account, run_id, detector, now }]) =>
        runRow({ account, run: newRun(run_id, detector, now) }),
      ),
    )
    return findRows(tx, kind, wanted, forgotten)
  }
  const runs = new Map<string, Run>()
  const expired = new Map<string, RunRow>()
  for (const row of runRows as unknown as RunRow[]) {
    const key = keyOf(row.account, row.run_id)
    const now = wanted.runs.get(key)?.now ?? 0
    if (row.steps === 0 || forgotten.has(key)) continue
    if (row.expires > now) runs.set(key, runOf(row))
    else expired.set(key, row)
  }
  if (expired.size > 0) {
    await forgetRuns(tx, kind, [...expired.values()])
    // Their agents are gone, and their contexts count them no more.
    return findRows(tx, kind, wanted, new Set([...forgotten, ...expired.keys()]))
  }
  return {
    runs,
    agents: new Map(agentRows.map((row) => [keyIn(row, 'run_id', 'agent_id'), agentOf(row)])),
    contexts: new Map(
      contextRows.map((row) => [keyIn(row, 'context'), { runs: row.runs, lowest: row.lowest }]),
    ),
    openings: new Set(
      contextRows.flatMap((row) => (row.opened === 1 ? keyIn(row, 'run_id', 'context') : [])),
    ),
    configs,
    budgets,
    hasForgotten: forgotten.size > 0,
  }
}

/** The key of a row, as `ReadEntry` spells it. */
function keyIn<Name extends string>(
  row: Readonly<Record<'account' | Name, unknown>>,
  ...names: Name[]
): string {
  return keyOf(String(row.account), ...names.map((name) => String(row[name])))
}
