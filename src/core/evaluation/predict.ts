import { distanceRange } from '../detector/contract/constants.ts'
import type { DetectorName } from '../detector/contract/detector.ts'
import { detect } from '../detector/detect.ts'
import { type Memory, newMemory } from '../detector/memory.ts'
import type { Hints, Step } from '../detector/step.ts'
import type { UserEffect } from '../detector/user/effects.ts'
import type {
  Judged,
  Label,
  Labelled,
  LabelledEvents,
  LabelledStep,
  Prediction,
  UserEvent,
} from './labelled.ts'

/** What the detector has beside the texts. */
export type Judging = Pick<Hints, 'adaptation' | 'reads' | 'limit'>

/**
 * The detector's answer for every step, in order. The ground is given, so the first goal is measured too.
 * A step without a distance interrupts the series that a stall needs, so unreported distances cause no
 * stall.
 */
export function predict(
  detector: DetectorName,
  { ground, plan, steps }: Labelled,
  hints: Judging = {},
): Judged[] {
  const judge = createJudge(detector, ground, plan === undefined ? {} : { plan }, hints)
  return steps.map((step) => ({ label: step.label, ...judge(step, null).prediction }))
}

/** A step or a message of a run after it was judged. */
export type JudgedEvent =
  | ({ type: 'step'; label: Label | 'unclear'; kind: string | null } & Prediction)
  | { type: 'user'; stated: UserEffect | null; read: UserEffect }

/**
 * The detector's answer for every event of a run with messages of the user, in order. Messages reach the
 * detector with the step that follows, in one text where there are several, and share its reading; messages
 * at the end come by themselves. The plan is in the words of the agent, and so only a claim.
 */
export function predictEvents(
  detector: DetectorName,
  { ground, plan, events }: LabelledEvents,
  hints: Judging = {},
): JudgedEvent[] {
  const judge = createJudge(
    detector,
    ground,
    plan === undefined ? {} : { plan, isOwnPlan: true },
    hints,
  )
  const judged: JudgedEvent[] = []
  let said: UserEvent[] = []
  const heard = (read: UserEffect) => {
    judged.push(...said.map(({ effect }) => ({ type: 'user' as const, stated: effect, read })))
    said = []
  }
  for (const event of events) {
    if (event.type === 'user') {
      said.push(event)
      continue
    }
    const { prediction, effect } = judge(event, messageOf(said))
    heard(effect ?? 'none')
    judged.push({ type: 'step', label: event.label, kind: event.kind, ...prediction })
  }
  const last = messageOf(said)
  if (last !== null) {
    const itself = { goal: last, progress: 'advancing', distance: null }
    heard(judge(itself, last).effect ?? 'none')
  }
  return judged
}

/** The steps of a run that have a label, for the measures. */
export function labelledSteps(
  events: readonly JudgedEvent[],
): (Judged & { kind: string | null })[] {
  return events.flatMap((event) =>
    event.type === 'step' && event.label !== 'unclear' ? [{ ...event, label: event.label }] : [],
  )
}

function messageOf(said: readonly UserEvent[]): string | null {
  return said.length === 0 ? null : said.map(({ text }) => text).join('\n')
}

/** Judges the steps of one run, one after another, each with what the user has said before it. */
function createJudge(
  detector: DetectorName,
  ground: string,
  declared: Pick<Step, 'plan' | 'isOwnPlan'>,
  hints: Judging,
) {
  let memory = newMemory(detector)
  return (
    { goal, progress, distance }: Pick<LabelledStep, 'goal' | 'progress' | 'distance'>,
    message: string | null,
  ): { prediction: Prediction; effect: UserEffect | undefined } => {
    const step: Step = {
      ...hints,
      goal,
      progress,
      distance: distance ?? distanceRange.fallback,
      ground,
      ...(distance === null ? { distanceReported: false } : {}),
      ...(memory.steps === 0 ? declared : {}),
      ...(message === null ? {} : { userMessage: message }),
    }
    const detected = detect(distance === null ? withoutDistances(memory) : memory, step)
    memory = distance === null ? withoutDistances(detected.memory) : detected.memory
    const { drifting, uncertain, confidence, phi, user_effect } = detected.verdict
    const { score } = detected
    return {
      prediction: { drifting, uncertain, confidence, phi, score },
      effect: user_effect,
    }
  }
}

function withoutDistances(memory: Memory): Memory {
  return { ...memory, accepted: { ...memory.accepted, recent: [] } }
}
