import type { Verdict } from '../core/detector/detect.ts'
import type { DetectorName } from '../core/detector/detectors.ts'
import { type EarlierRuns, readJudgment } from '../core/detector/judgment.ts'
import { readMemory } from '../core/detector/memory.ts'
import { isSpelled } from '../core/detector/rules.ts'
import { contextOf } from '../core/detector/spelling.ts'
import { wordsOf } from '../core/detector/words.ts'
import type { DriftRequest } from '../core/drift.ts'
import { type Agent, type FrozenGround, logStep, newAgent, newRun, type Run } from '../core/run.ts'
import { type Database, isUnavailable, type Queries } from './database.ts'
import { type Columns, insertRows, jsonRows, upsertRows } from './rows.ts'

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
  const contexts = await openContexts(tx, sql, sound)

  const written: Written = { steps: [], grounds: [], runs: new Map(), agents: new Map() }
  const results = entries.map((entry) =>
    damaged.has(entry) ? 'damaged' : logEntry(entry, runs, agents, contexts, written),
  )

  const changed = changedContexts(contexts)
  if (changed.length > 0) await tx.run(sql.saveContexts, json(changed))
  await tx.run(sql.addSteps, json(written.steps))
  await tx.run(sql.saveRuns, json([...written.runs.values()]))
  await tx.run(sql.saveAgents, json([...written.agents.values()]))
  if (written.grounds.length > 0) await tx.run(sql.addGrounds, json(written.grounds))
  return results
}

/** Most steps that one transaction logs; a single call may bring more. */
const maxBatch = 512

/**
 * Logs steps outside a transaction: those of all requests of a moment share one, and each caller is
 * answered when it is durable. When a batch fails for another reason than the database being away,
 * its requests are tried one by one, so that a fault of one is not the others'.
 */
export function createStepLog(db: Database, onCommit: (steps: number) => void): StepLog {
  const waiting: Waiting[] = []
  let running = false

  function take(): Waiting[] {
    let entries = 0
    let calls = 0
    for (const each of waiting) {
      entries += each.entries.length
      if (calls > 0 && entries > maxBatch) break
      calls++
    }
    return waiting.splice(0, calls)
  }

  async function logTogether(): Promise<void> {
    let batch: Waiting[] = []
    try {
      const results = await db.tx((tx) => {
        // Taken only now, so that whatever came while the transaction began is part of it.
        batch = take()
        return logSteps(
          tx,
          db.kind,
          batch.map(({ entries }) => entries),
        )
      })
      onCommit(results.length)
      for (const { entries, resolve } of batch) resolve(results.splice(0, entries.length))
    } catch (error) {
      // It may not even have begun; then nobody was taken, and all would wait in vain.
      if (batch.length === 0) batch = take()
      const [first, ...more] = batch
      if (more.length === 0 || isUnavailable(error)) for (const { reject } of batch) reject(error)
      else for (const each of [first, ...more]) if (each !== undefined) await logAlone(each)
    }
  }

  async function logAlone({ entries, resolve, reject }: Waiting): Promise<void> {
    await db.tx((tx) => logSteps(tx, db.kind, [entries])).then(resolve, reject)
  }

  async function run(): Promise<void> {
    running = true
    while (waiting.length > 0) await logTogether()
    running = false
  }

  return {
    log: (entries) =>
      new Promise((resolve, reject) => {
        waiting.push({ entries, resolve, reject })
        if (!running) void run()
      }),
    waitingSteps: () => waiting.reduce((steps, { entries }) => steps + entries.length, 0),
  }
}

/** Logging outside a transaction. */
export interface StepLog {
  /** Answers when the steps are durable. */
  log(entries: readonly Entry[]): Promise<LoggedStep[]>
  /** Steps that wait for the transaction under way to end. */
  waitingSteps(): number
}

interface Waiting {
  readonly entries: readonly Entry[]
  readonly resolve: (results: LoggedStep[]) => void
  readonly reject: (error: unknown) => void
}

/** A run's row with its columns as they are stored. */
export interface RunRow extends Omit<Run, 'drifting' | 'judgment'> {
  account: string
  drifting: number
  judgment: string | null
}

/** The run of a row. */
export function runOf({ account: _, drifting, judgment, ...rest }: RunRow): Run {
  return {
    ...rest,
    drifting: drifting === 1,
    judgment: judgment === null ? null : readJudgment(judgment),
  }
}

/** The columns of `runs`, as they are selected. */
export const runColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  detector: 'TEXT',
  ground: 'TEXT',
  revision: 'BIGINT',
  created: 'BIGINT',
  updated: 'BIGINT',
  expires: 'BIGINT',
  steps: 'BIGINT',
  drifting: 'BIGINT',
  drifting_steps: 'BIGINT',
  last_reason: 'TEXT',
  phi: 'DOUBLE PRECISION',
  max_phi: 'DOUBLE PRECISION',
  tokens: 'DOUBLE PRECISION',
  overhead_tokens: 'DOUBLE PRECISION',
  token_steps: 'BIGINT',
  outcome: 'TEXT',
  score: 'DOUBLE PRECISION',
  note: 'TEXT',
  pair: 'TEXT',
  arm: 'TEXT',
  judgment: 'TEXT',
} as const satisfies Columns & Record<keyof RunRow, unknown>

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

const contextColumns = {
  account: 'TEXT',
  context: 'TEXT',
  runs: 'BIGINT',
  lowest: 'BIGINT',
} as const satisfies Columns

type Row<C extends Columns> = { [Name in keyof C]: string | number | null }

const runKey = { account: 'TEXT', run_id: 'TEXT' } as const
const agentKey = { ...runKey, agent_id: 'TEXT' } as const
const openingKey = { ...runKey, context: 'TEXT' } as const
const contextKey = { account: 'TEXT', context: 'TEXT' } as const

const statements = { sqlite: statementsFor('sqlite'), postgres: statementsFor('postgres') }

function statementsFor(kind: Database['kind']) {
  const names = Object.keys(runColumns).map((name) => `runs.${name}`)
  // SQLite has one writer, so whoever is in a transaction holds every row.
  const hold = kind === 'postgres' ? 'ORDER BY runs.account, runs.run_id FOR UPDATE OF runs' : ''
  const matching = (table: string, key: Columns) =>
    Object.keys(key)
      .map((name) => `${table}.${name} = rows.${name}`)
      .join(' AND ')
  return {
    createRuns: insertRows(kind, 'runs', runColumns, 'ON CONFLICT (account, run_id) DO NOTHING'),
    holdRuns: `SELECT ${names.join(', ')} FROM runs JOIN ${jsonRows(kind, runKey)} ON ${matching('runs', runKey)} ${hold}`,
    readAgents: `SELECT agents.account, agents.run_id, agents.agent_id, agents.memory, agents.steps,
        agents.drifting, agents.last_reason
      FROM agents JOIN ${jsonRows(kind, agentKey)} ON ${matching('agents', agentKey)}`,
    openContexts: `${insertRows(kind, 'openings', openingKey, 'ON CONFLICT (account, run_id, context) DO NOTHING')}
      RETURNING account, run_id, context`,
    readContexts: `SELECT contexts.account, contexts.context, contexts.runs, contexts.lowest
      FROM contexts JOIN ${jsonRows(kind, contextKey)} ON ${matching('contexts', contextKey)}`,
    saveContexts: insertRows(
      kind,
      'contexts',
      contextColumns,
      `ON CONFLICT (account, context) DO UPDATE SET runs = contexts.runs + excluded.runs,
         lowest = CASE WHEN excluded.lowest < contexts.lowest THEN excluded.lowest ELSE contexts.lowest END`,
    ),
    addSteps: insertRows(kind, 'steps', stepColumns),
    addGrounds: insertRows(kind, 'grounds', groundColumns),
    saveRuns: upsertRows(kind, 'runs', ['account', 'run_id'], runColumns),
    saveAgents: upsertRows(kind, 'agents', ['account', 'run_id', 'agent_id'], agentColumns),
  }
}

type Statements = ReturnType<typeof statementsFor>

/** One key for several values; no value holds the separator, which no text can after it was read. */
function keyOf(...values: string[]): string {
  return values.join('\0')
}

function json(rows: readonly object[]): string {
  return JSON.stringify(rows)
}

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

async function openContexts(
  tx: Queries,
  sql: Statements,
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
    sql.openContexts,
    json([...openings.values()]),
  )
  for (const { account, run_id, context } of opened) {
    contexts.get(keyOf(account, context))?.opening.add(run_id)
  }
  const known = await tx.all<{ account: string; context: string; runs: number; lowest: number }>(
    sql.readContexts,
    json([...contexts.values()].map(({ account, context }) => ({ account, context }))),
  )
  for (const { account, context, runs, lowest } of known) {
    const entry = contexts.get(keyOf(account, context))
    if (entry !== undefined) Object.assign(entry, { runs, lowest })
  }
  return contexts
}

function contextOfRequest({ step }: DriftRequest): string | null {
  return isSpelled(step.goal, step.progress) ? contextOf(wordsOf(step.goal)) : null
}

/** Tells what earlier runs made of a context, and counts this step into it. */
function visit(entry: Context | undefined, runId: string, distance: number): EarlierRuns | null {
  if (entry === undefined) return null
  const opens = entry.opening.delete(runId)
  const runs = entry.runs + entry.addedRuns - (opens ? 0 : 1)
  const lowest = lower(entry.lowest, entry.addedLowest)
  if (opens) entry.addedRuns++
  entry.addedLowest = lower(entry.addedLowest, distance)
  return runs > 0 ? { runs, lowest } : null
}

function lower(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
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

  const context = contextOfRequest(request)
  const visited = context === null ? undefined : contexts.get(keyOf(account, context))
  const earlier = visit(visited, runId, request.step.distance)
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

function rowOf(account: string, run: Run): RunRow {
  const { drifting, judgment } = run
  return {
    ...run,
    account,
    drifting: drifting ? 1 : 0,
    judgment: judgment === null ? null : JSON.stringify(judgment),
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
