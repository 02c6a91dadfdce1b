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
  const found = spaced ? findInWords(phrases) : findAnywhere(phrases)
  return {
    spaced,
    verbAnywhere,
    contains: found.contains,
    after(role, text) {
      const phrase = found.first(role, text)
      if (phrase === undefined) return null
      if (!spaced) return text.slice(phrase.length)
      return text.slice(text.indexOf(' ', phrase.length - 1))
    },
    before(role, text) {
      const phrase = found.last(role, text)
      if (phrase === undefined) return null
      return text.slice(0, text.length - phrase.length) + (spaced ? ' ' : '')
    },
    without(role, text) {
      const gap = spaced ? ' ' : ''
      if (!found.contains(role, text)) return text
      return phrases[role].reduce((rest, phrase) => rest.replaceAll(phrase, gap), text)
    },
    known: (words) =>
      words.filter((word) => single.has(word) || stems.some((stem) => word.startsWith(stem)))
        .length,
  }
}

/** How phrases of a role are found in a text. */
interface Finder {
  contains(role: Role, text: string): boolean
  /** The longest phrase that the text begins with. */
  first(role: Role, text: string): string | undefined
  /** The longest phrase that the text ends with. */
  last(role: Role, text: string): string | undefined
}

function findAnywhere(phrases: Readonly<Record<Role, string[]>>): Finder {
  return {
    contains: (role, text) => phrases[role].some((phrase) => text.includes(phrase)),
    first: (role, text) => phrases[role].find((phrase) => text.startsWith(phrase)),
    last: (role, text) => phrases[role].find((phrase) => text.endsWith(phrase)),
  }
}

/** Finds phrases by a word of theirs, since a role can have a thousand; only stems are looked for one by one. */
function findInWords(phrases: Readonly<Record<Role, string[]>>): Finder {
  const of = (role: Role): RoleWords => ofRole[role]
  const ofRole = Object.fromEntries(
    Object.entries(phrases).map(([role, all]) => [role, roleWords(all)]),
  ) as Record<Role, RoleWords>
  const at = (role: Role, text: string, place: number) => {
    const word = text.slice(place + 1, text.indexOf(' ', place + 1))
    return of(role)
      .byFirst.get(word)
      ?.find((phrase) => text.startsWith(phrase, place))
  }
  return {
    contains(role, text) {
      for (let place = 0; place >= 0 && place < text.length - 1; ) {
        if (at(role, text, place) !== undefined) return true
        place = text.indexOf(' ', place + 1)
      }
      return of(role).stems.some((stem) => text.includes(stem))
    },
    first(role, text) {
      const phrase = at(role, text, 0)
      const stem = of(role).stems.find((each) => text.startsWith(each))
      return stem !== undefined && stem.length > (phrase?.length ?? 0) ? stem : phrase
    },
    last(role, text) {
      const word = text.slice(text.lastIndexOf(' ', text.length - 2) + 1, -1)
      return of(role)
        .byLast.get(word)
        ?.find((phrase) => text.endsWith(phrase))
    },
  }
}

/** The phrases of a role by their first and by their last word, and its stems; each longest first. */
interface RoleWords {
  byFirst: ReadonlyMap<string, string[]>
  byLast: ReadonlyMap<string, string[]>
  stems: readonly string[]
}

function roleWords(all: readonly string[]): RoleWords {
  const whole = all.filter((phrase) => phrase.endsWith(' '))
  return {
    byFirst: Map.groupBy(whole, (phrase) => phrase.slice(1, phrase.indexOf(' ', 1))),
    byLast: Map.groupBy(whole, (phrase) =>
      phrase.slice(phrase.lastIndexOf(' ', phrase.length - 2) + 1, -1),
    ),
    stems: all.filter((phrase) => !phrase.endsWith(' ')),
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
