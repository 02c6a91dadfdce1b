import { cutTo } from '../text.ts'
import { dayMs, dayOf, hourMs } from '../time.ts'

/** The schedule of a digest. */
export interface DigestSchedule {
  cadence: 'daily' | 'weekly'
  /** 0–23 */
  hour_utc: number
  /** Of a weekly one: 0 is Sunday. */
  weekday: number | null
}

/** The totals of a run in the period, by reason. */
export interface RunDrift {
  run_id: string
  ground: string | null
  /** Whether its last verdict drifts. */
  drifting: boolean
  told: readonly StepsTold[]
}

/** The steps of one run with the same reason. */
export interface StepsTold {
  reason: string
  drifting: boolean
  steps: number
  phi_sum: number
  max_phi: number
  tokens: number
  /** The part of `tokens` at or after the first drifting verdict of the run. */
  drift_tokens: number
}

/** The sum of two parts of one run. */
export function joined(one: readonly StepsTold[], other: readonly StepsTold[]): StepsTold[] {
  const sums = new Map<string, StepsTold>()
  for (const told of [...one, ...other]) {
    const alike = `${told.drifting} ${told.reason}`
    const sum = sums.get(alike)
    sums.set(alike, sum === undefined ? told : addedUp(sum, told))
  }
  return [...sums.values()]
}

function addedUp(one: StepsTold, other: StepsTold): StepsTold {
  return {
    ...one,
    steps: one.steps + other.steps,
    phi_sum: one.phi_sum + other.phi_sum,
    max_phi: Math.max(one.max_phi, other.max_phi),
    tokens: one.tokens + other.tokens,
    drift_tokens: one.drift_tokens + other.drift_tokens,
  }
}

/** The content of a digest. */
export interface DigestReport {
  cadence: DigestSchedule['cadence']
  /** Milliseconds since 1970; `to` is excluded. */
  from: number
  to: number
  runs: number
  drifting_runs: number
  steps: number
  drifting_steps: number
  /** The drift reasons, most steps first; `share` is the share of all steps. */
  drift: DriftShare[]
  worst_runs: WorstRun[]
  tokens: number
  /** Tokens at or after the first drifting verdict of their run. */
  drift_tokens: number
  pending_escalations: number
  undelivered_alerts: number
  /** Alarms that the budget of the account held back. */
  held_alarms: number
}

/** The drifting steps of one reason. */
export interface DriftShare {
  reason: string
  steps: number
  share: number
}

/** A run that deserves a look. */
export interface WorstRun {
  run_id: string
  /** The errand, cut to one line. */
  ground: string | null
  /** The reason of most of its drifting steps. */
  reason: string
  steps: number
  drifting_steps: number
  max_phi: number
  drift_tokens: number
  /** Whether it still drifts. */
  drifting: boolean
}

const worstRuns = 5
const maxGroundLength = 100

/** The time of the first digest after `after`, milliseconds since 1970. */
export function nextDigest({ cadence, hour_utc, weekday }: DigestSchedule, after: number): number {
  let day = dayOf(after)
  const isDue = () =>
    day * dayMs + hour_utc * hourMs > after && (cadence === 'daily' || weekdayOf(day) === weekday)
  while (!isDue()) day += 1
  return day * dayMs + hour_utc * hourMs
}

/** The period that ends at `to`: since the last digest, or a day or a week. */
export function digestPeriod(
  { cadence }: Pick<DigestSchedule, 'cadence'>,
  sentUntil: number | null,
  to: number,
): { from: number; to: number } {
  const from = to - (cadence === 'daily' ? 1 : 7) * dayMs
  return { from: Math.min(sentUntil ?? from, from), to }
}

/** Sums runs one after another, in constant memory. */
export interface DigestSum {
  add(run: RunDrift): void
  report(about: Omit<DigestReport, keyof Sums>): DigestReport
}

type Sums = Pick<
  DigestReport,
  | ('runs' | 'drifting_runs' | 'steps' | 'drifting_steps')
  | ('drift' | 'worst_runs' | 'tokens' | 'drift_tokens')
>

/**
 * Creates an empty sum. The worst runs are those with the largest sum of phi over their drifting steps: it
 * measures how far and how long they drifted.
 */
export function newDigestSum(): DigestSum {
  const sums = {
    runs: 0,
    drifting_runs: 0,
    steps: 0,
    drifting_steps: 0,
    tokens: 0,
    drift_tokens: 0,
  }
  const reasons = new Map<string, number>()
  let worst: { run: WorstRun; weight: number }[] = []

  return {
    add({ run_id, ground, drifting, told }) {
      if (told.length === 0) return
      const drifts = told.filter((each) => each.drifting)
      const steps = sumOf(told, 'steps')
      const drifting_steps = sumOf(drifts, 'steps')
      const drift_tokens = sumOf(told, 'drift_tokens')
      sums.runs += 1
      sums.steps += steps
      sums.drifting_steps += drifting_steps
      sums.tokens += sumOf(told, 'tokens')
      sums.drift_tokens += drift_tokens
      for (const { reason, steps: some } of drifts) {
        reasons.set(reason, (reasons.get(reason) ?? 0) + some)
      }
      const [most] = drifts.toSorted((a, b) => b.steps - a.steps)
      if (most === undefined) return
      sums.drifting_runs += 1
      const run = {
        run_id,
        ground: ground === null ? null : oneLine(ground),
        reason: most.reason,
        steps,
        drifting_steps,
        max_phi: Math.max(...drifts.map(({ max_phi }) => max_phi)),
        drift_tokens,
        drifting,
      }
      worst = [...worst, { run, weight: sumOf(drifts, 'phi_sum') }]
        .sort((a, b) => b.weight - a.weight)
        .slice(0, worstRuns)
    },
    report(about) {
      const drift = [...reasons]
        .map(([reason, steps]) => ({ reason, steps, share: steps / sums.steps }))
        .sort((a, b) => b.steps - a.steps || (a.reason < b.reason ? -1 : 1))
      return { ...about, ...sums, drift, worst_runs: worst.map(({ run }) => run) }
    },
  }
}

/** 1970-01-01 was a Thursday. */
function weekdayOf(day: number): number {
  return (day + 4) % 7
}

function sumOf(
  told: readonly StepsTold[],
  field: 'steps' | 'phi_sum' | 'tokens' | 'drift_tokens',
): number {
  return told.reduce((sum, each) => sum + each[field], 0)
}

function oneLine(text: string): string {
  return cutTo(text.replaceAll(/\s+/g, ' ').trim(), maxGroundLength)
}
