import { baseRate } from '../detector/contract/constants.ts'
import { meanOf, rounded, type Share, shareOf, sumOf } from '../figures.ts'
import type { JudgedRun } from './labelled.ts'

/** Items with about the same stated probability of drift, and how many of them drift. */
export interface ReliabilityRow {
  /** The probabilities of the row, 0–1, from `from` up to `below`. */
  from: number
  below: number
  items: number
  /** Mean stated probability, and share of drift, both reweighted to one drifting item in ten. */
  said: number
  measured: number
}

/** The error of the stated probabilities. */
export interface Reliability {
  /**
   * Expected calibration error, 0–1: mean distance between stated and measured probability, weighted by
   * items.
   */
  expected_calibration_error: number
  rows: ReliabilityRow[]
}

const edges = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01]

/**
 * Compares the stated probability of drift (`confidence` if the answer is drifting, otherwise 1 −
 * `confidence`) with the labels. Items are weighted so that one in ten is drift. Null unless both labels
 * occur.
 */
export function measureReliability(runs: readonly JudgedRun[]): Reliability | null {
  const items = runs.flatMap(({ steps }) => steps)
  const drift = items.filter(({ label }) => label === 'drift').length
  if (drift === 0 || drift === items.length) return null
  const weights = { drift: baseRate / drift, same: (1 - baseRate) / (items.length - drift) }
  const rows: ReliabilityRow[] = []
  let error = 0
  for (const [place, from] of edges.slice(0, -1).entries()) {
    const below = edges[place + 1] ?? from
    const members = items.filter((item) => {
      const probability = probabilityOf(item)
      return probability >= from && probability < below
    })
    const weight = sumOf(members.map(({ label }) => weights[label]))
    if (weight === 0) continue
    const said = sumOf(members.map((item) => weights[item.label] * probabilityOf(item))) / weight
    const measured =
      sumOf(members.map(({ label }) => (label === 'drift' ? weights.drift : 0))) / weight
    error += weight * Math.abs(said - measured)
    rows.push({ from, below: Math.min(1, below), items: members.length, said, measured })
  }
  return { expected_calibration_error: error, rows }
}

/** A drifting step that a person has labelled: how sure the verdict was, 0–1, and whether the step had left the errand. */
export interface ToldStep {
  confidence: number
  left: boolean
}

/** Told steps with about the same stated probability of drift, 0–1. */
export interface ToldBin {
  from: number
  to: number
  labels: number
  /** The mean of the stated probabilities. */
  mean: number
  /** The share of drift, with the Wilson interval at 95 %. */
  share: Share
}

const bins = 10

/** Compares the stated probability of drift with what people have said, in tenths; those without a label are left out. */
export function reliabilityOf(steps: readonly ToldStep[]): ToldBin[] {
  const found = Map.groupBy(steps, (step) =>
    Math.min(bins - 1, Math.floor(rounded(step.confidence * bins))),
  )
  return [...found]
    .sort(([one], [other]) => one - other)
    .flatMap(([bin, members]) => {
      const left = members.filter((each) => each.left).length
      const share = shareOf(left, members.length)
      if (share === null) return []
      const mean = meanOf(members.map(({ confidence }) => confidence))
      return [{ from: bin / bins, to: (bin + 1) / bins, labels: members.length, mean, share }]
    })
}

function probabilityOf({
  drifting,
  confidence,
}: {
  drifting: boolean
  confidence: number
}): number {
  return drifting ? confidence : rounded(1 - confidence)
}
