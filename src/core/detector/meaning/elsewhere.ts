import type { Reads } from '../contract/reads.ts'
import { restates } from './errand.ts'
import type { ReadStep } from './read-steps.ts'
import { type ReadText, readText } from './texts.ts'

/**
 * When what an encoder reads puts a goal into another world by itself. The figures belong to its weights:
 * `npm run model:elsewhere` fits them anew and prints what they find. `serves` are its log-odds. `base` is set to add about half
 * of the false alarms that the fit allows, since runs of a writer who chose no limit showed more.
 */
export const elsewhereLimits = {
  /** Highest `serves` of a goal without a word, and how much higher it may be for each of its words. */
  alone: { base: -5.04, perWord: 0.2435, mostWords: 8 },
  /** A goal as near as this to an earlier one that served the errand is not elsewhere. */
  nearServing: 0.4,
  /** The fewest items of an agent's own list that are read as one, the most, and their highest mean `serves`. */
  list: { fewest: 4, most: 6, mean: -1.4, item: -1 },
} as const

/**
 * How far the log-odds of a goal lie below the limit of its length, above 0 if it is of another world: the encoder
 * reads a few words less surely than a sentence.
 */
export function fallsBelow(serves: number, words: number): number {
  const { base, perWord, mostWords } = elsewhereLimits.alone
  return base + perWord * Math.min(words, mostWords) - serves
}

/**
 * How surely a goal is of another world than its errand, in log-odds above the limit of drift; null if it is not. Only
 * texts with known words are judged so.
 */
export function elsewhereBy(
  serves: number,
  errand: ReadText,
  goal: ReadText,
  before: readonly ReadStep[],
  likenesses: readonly (number | undefined)[],
): number | null {
  if (!errand.isKnown || !goal.isKnown) return null
  const below = fallsBelow(serves, goal.meaning.tokens.length)
  if (below < 0) return null
  const isNear = before.some(
    (step, place) => step.serves > 0 && (likenesses[place] ?? 0) >= elsewhereLimits.nearServing,
  )
  return isNear ? null : below
}

/**
 * How surely a goal is of another world as an item of its agent's own list that turned away as a whole; null if it is no
 * such item. One short goal tells little, and several together tell much.
 */
export function elsewhereByList(
  reads: Reads,
  serves: number,
  errand: ReadText,
  goal: ReadText,
  list: readonly string[],
): number | null {
  const { fewest, most, mean, item } = elsewhereLimits.list
  if (list.length < fewest || serves > item || !errand.isKnown) return null
  const items = list.map(readText)
  if (!items.some((each) => restates(goal, each))) return null
  // All are asked for before any is missed, so that they are read together.
  const read = items.slice(0, most).map(({ text }) => reads.pair(errand.text, text)?.serves)
  const known = read.filter((each) => each !== undefined)
  if (known.length < read.length) return null
  const ofList =
    Math.round((1024 * known.reduce((sum, each) => sum + each, 0)) / known.length) / 1024
  return ofList <= mean ? mean - ofList : null
}
