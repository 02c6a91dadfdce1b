import { baseRate } from '../detector/contract/constants.ts'
import type { Judged, JudgedRun, Label } from './labelled.ts'
import { aucOf, type Ranking, rank } from './ranking.ts'
import { createRandom, drawAnew, middleOf, seed } from './resampling.ts'

/** A measured number with its 95 % interval; null means that this data cannot measure it. */
export interface Estimate {
  value: number | null
  low: number | null
  high: number | null
}

/** Measures whose unit is one item. An alarm is an item that is `drifting`. */
export interface ItemMeasures<Number> {
  /** Share of the alarms that are drift. */
  precision: Number
  /** Share of the drift that raises an alarm. */
  recall: Number
  false_alarms_per_1000: Number
  /** Chance that a drifted item scores above a clean one, ties counted half. */
  auc: Number
  /** Share of the items answered `uncertain`. */
  uncertain_share: Number
  /** Share of the drift that raises an alarm or is answered `uncertain`. */
  noticed: Number
  /** The precision these rates give where one item in ten is drift. */
  precision_at_10_percent: Number
}

/**
 * Measures whose unit is one run. A switch is a stretch of drifted steps; it is found by the first
 * alarm in it, even when the alarm was already on before. A clean run has no drifted step.
 */
export interface DetectionMeasures<Number> {
  found_within_1: Number
  found_within_2: Number
  found_within_3: Number
  /** Drifted steps before the alarm, over the switches found at all; 0 is "at once". */
  mean_delay_steps: Number
  /** Share of the clean runs with any alarm. */
  clean_runs_alarmed: Number
}

/** Number of items, and their labels. */
export interface ItemCounts {
  items: number
  drift: number
  same: number
}

/** The measures of one source, without intervals; `source` is null for items without one. */
export interface SourceReport
  extends ItemCounts,
    Pick<ItemMeasures<number | null>, 'auc' | 'precision' | 'recall' | 'false_alarms_per_1000'> {
  source: string | null
}

/** A detector measured on pairs. */
export interface PairReport extends ItemCounts, ItemMeasures<Estimate> {
  sources: SourceReport[]
}

/** A detector measured on runs; the items are their steps. */
export interface RunReport extends PairReport, DetectionMeasures<Estimate> {
  runs: number
  clean_runs: number
  switches: number
}

/** Number of bootstrap samples for the intervals by default. */
export const defaultResamples = 500

/** Measures pairs; the intervals come from drawing pairs anew. */
export function measurePairs(
  pairs: readonly JudgedRun[],
  resamples = defaultResamples,
): PairReport {
  const sample = sampleOf(pairs)
  return {
    ...countItems(sample),
    ...estimate(sample, measureItems, resamples),
    sources: measureSources(pairs),
  }
}

/** Measures runs; the intervals come from drawing whole runs anew, since steps of one run are alike. */
export function measureRuns(runs: readonly JudgedRun[], resamples = defaultResamples): RunReport {
  const sample = sampleOf(runs)
  const { cleanRuns, switches } = total(sample.tallies, once(sample))
  return {
    runs: runs.length,
    clean_runs: cleanRuns,
    switches,
    ...countItems(sample),
    ...estimate(sample, measureStepsAndRuns, resamples),
    sources: measureSources(runs),
  }
}

/** Drops the first goal of each run, which is then taken as given. */
export function afterFirstStep(runs: readonly JudgedRun[]): JudgedRun[] {
  return runs
    .filter(({ steps }) => steps.length > 1)
    .map(({ source, steps }) => ({ source, steps: steps.slice(1) }))
}

function countItems(sample: Sample): ItemCounts {
  const { items, drift } = total(sample.tallies, once(sample))
  return { items, drift, same: items - drift }
}

function measureSources(runs: readonly JudgedRun[]): SourceReport[] {
  const bySource = [...Map.groupBy(runs, ({ source }) => source)]
  bySource.sort(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1))
  return bySource.map(([source, members]) => {
    const sample = sampleOf(members)
    const { precision, recall, false_alarms_per_1000, auc } = measureDrawn(
      sample,
      once(sample),
      measureItems,
    )
    return { source, ...countItems(sample), auc, precision, recall, false_alarms_per_1000 }
  })
}

/**
 * Every measure of the sample with its 95 % percentile bootstrap interval over the runs. Draws in
 * which a measure cannot be measured do not count for its interval. The draws are the same each time.
 */
function estimate<Name extends string>(
  sample: Sample,
  measure: Measure<Name>,
  resamples: number,
): Record<Name, Estimate> {
  const measured = measureDrawn(sample, once(sample), measure)
  const names = Object.keys(measured) as Name[]
  const drawn = new Map<Name, number[]>(names.map((name) => [name, []]))
  const random = createRandom(seed)
  const times = new Uint32Array(sample.tallies.length)
  for (let resample = 0; resample < resamples; resample++) {
    drawAnew(times, random)
    const remeasured = measureDrawn(sample, times, measure)
    for (const name of names) {
      const value = remeasured[name]
      if (value !== null) drawn.get(name)?.push(value)
    }
  }
  const estimates = names.map((name) => [name, intervalOf(measured[name], drawn.get(name) ?? [])])
  return Object.fromEntries(estimates)
}

/** Every run once: the data as it is. */
function once({ tallies }: Sample): Uint32Array {
  return new Uint32Array(tallies.length).fill(1)
}

function measureDrawn<Name extends string>(
  { tallies, ranking }: Sample,
  times: Uint32Array,
  measure: Measure<Name>,
): Record<Name, number | null> {
  return measure(total(tallies, times), aucOf(ranking, times))
}

function intervalOf(value: number | null, drawn: number[]): Estimate {
  const { low = null, high = null } = (value === null ? null : middleOf(drawn)) ?? {}
  return { value, low, high }
}

/** Counts of the runs, from which any resampling is measured without visiting them again. */
interface Sample {
  tallies: readonly Tally[]
  ranking: Ranking
}

type Measure<Name extends string> = (
  tally: Tally,
  auc: number | null,
) => Record<Name, number | null>

/** Counts that add up over runs. */
interface Tally {
  items: number
  drift: number
  alarms: number
  hits: number
  uncertain: number
  noticed: number
  cleanRuns: number
  cleanRunsAlarmed: number
  switches: number
  found: number
  foundWithin1: number
  foundWithin2: number
  foundWithin3: number
  delaySteps: number
}

function sampleOf(runs: readonly JudgedRun[]): Sample {
  return { tallies: runs.map(({ steps }) => tallyOf(steps)), ranking: rank(runs) }
}

function tallyOf(steps: readonly Judged[]): Tally {
  const drift = steps.filter(({ label }) => label === 'drift')
  const alarms = steps.filter(({ drifting }) => drifting)
  const delays = switchesOf(steps).map((stretch) => stretch.findIndex(({ drifting }) => drifting))
  const found = delays.filter((delay) => delay >= 0)
  const clean = drift.length === 0 && steps.length > 0
  return {
    items: steps.length,
    drift: drift.length,
    alarms: alarms.length,
    hits: drift.filter(({ drifting }) => drifting).length,
    uncertain: steps.filter(({ uncertain }) => uncertain).length,
    noticed: drift.filter(({ drifting, uncertain }) => drifting || uncertain).length,
    cleanRuns: clean ? 1 : 0,
    cleanRunsAlarmed: clean && alarms.length > 0 ? 1 : 0,
    switches: delays.length,
    found: found.length,
    foundWithin1: found.filter((delay) => delay < 1).length,
    foundWithin2: found.filter((delay) => delay < 2).length,
    foundWithin3: found.filter((delay) => delay < 3).length,
    delaySteps: found.reduce((sum, delay) => sum + delay, 0),
  }
}

/** The stretches of drifted steps, each in order. */
function switchesOf(steps: readonly Judged[]): Judged[][] {
  const stretches: Judged[][] = []
  let before: Label = 'same'
  for (const step of steps) {
    if (step.label === 'drift') {
      if (before === 'same') stretches.push([])
      stretches.at(-1)?.push(step)
    }
    before = step.label
  }
  return stretches
}

// Field by field, because it visits every run in every resample.
function total(tallies: readonly Tally[], times: Uint32Array): Tally {
  const sum = tallyOf([])
  for (const [run, tally] of tallies.entries()) {
    const count = times[run] ?? 0
    if (count === 0) continue
    sum.items += count * tally.items
    sum.drift += count * tally.drift
    sum.alarms += count * tally.alarms
    sum.hits += count * tally.hits
    sum.uncertain += count * tally.uncertain
    sum.noticed += count * tally.noticed
    sum.cleanRuns += count * tally.cleanRuns
    sum.cleanRunsAlarmed += count * tally.cleanRunsAlarmed
    sum.switches += count * tally.switches
    sum.found += count * tally.found
    sum.foundWithin1 += count * tally.foundWithin1
    sum.foundWithin2 += count * tally.foundWithin2
    sum.foundWithin3 += count * tally.foundWithin3
    sum.delaySteps += count * tally.delaySteps
  }
  return sum
}

function measureItems(tally: Tally, auc: number | null): ItemMeasures<number | null> {
  const { items, drift, alarms, hits, uncertain } = tally
  const recall = share(hits, drift)
  const falseAlarms = share(alarms - hits, items - drift)
  return {
    precision: share(hits, alarms),
    recall,
    false_alarms_per_1000: falseAlarms === null ? null : 1000 * falseAlarms,
    auc,
    uncertain_share: share(uncertain, items),
    noticed: share(tally.noticed, drift),
    precision_at_10_percent:
      recall === null || falseAlarms === null
        ? null
        : share(baseRate * recall, baseRate * recall + (1 - baseRate) * falseAlarms),
  }
}

function measureStepsAndRuns(
  tally: Tally,
  auc: number | null,
): ItemMeasures<number | null> & DetectionMeasures<number | null> {
  return {
    ...measureItems(tally, auc),
    found_within_1: share(tally.foundWithin1, tally.switches),
    found_within_2: share(tally.foundWithin2, tally.switches),
    found_within_3: share(tally.foundWithin3, tally.switches),
    mean_delay_steps: share(tally.delaySteps, tally.found),
    clean_runs_alarmed: share(tally.cleanRunsAlarmed, tally.cleanRuns),
  }
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}
