import { type Analysed, analyse, contentWords, mostTokens } from './text.ts'

/** About as many content words as most texts have that the model was trained on. */
const roomOfPart = 16
const mostParts = 16
const endsOfClauses = /(?<=[.!?;:,])\s+|(?<=[。！？；：，、])|\n+/

/**
 * A text that names more than the model compares at once, in parts of whole clauses, so that what it
 * says last counts as much as what it says first; none of a text that fits. Of thousands of words
 * every part is read as far as any text is.
 */
export function partsOf(text: string, whole: Analysed): readonly Analysed[] {
  if (whole.tokens.length < mostTokens) return []
  // Any two parts in a row hold more than one has room for, so that there are mostParts + 1 at most.
  const room = Math.max(roomOfPart, Math.ceil((2 * whole.size) / mostParts))
  const parts: string[] = []
  let part = ''
  let words = 0
  for (const clause of text.split(endsOfClauses)) {
    const count = contentWords(clause).length
    if (words > 0 && words + count > room) {
      parts.push(part)
      part = ''
      words = 0
    }
    part += ` ${clause}`
    words += count
  }
  return [...parts, part].map(analyse)
}
