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
}

/** The totals after a step of the agent; null before its first one. */
export function addToTotals(
  totals: AgentTotals | null,
  step: number,
  { phi, drifting, uncertain }: Verdict,
  tokens: number,
): AgentTotals {
  return {
    first_step: totals?.first_step ?? step,
    last_step: step,
    phi,
    max_phi: Math.max(totals?.max_phi ?? 0, phi),
    drifting_steps: (totals?.drifting_steps ?? 0) + (drifting ? 1 : 0),
    tokens: (totals?.tokens ?? 0) + tokens,
    uncertain,
  }
}

/** Reads stored totals; null if there are none. */
export function readTotals(text: string | null): AgentTotals | null {
  const totals = text === null ? null : (parseJson(text) as AgentTotals | null | undefined)
  return typeof totals?.last_step === 'number' ? totals : null
}
