import type { DetectorName } from '../../core/detector/contract/detector.ts'
import { readMemory } from '../../core/detector/memory.ts'
import { type Agent, newAgent, newRun } from '../../core/runs/run.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Columns, keyOf, type Row } from '../database/rows.ts'
import { createTable } from '../database/table.ts'
import type { Entry } from './entries.ts'
import { forgetRuns } from './expiry.ts'
import type { KnownAgent, KnownRun, Place } from './known.ts'
import type { RunCache } from './run-cache.ts'
import { type RunRow, rowOf, runColumns, runOf } from './run-rows.ts'

const agentColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  agent_id: 'TEXT',
  memory: 'TEXT',
  steps: 'BIGINT',
  drifting: 'BIGINT',
  last_reason: 'TEXT',
} as const satisfies Columns

const tables = { sqlite: tablesFor('sqlite'), postgres: tablesFor('postgres') }

function tablesFor(kind: Database['kind']) {
  return {
    runs: createTable(kind, 'runs', ['account', 'run_id'], runColumns),
    agents: createTable(kind, 'agents', ['account', 'run_id', 'agent_id'], agentColumns),
  }
}

/**
 * Loads the runs and agents of requests, or creates them. The runs stay locked until the transaction ends.
 * The dependent rows of an expired run are deleted; `hasForgotten` says whether there was such a run.
 */
export async function findPlaces(
  tx: Queries,
  kind: Database['kind'],
  requests: readonly (readonly Entry[])[],
  cache: RunCache,
): Promise<{ places: Place[][]; hasForgotten: boolean }> {
  const { runs, hasForgotten } = await lockRuns(tx, kind, requests.flat(), cache)
  const missing: KnownAgent[] = []
  const places = requests.map((request) =>
    request.map((entry) => {
      const run = runs.get(keyOf(entry.account, entry.request.runId))
      if (run === undefined) throw new Error('an entry whose run was not locked')
      const { agentId } = entry.request
      let agent = run.agents.get(agentId)
      if (agent === undefined) {
        agent = newKnownAgent(run, agentId)
        run.agents.set(agentId, agent)
        if (run.run.steps > 0) missing.push(agent)
      }
      return { entry, run, agent }
    }),
  )
  await readAgents(tx, kind, missing)
  return { places, hasForgotten }
}

/** Locks and returns the runs of entries by key; `hasForgotten` as in `findPlaces`. */
async function lockRuns(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly Entry[],
  cache: RunCache,
): Promise<{ runs: Map<string, KnownRun>; hasForgotten: boolean }> {
  const runs = new Map<string, KnownRun>()
  const fresh = new Map<string, RunRow>()
  const cached = new Map<string, KnownRun>()
  for (const { account, request, detector, now } of entries) {
    const key = keyOf(account, request.runId)
    if (runs.has(key) || fresh.has(key)) continue
    const known = cache.runs.get(key)
    const isAlive = known !== undefined && known.run.expires > now
    if (isAlive && cache.isTrusted) {
      runs.set(key, known)
      continue
    }
    const row = newRow(account, request.runId, request.detector ?? detector, now)
    fresh.set(key, row)
    if (isAlive) cached.set(key, known)
  }
  if (fresh.size === 0) return { runs, hasForgotten: false }
  // A fixed order on every node prevents deadlocks.
  const sorted = [...fresh].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = sorted.map(([, row]) => row)
  const missing = sorted.flatMap(([key, row]) => (cached.has(key) ? [] : [row]))
  const writtenIn = sorted.map(([key]) => cached.get(key)?.lockedIn)
  const { lockCached } = tables[kind].runs
  let locked = await lockCached(tx, rows, missing, writtenIn)
  // On PostgreSQL an expired row can be deleted between the insert and the lock; the second call inserts
  // it.
  if (locked.length < rows.length) locked = await lockCached(tx, rows, rows, [])
  for (const { account, run_id, locked_in, row } of locked) {
    const key = keyOf(String(account), String(run_id))
    const run = row === null ? cached.get(key) : newKnownRun(row as RunRow, locked_in)
    if (run !== undefined) runs.set(key, { ...run, lockedIn: locked_in })
  }
  const expired: RunRow[] = []
  for (const [key, row] of fresh) {
    const found = runs.get(key)
    if (found !== undefined && (found.run.steps === 0 || found.run.expires > row.created)) continue
    if (found !== undefined) expired.push(row)
    runs.set(key, newKnownRun(row, found?.lockedIn))
  }
  await forgetRuns(tx, kind, expired)
  return { runs, hasForgotten: expired.length > 0 }
}

function newKnownRun(row: RunRow, lockedIn: number | undefined): KnownRun {
  const { account, run_id } = row
  return {
    key: keyOf(account, run_id),
    account,
    run: runOf(row),
    agents: new Map(),
    opened: new Set(),
    isOpenedAll: row.steps === 0,
    lockedIn,
  }
}

function newRow(account: string, runId: string, detector: DetectorName, now: number): RunRow {
  return rowOf({ account, run: newRun(runId, detector, now) })
}

function newKnownAgent({ account, run }: KnownRun, agentId: string): KnownAgent {
  const agent = newAgent(agentId, run.detector)
  return { account, runId: run.run_id, agentId, agent, memoryLength: 0 }
}

/** Replaces new agents by their stored state. */
async function readAgents(
  tx: Queries,
  kind: Database['kind'],
  agents: readonly KnownAgent[],
): Promise<void> {
  if (agents.length === 0) return
  const byKey = new Map(
    agents.map((agent) => [keyOf(agent.account, agent.runId, agent.agentId), agent]),
  )
  const keys = agents.map(({ account, runId, agentId }) => ({
    account,
    run_id: runId,
    agent_id: agentId,
  }))
  for (const row of await tables[kind].agents.find(tx, keys)) {
    const known = byKey.get(keyOf(String(row.account), String(row.run_id), String(row.agent_id)))
    if (known !== undefined) known.agent = agentOf(row)
  }
}

function agentOf(row: Row<typeof agentColumns>): Agent | 'damaged' {
  const memory = readMemory(String(row.memory))
  if (memory === null) return 'damaged'
  return {
    agent_id: String(row.agent_id),
    memory,
    steps: Number(row.steps),
    drifting: row.drifting === 1,
    last_reason: row.last_reason === null ? null : String(row.last_reason),
  }
}

/** Stores the current state of runs and agents. */
export function saveRuns(
  tx: Queries,
  kind: Database['kind'],
  runs: Iterable<KnownRun>,
  agents: Iterable<KnownAgent>,
): void {
  const { runs: runTable, agents: agentTable } = tables[kind]
  runTable.upsert(tx, [...runs].map(rowOf))
  agentTable.upsert(tx, [...agents].map(agentRow))
}

function agentRow(known: KnownAgent): Row<typeof agentColumns> {
  const { account, runId, agentId, agent } = known
  if (agent === 'damaged') throw new Error('a damaged agent is to be stored')
  const memory = JSON.stringify(agent.memory)
  known.memoryLength = memory.length
  return {
    account,
    run_id: runId,
    agent_id: agentId,
    memory,
    steps: agent.steps,
    drifting: agent.drifting ? 1 : 0,
    last_reason: agent.last_reason,
  }
}
