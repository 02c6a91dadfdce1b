import type { Reads } from '../contract/reads.ts'
import { weights } from './evidence.ts'

/**
 * How what an encoder reads joins the score of the words: a logistic regression on goals of the authored
 * errands under their own and a foreign errand, fitted by errands that had not trained the encoder, and scaled to
 * the limit of the evidence. `model/encoder/README.md` has its figures.
 */
const fitted = { serves: -0.15, words: 0.42, alike: -3.19, known: -0.75, rest: 1.33 } as const

/**
 * The score of a goal beside an errand that an encoder has read too, in log-odds, above 0 leaning off the
 * errand; null if it has not been read. `words` is the score of the words, which counts only if they are known.
 */
export function scoreRead(
  reads: Reads | null,
  errand: string,
  goal: string,
  words: { score: number; areKnown: boolean },
): number | null {
  const read = reads?.pair(errand, goal)
  if (read === undefined) return null
  const score =
    fitted.rest +
    fitted.serves * read.serves +
    fitted.alike * read.alike +
    (words.areKnown ? fitted.known + fitted.words * words.score : 0)
  return Math.max(-weights.most, Math.min(weights.most, Math.round(score * 1024) / 1024))
}
