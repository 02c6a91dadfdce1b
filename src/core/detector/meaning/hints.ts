import { two } from '../../figures.ts'
import type { Compared } from '../contract/detector.ts'
import { adapted } from './adapted.ts'
import type { Seen } from './evidence.ts'
import { uncertainAbove, weights } from './evidence.ts'
import type { ReadText } from './texts.ts'

/** What a step looks like once a table of one's own work and the embeddings of its texts were asked. */
export interface Hinted {
  seen: Seen
  /** Whether the embeddings take away the uncertainty; evidence of drift stays as it was. */
  isSettled: boolean
  /** The version of the table that was asked, or null. */
  adaptation: string | null
  /** What each of them said, in sentences. */
  told: readonly string[]
}

/**
 * How near embeddings must put goal and ground to settle that it is the errand, and from where on
 * being no nearer is evidence of drift, in the unit of `Step.similarity`. Nothing here was measured:
 * the figures depend on whose embeddings they are.
 */
export const similarityLimits = { near: 0.25, far: 0.02 } as const

/** The least log-odds of a step that embeddings put far away: to be drift, it must be sustained. */
export const farScore = 1.5

/**
 * Asks what stands beside the texts. Neither is asked where a name, an opposite or an instruction
 * decided. The table moves the score by its bounded part. Embeddings are asked where the step would be
 * uncertain, and cannot take back what speaks for drift: near, they end the uncertainty; far, they are
 * evidence.
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
