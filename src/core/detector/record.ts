import { stallWindow } from './contract/constants.ts'
import { periodOf, trailLength } from './cycle.ts'
import type { Memory } from './memory.ts'
import { newPace, paced } from './pace.ts'
import type { Rule } from './rules.ts'
import { contextOf } from './spelling.ts'
import type { Reading } from './step.ts'
import { counted, timesOfNewest } from './tally.ts'

/**
 * The memory after a step was judged by `rule`. `own` is the detector's own state; `paces` says whether
 * the distance was reported and may count for the pace; `asPublished`, whether the published rules judge it.
 */
export function record(
  memory: Memory,
  reading: Reading,
  rule: Rule,
  own: unknown,
  paces: boolean,
  asPublished: boolean,
): Memory {
  const { spelled, distance, context } = reading
  const trail = appended(memory.trail, context ?? '', trailLength)
  const period = periodOf(trail)
  const pace = paced(memory.pace ?? newPace, paces ? distance : null, rule.acceptsDistance)
  const spellings = spelled ? counted(memory.spellings, keyOf(reading)) : memory.spellings
  return {
    ...memory,
    steps: memory.steps + 1,
    since: memory.since + 1,
    drifted: rule.recordsDrift,
    accepted: rule.acceptsDistance && paces ? accept(memory.accepted, distance) : memory.accepted,
    reported: spelled && paces ? report(memory.reported, distance) : memory.reported,
    ...(asPublished ? {} : { pace }),
    goalDrifts: memory.goalDrifts + (rule.reason === 'goal-drift' ? 1 : 0),
    stalls: memory.stalls + (rule.reason === 'stalled' ? 1 : 0),
    cycles: memory.cycles + (period !== null && memory.period === null ? 1 : 0),
    period,
    trail,
    spellings,
    mostRepeated: spelled
      ? Math.max(memory.mostRepeated, timesOfNewest(spellings).since)
      : memory.mostRepeated,
    own,
  }
}

/** Whether `distance` would be the last of `stallWindow` that did not fall below the one before them. */
export function standsStill({ recent }: Memory['accepted'], distance: number): boolean {
  const before = recent.at(-stallWindow)
  if (before === undefined || distance < before) return false
  return recent.slice(1 - stallWindow).every((later) => later >= before)
}

function accept({ recent, flat }: Memory['accepted'], distance: number): Memory['accepted'] {
  const before = recent.at(-1)
  return {
    recent: appended(recent, distance, stallWindow + 1),
    flat: before !== undefined && distance >= before ? flat + 1 : 0,
  }
}

function report({ highest, count }: Memory['reported'], distance: number): Memory['reported'] {
  return { highest: Math.max(highest, distance), last: distance, count: count + 1 }
}

/** Appends a value and keeps the newest `most`. */
function appended<Value>(values: readonly Value[], value: Value, most: number): Value[] {
  const kept = values.length < most ? values.slice() : values.slice(values.length + 1 - most)
  kept.push(value)
  return kept
}

/** A short form of a spelling: contexts instead of words keep the memory small for long goals. */
function keyOf({ context, progress, distance, parentWords }: Reading): string {
  const parent = parentWords === null ? '' : `<${short(contextOf(parentWords))}`
  return `${short(context)}${progress.charAt(0)}${distance}${parent}`
}

function short(context: string | null): string {
  return context?.slice('ctx_'.length) ?? ''
}
