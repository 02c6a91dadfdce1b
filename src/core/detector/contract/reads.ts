/** How an encoder reads a goal beside a text of the user. */
export interface PairRead {
  /** Log-odds that the goal serves the text, rounded to 1/64: above 0 it more likely does. */
  serves: number
  /** How alike the two are in meaning, −1 to 1, rounded to 1/64. */
  alike: number
}

/**
 * What an encoder has read. Each function returns undefined for texts that it has not read; a text that
 * they are asked for can be read before the step is judged again.
 */
export interface Reads {
  /** Reads a goal beside a text of the user. */
  pair(errand: string, goal: string): PairRead | undefined
  /**
   * Log-odds, rounded to 1/64, that a goal serves a text of the user and goes on from up to four earlier goals, the
   * newest last.
   */
  following(errand: string, before: readonly string[], goal: string): number | undefined
  /**
   * Log-odds of each effect that a message of the user has on the requests that stand, in the order of `userEffects`
   * and rounded to 1/64.
   */
  effects(standing: string, message: string): readonly number[] | undefined
  /** How alike two goals are in meaning, −1 to 1, rounded to 1/64. */
  alike(earlier: string, goal: string): number | undefined
}
