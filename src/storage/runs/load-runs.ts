import type { DetectorName } from '../../core/detector/contract/detector.ts'
import { readMemory } from '../../core/detector/memory.ts'
import { type Agent, newAgent, newRun } from '../../core/runs/run.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Columns, keyOf, type Row } from '../database/rows.ts'
import { createTable } from '../database/table.ts'
import type { Entry } from './entries.ts'
import { forgetRuns } from './expiry.ts'
import type { KnownAgent, KnownRun, Place } from './known.ts'
import type { RecentRuns } from './run-cache.ts'
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
 * Finds the runs and agents of the entries of requests, new where there are none. The runs are held
 * until the transaction ends; of a run that has expired all is deleted but its own row, and `hasForgotten`
 * says that there was such a run.
 */
export async function findPlaces(
  tx: Queries,
  kind: Database['kind'],
  requests: readonly (readonly Entry[])[],
  recent: RecentRuns,
): Promise<{ places: Place[][]; hasForgotten: boolean }> {
  const { runs, hasForgotten } = await holdRuns(tx, kind, requests.flat(), recent)
  const missing: KnownAgent[] = []
  const places = requests.map((request) =>
    request.map((entry) => {
      const run = runs.get(keyOf(entry.account, entry.request.runId))
      if (run === undefined) throw new Error('an entry whose run was not held')
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

/** The entries' runs by key, and whether what an expired one had was deleted. */
async function holdRuns(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly Entry[],
  recent: RecentRuns,
): Promise<{ runs: Map<string, KnownRun>; hasForgotten: boolean }> {
  const runs = new Map<string, KnownRun>()
  const fresh = new Map<string, RunRow>()
  const remembered = new Map<string, KnownRun>()
  for (const { account, request, detector, now } of entries) {
    const key = keyOf(account, request.runId)
    if (runs.has(key) || fresh.has(key)) continue
    const known = recent.runs.get(key)
    const lives = known !== undefined && known.run.expires > now
    if (lives && recent.isCertain) {
      runs.set(key, known)
      continue
    }
    const row = newRow(account, request.runId, request.detector ?? detector, now)
    fresh.set(key, row)
    if (lives) remembered.set(key, known)
  }
  if (fresh.size === 0) return { runs, hasForgotten: false }
  // In one order on every node, lest two hold what the other waits for.
  const sorted = [...fresh].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = sorted.map(([, row]) => row)
  const missing = sorted.flatMap(([key, row]) => (remembered.has(key) ? [] : [row]))
  const writtenIn = sorted.map(([key]) => remembered.get(key)?.heldIn)
  const { holdRemembered } = tables[kind].runs
  let held = await holdRemembered(tx, rows, missing, writtenIn)
  // On PostgreSQL an expired one can be deleted before it is held; then it is made anew.
  if (held.length < rows.length) held = await holdRemembered(tx, rows, rows, [])
  for (const { account, run_id, held_in, row } of held) {
    const key = keyOf(String(account), String(run_id))
    const run = row === null ? remembered.get(key) : newKnownRun(row as RunRow, held_in)
    if (run !== undefined) runs.set(key, { ...run, heldIn: held_in })
  }
  const expired: RunRow[] = []
  for (const [key, row] of fresh) {
    const found = runs.get(key)
    if (found !== undefined && (found.run.steps === 0 || found.run.expires > row.created)) continue
    if (found !== undefined) expired.push(row)
    runs.set(key, newKnownRun(row, found?.heldIn))
  }
  await forgetRuns(tx, kind, expired)
  return { runs, hasForgotten: expired.length > 0 }
}

function newKnownRun(row: RunRow, heldIn: number | undefined): KnownRun {
  const { account, run_id } = row
  return {
    key: keyOf(account, run_id),
    account,
    run: runOf(row),
    agents: new Map(),
    opened: new Set(),
    isOpenedAll: row.steps === 0,
    heldIn,
  }
}

function newRow(account: string, runId: string, detector: DetectorName, now: number): RunRow {
  return rowOf({ account, run: newRun(runId, detector, now) })
}

function newKnownAgent({ account, run }: KnownRun, agentId: string): KnownAgent {
  const agent = newAgent(agentId, run.detector)
  return { account, runId: run.run_id, agentId, agent, memoryLength: 0 }
}

/** Puts what is stored of agents in the place of new ones. */
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

/** Stores runs and agents as they are now. */
export function saveRuns(
  tx: Queries,
  kind: Database['kind'],
  runs: Iterable<KnownRun>,
  agents: Iterable<KnownAgent>,
): void {
  const { runs: runTable, agents: agentTable } = tables[kind]
  runTable.put(tx, [...runs].map(rowOf))
  agentTable.put(tx, [...agents].map(agentRow))
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
