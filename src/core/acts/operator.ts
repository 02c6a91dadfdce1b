import type { IrreversibleKind } from './commands.ts'

/** How long an act that one run began keeps others from the same, in milliseconds. */
export const actWindowMs = 600_000

/** What is known when a run asks whether an act should proceed. */
export interface ActSituation {
  /** What the caller declared. */
  reversible: boolean
  /** Whether others see it: a message, a publication, a payment. */
  outward: boolean
  /** What makes its command irreversible whatever was declared, or null. */
  command: IrreversibleKind | null
  /** Whether an escalation of the run is pending or was decided `stop`. */
  escalated: boolean
  /** The last reason of the run, or null when it was never checked. */
  lastReason: string | null
  drifting: boolean
  /** Whose run began the same act lately, or null. */
  begunBy: 'account' | 'team' | null
}

/** Whether an act should proceed, and why. */
export interface ActVerdict {
  allow: boolean
  /** `escalated`, `unchecked`, `duplicate`, `clear`, or the reason of the drift. */
  reason: string
  /** What decided, in one sentence or two. */
  detail: string
}

/**
 * Whether an act should proceed: one that can be undone and stays inside always does; any other is
 * refused for the first ground that applies.
 */
export function consult(situation: ActSituation): ActVerdict {
  const { reversible, outward, command } = situation
  if (reversible && !outward && command === null) {
    return clear('The act can be undone and stays inside.')
  }
  const bearing =
    command === null ? '' : ` The command counts as ${command}, whatever was declared.`
  for (const { when, reason, detail } of refusals) {
    if (!when(situation)) continue
    return { allow: false, reason: reason(situation), detail: `${detail(situation)}${bearing}` }
  }
  return clear(
    `The last verdict on the run is ${situation.lastReason}, no escalation stands against it, and no other run began the same.${bearing}`,
  )
}

interface Ground {
  when(situation: ActSituation): boolean
  reason(situation: ActSituation): string
  detail(situation: ActSituation): string
}

/** In the order in which they are asked. */
const refusals: readonly Ground[] = [
  {
    when: ({ escalated }) => escalated,
    reason: () => 'escalated',
    detail: () =>
      'An escalation of this run is pending or was decided stop; GET /v1/escalation shows it.',
  },
  {
    when: ({ lastReason }) => lastReason === null,
    reason: () => 'unchecked',
    detail: () => 'This run was never checked; POST /v1/drift logs its first step.',
  },
  {
    when: ({ drifting }) => drifting,
    reason: ({ lastReason }) => lastReason ?? 'unchecked',
    detail: ({ lastReason }) =>
      `The last verdict on the run is ${lastReason}, which drifts; a step that is back on its ground clears it.`,
  },
  {
    when: ({ begunBy }) => begunBy !== null,
    reason: () => 'duplicate',
    detail: ({ begunBy }) =>
      `Another run of this ${begunBy} began the same kind of act on the same target in the last ${actWindowMs / 60_000} minutes.`,
  },
]

function clear(detail: string): ActVerdict {
  return { allow: true, reason: 'clear', detail }
}
