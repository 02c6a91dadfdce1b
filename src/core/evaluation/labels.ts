import { type Share, shareOf } from '../figures.ts'
import { isTooLittle, type SessionSeen } from '../hosts/seen.ts'

/** What a person says of a step. */
export const labels = ['useful', 'false_alarm', 'redirected', 'unclear', 'missed'] as const

export type Label = (typeof labels)[number]

/**
 * Why a label does not fit a step, or null if it does: `missed` says that an alarm was missing, and all but `unclear`
 * that there was one.
 */
export function misfitOf(label: Label, drifting: boolean): string | null {
  if (label === 'unclear' || (label === 'missed') !== drifting) return null
  return drifting
    ? 'this step drifts; send useful, false_alarm, redirected or unclear'
    : 'this step does not drift; send missed or unclear'
}

/** Whether the labelled step had left the errand; null where the label does not say. */
export function hadLeft(label: Label): boolean | null {
  if (label === 'useful' || label === 'missed') return true
  return label === 'false_alarm' ? false : null
}

/** The alarms of one reason, detector and host with one newest label, counted; the label is null without one. */
export interface AlarmCount {
  reason: string
  detector: string
  host: string | null
  label: Label | null
  alarms: number
}

/** How good alarms of one kind were. */
export interface Quality {
  alarms: number
  /** Alarms whose label says whether they were right: `unclear` does not. */
  labelled: number
  useful: number
  /** The useful ones of the labelled, with the Wilson interval at 95 %; null unless it is known. */
  precision: Share | null
  /** Whether a precision is told, and why not: fewer than ten labels, or less than four fifths of the acts were seen. */
  known: boolean
  withheld: Withheld | null
}

/** Why no precision is told. */
export const withholdings = ['few_labels', 'little_seen'] as const

export type Withheld = (typeof withholdings)[number]

/** With fewer labels, a precision would say nothing. */
export const fewestLabelled = 10

type Counted = Pick<AlarmCount, 'label' | 'alarms'>

/** Sums counts of alarms up. `seen`: the acts of the runs that they are of; null if no host shows any. */
export function qualityOf(
  counts: readonly Counted[],
  seen: Pick<SessionSeen, 'acts' | 'ended'> | null,
): Quality {
  const sum = (isCounted: (count: Counted) => boolean) =>
    counts.reduce((total, count) => total + (isCounted(count) ? count.alarms : 0), 0)
  const labelled = sum(({ label }) => label !== null && label !== 'unclear')
  const useful = sum(({ label }) => label === 'useful')
  const withheld =
    labelled < fewestLabelled
      ? 'few_labels'
      : seen !== null && isTooLittle(seen)
        ? 'little_seen'
        : null
  const precision = withheld === null ? shareOf(useful, labelled) : null
  const known = precision !== null
  return { alarms: sum(() => true), labelled, useful, precision, known, withheld }
}
