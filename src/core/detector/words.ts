import { normaliser } from './constants.ts'
import { wordsOfEveryScript } from './scripts.ts'

const stopWords: ReadonlySet<string> = new Set(normaliser.stopWords)
const tokens = new RegExp(normaliser.tokenPattern, 'g')
const suffix = new RegExp(normaliser.stemPattern)
const beyondAscii = /[^\0-\x7f]/

/**
 * The words of a goal: lower-cased, without stop words, stemmed, each once, sorted by code unit.
 * ASCII text gives exactly the published tokens; beyond ASCII every script is spelled.
 */
export function wordsOf(text: string): string[] {
  const words = new Set<string>()
  for (const word of rawWords(text)) {
    const stem = stemOf(word)
    if (stem !== null) words.add(stem)
  }
  return [...words].sort()
}

/** The words of a text in order, lower-cased, with repeats, stop words and endings. */
export function rawWords(text: string): readonly string[] {
  if (beyondAscii.test(text)) return wordsOfEveryScript(text)
  return text.toLowerCase().match(tokens) ?? []
}

/** What a raw word counts as: its stem, or null for a stop word. */
export function stemOf(word: string): string | null {
  if (stopWords.has(word)) return null
  return word.length < normaliser.stemMinLength ? word : word.replace(suffix, '')
}
