import type { Compared } from '../contract/detector.ts'
import type { SharedWords } from '../contract/findings.ts'
import { piecesOf, stemOf } from '../words/tokens.ts'
import { rawWords } from '../words/words.ts'
import { isParticle, languageOf } from './languages.ts'

// Total characters of the goal and the words of the ground up to which a search is faster than a set.
const shortTexts = 400

/** The words of a goal that its ground has, and those that it lacks. Particles of any language are neither. */
export function shareWords({ goal, ground }: Compared): SharedWords {
  const shared: string[] = []
  const missing: string[] = []
  const language = languageOf(goal)
  const pieces = goal.length + ground.words.length > shortTexts ? null : piecesOf(goal)
  // Searching a long ground for each word of a long goal would take quadratic time.
  if (pieces === null) {
    const known = new Set(ground.words)
    for (const word of new Set(rawWords(goal))) {
      const stem = stemOf(word)
      if (stem === null || isParticle(word, language)) continue
      ;(known.has(stem) ? shared : missing).push(word)
    }
    return { shared, missing }
  }
  for (const { raw, stems } of pieces) {
    for (let place = 0; place < raw.length; place++) {
      const word = raw[place] as string
      const stem = stems[place] as string | null
      if (stem === null || shared.includes(word) || missing.includes(word)) continue
      if (isParticle(word, language)) continue
      ;(ground.words.includes(stem) ? shared : missing).push(word)
    }
  }
  return { shared, missing }
}

/** Jaccard overlap of a goal with its ground, 0–1, without the particles of any language. */
export function overlapWithoutParticles({ words, ground, overlap, goal }: Compared): number {
  // Stop words of English are no words; other languages keep theirs.
  const language = languageOf(goal)
  if (language === 'English' || overlap === 0) return overlap
  const isSaid = (word: string) => !isParticle(word, language)
  const [said, grounds] = [words.filter(isSaid), new Set(ground.words.filter(isSaid))]
  const shared = said.filter((word) => grounds.has(word)).length
  const all = said.length + grounds.size - shared
  return all === 0 ? 0 : shared / all
}
