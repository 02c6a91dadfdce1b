import type { Adaptation } from './adaptation.ts'

/** The goal a run is measured against, with the state in which it was frozen. */
export interface Ground {
  goal: string
  words: readonly string[]
  progress: string
  /** 0–10 */
  distance: number
}

/** The names of the detectors a caller can choose from. */
export const detectorNames = ['meaning', 'overlap'] as const

/** The name of a detector. */
export type DetectorName = (typeof detectorNames)[number]

/** The detector used where the caller names none. */
export const defaultDetector: DetectorName = 'meaning'

/** The texts of one step, trimmed, and their words. */
export interface Compared {
  goal: string
  words: readonly string[]
  /** Whether the user has just spoken. */
  userTurn: boolean
  /** Whether the ground was frozen with this very step. */
  begins: boolean
  /** The plan declared with the step when the ground stood already, or null. */
  plan: readonly string[] | null
  ground: Ground
  /** Jaccard overlap of the goal with the ground, 0–1; 0 when neither has a word. */
  overlap: number
  /** The declared parent, or null when none was. */
  parent: string | null
  /** Jaccard overlap of the declared parent with the ground, 0–1, or null when none was declared. */
  parentOverlap: number | null
  /** A table of one's own work, or null. */
  adaptation: Adaptation | null
  /** As `Step.similarity` gives it, or null. */
  similarity: number | null
}

/** What a detector says of one goal against the ground of its run. */
export interface Measured {
  /** How far the goal lies from the ground, 0–1, unrounded: the goal's part of phi. */
  displacement: number
  /** Whether the goal has left the ground. */
  left: boolean
  /** Whether the declared parent still serves the ground, so that leaving it is an excursion. */
  parentServes: boolean
  /** Calibrated probability that this step is drift, 0–1. */
  driftProbability: number
  /** Whether the texts give too little to tell. Such a step never counts as drifting. */
  uncertain: boolean
  /** The figure that decided, and that of a declared parent, as the advice names them. */
  figure: string
  parentFigure: string
  /** The numbers that decided, as one factual sentence. */
  why: string
  /** Unrounded evidence of drift for ranking steps in an evaluation, 0–1. */
  score: number
  /** What the detector keeps for the next step; plain JSON, bounded. */
  own: unknown
  /** The version of the table of one's own work that was asked, or null. */
  adaptation: string | null
}

/** A way to tell whether a goal is still the ground's errand. Pure: the same input gives the same bytes. */
export interface Detector {
  /**
   * Whether it keeps to the published rules where they alarm for what tells of no drift: a distance
   * that nobody reported counts as 5, and every cycle of goals is drift.
   */
  asPublished: boolean
  /** What it keeps about a ground that was just frozen, and of a plan that came with it. */
  start(ground: Ground, plan: readonly string[] | null): unknown
  measure(compared: Compared, own: unknown): Measured
}
