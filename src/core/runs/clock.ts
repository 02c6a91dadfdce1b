import type { Alone } from '../alerts/alone.ts'

/** From how many milliseconds without a person each band counts; the last has no end. */
export const bandStartsMs = [0, 60_000, 5 * 60_000, 30 * 60_000] as const

/** Fewest steps of a band of which a share is told. */
export const fewestSteps = 20

/** The steps of a run in each band, all and drifting, and whether nobody was there but to start it. */
export interface Clock {
  steps: readonly number[]
  drifting: readonly number[]
  isHeadless: boolean
  /** What was done since a person was last there; absent in a run of an earlier release. */
  alone?: Alone
}

/** A run of which no step is known. */
export const newClock: Clock = { steps: [0, 0, 0, 0], drifting: [0, 0, 0, 0], isHeadless: false }

/** The clock after a step that came `unattendedMs` after a person was last there, at `since`, and that tells `acts`. */
export function clockAfter(
  { steps, drifting, isHeadless, alone }: Clock,
  step: {
    unattendedMs: number
    since: number
    acts: number
    drifting: boolean
    isHeadless: boolean | null
  },
): Clock {
  const band = bandStartsMs.findLastIndex((from) => step.unattendedMs >= from)
  const earlier = alone?.since === step.since ? alone.acts : 0
  const plus = (counts: readonly number[], count: number) =>
    counts.with(band, (counts[band] ?? 0) + count)
  return {
    steps: plus(steps, 1),
    drifting: plus(drifting, step.drifting ? 1 : 0),
    isHeadless: step.isHeadless ?? isHeadless,
    alone: { since: step.since, ms: step.unattendedMs, acts: earlier + step.acts },
  }
}

/** How many steps of runs drifted, by the time since a person was last there. */
export interface ClockBand {
  /** Milliseconds; `to_ms` is null in the last band. */
  from_ms: number
  to_ms: number | null
  steps: number
  drifting_steps: number
  /** Whether there are enough steps to tell a share. */
  known: boolean
  /** Drifting steps over steps, 0–1; null unless it is known. */
  share: number | null
}

/** Sums the clocks of runs. */
export function bandsOf(clocks: readonly Clock[]): ClockBand[] {
  return bandStartsMs.map((from_ms, band) => {
    const sum = (of: (clock: Clock) => readonly number[]) =>
      clocks.reduce((total, clock) => total + (of(clock)[band] ?? 0), 0)
    const [steps, drifting_steps] = [sum((clock) => clock.steps), sum((clock) => clock.drifting)]
    const known = steps >= fewestSteps
    return {
      from_ms,
      to_ms: bandStartsMs[band + 1] ?? null,
      steps,
      drifting_steps,
      known,
      share: known ? drifting_steps / steps : null,
    }
  })
}
