import { baseRate } from '../detector/confidence.ts'
import { rounded, sumOf } from '../figures.ts'
import type { JudgedRun } from './labelled.ts'

/** Items of which about the same probability of drift was said, and how many of them drift. */
export interface ReliabilityRow {
  /** The probabilities of the row, 0–1: from `from` up to `below`. */
  from: number
  below: number
  items: number
  /** Mean of what was said, and the share that is drift, both where one item in ten is. */
  said: number
  measured: number
}

/** How far the stated probabilities lie from what is true. */
export interface Reliability {
  /** Expected calibration error, 0–1: mean distance of said and measured, weighed by items. */
  expected_calibration_error: number
  rows: ReliabilityRow[]
}

const edges = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01]

/**
 * The stated probability of drift (`confidence` where the answer is drifting, 1 − `confidence` where
 * it is not) against the labels, with the items weighed so that one in ten is drift; null unless there
 * is both drift and none.
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

function probabilityOf({
  drifting,
  confidence,
}: {
  drifting: boolean
  confidence: number
}): number {
  return drifting ? confidence : rounded(1 - confidence)
}
