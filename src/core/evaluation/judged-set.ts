import type { Share } from '../figures.ts'

/** What a detector finds of one kind of drift within one, two and three steps; shares with 95 % intervals. */
interface Found {
  kind: string
  runs: number
  within_1: Share
  within_2: Share
  within_3: Share
}

/** How one set of runs is judged. */
export interface JudgedSet {
  runs: string
  clean_runs: number
  /** Share of the clean runs with an alarm. */
  alarmed: Share
  /** Of clean steps. */
  false_alarms_per_1000: Share
  precision_at_10_percent: number
  found: Found[]
}
