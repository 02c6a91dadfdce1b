import type { Verdict } from '../core/detector/detect.ts'
import type { DetectorName } from '../core/detector/detectors.ts'
import type { EarlierRuns } from '../core/detector/judgment.ts'
import { readMemory } from '../core/detector/memory.ts'
import type { DriftRequest } from '../core/drift.ts'
import { type Agent, type FrozenGround, logStep, newAgent, newRun, type Run } from '../core/run.ts'
import { type Context, openContexts, saveContexts, visit } from './contexts.ts'
import type { Database, Queries } from './database.ts'
import { type Columns, insertRows, joinRows, json, keyOf, type Row, upsertRows } from './rows.ts'
import { type RunRow, rowOf, runColumns, runOf } from './run-rows.ts'

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
  const sql = statements[kind]
  const entries = requests.flat()
  const runs = await holdRuns(tx, sql, entries)
  const agents = await readAgents(tx, sql, entries, runs)
  const isDamaged = ({ account, request: { runId, agentId } }: Entry) =>
    agents.get(keyOf(account, runId, agentId)) === 'damaged'
  const damaged = new Set(requests.filter((request) => request.some(isDamaged)).flat())
  const sound = entries.filter((entry) => !damaged.has(entry))
  const contexts = await openContexts(tx, kind, sound)

  const written: Written = { steps: [], grounds: [], runs: new Map(), agents: new Map() }
  const results = entries.map((entry) =>
    damaged.has(entry) ? 'damaged' : logEntry(entry, runs, agents, contexts, written),
  )

  await saveContexts(tx, kind, contexts)
  await tx.run(sql.addSteps, json(written.steps))
  await tx.run(sql.saveRuns, json([...written.runs.values()]))
  await tx.run(sql.saveAgents, json([...written.agents.values()]))
  if (written.grounds.length > 0) await tx.run(sql.addGrounds, json(written.grounds))
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

const runKey = { account: 'TEXT', run_id: 'TEXT' } as const
const agentKey = { ...runKey, agent_id: 'TEXT' } as const

const statements = { sqlite: statementsFor('sqlite'), postgres: statementsFor('postgres') }

function statementsFor(kind: Database['kind']) {
  const names = Object.keys(runColumns).map((name) => `runs.${name}`)
  // SQLite has one writer, so whoever is in a transaction holds every row.
  const hold = kind === 'postgres' ? 'ORDER BY runs.account, runs.run_id FOR UPDATE OF runs' : ''
  return {
    createRuns: insertRows(kind, 'runs', runColumns, 'ON CONFLICT (account, run_id) DO NOTHING'),
    holdRuns: `SELECT ${names.join(', ')} FROM ${joinRows(kind, 'runs', runKey)} ${hold}`,
    readAgents: `SELECT agents.account, agents.run_id, agents.agent_id, agents.memory, agents.steps,
        agents.drifting, agents.last_reason
      FROM ${joinRows(kind, 'agents', agentKey)}`,
    addSteps: insertRows(kind, 'steps', stepColumns),
    addGrounds: insertRows(kind, 'grounds', groundColumns),
    saveRuns: upsertRows(kind, 'runs', ['account', 'run_id'], runColumns),
    saveAgents: upsertRows(kind, 'agents', ['account', 'run_id', 'agent_id'], agentColumns),
  }
}

type Statements = ReturnType<typeof statementsFor>

/** The rows of the entries' runs, made where they are missing, held until the transaction ends. */
async function holdRuns(
  tx: Queries,
  sql: Statements,
  entries: readonly Entry[],
): Promise<Map<string, Run>> {
  const fresh = new Map<string, RunRow>()
  for (const { account, request, detector, now } of entries) {
    const key = keyOf(account, request.runId)
    if (fresh.has(key)) continue
    fresh.set(key, rowOf(account, newRun(request.runId, request.detector ?? detector, now)))
  }
  // In one order on every node, lest two hold what the other waits for.
  const rows = [...fresh].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  const keys = json(rows.map(({ account, run_id }) => ({ account, run_id })))
  const hold = async () => {
    await tx.run(sql.createRuns, json(rows))
    return tx.all<RunRow>(sql.holdRuns, keys)
  }
  let held = await hold()
  // An expired one can be deleted between the two statements; then it is made anew.
  if (held.length < rows.length) held = await hold()
  const runs = new Map(held.map((row) => [keyOf(row.account, row.run_id), runOf(row)]))
  for (const [key, row] of fresh) {
    const run = runs.get(key)
    if (run === undefined) throw new Error('a run vanished while it was held')
    if (run.steps === 0 || run.expires > row.created) continue
    await forgetRun(tx, row.account, row.run_id)
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
  sql: Statements,
  entries: readonly Entry[],
  runs: ReadonlyMap<string, Run>,
): Promise<Map<string, Agent | 'damaged'>> {
  const agents = new Map<string, Agent | 'damaged'>()
  const wanted: object[] = []
  for (const { account, request } of entries) {
    const key = keyOf(account, request.runId, request.agentId)
    if (agents.has(key)) continue
    const run = runs.get(keyOf(account, request.runId))
    agents.set(key, newAgent(request.agentId, run?.detector ?? 'overlap'))
    wanted.push({ account, run_id: request.runId, agent_id: request.agentId })
  }
  const rows = await tx.all<Row<typeof agentColumns>>(sql.readAgents, json(wanted))
  for (const row of rows) {
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

/** What a batch writes. */
interface Written {
  steps: Row<typeof stepColumns>[]
  grounds: Row<typeof groundColumns>[]
  runs: Map<string, RunRow>
  agents: Map<string, Row<typeof agentColumns>>
}

function logEntry(
  { account, request, now, retentionDays }: Entry,
  runs: Map<string, Run>,
  agents: Map<string, Agent | 'damaged'>,
  contexts: ReadonlyMap<string, Context>,
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

  const earlier = visit(contexts, account, request)
  const logged = logStep(run, agent, request, earlier, now, retentionDays)

  runs.set(runAt, logged.run)
  agents.set(agentAt, logged.agent)
  written.runs.set(runAt, rowOf(account, logged.run))
  written.agents.set(agentAt, agentRow(account, runId, logged.agent))
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

function agentRow(account: string, runId: string, agent: Agent): Row<typeof agentColumns> {
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
