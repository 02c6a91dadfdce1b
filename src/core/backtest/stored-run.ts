import type { Step } from '../detector/step.ts'
import type { UserEffect } from '../detector/user/effects.ts'
import type { ActCoverage } from '../hosts/coverage.ts'
import type { HostName } from '../hosts/host-event.ts'
import { readKept } from '../runs/kept-verdict.ts'
import {
  type BacktestJudge,
  type BacktestStep,
  createStepJudge,
  type JudgedSession,
} from './backtest.ts'

/** A ground of an agent, as a server keeps it. */
export interface StoredGround {
  /** '' is the main agent. */
  agent_id: string
  revision: number
  goal: string
  set_by: 'first' | 'user' | 'unknown' | 'machine'
}

/** A step, as a server keeps it. */
export interface StoredStep {
  step: number
  /** Milliseconds since 1970. */
  ts: number
  agent_id: string
  goal: string
  parent_goal: string | null
  progress: string
  distance: number
  reason: string
  /** 1 or 0. */
  drifting: number
  phi: number
  /** A kept verdict as JSON text; null in a step of an earlier release. */
  verdict: string | null
  /** The number of the ground after the step; null in a step of an earlier release. */
  revision: number | null
  user_message: string | null
  user_effect: UserEffect | null
}

/** A run with its steps, in their order, as a server keeps it. */
export interface StoredRun {
  runId: string
  host: HostName | null
  /** Milliseconds since 1970. */
  created: number
  coverage: ActCoverage | null
  /** The newest plan of the main agent; those before it are not kept. */
  plan: readonly string[] | null
  grounds: readonly StoredGround[]
  steps: readonly StoredStep[]
}

/** A stored run with the verdicts that its server has given. Pure. */
export function sessionAsJudged(run: StoredRun): JudgedSession {
  const groundOf = createGrounds(run.grounds)
  const drifting = new Map<string, boolean>()
  const steps = run.steps.map((step): BacktestStep => {
    const kept = readKept(step.verdict)
    const isDrifting = step.drifting === 1
    const couldOpen = drifting.get(step.agent_id) !== true
    drifting.set(step.agent_id, isDrifting)
    return {
      ...seenIn(run, step),
      errand: groundOf(step)?.goal ?? '',
      goal: step.goal,
      // The cast holds, because stored values were validated when they were written.
      reason: step.reason as BacktestStep['reason'],
      drifting: isDrifting,
      uncertain: kept.uncertain === true,
      phi: step.phi,
      driftProbability: kept.drift_probability,
      why: kept.why ?? '',
      score: kept.drift_probability ?? step.drifting,
      couldOpen,
    }
  })
  return sessionOf(run, steps)
}

/**
 * A stored run with its steps judged anew, by what a server keeps of them. Of the plans only the newest is kept: it
 * counts from each ground of the main agent on. Embeddings and tables of the account are left out. Pure.
 */
export function judgeStoredRun(run: StoredRun, judge: BacktestJudge): JudgedSession {
  const judgeStep = createStepJudge(run.runId, judge)
  const groundOf = createGrounds(run.grounds)
  const revisions = new Map<string, number>()
  const steps = run.steps.map((step) => {
    const ground = groundOf(step)
    const isNew = ground !== null && ground.revision !== revisions.get(step.agent_id)
    const begins = !revisions.has(step.agent_id)
    if (ground !== null) revisions.set(step.agent_id, ground.revision)
    const seen = seenIn(run, step)
    return {
      ...judgeStep(step.agent_id, stepOf(step, run, isNew ? ground : null, begins), seen),
      ...seen,
    }
  })
  return sessionOf(run, steps)
}

/** The ground of the agent after a step; that of an earlier release is its first one. */
function createGrounds(grounds: readonly StoredGround[]) {
  const byAgent = Map.groupBy(grounds, ({ agent_id }) => agent_id)
  return ({ agent_id, revision }: StoredStep): StoredGround | null => {
    const own = byAgent.get(agent_id) ?? []
    return own.find((ground) => ground.revision === revision) ?? own[0] ?? null
  }
}

/** What the agent has reported, as far as it is kept; `moved` is the ground that the step has brought. */
function stepOf(
  {
    goal,
    progress,
    distance,
    agent_id,
    parent_goal,
    verdict,
    user_message,
    user_effect,
  }: StoredStep,
  { plan }: StoredRun,
  moved: StoredGround | null,
  begins: boolean,
): Step {
  const kept = readKept(verdict)
  const given = moved === null ? null : withoutEnd(moved.goal, user_message)
  const saysGround = given !== null && given !== goal
  return {
    goal,
    progress,
    distance,
    distanceReported: kept.distance_reported ?? true,
    isUnsure: moved?.set_by === 'unknown',
    ...(parent_goal === null ? {} : { parentGoal: parent_goal }),
    ...(user_message === null ? {} : { userMessage: user_message }),
    ...(user_effect === null ? {} : { userEffect: user_effect }),
    ...(user_message === null && moved?.set_by === 'user' ? { userTurn: true } : {}),
    ...(saysGround && (user_message === null || begins) ? { ground: given } : {}),
    ...(moved === null || plan === null || agent_id !== ''
      ? {}
      : { plan, isOwnPlan: saysGround || user_message !== null }),
    ...(kept.host === null
      ? {}
      : {
          acts: {
            gives: kept.act_evidence?.gives ?? null,
            isUnexplained: kept.act_evidence?.kind === 'unexplained',
            says: kept.act_evidence?.says ?? '',
          },
        }),
  }
}

/** A ground without the message that it ends with; null if there is nothing else. */
function withoutEnd(ground: string, message: string | null): string | null {
  if (message === null) return ground
  return ground.endsWith(`\n${message}`) ? ground.slice(0, -message.length - 1) : null
}

function seenIn({ runId }: StoredRun, { step, ts, agent_id, verdict }: StoredStep) {
  const { goal_source, doing, act_evidence } = readKept(verdict)
  return {
    runId,
    agentId: agent_id,
    step,
    at: ts,
    source: goal_source,
    doing: doing ?? [],
    actEvidence: act_evidence,
  }
}

/** The acts are those of the main agent: of others no counts are kept. */
function sessionOf(
  { runId, host, created, coverage }: StoredRun,
  steps: readonly BacktestStep[],
): JudgedSession {
  const read = coverage === null ? 0 : coverage.acts - coverage.skipped
  return {
    host,
    runId,
    began: created,
    steps,
    acts: read,
    failedActs: coverage?.failed ?? 0,
    outcomes: Math.round((coverage?.outcomes ?? 0) * read),
    covered: Math.round((coverage?.share ?? 0) * read),
  }
}
