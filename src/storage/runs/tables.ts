import type { Assignment } from '../../core/detector/assignment.ts'
import { readJudgment } from '../../core/detector/judgment.ts'
import { readMemory } from '../../core/detector/memory.ts'
import { isKeyless } from '../../core/keyless.ts'
import { readTotals } from '../../core/runs/agent-totals.ts'
import type { ChangedAgent, ChangedContext, JudgedEntry } from '../../core/runs/batch.ts'
import type { Clock } from '../../core/runs/clock.ts'
import type { ReadEntry } from '../../core/runs/entry.ts'
import { keptVerdict } from '../../core/runs/kept-verdict.ts'
import type { RunCoverage } from '../../core/runs/observation.ts'
import type { Agent, FrozenGround, Run } from '../../core/runs/run.ts'
import { parseJson } from '../../core/text.ts'
import type { Database } from '../database/database.ts'
import type { Columns, Row } from '../database/rows.ts'
import { createTable } from '../database/table.ts'

/** The columns of `runs`. */
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
  uncertain: 'BIGINT',
  drift_tokens: 'DOUBLE PRECISION',
  first_drift_step: 'BIGINT',
  plan: 'TEXT',
  assignment: 'TEXT',
  last_person_at: 'BIGINT',
  host: 'TEXT',
  coverage: 'TEXT',
  clock: 'TEXT',
} as const satisfies Columns & Record<keyof RunRow, unknown>

const agentColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  agent_id: 'TEXT',
  memory: 'TEXT',
  steps: 'BIGINT',
  drifting: 'BIGINT',
  last_reason: 'TEXT',
  totals: 'TEXT',
  parent_agent_id: 'TEXT',
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
  verdict: 'TEXT',
  revision: 'BIGINT',
  user_message: 'TEXT',
  user_effect: 'TEXT',
  uncertain: 'BIGINT',
} as const satisfies Columns

const alarmColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  step: 'BIGINT',
  at: 'BIGINT',
  agent_id: 'TEXT',
  reason: 'TEXT',
  held: 'BIGINT',
} as const satisfies Columns

const groundColumns = {
  account: 'TEXT',
  run_id: 'TEXT',
  agent_id: 'TEXT',
  revision: 'BIGINT',
  goal: 'TEXT',
  set_by: 'TEXT',
  at: 'BIGINT',
  step: 'BIGINT',
} as const satisfies Columns

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

/** The tables that hold what the steps of runs leave. */
export const runTables = { sqlite: tablesFor('sqlite'), postgres: tablesFor('postgres') }

function tablesFor(kind: Database['kind']) {
  const addTotals = `runs = contexts.runs + excluded.runs,
    lowest = CASE WHEN excluded.lowest < contexts.lowest THEN excluded.lowest ELSE contexts.lowest END`
  const contexts = { merge: addTotals }
  const ofRun = ['account', 'run_id'] as const
  return {
    runs: createTable(kind, 'runs', ofRun, runColumns),
    agents: createTable(kind, 'agents', [...ofRun, 'agent_id'], agentColumns),
    steps: createTable(kind, 'steps', [...ofRun, 'step'], stepColumns),
    alarms: createTable(kind, 'alarms', [...ofRun, 'step'], alarmColumns),
    grounds: createTable(kind, 'grounds', [...ofRun, 'agent_id', 'revision'], groundColumns),
    openings: createTable(kind, 'openings', [...ofRun, 'context'], openingColumns),
    contexts: createTable(kind, 'contexts', ['account', 'context'], contextColumns, contexts),
  }
}

/** A stored row of `runs`. */
export interface RunRow
  extends Omit<
    Run,
    'drifting' | 'judgment' | 'uncertain' | 'plan' | 'assignment' | 'coverage' | 'clock'
  > {
  account: string
  drifting: number
  judgment: string | null
  uncertain: number | null
  /** JSON text, and so are `assignment`, `coverage` and `clock`. */
  plan: string | null
  assignment: string | null
  coverage: string | null
  clock: string | null
}

/** Converts a row to a run. */
export function runOf({
  account: _,
  drifting,
  judgment,
  uncertain,
  plan,
  assignment,
  coverage,
  clock,
  ...rest
}: RunRow): Run {
  return {
    ...rest,
    drifting: drifting === 1,
    uncertain: uncertain === null ? null : uncertain === 1,
    plan: plan === null ? null : JSON.parse(plan),
    judgment: judgment === null ? null : readJudgment(judgment),
    assignment: assignment === null ? null : (parseJson(assignment) as Assignment),
    clock: clock === null ? null : (parseJson(clock) as Clock),
    // Runs of an earlier version have read all their acts, and said nothing of their words.
    coverage:
      coverage === null
        ? null
        : {
            skipped: 0,
            every: 1,
            words: 'told',
            ...(parseJson(coverage) as Omit<RunCoverage, 'skipped' | 'every' | 'words'>),
          },
  }
}

/** Converts a run of an account to its row. */
export function runRow({ account, run }: { account: string; run: Run }): RunRow {
  const { drifting, judgment, uncertain, plan, assignment, coverage, clock } = run
  return {
    ...run,
    account,
    drifting: drifting ? 1 : 0,
    uncertain: uncertain === null ? null : uncertain ? 1 : 0,
    plan: plan === null ? null : JSON.stringify(plan),
    judgment: judgment === null ? null : JSON.stringify(judgment),
    assignment: assignment === null ? null : JSON.stringify(assignment),
    coverage: coverage === null ? null : JSON.stringify(coverage),
    clock: clock === null ? null : JSON.stringify(clock),
  }
}

/** Converts a row to an agent, or `damaged` if its memory cannot be read. */
export function agentOf(row: Row<typeof agentColumns>): Agent | 'damaged' {
  const memory = readMemory(String(row.memory))
  if (memory === null) return 'damaged'
  return {
    agent_id: String(row.agent_id),
    parent_agent_id: row.parent_agent_id === null ? null : String(row.parent_agent_id),
    memory,
    steps: Number(row.steps),
    drifting: row.drifting === 1,
    last_reason: row.last_reason === null ? null : String(row.last_reason),
    totals: readTotals(row.totals === null ? null : String(row.totals)),
  }
}

/** Converts a changed agent to its row. */
export function agentRow(changed: ChangedAgent): Row<typeof agentColumns> {
  const { account, runId, memory, agent } = changed
  return {
    account,
    run_id: runId,
    agent_id: agent.agent_id,
    memory,
    steps: agent.steps,
    drifting: agent.drifting ? 1 : 0,
    last_reason: agent.last_reason,
    totals: agent.totals === null ? null : JSON.stringify(agent.totals),
    parent_agent_id: agent.parent_agent_id,
  }
}

/** Converts a judged step to its row. */
export function stepRow({
  entry,
  step,
  revision,
  verdict,
  unattendedMs,
}: JudgedEntry): Row<typeof stepColumns> {
  const { account, request, now } = entry
  const { runId, agentId, tokens, overhead } = request
  const { goal, progress, distance, reason, phi, goal_score, svcscore, context } = verdict
  return {
    account,
    run_id: runId,
    step,
    ts: now,
    agent_id: agentId,
    goal,
    parent_goal: request.step.parentGoal ?? null,
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
    verdict: JSON.stringify(
      keptVerdict(verdict, entry.reading.distanceReported, request.observation, unattendedMs),
    ),
    revision,
    user_message: request.step.userMessage ?? null,
    user_effect: verdict.user_effect ?? null,
    uncertain: verdict.uncertain ? 1 : 0,
  }
}

/** The rows of the steps at which drifts of accounts began. */
export function alarmRows(steps: readonly JudgedEntry[]): Row<typeof alarmColumns>[] {
  return steps.flatMap(({ entry: { account, request, now }, step, verdict, couldOpen, held }) => {
    if (!verdict.drifting || !couldOpen || isKeyless(account)) return []
    const { runId: run_id, agentId: agent_id } = request
    return [
      { account, run_id, step, at: now, agent_id, reason: verdict.reason, held: Number(held) },
    ]
  })
}

/** Converts a ground that a step has frozen to its row. */
export function groundRow({
  entry: { account, request, now },
  frozen: { revision, goal, by, step },
}: {
  entry: ReadEntry
  frozen: FrozenGround
}): Row<typeof groundColumns> {
  const { runId, agentId } = request
  return { account, run_id: runId, agent_id: agentId, revision, goal, set_by: by, at: now, step }
}

/** Converts a changed context to the row that `upsert` adds to the stored one. */
export function contextRow(changed: ChangedContext): Row<typeof contextColumns> {
  const { account, context, added, lowest } = changed
  return { account, context, runs: added, lowest }
}
