import type { DetectorName } from '../../core/detector/contract/detector.ts'
import { type Memory, newMemory, readMemory } from '../../core/detector/memory.ts'
import type { UserEffect } from '../../core/detector/user/effects.ts'
import type { Label } from '../../core/evaluation/labels.ts'
import { type AgentTotals, readTotals } from '../../core/runs/agent-totals.ts'
import type { Run } from '../../core/runs/run.ts'
import type { SettledMessage } from '../../core/runs/settle.ts'
import type { Arm } from '../../core/runs/step-request.ts'
import type { Database, Queries } from '../database/database.ts'
import { deletedAt } from './expiry.ts'
import { createRunIndex, type RunIndex } from './run-index.ts'
import { settleMessage } from './settle.ts'
import { type RunRow, runColumns, runOf } from './tables.ts'

/** A ground of an agent. */
export interface GroundRow {
  /** '' is the main agent. */
  agent_id: string
  revision: number
  goal: string
  set_by: 'first' | 'user' | 'unknown' | 'machine'
  at: number
  /** The step that froze it, 1-based; null for a ground of an earlier release. */
  step: number | null
}

/** A place in the grounds of sub-agents: the last one already shown. */
export type GroundPlace = Pick<GroundRow, 'agent_id' | 'revision'>

/** A sub-agent of a run. */
export interface SubAgent {
  agent_id: string
  /** The agent that it works for; null if no step has said it. */
  parent_agent_id: string | null
  /** Null when its stored state cannot be read. */
  ground: string | null
  /** Number of its grounds so far; null when its stored state cannot be read. */
  revision: number | null
  steps: number
  drifting: boolean
  last_reason: string | null
  /** Null for an agent that began before they were stored. */
  totals: AgentTotals | null
}

/** A stored step; 1 and 0 for booleans, JSON text for the judgment. */
export interface StepRow {
  run_id: string
  step: number
  ts: number
  agent_id: string
  goal: string
  parent_goal: string | null
  progress: string
  distance: number
  reason: string
  drifting: number
  phi: number
  goal_score: number
  svcscore: string | null
  context: string | null
  tokens: number | null
  overhead: number | null
  judgment: string | null
  /** A kept verdict as JSON text; null for a step that was stored without one. */
  verdict: string | null
  /** Null in a step of an earlier release. */
  revision: number | null
  user_message: string | null
  user_effect: UserEffect | null
  /** The newest label of a person; null without one. */
  label: Label | null
}

/** The reported outcome of a run; null keeps the stored value. */
export interface Outcome {
  outcome: string
  score: number | null
  note: string | null
}

/** The figures of a run that an experiment compares. */
export interface PairedRun
  extends Pick<Run, 'run_id' | 'tokens' | 'token_steps' | 'score' | 'outcome'> {
  pair: string
  arm: Arm
}

/** The runs of accounts. Readers do not see expired ones. */
export interface Runs extends RunIndex {
  find(account: string, runId: string, now: number): Promise<Run | null>
  /**
   * Reads the memory of an agent: `none` without such a run, a new memory if the agent has none,
   * null if it cannot be read.
   */
  memoryOf(
    account: string,
    runId: string,
    agentId: string,
    now: number,
  ): Promise<Memory | 'none' | null>
  /** Lists the newest grounds of the main agent with a revision below `before`, oldest first. */
  grounds(account: string, runId: string, before: number, limit: number): Promise<GroundRow[]>
  /** Lists the grounds of sub-agents by agent and revision, after the given one. */
  subGrounds(
    account: string,
    runId: string,
    after: GroundPlace,
    limit: number,
  ): Promise<GroundRow[]>
  /** Lists sub-agents by id, after the given one. */
  subAgents(account: string, runId: string, after: string, limit: number): Promise<SubAgent[]>
  /** Lists the steps after number `after`, ascending. */
  trace(account: string, runId: string, after: number, limit: number): Promise<StepRow[]>
  /** Lists the unexpired runs among the `entries` most recently updated. */
  recent(account: string, now: number, entries: number): Promise<Run[]>
  /** Lists runs in an arm of an experiment, by pair and id, after the given one. */
  paired(
    account: string,
    now: number,
    after: Pick<PairedRun, 'pair' | 'run_id'> | null,
    limit: number,
  ): Promise<PairedRun[]>
  /** Lists all runs by id, after the given one. */
  page(account: string, now: number, after: string, limit: number): Promise<Run[]>
  /** Sets the outcome, and returns whether the run exists. */
  setOutcome(account: string, runId: string, now: number, outcome: Outcome): Promise<boolean>
  /** Stores that a person was at the run at a time, and returns whether the run exists. */
  meet(account: string, runId: string, at: number): Promise<boolean>
  /** Stores who spoke a message of the run; see `settleMessage`. Only inside a transaction. */
  settle(account: string, runId: string, settled: SettledMessage, now: number): Promise<void>
  /** Ends the run: readers no longer see it. Returns its number of steps, or null if there is no such run. */
  end(account: string, runId: string, now: number): Promise<number | null>
}

const newestLabel = `(
  SELECT label FROM labels WHERE labels.account = steps.account AND labels.run_id = steps.run_id
    AND labels.step = steps.step ORDER BY seq DESC LIMIT 1
)`

const columns = Object.keys(runColumns).join(', ')

/** Creates the runs on a database or a transaction. */
export function createRuns(db: Queries, kind: Database['kind']): Runs {
  async function select(where: string, ...values: (string | number | null)[]): Promise<Run[]> {
    const rows = await db.all<RunRow>(`SELECT ${columns} FROM runs WHERE ${where}`, ...values)
    return rows.map(runOf)
  }
  return {
    ...createRunIndex(db),
    settle: (account, runId, settled, now) => settleMessage(db, kind, account, runId, settled, now),
    async find(account, runId, now) {
      const [run] = await select(
        'account = ? AND run_id = ? AND expires > ? AND steps > 0',
        account,
        runId,
        now,
      )
      return run ?? null
    },
    async memoryOf(account, runId, agentId, now) {
      const row = await db.get<{ detector: DetectorName; memory: string | null }>(
        `SELECT detector, memory FROM runs LEFT JOIN agents
           ON agents.account = runs.account AND agents.run_id = runs.run_id AND agent_id = ?
         WHERE runs.account = ? AND runs.run_id = ? AND expires > ? AND runs.steps > 0`,
        agentId,
        account,
        runId,
        now,
      )
      if (row === undefined) return 'none'
      return row.memory === null ? newMemory(row.detector) : readMemory(row.memory)
    },
    async grounds(account, runId, before, limit) {
      const rows = await db.all<GroundRow>(
        `SELECT agent_id, revision, goal, set_by, at, step FROM grounds
         WHERE account = ? AND run_id = ? AND agent_id = '' AND revision < ?
         ORDER BY revision DESC LIMIT ?`,
        account,
        runId,
        before,
        limit,
      )
      return rows.reverse()
    },
    subGrounds: (account, runId, after, limit) =>
      // The main agent is '', which comes before all others.
      db.all<GroundRow>(
        `SELECT agent_id, revision, goal, set_by, at, step FROM grounds
         WHERE account = ? AND run_id = ? AND agent_id > '' AND (agent_id, revision) > (?, ?)
         ORDER BY agent_id, revision LIMIT ?`,
        account,
        runId,
        after.agent_id,
        after.revision,
        limit,
      ),
    async subAgents(account, runId, after, limit) {
      // The main agent is '', which comes before all others.
      const rows = await db.all<StoredAgent>(
        `SELECT agent_id, parent_agent_id, memory, steps, drifting, last_reason, totals FROM agents
         WHERE account = ? AND run_id = ? AND agent_id > ? ORDER BY agent_id LIMIT ?`,
        account,
        runId,
        after,
        limit,
      )
      return rows.map(({ memory, drifting, totals, ...row }) => {
        const read = readMemory(memory)
        return {
          ...row,
          ground: read?.ground?.goal ?? null,
          revision: read?.revision ?? null,
          drifting: drifting === 1,
          totals: readTotals(totals),
        }
      })
    },
    trace: (account, runId, after, limit) =>
      db.all<StepRow>(
        `SELECT run_id, step, ts, agent_id, goal, parent_goal, progress, distance, reason, drifting,
           phi, goal_score, svcscore, context, tokens, overhead, judgment, verdict,
           revision, user_message, user_effect, ${newestLabel} AS label
         FROM steps WHERE account = ? AND run_id = ? AND step > ? ORDER BY step LIMIT ?`,
        account,
        runId,
        after,
        limit,
      ),
    async recent(account, now, entries) {
      const runs = await select(
        'account = ? ORDER BY updated DESC, run_id DESC LIMIT ?',
        account,
        entries,
      )
      return runs.filter(({ expires, steps }) => expires > now && steps > 0)
    },
    paired: (account, now, after, limit) =>
      db.all<PairedRun>(
        `SELECT run_id, pair, arm, tokens, token_steps, score, outcome FROM runs
         WHERE account = ? AND pair >= ? AND (pair > ? OR run_id > ?) AND arm IS NOT NULL AND expires > ?
         ORDER BY pair, run_id LIMIT ?`,
        account,
        after?.pair ?? '',
        after?.pair ?? '',
        after?.run_id ?? '',
        now,
        limit,
      ),
    page: (account, now, after, limit) =>
      select(
        'account = ? AND run_id > ? AND expires > ? AND steps > 0 ORDER BY run_id LIMIT ?',
        account,
        after,
        now,
        limit,
      ),
    async setOutcome(account, runId, now, { outcome, score, note }) {
      const changed = await db.run(
        `UPDATE runs SET outcome = ?, score = COALESCE(?, score), note = COALESCE(?, note)
         WHERE account = ? AND run_id = ? AND expires > ? AND steps > 0`,
        outcome,
        score,
        note,
        account,
        runId,
        now,
      )
      return changed > 0
    },
    async meet(account, runId, at) {
      const changed = await db.run(
        `UPDATE runs SET last_person_at =
           CASE WHEN last_person_at > ? THEN last_person_at ELSE ? END
         WHERE account = ? AND run_id = ? AND expires > ? AND steps > 0`,
        at,
        at,
        account,
        runId,
        at,
      )
      return changed > 0
    },
    async end(account, runId, now) {
      const ended = await db.run(
        `UPDATE runs SET expires = ${deletedAt} WHERE account = ? AND run_id = ? AND expires > ? AND steps > 0`,
        account,
        runId,
        now,
      )
      if (ended === 0) return null
      const row = await db.get<{ steps: number }>(
        'SELECT steps FROM runs WHERE account = ? AND run_id = ?',
        account,
        runId,
      )
      return row?.steps ?? 0
    },
  }
}

interface StoredAgent extends Omit<SubAgent, 'ground' | 'revision' | 'drifting' | 'totals'> {
  memory: string
  drifting: number
  totals: string | null
}
