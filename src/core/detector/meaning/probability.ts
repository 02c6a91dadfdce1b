import { baseRate } from '../contract/constants.ts'
import { calibration, driftProbabilityAt, readCalibration, type Seen } from './evidence.ts'

/** Share of the limit above which a step leans off the errand enough to count beside another sign. */
export const halfOfLimit = 0.5

/**
 * The least drift probability beside another name or number, and beside an act that nobody asked for. At one drifting
 * step in ten, 72 % of such names and 30 % of such acts on the development errands are drift; but a step that is not
 * called drift is not said to be one more likely than not.
 */
const leastOfSwap = 0.5
const leastOfAct = 0.3

/**
 * The probability of drift, 0–1. On the development data one hard difference in 10,000 on-errand goals was
 * found, and a goal that restates the errand is no other. An uncertain step is no surer than the base rate, or than
 * swaps and acts are on the development data, and one that continues a drift is as sure as a step at the limit.
 */
export function probabilityOf(
  { kind, act }: Seen,
  share: number,
  isUnsettled: boolean,
  continues: boolean,
  isRead: boolean,
): number {
  if (kind === 'restated') return 0.01
  if (isProof(kind)) return 0.95
  const rows = isRead ? readCalibration : calibration
  if (continues) return driftProbabilityAt(1, rows)
  const at = kind === 'slot' ? Math.max(share, halfOfLimit) : share
  const measured = driftProbabilityAt(at, rows)
  if (!isUnsettled) return measured
  const least = kind === 'swap' ? leastOfSwap : act === undefined ? baseRate : leastOfAct
  return Math.max(measured, least)
}

/** Whether what was found is drift whatever the words say beside it. */
export function isProof(kind: Seen['kind']): boolean {
  return kind === 'hard' || kind === 'forbidden' || kind === 'acts' || kind === 'override'
}
