import { featureNames, measurePair } from './features.ts'
import { type Model, packagedModel } from './model.ts'
import type { Analysed } from './text.ts'

const measured = new Float64Array(featureNames.length)

/**
 * Log-odds that the goal has left the ground at even prior odds, rounded to 1/1024. Higher means more
 * drift; 0 if a text has no word. The same on every engine, because it uses only sums, products, quotients
 * and square roots in a fixed order.
 */
export function scorePair(ground: Analysed, goal: Analysed): number {
  return scoreWith(packagedModel(), ground, goal)
}

/** The score by another model, for training. */
export function scoreWith(model: Model, ground: Analysed, goal: Analysed): number {
  if (ground.tokens.length === 0 || goal.tokens.length === 0) return 0
  measurePair(ground, goal, measured)
  const { bias, coefficients } = model
  let sum = bias
  for (let at = 0; at < coefficients.length; at++) {
    sum += (coefficients[at] as number) * (measured[at] as number)
  }
  return Math.round(sum * 1024) / 1024
}

/**
 * Share of the text's words that the model knows, 0–1. Numbers are not words; single letters and words of
 * user interfaces are unknown. 0 for a text without words.
 */
export function coverage({ tokens }: Analysed): number {
  let known = 0
  let all = 0
  for (const token of tokens) {
    if (token.digits) continue
    all += 1
    if (token.known && !token.opaque) known += 1
  }
  return all === 0 ? 0 : known / all
}

/**
 * Calibrated probability that a step of this score is drift where one step in ten is, 0–1; never
 * falls as the score rises.
 */
export function probabilityOf(logOdds: number): number {
  const { calibration } = packagedModel()
  let probability = calibration[0]?.[1] ?? 0
  for (const [from, value] of calibration) {
    if (logOdds < from) break
    probability = value
  }
  return probability
}
