import { progressValues } from './contract/constants.ts'
import type { Ground } from './contract/detector.ts'
import type { Reading } from './step.ts'
import { wordsOf } from './words/words.ts'

/**
 * The ground that this step freezes, or null. The first spelled step of a run freezes one, and so does a
 * user turn whose goal is spelled differently. No other step changes the ground.
 */
export function groundToFreeze(
  { ground }: { readonly ground: Ground | null },
  reading: Reading,
): Ground | null {
  if (!reading.spelled) return null
  if (ground === null) return candidate(reading)
  if (!reading.userTurn) return null
  const next = candidate(reading)
  return sameSpelling(ground, next) ? null : next
}

function candidate({ goal, words, progress, distance, ground }: Reading): Ground {
  return ground === null
    ? { goal, words, progress, distance }
    : { goal: ground, words: wordsOf(ground), progress: progressValues[0], distance }
}

/** Compares grounds without words by their text. */
function sameSpelling(a: Ground, b: Ground): boolean {
  return a.words.length === 0 && b.words.length === 0
    ? a.goal === b.goal
    : a.words.join('|') === b.words.join('|')
}
