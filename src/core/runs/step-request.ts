import type { DetectorName } from '../detector/contract/detector.ts'
import { detectorNames } from '../detector/contract/detector.ts'
import { readDistance, saysDistance } from '../detector/distance.ts'
import type { Step } from '../detector/step.ts'
import { userEffects } from '../detector/user/effects.ts'
import { maxTextLength, wellFormed } from '../text.ts'
import { readProgress } from './check.ts'
import { type Fault, fieldReader, tooLong } from './field-reader.ts'
import type { Observation } from './observation.ts'

/** The default run of a step. */
export const defaultRunId = 'run'

/** Most sub-goals a plan may declare. */
export const maxPlanLength = 50

/** The arms of an experiment. */
export const arms = ['treatment', 'control'] as const

export type Arm = (typeof arms)[number]

/** One step to log, read from a body of `POST /v1/drift`. */
export interface DriftRequest {
  runId: string
  /** '' is the main agent of the run. */
  agentId: string
  /** The agent that this sub-agent works for; null if the step does not say, and for the main agent. */
  parentAgentId: string | null
  step: Step
  /** Tokens of the step, ≥ 0, or null if not reported. */
  tokens: number | null
  /** Whether the tokens were overhead; null if not reported. */
  overhead: boolean | null
  pair: string | null
  arm: Arm | null
  /** The requested detector; only the first step of a run can set it. */
  detector: DetectorName | null
  /** What a host has shown of the step; null if the agent reported it. */
  observation: Observation | null
}

/**
 * Reads one body of `POST /v1/drift`. Among the measured fields only a goal that is not a text is an
 * error: a blank goal and an unknown progress get verdicts. Texts are returned trimmed and well-formed;
 * null counts as not given except in `goal`.
 */
export function readDrift(body: unknown): DriftRequest | Fault {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { fault: 'body: send a JSON object with at least a goal' }
  }
  const fields = body as Record<string, unknown>
  const faults: string[] = []
  const read = fieldReader(fields, faults)

  const { goal } = fields
  if (typeof goal !== 'string') faults.push('goal: send a text')
  const step: Step = {
    goal: read.text('goal') ?? '',
    progress: readProgress(fields.progress),
    distance: readDistance(fields.distance),
  }
  if (step.progress.length > maxTextLength) faults.push(tooLong('progress', step.progress))
  const ground = read.text('ground')
  const parentGoal = read.text('parent_goal')
  const userTurn = read.flag('user_turn')
  if (ground) step.ground = ground
  if (parentGoal) step.parentGoal = parentGoal
  if (userTurn !== null) step.userTurn = userTurn
  const userMessage = read.text('user_message')
  const userEffect = read.choice('user_effect', userEffects)
  if (userMessage) step.userMessage = userMessage
  if (userMessage && userEffect !== null) step.userEffect = userEffect
  if (!saysDistance(fields.distance)) step.distanceReported = false
  const plan = readPlan(fields.plan, faults)
  if (plan !== null) step.plan = plan
  // Beside the words of the user everything else is the agent's.
  if (plan !== null && (ground || userMessage)) step.isOwnPlan = true
  read.text('step_id')

  const agentId = read.id('agent_id') ?? ''
  const parentAgentId = read.id('parent_agent_id')
  if (parentAgentId !== null && parentAgentId === agentId) {
    faults.push('parent_agent_id: name another agent than agent_id, or leave it out')
  }
  const request: DriftRequest = {
    runId: read.id('run_id') ?? defaultRunId,
    agentId,
    parentAgentId: agentId === '' ? null : parentAgentId,
    step,
    tokens: read.amount('tokens'),
    overhead: fields.overhead === undefined ? null : Boolean(fields.overhead),
    pair: read.id('pair'),
    arm: read.choice('arm', arms),
    detector: read.choice('detector', detectorNames),
    observation: null,
  }
  return faults.length === 0 ? request : { fault: faults.join('; ') }
}

function readPlan(plan: unknown, faults: string[]): string[] | null {
  if (plan === undefined || plan === null) return null
  const fits =
    Array.isArray(plan) &&
    plan.length <= maxPlanLength &&
    plan.every((item) => typeof item === 'string' && item.length <= maxTextLength)
  if (fits) return plan.map((item: string) => wellFormed(item.trim()))
  faults.push(
    `plan: send a list of at most ${maxPlanLength} texts of at most ${maxTextLength} characters`,
  )
  return null
}
