import type { PairRead, Reads } from '../contract/reads.ts'
import { elsewhereBy, elsewhereByList } from './elsewhere.ts'
import { cutItem } from './errand.ts'
import { clamped, limits, scoreTexts } from './evidence.ts'
import { languageOf } from './languages.ts'
import { goalsToFollow, measureSequence, type ReadStep, withReadStep } from './read-steps.ts'
import { scoreSequence } from './sequence.ts'
import type { ReadText } from './texts.ts'

/**
 * The log-odds, at even prior odds, that a goal leaves its errand, by what an encoder reads: fitted on errands that had
 * not trained the encoder. The words add nothing to it. `model/sequence/train.py` prints it.
 */
const fitted = { serves: -0.85, rest: -0.16 } as const

/**
 * The score of a goal beside an errand that an encoder has read too, in log-odds, above 0 leaning off the
 * errand; null if it has not been read, or is not in a language that the encoder reads.
 */
export function scoreRead(reads: Reads | null, errand: ReadText, goal: ReadText): number | null {
  if (reads === null || !canRead(errand, goal)) return null
  const read = reads.pair(errand.text, goal.text)
  return read === undefined ? null : scoreOf(read)
}

function scoreOf({ serves }: PairRead): number {
  return clamped(Math.round((fitted.rest + fitted.serves * serves) * 1024) / 1024)
}

/**
 * Whether the encoder can tell: it reads English, and is near chance in other languages. A text without words that
 * tell its language counts as English if the goal stands beside an English errand.
 */
function canRead(errand: ReadText, goal: ReadText): boolean {
  const isEnglish = errand.isKnown || languageOf(errand.text) === 'English'
  const ofGoal = languageOf(goal.text)
  return isEnglish && (ofGoal === 'English' || ofGoal === null)
}

/** A step as an encoder has read it, among the steps before it. */
export interface Sequence {
  /** What `measureSequence` measures. */
  measured: Float64Array
  /** The score of the step alone, as `scoreRead` gives it. */
  score: number
  /** The evidence of the run that it gives, to compare with the built-in limit. */
  evidence: number
  /** The steps to keep for the next one. */
  after: readonly ReadStep[]
}

/**
 * Reads a step among those before it; null if it has not been read beside its errand. `list` is the agent's own plan: it
 * cannot speak for a step here, but one that turned away as a whole speaks against its items.
 */
export function readSequence(
  reads: Reads | null,
  before: readonly ReadStep[],
  errand: ReadText,
  goal: ReadText,
  list: readonly string[] = [],
): Sequence | null {
  if (reads === null || !canRead(errand, goal)) return null
  // Asked first, so that what is missing is read together with the pair.
  const likenesses = before.map((step) => reads.alike(step.goal, goal.text))
  const earlier = goalsToFollow(before)
  const follows =
    earlier.length === 0 ? undefined : reads.following(errand.text, earlier, goal.text)
  const read = reads.pair(errand.text, goal.text)
  if (read === undefined) return null
  const { serves } = read
  const above = Math.max(
    elsewhereBy(serves, errand, goal, before, likenesses) ?? Number.NEGATIVE_INFINITY,
    elsewhereByList(reads, serves, errand, goal, list) ?? Number.NEGATIVE_INFINITY,
  )
  const measured = measureSequence(before, read, wordScore(errand, goal), likenesses, follows)
  return {
    measured,
    score: scoreOf(read),
    evidence: limits.alone + Math.max(scoreSequence(measured), above),
    after: withReadStep(before, cutItem(goal.text), read, measured),
  }
}

/** The score of the words, if those of both texts are known. */
function wordScore(errand: ReadText, goal: ReadText): number | null {
  return errand.isKnown && goal.isKnown ? clamped(scoreTexts(errand, goal)) : null
}
