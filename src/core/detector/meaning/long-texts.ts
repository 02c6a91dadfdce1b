import { type Analysed, analyse, contentWords, mostTokens } from './text.ts'

/** About the number of content words of most training texts. */
const roomOfPart = 16
const mostParts = 16
const endsOfClauses = /(?<=[.!?;:,])\s+|(?<=[。！？；：，、])|\n+/

/**
 * Splits a text with more words than the model compares at once into parts of whole clauses, so that its
 * end counts as much as its start; empty for a text that fits. Very long texts have longer parts, each
 * read up to the limit of a text.
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
