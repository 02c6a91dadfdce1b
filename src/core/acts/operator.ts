import type { IrreversibleKind } from './commands.ts'

/** How long an act that one run began blocks the same act of other runs, in milliseconds. */
export const actWindowMs = 600_000

/** The facts for the decision on an act. */
export interface ActSituation {
  /** The declaration of the caller. */
  reversible: boolean
  /** Whether outsiders see it: a message, a publication, a payment. */
  outward: boolean
  /** The reason why its command is irreversible, whatever was declared; or null. */
  command: IrreversibleKind | null
  /** Whether an escalation of the run is pending or was decided `stop`. */
  escalated: boolean
  /** The last reason of the run, or null if it was never checked. */
  lastReason: string | null
  drifting: boolean
  /** The run that recently began the same act, or null. */
  begunBy: 'account' | 'team' | null
}

/** The decision on an act, and its reason. */
export interface ActVerdict {
  allow: boolean
  /** `escalated`, `unchecked`, `duplicate`, `clear`, or the reason of the drift. */
  reason: string
  /** The explanation, in one or two sentences. */
  detail: string
}

/**
 * Decides whether an act should proceed. A reversible internal act always proceeds; any other act is
 * refused on the first applicable check.
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

/** The checks, in order. */
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
