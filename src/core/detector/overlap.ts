import { two } from '../figures.ts'
import { goalFloor } from './contract/constants.ts'
import type { Compared, Detector } from './contract/detector.ts'
import { distanceOf, sharedWords } from './words/compare.ts'

/**
 * The published rule: a goal has left the ground when their Jaccard overlap is below 0.30. It
 * measures wording, not meaning, and its confidence says so.
 */
export const overlap: Detector = {
  asPublished: true,
  start: () => null,
  heard: () => null,
  measure(compared) {
    const { words, ground, overlap, parentOverlap } = compared
    return {
      displacement: distanceOf(words, ground.words),
      left: overlap < goalFloor,
      parentServes: parentOverlap !== null && parentOverlap >= goalFloor,
      driftProbability: driftProbabilityAt(overlap),
      uncertain: false,
      leans: false,
      figure: `overlap ${two(overlap)}`,
      parentFigure: `measures ${two(parentOverlap ?? 0)} against the ground, below ${two(goalFloor)}`,
      why: explain(compared),
      findings: null,
      score: 1 - overlap,
      own: null,
      adaptation: null,
    }
  },
}

/**
 * Probability that a step is drift when its overlap lies below `below`, at one drifting step in
 * ten: measured on 15,127 labelled pairs by `npm run model:calibrate -- DEV.jsonl.gz`, made
 * monotone. The first row is an overlap of exactly 0: even without a shared word most steps are
 * still on the errand, because a sub-task is part of it, not like it.
 */
export const calibration: readonly { below: number; driftProbability: number }[] = [
  { below: Number.MIN_VALUE, driftProbability: 0.186 },
  { below: 0.05, driftProbability: 0.114 },
  { below: 0.1, driftProbability: 0.083 },
  { below: 0.15, driftProbability: 0.05 },
  { below: 0.2, driftProbability: 0.033 },
  { below: 0.25, driftProbability: 0.019 },
  { below: 0.3, driftProbability: 0.013 },
  { below: 0.35, driftProbability: 0.01 },
  { below: 0.45, driftProbability: 0.003 },
  { below: Number.POSITIVE_INFINITY, driftProbability: 0.001 },
]

function driftProbabilityAt(overlap: number): number {
  const bin = calibration.find(({ below }) => overlap < below)
  return bin?.driftProbability ?? 0
}

function explain({ words, ground, overlap, parentOverlap }: Compared): string {
  const left = overlap < goalFloor
  const parent =
    left && parentOverlap !== null ? `, and the declared parent's is ${two(parentOverlap)}` : ''
  const limit = `${left ? 'below' : 'at or above'} the floor of ${two(goalFloor)}${parent}`
  if (words.length === 0 || ground.words.length === 0) {
    const which = words.length === 0 ? 'The goal' : 'The ground'
    return `${which} has no word that can be compared: overlap ${two(overlap)}, ${limit}.`
  }
  const shared = sharedWords(words, ground.words)
  const union = words.length + ground.words.length - shared.length
  const named = shared.length === 0 ? '' : ` (${shared.slice(0, 8).join(', ')})`
  return `The goal and the ground share ${shared.length} of ${union} words${named}: overlap ${two(overlap)}, ${limit}.`
}
