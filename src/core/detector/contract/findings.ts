/** The evidence of drift, in the unit of the detector. At the limit or above, a step is drift. */
export interface Evidence {
  /** What this step adds: above 0 it leans off the errand. */
  score: number
  /** What the run holds with this step. */
  sum: number
  limit: number
}

/** The words of a goal that the errand has, and those that it lacks: lower-cased, in order, each once. */
export interface SharedWords {
  shared: string[]
  missing: string[]
}

/** Something of the errand that the goal names another of, or does the opposite of. */
export interface Swap {
  /** The words of the errand. */
  ground: string
  /** The words of the goal that stand for them. */
  goal: string
  kind: 'number' | 'name' | 'environment' | 'opposite' | 'forbidden'
}

/** An act with consequences that nobody asked for. */
export interface Act {
  kind: string
  /** The words of the goal that name it. */
  text: string
}

/** The text that a step was nearest to: a request of the user, an item of the plan, or the declared parent. */
export interface StandsOn {
  kind: 'assignment' | 'plan' | 'parent'
  /** The text, cut to 240 characters. */
  text: string
}

/** How much of the language and the words of ground and goal the detector knows. */
export type Coverage = 'words' | 'partly' | 'none'

/** What a detector has found out about a step, as data. */
export interface Findings {
  evidence: Evidence
  words: SharedWords
  /** Null if nothing is swapped. */
  swap: Swap | null
  /** Null without such an act. */
  act: Act | null
  stands_on: StandsOn
  coverage: Coverage
}
