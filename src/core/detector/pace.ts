import { cycleRange } from './contract/constants.ts'

/** How the reported distance has fallen since the ground was frozen. Plain JSON of bounded size. */
export interface Pace {
  /** The first and the lowest distance on the errand, 0–10. */
  first: number
  lowest: number
  /** Reported distances on the errand so far, and how many there were when the lowest was reached. */
  count: number
  lowestAt: number
  /** The distances of the newest steps, as many as the longest cycle; null if none was reported. */
  newest: readonly (number | null)[]
}

const shortestStall = 8

/** The pace before the first step. */
export const newPace: Pace = { first: 0, lowest: 0, count: 0, lowestAt: 0, newest: [] }

/** The pace after a step; `counts` says whether its distance is one on the errand. */
export function paced(pace: Pace, distance: number | null, counts: boolean): Pace {
  const newest = [...pace.newest, distance].slice(-cycleRange.maxPeriod)
  if (distance === null || !counts) return { ...pace, newest }
  const count = pace.count + 1
  if (pace.count === 0) return { first: distance, lowest: distance, count, lowestAt: count, newest }
  const falls = distance < pace.lowest
  return {
    ...pace,
    count,
    lowest: falls ? distance : pace.lowest,
    lowestAt: falls ? count : pace.lowestAt,
    newest,
  }
}

/**
 * Reports without a new lowest distance that make a stall: twice as many as one unit of distance has taken
 * so far, and at least eight. So a long run whose distance falls evenly never stalls.
 */
export function stallAfter({ first, lowest, lowestAt }: Pace): number {
  const fallen = first - lowest
  return fallen <= 0 ? shortestStall : Math.max(shortestStall, Math.ceil((2 * lowestAt) / fallen))
}

/** Whether the run would stall with this distance. */
export function wouldStall(pace: Pace, distance: number): boolean {
  if (pace.count === 0 || distance < pace.lowest) return false
  return pace.count + 1 - pace.lowestAt >= stallAfter(pace)
}

/**
 * Whether the distance of the newest step is lower than at the same place of the cycle before, `period`
 * steps ago; null if one of them was not reported.
 */
export function hasFallenSince(
  { newest }: Pace,
  period: number,
  distance: number | null,
): boolean | null {
  const before = newest.at(-period)
  return before === undefined || before === null || distance === null ? null : distance < before
}
