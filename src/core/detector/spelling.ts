import { fnv1a } from '../text.ts'

/**
 * The canonical line of a step: `⟨sorted|words⟩ progress dN`, followed by ` ⊂ ⟨parent⟩` if a parent was
 * declared. Two restatements of one state have the same line.
 */
export function spell(
  words: readonly string[],
  progress: string,
  distance: number,
  parentWords: readonly string[] | null,
): string {
  const own = `⟨${words.join('|')}⟩ ${progress} d${distance}`
  return parentWords === null ? own : `${own} ⊂ ⟨${parentWords.join('|')}⟩`
}

/**
 * The stable id of a goal: `ctx_` and the base-36 of the 32-bit FNV-1a hash over the UTF-16 code units of
 * its sorted words joined by `|`; null for a goal without words.
 */
export function contextOf(words: readonly string[]): string | null {
  if (words.length === 0) return null
  return `ctx_${(fnv1a(words.join('|')) >>> 0).toString(36)}`
}
