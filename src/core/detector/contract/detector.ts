import type { Adaptation } from './adaptation.ts'
import type { Findings } from './findings.ts'
import type { Reads } from './reads.ts'

/** The goal that a run is measured against, and the state in which it was frozen. */
export interface Ground {
  goal: string
  /** The words of the goal, sorted. */
  words: readonly string[]
  progress: string
  /** 0–10. */
  distance: number
}

/**
 * The names of the available detectors.
 *
 * @example
 * ```ts
 * import { detect, detectorNames, newMemory } from 'plumbline/detector'
 *
 * const step = { progress: 'advancing', distance: 5 }
 * for (const name of detectorNames) {
 *   const { memory } = detect(newMemory(name), { ...step, goal: 'fix the login page' })
 *   const { verdict } = detect(memory, { ...step, goal: 'break the login page' })
 *   console.log(verdict.detector, verdict.drifting)
 * }
 * // → meaning true
 * // → overlap false
 * ```
 */
export const detectorNames = ['meaning', 'overlap'] as const

/** The name of a detector. */
export type DetectorName = (typeof detectorNames)[number]

/** The default detector. */
export const defaultDetector: DetectorName = 'meaning'

/** The texts of one step, trimmed, and their words. */
export interface Compared {
  goal: string
  words: readonly string[]
  /** Whether the user has just spoken. */
  userTurn: boolean
  /** Whether this step froze the ground. */
  begins: boolean
  /** The plan declared with the step if the ground existed already, or null. */
  plan: readonly string[] | null
  /** Whether that plan is the agent's own, also where the user has just spoken. */
  isOwnPlan: boolean
  ground: Ground
  /** All requests that stand. If there are several, `ground` is the one of them that is compared. */
  assignment: readonly string[]
  /** Jaccard overlap of the goal with the ground, 0–1; 0 when neither has a word. */
  overlap: number
  /** The declared parent, or null. */
  parent: string | null
  /** Jaccard overlap of the declared parent with the ground, 0–1, or null when none was declared. */
  parentOverlap: number | null
  /** The personal table, or null. */
  adaptation: Adaptation | null
  /** As `Step.similarity` gives it, or null. */
  similarity: number | null
  /** What an encoder has read, or null. */
  reads: Reads | null
  /** As `Step.limit` gives it, or null for the built-in limit. */
  limit: number | null
}

/** A detector's judgment of a goal against the ground of its run. */
export interface Measured {
  /** Distance of the goal from the ground, 0–1, unrounded: the goal's part of phi. */
  displacement: number
  /** Whether the goal has left the ground. */
  left: boolean
  /** Whether the declared parent still serves the ground, which makes the step an excursion. */
  parentServes: boolean
  /** Calibrated probability that this step is drift, 0–1. */
  driftProbability: number
  /** Whether the texts are too short to decide. Such a step never counts as drifting. */
  uncertain: boolean
  /** Whether the step leans off the errand so far that another sign of drift counts beside it. */
  leans: boolean
  /** The deciding figure, and that of a declared parent, for the advice. */
  figure: string
  parentFigure: string
  /** The deciding numbers, as one factual sentence. */
  why: string
  /** What was found, as data; null for the published rules. */
  findings: Findings | null
  /** Unrounded evidence of drift for ranking steps in an evaluation, 0–1. */
  score: number
  /** The detector's own state for the next step: plain JSON of bounded size. */
  own: unknown
  /** The version of the personal table that was used, or null. */
  adaptation: string | null
}

/** Decides whether a goal still serves the ground. Pure: the same input gives the same bytes. */
export interface Detector {
  /**
   * Whether it follows the published rules even where they alarm without evidence of drift: an unreported
   * distance counts as 5, and every cycle of goals is drift.
   */
  asPublished: boolean
  /** The detector's initial state for a new ground and a plan that came with it, perhaps the agent's own. */
  start(ground: Ground, plan: readonly string[] | null, isOwnPlan: boolean): unknown
  /** The state after the user has spoken and the ground stays or grows. */
  heard(own: unknown): unknown
  measure(compared: Compared, own: unknown): Measured
}
