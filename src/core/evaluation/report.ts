import type { DetectorName } from '../detector/contract/detector.ts'
import {
  afterFirstStep,
  measurePairs,
  measureRuns,
  type PairReport,
  type RunReport,
} from './evaluation.ts'
import { type EffectReport, type KindReport, measureEffects, measureKinds } from './kinds.ts'
import type { JudgedRun } from './labelled.ts'
import type { JudgedEvent } from './predict.ts'
import { alarmedAbove, thresholdFor } from './ranking.ts'
import { measureReliability, type Reliability } from './reliability.ts'

/** The measures of a detector whose threshold is moved so that clean items raise few alarms. */
export interface SweepRow {
  /** Allowed alarms per 1,000 clean items. */
  budget: number
  /** Scores above it are alarms; null if no score is too high. */
  threshold: number | null
  false_alarms_per_1000: number | null
  recall: number | null
  precision_at_10_percent: number | null
  /** For runs; null for pairs. */
  found_within_3: number | null
  clean_runs_alarmed: number | null
}

/** The measures at the threshold that keeps to a budget on this data. */
export interface BudgetReport {
  per_1000: number
  pairs: (PairReport & { threshold: number | null }) | null
  runs: (RunReport & { threshold: number | null }) | null
}

/** All measures of one file; null where it has no pair or no run. */
export interface Report {
  detector: DetectorName
  resamples: number
  pairs: PairReport | null
  runs: RunReport | null
  /** The same runs without their first goals. */
  runs_after_first_step: RunReport | null
  /** How much of each kind of drift is found; null if no step names its kind. */
  kinds: KindReport[] | null
  /** How the messages of the user were read; null if the data names no effect. */
  user_effects: EffectReport[] | null
  /** The reliability of the stated probabilities. */
  reliability: { pairs: Reliability | null; runs: Reliability | null }
  sweep: { pairs: SweepRow[]; runs: SweepRow[] }
  /** Null without a budget. */
  budget: BudgetReport | null
}

/** The options of a report. */
export interface Measuring {
  detector: DetectorName
  resamples: number
  /** Alarms per 1,000 clean items, or null. */
  budget: number | null
}

const sweptBudgets = [2, 4, 8, 16, 32, 64, 128]

/** Computes all measures of the judged pairs and runs; `withMessages` holds the events of some of the runs. */
export function measure(
  pairs: readonly JudgedRun[],
  runs: readonly JudgedRun[],
  withMessages: readonly (readonly JudgedEvent[])[],
  { detector, resamples, budget }: Measuring,
): Report {
  const hasPairs = pairs.length > 0
  const hasRuns = runs.length > 0
  return {
    detector,
    resamples,
    pairs: hasPairs ? measurePairs(pairs, resamples) : null,
    runs: hasRuns ? measureRuns(runs, resamples) : null,
    runs_after_first_step: hasRuns ? measureRuns(afterFirstStep(runs), resamples) : null,
    kinds: measureKinds(withMessages, resamples),
    user_effects: measureEffects(withMessages),
    reliability: { pairs: measureReliability(pairs), runs: measureReliability(runs) },
    sweep: { pairs: sweep(pairs), runs: sweep(runs) },
    budget: budget === null ? null : measureAt(budget, pairs, runs, resamples),
  }
}

function measureAt(
  perThousand: number,
  pairs: readonly JudgedRun[],
  runs: readonly JudgedRun[],
  resamples: number,
): BudgetReport {
  const [ofPairs, ofRuns] = [pairs, runs].map((judged) => thresholdFor(judged, perThousand))
  const alarmedPairs = alarmedAbove(pairs, ofPairs ?? 0)
  const alarmedRuns = alarmedAbove(runs, ofRuns ?? 0)
  return {
    per_1000: perThousand,
    pairs:
      pairs.length === 0
        ? null
        : { threshold: finite(ofPairs), ...measurePairs(alarmedPairs, resamples) },
    runs:
      runs.length === 0
        ? null
        : { threshold: finite(ofRuns), ...measureRuns(alarmedRuns, resamples) },
  }
}

function sweep(judged: readonly JudgedRun[]): SweepRow[] {
  const hasClean = judged.some(({ steps }) => steps.some(({ label }) => label === 'same'))
  if (!hasClean) return []
  return sweptBudgets.map((budget) => {
    const threshold = thresholdFor(judged, budget)
    const measured = measureRuns(alarmedAbove(judged, threshold), 0)
    const areRuns = judged.some(({ steps }) => steps.length > 1)
    return {
      budget,
      threshold: finite(threshold),
      false_alarms_per_1000: measured.false_alarms_per_1000.value,
      recall: measured.recall.value,
      precision_at_10_percent: measured.precision_at_10_percent.value,
      found_within_3: areRuns ? measured.found_within_3.value : null,
      clean_runs_alarmed: areRuns ? measured.clean_runs_alarmed.value : null,
    }
  })
}

// JSON has no infinity.
function finite(threshold: number | undefined): number | null {
  return threshold !== undefined && Number.isFinite(threshold) ? threshold : null
}
