/** Longest goal or other free text a caller may send, in UTF-16 code units. */
export const maxTextLength = 4000

/**
 * The text with NUL and lone surrogates replaced by U+FFFD, so that every store keeps and every
 * answer carries the same bytes.
 */
export function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** The JSON of a body, or undefined when it is none. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
