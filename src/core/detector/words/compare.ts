/**
 * Jaccard overlap of two sets of words (each sorted, without duplicates), 0–1: shared words over
 * all words, and 0 when there are none at all.
 */
export function overlapOf(a: readonly string[], b: readonly string[]): number {
  const shared = sharedWords(a, b).length
  const union = a.length + b.length - shared
  return union === 0 ? 0 : shared / union
}

/** Jaccard distance, 0–1: 1 − overlap, but 0 between two empty sets, as the published rules have it. */
export function distanceOf(a: readonly string[], b: readonly string[]): number {
  return a.length === 0 && b.length === 0 ? 0 : 1 - overlapOf(a, b)
}

/** The words two sorted sets share, in order. */
export function sharedWords(a: readonly string[], b: readonly string[]): string[] {
  const shared: string[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    const left = a[i] as string
    const right = b[j] as string
    if (left === right) shared.push(left)
    if (left <= right) i++
    if (right <= left) j++
  }
  return shared
}
