import { progressValues } from '../detector/contract/constants.ts'
import type { DetectorName } from '../detector/contract/detector.ts'
import { detectorNames } from '../detector/contract/detector.ts'
import { readDistance, readWholeDistance, saysDistance } from '../detector/distance.ts'
import type { Step } from '../detector/step.ts'
import { userEffects } from '../detector/user/effects.ts'
import { maxTextLength, wellFormed } from '../text.ts'
import { fieldReader } from './field-reader.ts'

/** Fewest and most entries of the sequence form. */
export const stepsRange = { min: 2, max: 64 } as const

/** A parsed `POST /v1/check` request; `detector` is null if the caller chose none. */
export interface CheckRequest {
  steps: Step[]
  detector: DetectorName | null
}

/** Why a body is not a check request; `detail` says how to correct it. */
export interface CheckFault {
  error: 'bad_request' | 'too_many_steps'
  detail: string
}

/**
 * Reads a check body in either form; the sequence form wins if `steps` is an array. `body` is the parsed
 * JSON, undefined if it was invalid.
 */
export function readCheck(body: unknown): CheckRequest | CheckFault {
  if (!body) return bad('Send a JSON object: either { ground, goal } or { steps: [...] }.')
  const fields = body as Record<string, unknown>
  const steps = Array.isArray(fields.steps) ? readSequence(fields.steps) : readTwoGoals(fields)
  if ('error' in steps) return steps
  const detector = readDetector(fields.detector)
  return typeof detector === 'object' && detector !== null ? detector : { steps, detector }
}

function readSequence(entries: readonly unknown[]): Step[] | CheckFault {
  if (entries.length < stepsRange.min) {
    return bad(
      `steps has ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}; send ${stepsRange.min} to ${stepsRange.max}, the first being the ground.`,
    )
  }
  if (entries.length > stepsRange.max) {
    return {
      error: 'too_many_steps',
      detail: `steps has ${entries.length} entries; send at most ${stepsRange.max}, or log a longer run with POST /v1/drift.`,
    }
  }
  const steps: Step[] = []
  for (const [index, entry] of entries.entries()) {
    const step = readCheckStep(entry, `steps[${index}]`)
    if ('error' in step) return step
    steps.push(step)
  }
  return steps
}

/** Reads one entry of a sequence; faults call it `name`. */
export function readCheckStep(entry: unknown, name: string): Step | CheckFault {
  const fields = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<
    string,
    unknown
  >
  const goal = readGoal(fields.goal, `${name}.goal`)
  if (typeof goal !== 'string') return goal
  const faults: string[] = []
  const read = fieldReader(fields, faults)
  const userMessage = read.text('user_message')
  const userEffect = read.choice('user_effect', userEffects)
  if (faults.length > 0) return bad(`${name}.${faults.join('; ')}`)
  return {
    goal,
    progress: readProgress(fields.progress),
    distance: readDistance(fields.distance),
    ...(saysDistance(fields.distance) ? {} : { distanceReported: false }),
    ...(userMessage ? { userMessage } : {}),
    ...(userMessage && userEffect !== null ? { userEffect } : {}),
  }
}

function readTwoGoals(fields: Record<string, unknown>): Step[] | CheckFault {
  const ground = readGoal(fields.ground, 'ground')
  if (typeof ground !== 'string') return ground
  const goal = readGoal(fields.goal, 'goal')
  if (typeof goal !== 'string') return goal
  const distance = readWholeDistance(fields.distance)
  const unreported = saysDistance(fields.distance) ? {} : { distanceReported: false }
  return [
    { goal: ground, progress: progressValues[0], distance, ...unreported },
    { goal, progress: readProgress(fields.progress), distance, ...unreported },
  ]
}

function readGoal(value: unknown, field: string): string | CheckFault {
  if (typeof value !== 'string' || value.trim() === '') {
    return bad(`${field} is ${nameOf(value)}; send a text that is not blank.`)
  }
  const goal = wellFormed(value.trim())
  return goal.length > maxTextLength
    ? bad(`${field} has ${goal.length} characters; send at most ${maxTextLength}.`)
    : goal
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'string') return 'blank'
  return 'not a text'
}

/** The reported progress; anything but a text counts as advancing. */
export function readProgress(value: unknown): string {
  return typeof value === 'string' ? wellFormed(value) : progressValues[0]
}

function readDetector(value: unknown): DetectorName | CheckFault | null {
  if (value === undefined || value === null) return null
  const name = detectorNames.find((known) => known === value)
  return name ?? bad(`detector is unknown; send ${detectorNames.join(' or ')}, or leave it out.`)
}

function bad(detail: string): CheckFault {
  return { error: 'bad_request', detail }
}
