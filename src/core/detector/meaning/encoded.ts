import type { Reads } from '../contract/reads.ts'
import { clamped, scoreTexts } from './evidence.ts'
import type { ReadText } from './texts.ts'

/**
 * How what an encoder reads joins the score of the words: a logistic regression on goals of the authored
 * errands under their own and a foreign errand, fitted by errands that had not trained the encoder, and scaled to
 * the limit of the evidence. `model/encoder/README.md` has its figures.
 */
const fitted = { serves: -0.162, words: 0.454, alike: -3.445, known: -0.81, rest: 1.436 } as const

/**
 * The score of a goal beside an errand that an encoder has read too, in log-odds, above 0 leaning off the
 * errand; null if it has not been read. The words count only if they are known.
 */
export function scoreRead(reads: Reads | null, errand: ReadText, goal: ReadText): number | null {
  const read = reads?.pair(errand.text, goal.text)
  if (read === undefined) return null
  const words =
    errand.isKnown && goal.isKnown
      ? fitted.known + fitted.words * clamped(scoreTexts(errand, goal))
      : 0
  const score = fitted.rest + fitted.serves * read.serves + fitted.alike * read.alike + words
  return clamped(Math.round(score * 1024) / 1024)
}
