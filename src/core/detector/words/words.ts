import { wordsOfEveryScript } from './scripts.ts'
import { piecesOf, rememberingTexts, stemOf } from './tokens.ts'

// Up to this length, insertion into a sorted list is faster than a set.
const shortText = 400

/**
 * The words of a goal: lower-cased, without stop words, stemmed, each once, sorted by code unit.
 * ASCII text gives exactly the published tokens; beyond ASCII every script is spelled.
 */
export function wordsOf(text: string): readonly string[] {
  if (text.length > shortText) return wordsOfLongText(text)
  const pieces = piecesOf(text)
  const words: string[] = []
  if (pieces === null) for (const word of rawWords(text)) insert(words, stemOf(word))
  else for (const { stems } of pieces) for (const stem of stems) insert(words, stem)
  return words
}

// A step needs its words several times: for its context and its judgment.
const wordsOfLongText = rememberingTexts((text): readonly string[] => {
  const stems = rawWords(text).map(stemOf)
  return [...new Set(stems.filter((stem) => stem !== null))].sort()
})

/** Inserts a word into a sorted list, unless it is there. */
function insert(sorted: string[], word: string | null): void {
  if (word === null) return
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((sorted[middle] as string) < word) from = middle + 1
    else to = middle
  }
  if (sorted[from] === word) return
  for (let later = sorted.length; later > from; later--) sorted[later] = sorted[later - 1] as string
  sorted[from] = word
}

/** The words of a text in order, lower-cased, with repeats, stop words and endings. */
export function rawWords(text: string): readonly string[] {
  const pieces = piecesOf(text)
  if (pieces === null) return wordsOfEveryScript(text)
  const words: string[] = []
  for (const { raw } of pieces) for (const word of raw) words.push(word)
  return words
}
