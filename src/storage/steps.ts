import type { Verdict } from '../core/detector/detect.ts'
import type { DetectorName } from '../core/detector/detectors.ts'
import type { EarlierRuns } from '../core/detector/judgment.ts'
import { readMemory } from '../core/detector/memory.ts'
import type { DriftRequest } from '../core/drift.ts'
import { type Agent, type FrozenGround, logStep, newAgent, newRun, type Run } from '../core/run.ts'
import { type Contexts, openContexts, saveContexts, visit } from './contexts.ts'
import type { Database, Queries } from './database.ts'
import { type Columns, keyOf, type Row } from './rows.ts'
import { type RunRow, rowOf, runColumns, runOf } from './run-rows.ts'
import { createTable } from './table.ts'

/** A step that is to be logged. */
export interface Entry {
  account: string
  request: DriftRequest
  /** The detector of the run if this is its first step. */
  detector: DetectorName
  /** Milliseconds since 1970. */
  now: number
  retentionDays: number
}

/** What became of an entry; `damaged` when the stored state of a run in its request cannot be read. */
export type LoggedStep =
  | {
      run_id: string
      agent_id: string
      step: number
      revision: number
      verdict: Verdict
      earlier: EarlierRuns | null
    }
  | 'damaged'

/**
 * Logs the steps of requests in their order, each run's strictly one after another on all nodes: the
 * rows of the runs are held while their steps are judged. Of a request with a damaged run nothing is
 * logged. Must be called in a transaction; what it writes is durable when that is. The cost of a step
 * does not depend on the length of its run.
 */
export async function logSteps(
  tx: Queries,
  kind: Database['kind'],
  requests: readonly (readonly Entry[])[],
): Promise<LoggedStep[]> {
  const entries = requests.flat()
  const runs = await holdRuns(tx, kind, entries)
  const agents = await readAgents(tx, kind, entries, runs)
  const isDamaged = ({ account, request: { runId, agentId } }: Entry) =>
    agents.get(keyOf(account, runId, agentId)) === 'damaged'
  const damaged = new Set(requests.filter((request) => request.some(isDamaged)).flat())
  const sound = entries.filter((entry) => !damaged.has(entry))
  const contexts = await openContexts(tx, kind, sound)

  const written: Written = { steps: [], grounds: [], runs: new Map(), agents: new Map() }
  const results = entries.map((entry) =>
    damaged.has(entry) ? 'damaged' : logEntry(entry, runs, agents, contexts, written),
  )

  const table = tables[kind]
  await saveContexts(tx, kind, contexts)
  await table.steps.add(tx, written.steps)
  await table.grounds.add(tx, written.grounds)
  // Written as rows only now, because a batch may change the same run many times.
  await table.runs.put(tx, [...written.runs.values()].map(rowOf))
  await table.agents.put(tx, [...written.agents.values()].map(agentRow))
  return results
}

const agentColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  agent_id: 'TEXT',
  memory: 'TEXT',
  steps: 'BIGINT',
  drifting: 'BIGINT',
  last_reason: 'TEXT',
} as const satisfies Columns

const stepColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  step: 'BIGINT',
  ts: 'BIGINT',
  agent_id: 'TEXT',
  goal: 'TEXT',
  parent_goal: 'TEXT',
  progress: 'TEXT',
  distance: 'BIGINT',
  reason: 'TEXT',
  drifting: 'BIGINT',
  phi: 'DOUBLE PRECISION',
  goal_score: 'DOUBLE PRECISION',
  svcscore: 'TEXT',
  context: 'TEXT',
  tokens: 'DOUBLE PRECISION',
  overhead: 'BIGINT',
  judgment: 'TEXT',
} as const satisfies Columns

const groundColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  agent_id: 'TEXT',
  revision: 'BIGINT',
  goal: 'TEXT',
  set_by: 'TEXT',
  at: 'BIGINT',
} as const satisfies Columns

const tables = { sqlite: tablesFor('sqlite'), postgres: tablesFor('postgres') }

function tablesFor(kind: Database['kind']) {
  return {
    runs: createTable(kind, 'runs', ['account', 'run_id'], runColumns),
    agents: createTable(kind, 'agents', ['account', 'run_id', 'agent_id'], agentColumns),
    steps: createTable(kind, 'steps', ['account', 'run_id', 'step'], stepColumns),
    grounds: createTable(
      kind,
      'grounds',
      ['account', 'run_id', 'agent_id', 'revision'],
      groundColumns,
    ),
  }
}

/** The entries' runs, new where there are none, held until the transaction ends. */
async function holdRuns(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly Entry[],
): Promise<Map<string, Run>> {
  const fresh = new Map<string, RunRow>()
  for (const { account, request, detector, now } of entries) {
    const key = keyOf(account, request.runId)
    if (fresh.has(key)) continue
    const run = newRun(request.runId, request.detector ?? detector, now)
    fresh.set(key, rowOf({ account, run }))
  }
  // In one order on every node, lest two hold what the other waits for.
  const rows = [...fresh].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  const hold = () => tables[kind].runs.hold(tx, rows) as Promise<RunRow[]>
  let held = await hold()
  // On PostgreSQL an expired one can be deleted before it is held; then it is made anew.
  if (held.length < rows.length) held = await hold()
  const runs = new Map(held.map((row) => [keyOf(row.account, row.run_id), runOf(row)]))
  for (const [key, row] of fresh) {
    const run = runs.get(key)
    if (run !== undefined && (run.steps === 0 || run.expires > row.created)) continue
    if (run !== undefined) await forgetRun(tx, row.account, row.run_id)
    runs.set(key, runOf(row))
  }
  return runs
}

/** Deletes all that hangs on a run; its own row stays. */
export async function forgetRun(tx: Queries, account: string, runId: string): Promise<void> {
  for (const table of ['steps', 'agents', 'grounds', 'openings']) {
    await tx.run(`DELETE FROM ${table} WHERE account = ? AND run_id = ?`, account, runId)
  }
}

async function readAgents(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly Entry[],
  runs: ReadonlyMap<string, Run>,
): Promise<Map<string, Agent | 'damaged'>> {
  const agents = new Map<string, Agent | 'damaged'>()
  const wanted: AgentKey[] = []
  for (const { account, request } of entries) {
    const key = keyOf(account, request.runId, request.agentId)
    if (agents.has(key)) continue
    const run = runs.get(keyOf(account, request.runId))
    agents.set(key, newAgent(request.agentId, run?.detector ?? 'overlap'))
    wanted.push({ account, run_id: request.runId, agent_id: request.agentId })
  }
  for (const row of await tables[kind].agents.find(tx, wanted)) {
    const memory = readMemory(String(row.memory))
    const agent: Agent | 'damaged' =
      memory === null
        ? 'damaged'
        : {
            agent_id: String(row.agent_id),
            memory,
            steps: Number(row.steps),
            drifting: row.drifting === 1,
            last_reason: row.last_reason === null ? null : String(row.last_reason),
          }
    agents.set(keyOf(String(row.account), String(row.run_id), String(row.agent_id)), agent)
  }
  return agents
}

type AgentKey = Pick<Row<typeof agentColumns>, 'account' | 'run_id' | 'agent_id'>

/** What a batch writes; of runs and agents their last state. */
interface Written {
  steps: Row<typeof stepColumns>[]
  grounds: Row<typeof groundColumns>[]
  runs: Map<string, { account: string; run: Run }>
  agents: Map<string, { account: string; runId: string; agent: Agent }>
}

function logEntry(
  { account, request, now, retentionDays }: Entry,
  runs: Map<string, Run>,
  agents: Map<string, Agent | 'damaged'>,
  contexts: Contexts,
  written: Written,
): LoggedStep {
  const { runId, agentId } = request
  const runAt = keyOf(account, runId)
  const agentAt = keyOf(account, runId, agentId)
  const run = runs.get(runAt)
  const agent = agents.get(agentAt)
  if (run === undefined || agent === undefined || agent === 'damaged') {
    throw new Error('an entry without the state of its run')
  }

  const earlier = visit(contexts, request)
  const logged = logStep(run, agent, request, earlier, now, retentionDays)

  runs.set(runAt, logged.run)
  agents.set(agentAt, logged.agent)
  written.runs.set(runAt, { account, run: logged.run })
  written.agents.set(agentAt, { account, runId, agent: logged.agent })
  written.steps.push(stepRow(account, request, logged.step, logged.verdict, now))
  if (logged.frozen !== null) written.grounds.push(groundRow(account, request, logged.frozen, now))
  return {
    run_id: runId,
    agent_id: agentId,
    step: logged.step,
    revision: logged.agent.memory.revision,
    verdict: logged.verdict,
    earlier,
  }
}

function agentRow({
  account,
  runId,
  agent,
}: {
  account: string
  runId: string
  agent: Agent
}): Row<typeof agentColumns> {
  const { agent_id, memory, steps, drifting, last_reason } = agent
  return {
    account,
    run_id: runId,
    agent_id,
    memory: JSON.stringify(memory),
    steps,
    drifting: drifting ? 1 : 0,
    last_reason,
  }
}

function stepRow(
  account: string,
  { runId, agentId, step: { parentGoal }, tokens, overhead }: DriftRequest,
  step: number,
  verdict: Verdict,
  now: number,
): Row<typeof stepColumns> {
  const { goal, progress, distance, reason, phi, goal_score, svcscore, context } = verdict
  return {
    account,
    run_id: runId,
    step,
    ts: now,
    agent_id: agentId,
    goal,
    parent_goal: parentGoal ?? null,
    progress,
    distance,
    reason,
    drifting: verdict.drifting ? 1 : 0,
    phi,
    goal_score,
    svcscore,
    context,
    tokens,
    overhead: overhead === null ? null : overhead ? 1 : 0,
    judgment: verdict.judgment === undefined ? null : JSON.stringify(verdict.judgment),
  }
}

function groundRow(
  account: string,
  { runId, agentId }: DriftRequest,
  { revision, goal, by }: FrozenGround,
  now: number,
): Row<typeof groundColumns> {
  return { account, run_id: runId, agent_id: agentId, revision, goal, set_by: by, at: now }
}
