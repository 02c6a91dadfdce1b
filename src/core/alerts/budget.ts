import type { Verdict } from '../detector/detect.ts'
import { hashOf } from '../detector/words/hash.ts'
import { keyOf } from '../text.ts'
import { dayMs, dayOf } from '../time.ts'

/** How many alarms an account is willing to hear, of a thousand steps or in a day. */
export type Budget = { per_1000_steps: number } | { per_day: number }

/** What is known when the next step of an account could begin a drift. */
export interface BudgetState {
  budget: Budget
  /** An alarm needs a score above it; it follows the scores, and can leave 0–1 by `pace`. */
  threshold: number
  /** The alarms that may still come at once. */
  tokens: number
  /** When they were last counted, milliseconds since 1970. */
  filled: number
  /** The day that is counted, days since 1970, and its steps so far. */
  day: number
  today: number
  /** The steps of the last days that had any, at most `daysKept`. */
  days: readonly number[]
}

/** How fast the threshold follows. */
export const pace = 0.05

const daysKept = 14
/** Alarms may come together: those of three hours, and at least two. */
const fewestAtOnce = 2
const burstsADay = 8
/** Steps with the same probability are told apart by less than a probability is rounded to. */
const tieBreak = 0.001

/** What has happened before a budget is set. */
export interface BudgetHistory {
  /** The scores of steps at which a drift could begin. */
  scores: readonly number[]
  /** The steps of the days before today that had any, oldest first. */
  days: readonly number[]
  /** The steps of today so far. */
  today: number
}

/**
 * The threshold that a share of `rate` (0–1) of later scores passes at most, if they are like these: the
 * ⌈(n + 1)(1 − rate)⌉-th smallest of n scores (split conformal prediction). 0 if all may pass; null with fewer than
 * 1/rate − 1 scores.
 */
export function conformalThreshold(scores: readonly number[], rate: number): number | null {
  const sorted = scores.toSorted((a, b) => a - b)
  const place = Math.ceil((sorted.length + 1) * (1 - rate))
  return place < 1 ? 0 : (sorted[place - 1] ?? null)
}

/** Starts at the threshold of past scores. With too few of them the detector's own limit decides. */
export function startBudget(budget: Budget, history: BudgetHistory, now: number): BudgetState {
  const days = history.days.slice(-daysKept)
  const { today } = history
  const state = { budget, threshold: 0, filled: now, day: dayOf(now), today, days, tokens: 0 }
  const threshold = conformalThreshold(history.scores, rateOf(state)) ?? 0
  return { ...state, threshold, tokens: burstOf(state) }
}

/**
 * Takes a step at which a drift could begin, and says whether the budget holds its alarm back. The threshold tracks
 * the quantile of the scores: of T steps a share of `rate` ± (1 + pace) / (pace · T) passes it, whatever the scores
 * (Gibbs and Candès 2021, "Adaptive conformal inference under distribution shift"). A token bucket caps the alarms
 * at its size plus the rate times T, without any assumption.
 */
export function spend(
  before: BudgetState,
  { score, drifting, now }: { score: number; drifting: boolean; now: number },
): { state: BudgetState; holds: boolean } {
  const counted = countStep(before, now)
  const rate = rateOf(counted)
  const passes = score > counted.threshold
  const threshold = counted.threshold + pace * ((passes ? 1 : 0) - rate)
  const refill =
    'per_day' in counted.budget
      ? (counted.budget.per_day * Math.max(0, now - counted.filled)) / dayMs
      : rate
  const tokens = Math.min(burstOf(counted), counted.tokens + refill)
  const sends = drifting && passes && tokens >= 1
  const filled = Math.max(counted.filled, now)
  const state = { ...counted, threshold, filled, tokens: sends ? tokens - 1 : tokens }
  return { state, holds: drifting && !sends }
}

/** The share of steps that may alarm, 0–1. */
export function rateOf({
  budget,
  ...state
}: Pick<BudgetState, 'budget' | 'days' | 'today'>): number {
  if ('per_1000_steps' in budget) return Math.min(1, budget.per_1000_steps / 1000)
  return Math.min(1, budget.per_day / stepsADay(state))
}

/** The most alarms that may come at once. */
export function burstOf(state: Pick<BudgetState, 'budget' | 'days' | 'today'>): number {
  return Math.max(fewestAtOnce, (rateOf(state) * stepsADay(state)) / burstsADay)
}

/** A step of a run of an account. */
interface StepName {
  account: string
  runId: string
  step: number
}

/**
 * The score of a step, 0–1: its probability of drift. A hash of its name tells steps of one probability apart, the
 * same whenever the step is judged.
 */
export function alarmScore(
  {
    drift_probability,
    drifting,
    confidence,
  }: Pick<Verdict, 'drifting' | 'confidence'> & { drift_probability?: number | null },
  { account, runId, step }: StepName,
): number {
  const probability = drift_probability ?? (drifting ? confidence : 1 - confidence)
  const chance = (hashOf(keyOf(account, runId, String(step))) >>> 0) / 2 ** 32
  return Math.max(0, probability - tieBreak * chance)
}

/** The median of the last days; of an account without one, the steps of today. */
function stepsADay({ days, today }: Pick<BudgetState, 'days' | 'today'>): number {
  const sorted = days.toSorted((a, b) => a - b)
  return Math.max(1, sorted[Math.floor(sorted.length / 2)] ?? today)
}

function countStep(state: BudgetState, now: number): BudgetState {
  const day = dayOf(now)
  if (day <= state.day) return { ...state, today: state.today + 1 }
  const days = state.today === 0 ? state.days : [...state.days, state.today].slice(-daysKept)
  return { ...state, day, today: 1, days }
}
