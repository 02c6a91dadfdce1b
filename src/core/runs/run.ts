import type { AssignedRequest } from '../detector/assignment.ts'
import type { DetectorName } from '../detector/contract/detector.ts'
import { detectReading, type Verdict } from '../detector/detect.ts'
import type { Judgment } from '../detector/judgment.ts'
import { type Memory, newMemory } from '../detector/memory.ts'
import type { EarlierRuns } from '../detector/step.ts'
import type { HostName } from '../hosts/host-event.ts'
import { cutTo } from '../text.ts'
import { dayMs } from '../time.ts'
import { type AgentTotals, addToTotals } from './agent-totals.ts'
import { type Clock, clockAfter, newClock } from './clock.ts'
import type { ReadEntry } from './entry.ts'
import type { RunCoverage } from './observation.ts'
import { similarityIn } from './similarity.ts'
import type { Arm } from './step-request.ts'

/**
 * A stored run. The fields of the verdict (`drifting`, `last_reason`, `phi`, `max_phi`, `judgment`,
 * `ground`, `revision`) describe the main agent; counts cover all agents. Times are milliseconds since
 * 1970 and never decrease, even if the clock does.
 */
export interface Run {
  run_id: string
  detector: DetectorName
  ground: string | null
  revision: number
  /** What the user has asked for; null in a run of an earlier release. */
  assignment: readonly AssignedRequest[] | null
  /** When the user last spoke, milliseconds since 1970; null if that is not known. */
  last_person_at: number | null
  created: number
  updated: number
  expires: number
  steps: number
  drifting: boolean
  drifting_steps: number
  last_reason: string | null
  phi: number
  max_phi: number
  tokens: number
  overhead_tokens: number
  /** Steps that reported their tokens. */
  token_steps: number
  outcome: string | null
  score: number | null
  note: string | null
  pair: string | null
  arm: Arm | null
  judgment: Judgment | null
  /** Whether the last step of the main agent was uncertain; null before this was stored. */
  uncertain: boolean | null
  /** Tokens of drifting steps of all agents; null for a run that began before this was stored. */
  drift_tokens: number | null
  /** Number of the first drifting step of any agent; null without one, or before this was stored. */
  first_drift_step: number | null
  /** The newest plan that the main agent reported, its items cut to 240 characters; null without one. */
  plan: readonly string[] | null
  /** The host that shows the run; null if its agents report it. */
  host: HostName | null
  /** How much of what the main agent did the errand explains; null if no host shows its acts. */
  coverage: RunCoverage | null
  /** When its steps came since a person was there; null in a run of an earlier release. */
  clock: Clock | null
}

/** One agent of a run with the state that its next step needs. */
export interface Agent {
  /** '' is the main agent. */
  agent_id: string
  /** The agent that it works for; null for the main agent, and if no step has said it. */
  parent_agent_id: string | null
  memory: Memory
  steps: number
  drifting: boolean
  last_reason: string | null
  /** Null before its first step, and for an agent that began before totals were stored. */
  totals: AgentTotals | null
}

/** A ground that a step has frozen. */
export interface FrozenGround {
  revision: number
  goal: string
  by: 'first' | 'user' | 'unknown'
  /** The step that froze it, 1-based. */
  step: number
}

/** The result of logging one step. */
export interface Logged {
  run: Run
  agent: Agent
  /** 1-based, over all agents of the run. */
  step: number
  verdict: Verdict
  /** The ground this step froze, or null. */
  frozen: FrozenGround | null
  /** Milliseconds since a person was there, or since the run began. */
  unattendedMs: number
}

/** Creates a run without steps. */
export function newRun(runId: string, detector: DetectorName, now: number): Run {
  return {
    run_id: runId,
    detector,
    ground: null,
    revision: 0,
    assignment: [],
    last_person_at: null,
    created: now,
    updated: now,
    expires: now,
    steps: 0,
    drifting: false,
    drifting_steps: 0,
    last_reason: null,
    phi: 0,
    max_phi: 0,
    tokens: 0,
    overhead_tokens: 0,
    token_steps: 0,
    outcome: null,
    score: null,
    note: null,
    pair: null,
    arm: null,
    judgment: null,
    uncertain: null,
    drift_tokens: 0,
    first_drift_step: null,
    plan: null,
    host: null,
    coverage: null,
    clock: newClock,
  }
}

/** Creates an agent without steps that uses the detector of the run. */
export function newAgent(agentId: string, detector: DetectorName): Agent {
  return {
    agent_id: agentId,
    parent_agent_id: null,
    memory: newMemory(detector),
    steps: 0,
    drifting: false,
    last_reason: null,
    totals: null,
  }
}

const longestPlanItem = 240

/**
 * Logs one step of an agent: judges it against the ground of the agent and adds it to the totals of the
 * run. `earlier` holds the totals of earlier runs in the context of the step.
 */
export function logStep(
  run: Run,
  agent: Agent,
  { request, reading, adaptation, similarity, reads, limit, now, retentionDays }: ReadEntry,
  earlier: EarlierRuns | null,
): Logged {
  const { verdict, memory } = detectReading(agent.memory, reading, {
    adaptation,
    limit,
    reads,
    similarity: similarity && similarityIn(agent.memory, reading, similarity, reads),
    earlier: earlier ?? undefined,
    now,
  })
  const isMain = agent.agent_id === ''
  const updated = Math.max(run.updated, now)
  const tokens = request.tokens ?? 0
  const { observation } = request
  const { userTurn, userMessage } = request.step
  const speaks = userTurn === true || userMessage !== undefined
  const present = latest(run.last_person_at, observation?.personAt ?? null)
  const since = speaks ? updated : Math.max(run.created, present ?? 0)
  const unattendedMs = Math.max(0, updated - since)
  const counted: Run = {
    ...run,
    updated,
    expires: updated + retentionDays * dayMs,
    steps: run.steps + 1,
    drifting_steps: run.drifting_steps + (verdict.drifting ? 1 : 0),
    tokens: run.tokens + tokens,
    overhead_tokens: run.overhead_tokens + (request.overhead ? tokens : 0),
    token_steps: run.token_steps + (request.tokens === null ? 0 : 1),
    drift_tokens:
      run.drift_tokens === null ? null : run.drift_tokens + (verdict.drifting ? tokens : 0),
    first_drift_step:
      verdict.drifting && run.drifting_steps === 0 ? run.steps + 1 : run.first_drift_step,
    pair: request.pair ?? run.pair,
    arm: request.arm ?? run.arm,
    last_person_at: speaks ? updated : present,
    host: observation?.host ?? run.host,
    coverage: isMain && observation !== null ? observation.coverage : run.coverage,
    clock:
      run.clock &&
      clockAfter(run.clock, {
        unattendedMs,
        since,
        acts: observation?.acts ?? 1,
        drifting: verdict.drifting,
        isHeadless: observation?.isHeadless ?? null,
      }),
  }
  const frozen = memory.revision > agent.memory.revision && memory.ground !== null
  return {
    run: isMain ? told(counted, verdict, memory, reading.plan) : counted,
    agent: {
      agent_id: agent.agent_id,
      parent_agent_id: request.parentAgentId ?? agent.parent_agent_id,
      memory,
      steps: agent.steps + 1,
      drifting: verdict.drifting,
      last_reason: verdict.reason,
      totals:
        agent.steps > 0 && agent.totals === null
          ? null
          : addToTotals(agent.totals, counted.steps, verdict, tokens),
    },
    step: counted.steps,
    verdict,
    unattendedMs,
    frozen: frozen
      ? {
          revision: memory.revision,
          goal: memory.ground?.goal ?? '',
          by: userTurn === true ? 'user' : speakerOf(memory),
          step: counted.steps,
        }
      : null,
  }
}

function latest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other)
}

/** Whether the newest revision came from the words of the user, as far as that is known; only they move a ground that stands. */
function speakerOf({ assignment = [], revision }: Memory): FrozenGround['by'] {
  const newest = assignment.filter((each) => each.revision === revision)
  if (newest.some(({ by }) => by === 'unknown')) return 'unknown'
  return newest.some(({ by }) => revision > 1 || by !== 'first') ? 'user' : 'first'
}

function told(
  run: Run,
  { drifting, uncertain, reason, phi, judgment }: Verdict,
  memory: Memory,
  plan: readonly string[] | null,
): Run {
  return {
    ...run,
    uncertain,
    plan: plan?.map((item) => cutTo(item, longestPlanItem)) ?? run.plan,
    ground: memory.ground?.goal ?? null,
    revision: memory.revision,
    assignment: memory.assignment ?? null,
    drifting,
    last_reason: reason,
    phi,
    max_phi: Math.max(run.max_phi, phi),
    judgment: judgment ?? null,
  }
}
