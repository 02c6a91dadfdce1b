import { cycleRange } from './contract/constants.ts'

/** Number of goals that reveal the longest cycle. */
export const trailLength = Math.max(cycleRange.readings, 2 * cycleRange.maxPeriod)

/**
 * The shortest period, in steps, with which the newest goals of the trail repeat, or null. A
 * period p needs max(6, 2p) readings and at least two different goals among them.
 */
export function periodOf(trail: readonly string[]): number | null {
  for (let period = cycleRange.minPeriod; period <= cycleRange.maxPeriod; period++) {
    const needed = Math.max(cycleRange.readings, 2 * period)
    if (trail.length < needed) continue
    const first = trail.length - needed
    if (!repeats(trail, first, period)) continue
    if (new Set(trail.slice(first)).size >= cycleRange.distinct) return period
  }
  return null
}

/** Whether the trail from `first` on repeats with that period. */
function repeats(trail: readonly string[], first: number, period: number): boolean {
  for (let at = first + period; at < trail.length; at++) {
    if (trail[at] !== trail[at - period]) return false
  }
  return true
}
