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
  let hash = 0x811c9dc5
  words.forEach((word, place) => {
    if (place > 0) hash = Math.imul(hash ^ 0x7c, 0x01000193)
    for (let at = 0; at < word.length; at++) {
      hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
    }
  })
  return `ctx_${(hash >>> 0).toString(36)}`
}
