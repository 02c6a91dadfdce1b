/** Longest goal or other free text a caller may send, in UTF-16 code units. */
export const maxTextLength = 4000

/** Replaces NUL and lone surrogates by U+FFFD, so that every store and every answer holds the same bytes. */
export function wellFormed(text: string): string {
  const formed = text.isWellFormed() ? text : text.toWellFormed()
  return formed.includes('\0') ? formed.replaceAll('\0', '\uFFFD') : formed
}

/** Cuts a text to `limit` UTF-16 code units and marks the cut with an ellipsis. */
export function cutTo(text: string, limit: number): string {
  if (text.length <= limit) return text
  // Do not split a surrogate pair.
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** The factor of the 32-bit FNV-1a hash. */
export const fnvPrime = 0x01000193

/** The 32-bit FNV-1a hash over the UTF-16 code units of a text, as a signed number. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5 | 0
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), fnvPrime)
  return hash
}

/** Joins values into one map key. Well-formed text cannot contain the separator. */
export function keyOf(...values: string[]): string {
  return values.join('\0')
}

/** Parses JSON; undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
