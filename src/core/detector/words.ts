import { piecesOf, stemOf } from './pieces.ts'
import { wordsOfEveryScript } from './scripts.ts'

// In texts up to this length putting each word into its place is quicker than a set.
const shortText = 400

/**
 * The words of a goal: lower-cased, without stop words, stemmed, each once, sorted by code unit.
 * ASCII text gives exactly the published tokens; beyond ASCII every script is spelled.
 */
export function wordsOf(text: string): string[] {
  const pieces = piecesOf(text)
  if (pieces === null || text.length > shortText) return sorted(rawWords(text).map(stemOf))
  const words: string[] = []
  for (const { stems } of pieces) {
    for (const stem of stems) if (stem !== null) insert(words, stem)
  }
  return words
}

function sorted(stems: readonly (string | null)[]): string[] {
  return [...new Set(stems.filter((stem) => stem !== null))].sort()
}

/** Puts a word into its place among sorted ones unless it is there. */
function insert(sorted: string[], word: string): void {
  let at = sorted.length
  while (at > 0 && (sorted[at - 1] as string) > word) at--
  if (at > 0 && sorted[at - 1] === word) return
  for (let later = sorted.length; later > at; later--) sorted[later] = sorted[later - 1] as string
  sorted[at] = word
}

/** The words of a text in order, lower-cased, with repeats, stop words and endings. */
export function rawWords(text: string): readonly string[] {
  const pieces = piecesOf(text)
  if (pieces === null) return wordsOfEveryScript(text)
  const words: string[] = []
  for (const { raw } of pieces) for (const word of raw) words.push(word)
  return words
}
