import type { JudgedRun } from './labelled.ts'

/** All items in order of score: run, label and score. */
export interface Ranking {
  runs: Int32Array
  drift: Uint8Array
  scores: Float64Array
}

/** Sorts the items of the runs by score, lowest first. */
export function rank(runs: readonly JudgedRun[]): Ranking {
  const items = runs
    .flatMap(({ steps }, run) => steps.map(({ score, label }) => ({ run, score, label })))
    .sort((a, b) => a.score - b.score)
  return {
    runs: Int32Array.from(items, ({ run }) => run),
    drift: Uint8Array.from(items, ({ label }) => (label === 'drift' ? 1 : 0)),
    scores: Float64Array.from(items, ({ score }) => score),
  }
}

/**
 * Chance that a drifted item scores above a clean one, ties counted half, with every run counted `times`
 * times; null unless both occur. One pass over the scores, lowest first: the drifted items of a score beat
 * all clean items below it and half of those with the same score.
 */
export function aucOf({ runs, drift, scores }: Ranking, times: Uint32Array): number | null {
  let wins = 0
  let cleanBelow = 0
  let driftBelow = 0
  let place = 0
  while (place < runs.length) {
    const score = scores[place]
    let cleanBeside = 0
    let driftBeside = 0
    for (; place < runs.length && scores[place] === score; place++) {
      const count = times[runs[place] ?? 0] ?? 0
      if (drift[place] === 1) driftBeside += count
      else cleanBeside += count
    }
    wins += driftBeside * (cleanBelow + cleanBeside / 2)
    cleanBelow += cleanBeside
    driftBelow += driftBeside
  }
  const pairs = driftBelow * cleanBelow
  return pairs === 0 ? null : wins / pairs
}

/**
 * The score above which at most `perThousand` of 1,000 clean items lie; an alarm is a score above it.
 * Where the clean items allow every alarm it lies below all scores.
 */
export function thresholdFor(runs: readonly JudgedRun[], perThousand: number): number {
  const clean = runs
    .flatMap(({ steps }) => steps.filter(({ label }) => label === 'same'))
    .map(({ score }) => score)
    .sort((a, b) => b - a)
  return clean[Math.floor((perThousand / 1000) * clean.length)] ?? Number.NEGATIVE_INFINITY
}

/** The runs as if every score above the threshold were an alarm, and nothing else. */
export function alarmedAbove(runs: readonly JudgedRun[], threshold: number): JudgedRun[] {
  return runs.map(({ source, steps }) => ({
    source,
    steps: steps.map((step) => {
      const drifting = step.score > threshold
      return { ...step, drifting, uncertain: step.uncertain && !drifting }
    }),
  }))
}
