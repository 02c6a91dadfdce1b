import { baseRate } from './contract/constants.ts'
import type { Reason } from './rules.ts'

/**
 * How often each reason was right when it fired, of how many firings: the published count of 35
 * graded alarms. `oscillating` as it is defined now has never been graded.
 */
export const gradedAlarms: Partial<Record<Reason, { right: number; fired: number }>> = {
  'self-report:stuck': { right: 1, fired: 4 },
  'self-report:circling': { right: 1, fired: 1 },
  stalled: { right: 1, fired: 6 },
  oscillating: { right: 0, fired: 0 },
}

/**
 * How sure `drifting` is, 0–1. That a step cannot be spelled is a fact; an alarm that does not rest
 * on the goal has the rate at which such alarms were right, (right + 1) / (fired + 2); anything else
 * rests on the goal's calibrated probability of drift, or on the base rate where it is null.
 */
export function confidenceIn(
  reason: Reason,
  drifting: boolean,
  driftProbability: number | null,
): number {
  if (reason === 'ungrammatical') return 1
  const graded = gradedAlarms[reason]
  if (drifting && graded !== undefined) return (graded.right + 1) / (graded.fired + 2)
  const probability = driftProbability ?? baseRate
  return drifting ? probability : 1 - probability
}
