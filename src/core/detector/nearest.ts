import type { Compared, Detector, Measured } from './contract/detector.ts'
import { overlapOf } from './words/compare.ts'
import { wordsOf } from './words/words.ts'

/**
 * Measures a goal against each request that stands, and returns what the nearest one gives: a step that
 * serves any of them is on the errand. A step that contradicts the assignment serves none of them, and the
 * request that it contradicts counts.
 */
export function measureNearest(detector: Detector, compared: Compared, own: unknown): Measured {
  const [first = compared, ...others] = eachRequest(compared)
  let nearest = detector.measure(first, own)
  let farthest = nearest
  for (const each of others) {
    const measured = detector.measure(each, own)
    if (measured.displacement < nearest.displacement) nearest = measured
    if (measured.displacement > farthest.displacement) farthest = measured
  }
  const contradicts = nearest.findings?.swap != null && farthest.findings?.swap != null
  return contradicts ? farthest : nearest
}

/** The step as compared with one request at a time. */
function eachRequest(compared: Compared): Compared[] {
  const { assignment, ground, words, parent } = compared
  if (assignment.length < 2) return [compared]
  const parentWords = parent === null ? null : wordsOf(parent)
  return assignment.map((goal) => {
    const own = wordsOf(goal)
    return {
      ...compared,
      ground: { ...ground, goal, words: own },
      overlap: overlapOf(words, own),
      parentOverlap: parentWords === null ? null : overlapOf(parentWords, own),
    }
  })
}
