import { acknowledgementWords } from './acknowledgement-words.ts'
import { spacedWords, unspacedWords } from './words.ts'

/** Longer clauses are not read; nobody thanks in so many words. */
const mostWords = 24
const mostCharacters = 40

/**
 * Whether the words of a clause are nothing but thanks, "go on" and politeness of one language, in any order; English
 * mixes with all. The words are normalised and in lower case.
 */
export function isAcknowledgement(words: readonly string[]): boolean {
  return isMadeOf(['acknowledges', 'softens'], words)
}

/** Whether they are nothing but that, or politeness alone, or a refusal: "please", "no", "nein danke". */
export function namesNothing(words: readonly string[]): boolean {
  return isMadeOf(['acknowledges', 'softens', 'refuses'], words)
}

function isMadeOf(kinds: readonly Kind[], words: readonly string[]): boolean {
  if (words.length === 0 || words.length > mostWords) return false
  const text = words.join('')
  if (unspacedScript.test(text)) {
    const characters = text.length <= mostCharacters ? [...text] : []
    return unspaced.some((language) => covers(language, kinds, characters))
  }
  return spaced.some((language) => covers(language, kinds, words))
}

const unspacedScript =
  /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}\p{Script=Hangul}\p{Script=Thai}]/u

/** What a phrase does; those that soften tell nothing by themselves. */
type Kind = 'acknowledges' | 'softens' | 'refuses'

interface Phrase {
  units: readonly string[]
  kind: Kind
}

/** The phrases of one language by their first word; of a language without spaces, by their first character. */
type Phrases = ReadonlyMap<string, readonly Phrase[]>

/** Whether phrases of these kinds cover all units without a gap, and where none may refuse, one acknowledges. */
function covers(language: Phrases, kinds: readonly Kind[], units: readonly string[]): boolean {
  if (!language.has(units[0] ?? '')) return false
  /** The beginnings that are covered, and whether by anything that tells enough. */
  const reached: (boolean | undefined)[] = [kinds.includes('refuses')]
  for (let from = 0; from < units.length; from++) {
    const before = reached[from]
    if (before === undefined) continue
    for (const phrase of language.get(units[from] as string) ?? []) {
      if (!kinds.includes(phrase.kind)) continue
      const to = from + phrase.units.length
      if (!phrase.units.every((unit, at) => units[from + at] === unit)) continue
      reached[to] = reached[to] === true || before || phrase.kind === 'acknowledges'
    }
  }
  return reached[units.length] === true
}

const spaced: Phrases[] = []
const unspaced: Phrases[] = []
for (const [language, { said = '', goOn, softens, no }] of Object.entries(acknowledgementWords)) {
  const table = spacedWords[language] ?? unspacedWords[language]
  const own = [
    ...listed('acknowledges', `${said} ${goOn} ${table?.said ?? ''} ${table?.goOn ?? ''}`),
    ...listed('softens', `${softens} ${table?.ands ?? ''}`),
    ...listed('refuses', no),
  ]
  if (language in unspacedWords) unspaced.push(phrasesBy(own, charactersOf))
  else spaced.push(phrasesBy([...own, ...english()], wordsOf))
}

/** English mixes with the words of other languages: "ok danke", "merci, go ahead". */
function english(): Listed[] {
  const { said = '', goOn = '' } = acknowledgementWords.en ?? {}
  const table = spacedWords.en
  return listed('acknowledges', `${said} ${goOn} ${table?.said ?? ''} ${table?.goOn ?? ''}`)
}

type Listed = readonly [phrase: string, Kind]

function listed(kind: Kind, text: string): Listed[] {
  const phrases = text.normalize('NFKC').split(' ')
  return phrases.filter((phrase) => phrase !== '').map((phrase) => [phrase, kind])
}

function phrasesBy(all: readonly Listed[], unitsOf: (phrase: string) => string[]): Phrases {
  const phrases = all.map(([phrase, kind]): Phrase => ({ units: unitsOf(phrase), kind }))
  return Map.groupBy(phrases, ({ units }) => units[0] ?? '')
}

function wordsOf(phrase: string): string[] {
  return phrase.split('_')
}

function charactersOf(phrase: string): string[] {
  return [...phrase.replaceAll('_', '')]
}
