import { two } from '../../figures.ts'
import type { Compared } from '../contract/detector.ts'
import { adapted } from './adapted.ts'
import type { Seen } from './evidence.ts'
import { uncertainAbove, weights } from './evidence.ts'
import type { ReadText } from './texts.ts'

/** A step after the personal table and the embeddings were consulted. */
export interface Hinted {
  seen: Seen
  /** Whether the embeddings end the uncertainty; evidence of drift is unchanged. */
  isSettled: boolean
  /** The version of the table that was used, or null. */
  adaptation: string | null
  /** The findings of each, in sentences. */
  told: readonly string[]
}

/**
 * Similarities, in the unit of `Step.similarity`: from the first on, embeddings settle that goal and
 * ground are one errand; at the second and below, they are evidence of drift. The figures are not
 * measured, because they depend on the embedding model.
 */
export const similarityLimits = { near: 0.25, far: 0.02 } as const

/** Lowest log-odds of a step that embeddings put far away: only sustained evidence makes it drift. */
export const farScore = 1.5

/**
 * Consults the personal table and the embeddings, unless a name, an opposite or an instruction decided the
 * step. The table moves the score within its bounds. Embeddings are used if the step would be uncertain.
 * They cannot reduce evidence of drift: near ones end the uncertainty, far ones are evidence.
 */
export function takeHints(
  seen: Seen,
  { adaptation, similarity }: Compared,
  ground: ReadText,
  goal: ReadText,
): Hinted {
  const told: string[] = []
  let score = seen.score
  if (adaptation !== null && seen.kind === 'scored') {
    const added = adapted(adaptation, ground.meaning, goal.meaning)
    score = Math.max(-weights.most, Math.min(weights.most, score + added))
    told.push(`Of that, the table ${adaptation.version} adds ${two(added)}.`)
  }
  const isOpen = seen.kind === 'unreadable' || (seen.kind === 'scored' && score > uncertainAbove)
  let isSettled = false
  if (similarity !== null && isOpen) {
    isSettled = similarity >= similarityLimits.near
    const isFar = similarity <= similarityLimits.far
    if (isFar) score = Math.max(score, farScore)
    const where = isSettled ? 'near the ground' : isFar ? 'far from the ground' : 'in between'
    told.push(`Its embedding lies ${where}, at ${two(similarity)}.`)
  }
  return {
    seen: score === seen.score ? seen : { ...seen, score },
    isSettled,
    adaptation: adaptation?.version ?? null,
    told,
  }
}
