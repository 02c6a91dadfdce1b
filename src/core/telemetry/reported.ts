import { distanceRange, progressValues } from '../detector/contract/constants.ts'
import { type Fields, given } from '../hosts/fields.ts'
import type { Report } from '../hosts/host-event.ts'
import { maxIdLength } from '../runs/field-reader.ts'
import { maxPlanLength } from '../runs/step-request.ts'
import { maxTextLength, parseJson, wellFormed } from '../text.ts'

/** What a span or a log record says in attributes of our own. */
export interface Reported {
  /** '' if it names no agent. */
  agentId: string
  /** Null if it says nothing of a step. */
  report: Report | null
}

/** The attributes, which mean what the fields of `POST /v1/drift` mean. */
const names = {
  goal: 'plumbline.goal',
  ground: 'plumbline.ground',
  plan: 'plumbline.plan',
  progress: 'plumbline.progress',
  distance: 'plumbline.distance',
  userTurn: 'plumbline.user_turn',
  agentId: 'plumbline.agent_id',
} as const

/**
 * Reads the attributes by which an agent reports a step itself. An empty text counts as not given, because attributes
 * cannot be null. A value that `POST /v1/drift` would refuse or judge as no report adds a sentence to `faults`.
 */
export function reportedIn(attributes: Fields, faults: string[]): Reported {
  const value = (name: keyof typeof names) => {
    const own = attributes[names[name]]
    return own === null || (typeof own === 'string' && own.trim() === '') ? undefined : own
  }
  const refuse = (name: keyof typeof names, wanted: string) => {
    faults.push(`${names[name]}: send ${wanted}`)
    return undefined
  }
  const text = (name: keyof typeof names, most: number) => {
    const own = value(name)
    if (own === undefined) return undefined
    return typeof own === 'string' && own.length <= most
      ? wellFormed(own.trim())
      : refuse(name, `a text of at most ${most} characters`)
  }
  const report: Report = {
    ...given('goal', text('goal', maxTextLength)),
    ...given('ground', text('ground', maxTextLength)),
    ...given(
      'plan',
      planOf(value('plan'), () => refuse('plan', planWanted)),
    ),
    ...given(
      'progress',
      progressOf(value('progress'), () => refuse('progress', progressWanted)),
    ),
    ...given(
      'distance',
      distanceOf(value('distance'), () => refuse('distance', distanceWanted)),
    ),
    ...given(
      'userTurn',
      flagOf(value('userTurn'), () => refuse('userTurn', 'true or false')),
    ),
  }
  return {
    agentId: text('agentId', maxIdLength) ?? '',
    report: Object.keys(report).length === 0 ? null : report,
  }
}

const planWanted = `a list of at most ${maxPlanLength} texts of at most ${maxTextLength} characters`
const progressWanted = progressValues.join(' or ')
const distanceWanted = `a number from ${distanceRange.min} to ${distanceRange.max}`

type Refuse = () => undefined

/** A list of texts; some exporters write lists as JSON in a text. */
function planOf(value: unknown, refuse: Refuse): string[] | undefined {
  if (value === undefined) return undefined
  const list = typeof value === 'string' ? parseJson(value) : value
  const fits =
    Array.isArray(list) &&
    list.length <= maxPlanLength &&
    list.every((item) => typeof item === 'string' && item.length <= maxTextLength)
  return fits ? list.map((item: string) => wellFormed(item.trim())) : refuse()
}

function progressOf(value: unknown, refuse: Refuse): string | undefined {
  return value === undefined || (progressValues as readonly unknown[]).includes(value)
    ? (value as string | undefined)
    : refuse()
}

function distanceOf(value: unknown, refuse: Refuse): number | undefined {
  if (value === undefined) return undefined
  const number = typeof value === 'string' ? Number(value) : value
  const { min, max } = distanceRange
  return typeof number === 'number' && number >= min && number <= max ? number : refuse()
}

function flagOf(value: unknown, refuse: Refuse): boolean | undefined {
  return value === undefined || typeof value === 'boolean' ? value : refuse()
}
