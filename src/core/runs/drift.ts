import type { DetectorName } from '../detector/contract/detector.ts'
import { detectorNames } from '../detector/contract/detector.ts'
import { readDistance, saysDistance } from '../detector/distance.ts'
import type { Step } from '../detector/step.ts'
import { maxTextLength, wellFormed } from '../text.ts'
import { readProgress } from './check.ts'

/** Longest id a caller may choose, in UTF-16 code units. */
export const maxIdLength = 200

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
  step: Step
  /** Tokens of the step, ≥ 0, or null if not reported. */
  tokens: number | null
  /** Whether the tokens were overhead; null if not reported. */
  overhead: boolean | null
  pair: string | null
  arm: Arm | null
  /** The requested detector; only the first step of a run can set it. */
  detector: DetectorName | null
}

/** Why a body is invalid; each sentence names the field and a correct value. */
export interface Fault {
  fault: string
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
  if (!saysDistance(fields.distance)) step.distanceReported = false
  const plan = readPlan(fields.plan, faults)
  if (plan !== null) step.plan = plan
  read.text('step_id')

  const request: DriftRequest = {
    runId: read.id('run_id') ?? defaultRunId,
    agentId: read.id('agent_id') ?? '',
    step,
    tokens: read.amount('tokens'),
    overhead: fields.overhead === undefined ? null : Boolean(fields.overhead),
    pair: read.id('pair'),
    arm: read.choice('arm', arms),
    detector: read.choice('detector', detectorNames),
  }
  return faults.length === 0 ? request : { fault: faults.join('; ') }
}

/** Readers of optional fields; an invalid field adds a sentence to `faults` and reads as null. */
export function fieldReader(fields: Readonly<Record<string, unknown>>, faults: string[]) {
  function given(name: string): unknown {
    return fields[name] ?? null
  }
  function string(name: string): string | null {
    const value = given(name)
    if (value === null || typeof value === 'string') return value
    faults.push(`${name}: send a text`)
    return null
  }
  return {
    /** A free text, trimmed and well-formed. */
    text(name: string): string | null {
      const value = string(name)
      if (value === null) return null
      const text = wellFormed(value.trim())
      if (text.length > maxTextLength) faults.push(tooLong(name, text))
      return text
    },
    /** An id: any text of 1–200 characters, well-formed. */
    id(name: string): string | null {
      const value = string(name)
      if (value === null) return null
      if (value === '' || value.length > maxIdLength) {
        faults.push(`${name}: has ${value.length} characters; send 1 to ${maxIdLength}`)
      }
      return wellFormed(value)
    },
    flag(name: string): boolean | null {
      const value = given(name)
      if (value === null || typeof value === 'boolean') return value
      faults.push(`${name}: send true or false`)
      return null
    },
    /** A finite number from 0 to `max`. */
    amount(name: string, max = Number.MAX_SAFE_INTEGER): number | null {
      const value = given(name)
      if (value === null) return null
      if (typeof value === 'number' && value >= 0 && value <= max) return value
      faults.push(`${name}: send a number from 0 to ${max}`)
      return null
    },
    choice<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
      const value = given(name)
      if (value === null) return null
      const found = choices.find((choice) => choice === value)
      if (found === undefined) faults.push(`${name}: send ${choices.join(' or ')}`)
      return found ?? null
    },
  }
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

function tooLong(name: string, text: string): string {
  return `${name}: has ${text.length} characters; send at most ${maxTextLength}`
}
