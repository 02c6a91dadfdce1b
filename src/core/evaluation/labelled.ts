import { progressValues } from '../detector/contract/constants.ts'
import { readDistance } from '../detector/distance.ts'
import { type UserEffect, userEffects } from '../detector/user/effects.ts'
import { maxPlanLength } from '../runs/step-request.ts'

/** The label of a goal: still the ground's errand, or another one. */
export type Label = 'same' | 'drift'

/** One labelled goal of a run. */
export interface LabelledStep {
  goal: string
  label: Label
  /** The reported progress; `advancing` if the data has none. */
  progress: string
  /** 0–10, or null if the data has none. */
  distance: number | null
}

/** One line of labelled data. A pair of ground and goal is a run of one step. */
export interface Labelled {
  kind: 'pair' | 'run'
  ground: string
  /** Sub-goals declared with the first step. */
  plan?: string[]
  steps: LabelledStep[]
  /** The source of the data, or null. */
  source: string | null
}

/** A labelled step of a run with messages of the user. Nobody could label an `unclear` one. */
export interface StepEvent extends Omit<LabelledStep, 'label'> {
  type: 'step'
  label: Label | 'unclear'
  /** How the step has left the errand, as the data names it, or null. */
  kind: string | null
}

/** A message of the user, with its labelled effect on the assignment, or null. */
export interface UserEvent {
  type: 'user'
  text: string
  effect: UserEffect | null
}

/** A labelled run with messages of the user. */
export interface LabelledEvents {
  kind: 'events'
  ground: string
  /** Sub-goals declared with the first step. */
  plan?: string[]
  events: (StepEvent | UserEvent)[]
  /** The source of the data, or null. */
  source: string | null
}

/** The detector's answer for one item: a pair, or a step of a run. */
export interface Prediction {
  drifting: boolean
  uncertain: boolean
  /** 0–1, rounded to two decimals, as in the verdict. */
  confidence: number
  /** 0–1, rounded to two decimals, as in the verdict. */
  phi: number
  /** Evidence of drift for ranking, unrounded. */
  score: number
}

/** An item with its label and the detector's answer. */
export interface Judged extends Prediction {
  label: Label
}

/** The judged items of one line, in order. */
export interface JudgedRun {
  source: string | null
  steps: readonly Judged[]
}

/** Parses one line of labelled data; returns an error that begins with the field. */
export function readLabelled(line: unknown): Labelled | LabelledEvents | { fault: string } {
  if (!isRecord(line)) return { fault: 'must be a JSON object' }
  const { ground, steps, events, source, plan } = line
  if (typeof ground !== 'string' || ground.trim() === '') {
    return { fault: 'ground must be a text that is not blank' }
  }
  if (source !== undefined && source !== null && typeof source !== 'string') {
    return { fault: 'source must be a text' }
  }
  if (!isPlan(plan)) return { fault: 'plan must be a list of texts' }
  if (events !== undefined) {
    const read = readEvents(events)
    if ('fault' in read) return read
    return { kind: 'events', ground, ...(plan ? { plan } : {}), ...read, source: source ?? null }
  }
  if (steps === undefined) return readPair(line, ground, source ?? null)
  if (!Array.isArray(steps) || steps.length === 0) {
    return { fault: 'steps must be a list of at least one step' }
  }
  const read: LabelledStep[] = []
  for (const [place, step] of steps.entries()) {
    const result = readStep(step, ` of step ${place + 1}`)
    if ('fault' in result) return result
    read.push(result)
  }
  const run: Labelled = { kind: 'run', ground, steps: read, source: source ?? null }
  return plan ? { ...run, plan } : run
}

function isPlan(plan: unknown): plan is string[] | null | undefined {
  if (plan === undefined || plan === null) return true
  return Array.isArray(plan) && plan.every((item) => typeof item === 'string')
}

function readPair(
  line: Record<string, unknown>,
  ground: string,
  source: string | null,
): Labelled | { fault: string } {
  const { goal, label } = line
  if (goal === undefined) return { fault: 'needs a goal (a pair), steps or events (a run)' }
  const step = readStep({ goal, label }, '')
  return 'fault' in step ? step : { kind: 'pair', ground, steps: [step], source }
}

function readEvents(events: unknown): Pick<LabelledEvents, 'events'> | { fault: string } {
  if (!Array.isArray(events)) return { fault: 'events must be a list' }
  const read: LabelledEvents['events'] = []
  for (const [place, event] of events.entries()) {
    const result = readEvent(event, ` of event ${place + 1}`)
    if ('fault' in result) return result
    read.push(result)
  }
  if (read.some(({ type }) => type === 'step')) return { events: read }
  return { fault: 'events must have at least one step' }
}

const eventLabels = { on: 'same', off: 'drift', unclear: 'unclear' } as const

function readEvent(event: unknown, where: string): StepEvent | UserEvent | { fault: string } {
  const { type, goal, label, kind, text, effect, ...rest } = isRecord(event) ? event : {}
  if (type === 'user') {
    if (typeof text !== 'string') return { fault: `text${where} must be a text` }
    const known = userEffects.find((each) => each === effect) ?? null
    if (known === null && effect !== undefined && effect !== null) {
      return { fault: `effect${where} must be one of ${userEffects.join(', ')}` }
    }
    return { type, text, effect: known }
  }
  if (type !== 'step') return { fault: `type${where} must be "step" or "user"` }
  if (typeof label !== 'string' || !Object.hasOwn(eventLabels, label)) {
    return { fault: `label${where} must be "on", "off" or "unclear"` }
  }
  if (kind !== undefined && kind !== null && typeof kind !== 'string') {
    return { fault: `kind${where} must be a text` }
  }
  const step = readStep({ ...rest, goal, label: 'same' }, where)
  if ('fault' in step) return step
  return {
    ...step,
    type,
    label: eventLabels[label as keyof typeof eventLabels],
    kind: kind ?? null,
  }
}

function readStep(step: unknown, where: string): LabelledStep | { fault: string } {
  const { goal, label, progress, distance } = isRecord(step) ? step : {}
  if (typeof goal !== 'string') return { fault: `goal${where} must be a text` }
  if (label !== 'same' && label !== 'drift') {
    return { fault: `label${where} must be "same" or "drift"` }
  }
  return {
    goal,
    label,
    progress: typeof progress === 'string' ? progress : progressValues[0],
    distance: distance === undefined || distance === null ? null : readDistance(distance),
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The part of a run's own on-errand steps that becomes its plan: every one, or every second. */
export const declaredPlans = ['all', 'half'] as const

export type DeclaredPlan = (typeof declaredPlans)[number]

/**
 * Adds a plan to the first step: the run's own steps labelled `same`, word for word. An existing plan
 * stays; a run without such steps declares none.
 */
export function withDeclaredPlan<Run extends Labelled | LabelledEvents>(
  labelled: Run,
  declared: DeclaredPlan,
): Run {
  if (labelled.kind === 'pair' || labelled.plan !== undefined) return labelled
  const steps =
    labelled.kind === 'events'
      ? labelled.events.flatMap((event) => (event.type === 'step' ? [event] : []))
      : labelled.steps
  const own = steps.filter(({ label }) => label === 'same').map(({ goal }) => goal)
  const plan = declared === 'all' ? own : own.filter((_, place) => place % 2 === 0)
  return { ...labelled, plan: plan.slice(0, maxPlanLength) }
}
