import { type UserEffect, userEffects } from '../detector/user/effects.ts'
import { type DetectionMeasures, type Estimate, measureRuns } from './evaluation.ts'
import { type JudgedEvent, labelledSteps } from './predict.ts'

/** How much of one kind of drift is found. */
export interface KindReport
  extends Pick<
    DetectionMeasures<Estimate>,
    'found_within_1' | 'found_within_2' | 'found_within_3'
  > {
  kind: string
  /** Runs whose first drifted step is of this kind. */
  runs: number
  /** All drifted steps of this kind. */
  steps: number
  /** Shares of those steps that are drifting, and that are drifting or uncertain. */
  recall: number
  noticed: number
}

/** How the messages of one effect were read. */
export interface EffectReport {
  stated: UserEffect
  messages: number
  /** Number of messages by the effect that was read. */
  read: Record<UserEffect, number>
}

/** Measures each kind of drift that the steps of the runs name, most frequent first; null without one. */
export function measureKinds(
  runs: readonly (readonly JudgedEvent[])[],
  resamples: number,
): KindReport[] | null {
  const drifted = runs.map((events) => ({
    steps: labelledSteps(events),
    off: labelledSteps(events).filter(({ label }) => label === 'drift'),
  }))
  const steps = drifted.flatMap(({ off }) => off)
  const byKind = Map.groupBy(steps, ({ kind }) => kind)
  const reports = [...byKind].flatMap(([kind, own]) => {
    if (kind === null) return []
    const first = drifted.filter(({ off }) => off[0]?.kind === kind)
    const { found_within_1, found_within_2, found_within_3 } = measureRuns(
      first.map(({ steps }) => ({ source: null, steps })),
      resamples,
    )
    const found = own.filter(({ drifting }) => drifting).length
    const noticed = own.filter(({ drifting, uncertain }) => drifting || uncertain).length
    return {
      kind,
      runs: first.length,
      steps: own.length,
      recall: found / own.length,
      noticed: noticed / own.length,
      found_within_1,
      found_within_2,
      found_within_3,
    }
  })
  reports.sort((a, b) => b.steps - a.steps)
  return reports.length === 0 ? null : reports
}

/** Counts how the messages with a labelled effect were read; null without one. */
export function measureEffects(runs: readonly (readonly JudgedEvent[])[]): EffectReport[] | null {
  const messages = runs.flatMap((events) =>
    events.flatMap((event) =>
      event.type === 'user' && event.stated !== null ? [{ ...event, stated: event.stated }] : [],
    ),
  )
  if (messages.length === 0) return null
  return userEffects.map((stated) => {
    const own = messages.filter((message) => message.stated === stated)
    const count = (effect: UserEffect) => own.filter(({ read }) => read === effect).length
    return {
      stated,
      messages: own.length,
      read: {
        none: count('none'),
        refines: count('refines'),
        adds: count('adds'),
        replaces: count('replaces'),
      },
    }
  })
}
