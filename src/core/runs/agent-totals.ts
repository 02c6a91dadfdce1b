import { isOnErrand } from '../alerts/incidents.ts'
import type { Verdict } from '../detector/detect.ts'
import { parseJson } from '../text.ts'

/** The totals of one agent of a run. */
export interface AgentTotals {
  /** Numbers of its first and its last step in the run. */
  first_step: number
  last_step: number
  /** Phi of its last step, and the highest, 0–1. */
  phi: number
  max_phi: number
  drifting_steps: number
  tokens: number
  /** Whether its last step was uncertain; absent before this was stored. */
  uncertain?: boolean
  /** Whether it has drifted, and no step since was seen to be on the errand; absent if not. */
  strays?: true
}

/** The totals after a step of the agent; null before its first one. */
export function addToTotals(
  totals: AgentTotals | null,
  step: number,
  { phi, drifting, uncertain, reason }: Verdict,
  tokens: number,
): AgentTotals {
  // An uncertain step does not say that the agent is back.
  const isBack = isOnErrand(reason) && !uncertain
  const strays = drifting || (totals?.strays === true && !isBack)
  return {
    first_step: totals?.first_step ?? step,
    last_step: step,
    phi,
    max_phi: Math.max(totals?.max_phi ?? 0, phi),
    drifting_steps: (totals?.drifting_steps ?? 0) + (drifting ? 1 : 0),
    tokens: (totals?.tokens ?? 0) + tokens,
    uncertain,
    ...(strays ? { strays } : {}),
  }
}

/** Whether an agent has left its errand and was not seen to be back, so that an incident of it can be open. */
export function isAstray({
  last_reason,
  totals,
}: {
  last_reason: string | null
  totals: AgentTotals | null
}): boolean {
  return totals?.strays === true || (last_reason !== null && !isOnErrand(last_reason))
}

/** Reads stored totals; null if there are none. */
export function readTotals(text: string | null): AgentTotals | null {
  const totals = text === null ? null : (parseJson(text) as AgentTotals | null | undefined)
  return typeof totals?.last_step === 'number' ? totals : null
}
