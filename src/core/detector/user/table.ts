import { spacedWords, type UserWords, unspacedWords } from './words.ts'

/** A kind of words in a table. */
export type Role = keyof UserWords

/** The words of one language, ready to be looked up in normalised texts: `' word word '`, or `'word'`. */
export interface UserTable {
  /** Whether the language puts spaces between words. */
  spaced: boolean
  /** Whether a verb can stand anywhere in a request, and not at its beginning. */
  verbAnywhere: boolean
  /** Whether the text has words of a role. */
  contains(role: Role, text: string): boolean
  /** The text after the longest words of a role that it begins with, or null. */
  after(role: Role, text: string): string | null
  /** The text before the longest words of a role that it ends with, or null. */
  before(role: Role, text: string): string | null
  /** The text without any words of a role. */
  without(role: Role, text: string): string
  /** How many of these words the table knows. */
  known(words: readonly string[]): number
}

/** The table of the language that a text is most likely written in. */
export function tableOf(text: string, words: readonly string[]): UserTable {
  const script = scripts.find(({ pattern }) => pattern.test(text))
  if (script !== undefined) return tables[script.language] ?? englishTable
  let best = englishTable
  let most = englishTable.known(words)
  for (const table of latin) {
    const known = table.known(words)
    if (known > most) {
      best = table
      most = known
    }
  }
  return best
}

/** The scripts that tell the language, in this order: Japanese has Chinese characters too. */
const scripts = [
  { pattern: /[\p{Script=Hiragana}\p{Script=Katakana}]/u, language: 'ja' },
  { pattern: /\p{Script=Hangul}/u, language: 'ko' },
  { pattern: /\p{Script=Han}/u, language: 'zh' },
  { pattern: /\p{Script=Arabic}/u, language: 'ar' },
  { pattern: /\p{Script=Devanagari}/u, language: 'hi' },
  { pattern: /\p{Script=Cyrillic}/u, language: 'ru' },
] as const

/** The languages with spaces whose verbs stand at the end. */
const verbLast: ReadonlySet<string> = new Set(['hi', 'tr'])

const tables: Readonly<Record<string, UserTable>> = Object.fromEntries([
  ...Object.entries(spacedWords).map(([language, words]) => [
    language,
    tableFor(words, true, verbLast.has(language)),
  ]),
  ...Object.entries(unspacedWords).map(([language, words]) => [
    language,
    tableFor(words, false, true),
  ]),
])
/** The table of English. */
export const englishTable = tableFor(spacedWords.en as UserWords, true, false)
const latin = ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'pl', 'tr'].flatMap(
  (language) => tables[language] ?? [],
)

function tableFor(words: UserWords, spaced: boolean, verbAnywhere: boolean): UserTable {
  const phrases = Object.fromEntries(
    Object.entries(words).map(([role, text]) => [role, phrasesOf(text, spaced)]),
  ) as unknown as Record<Role, string[]>
  const single = new Set<string>()
  const stems: string[] = []
  for (const phrase of Object.values(phrases).flat()) {
    const first = phrase.trim().split(' ')
    if (!phrase.includes(' ', 1) || !spaced) stems.push(phrase.trim())
    else for (const word of first) single.add(word)
  }
  return {
    spaced,
    verbAnywhere,
    contains: (role, text) => phrases[role].some((phrase) => text.includes(phrase)),
    after(role, text) {
      const phrase = phrases[role].find((each) => text.startsWith(each))
      if (phrase === undefined) return null
      if (!spaced) return text.slice(phrase.length)
      return text.slice(text.indexOf(' ', phrase.length - 1))
    },
    before(role, text) {
      const phrase = phrases[role].find((each) => text.endsWith(each))
      if (phrase === undefined) return null
      return text.slice(0, text.length - phrase.length) + (spaced ? ' ' : '')
    },
    without(role, text) {
      const gap = spaced ? ' ' : ''
      return phrases[role].reduce((rest, phrase) => rest.replaceAll(phrase, gap), text)
    },
    known: (words) =>
      words.filter((word) => single.has(word) || stems.some((stem) => word.startsWith(stem)))
        .length,
  }
}

/** The phrases of a list, longest first; one of a spaced language has the spaces around it. */
function phrasesOf(text: string, spaced: boolean): string[] {
  const phrases = text
    .normalize('NFKC')
    .split(' ')
    .flatMap((each) => {
      if (each === '') return []
      const phrase = each.replaceAll('_', ' ')
      if (!spaced) return phrase
      return phrase.endsWith('*') ? ` ${phrase.slice(0, -1)}` : ` ${phrase} `
    })
  return phrases.sort((a, b) => b.length - a.length)
}
