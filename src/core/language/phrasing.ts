import { overlapOf } from '../detector/words/compare.ts'
import { stemOf } from '../detector/words/tokens.ts'
import { rawWords, wordsOf } from '../detector/words/words.ts'
import { rounded } from '../figures.ts'
import { countClaims } from './claims.ts'

/** The measured shape of a text. Shares are 0–1 with two decimals. */
export interface Phrasing {
  /** Words of every script; pairs of characters where a script has no spaces. */
  words: number
  /** Sentences or lines; at least 1 if there is a word. */
  sentences: number
  /** Distinct content words divided by all (type-token ratio); null without any. */
  variety: number | null
  /** Share of repeated pairs of neighbouring words. */
  repetition: number
  /** Published English phrases that claim a cause or an outcome. */
  claims: number
  /** Published English phrases that report something seen. */
  observations: number
  /**
   * `short` below 12 content words, else `circling` below a variety of 0.55, else `connected` when
   * more than 0.7 of the neighbouring sentences share a content word, else `loose`.
   */
  shape: 'short' | 'circling' | 'connected' | 'loose'
  /**
   * Flesch reading ease: 206.835 − 1.015 · words per sentence − 84.6 · syllables per word, one
   * decimal; about 100 is very easy and 0 very hard. Null where it was not made for the text.
   */
  readability: number | null
  /** The measures that do not apply to this text, and why; empty if all apply. */
  notes: string[]
}

/** Two compared phrasings. */
export interface PhrasingComparison {
  a: Phrasing
  b: Phrasing
  /** Jaccard overlap of their words as the detector has them, 0–1, two decimals. */
  overlap: number
  clearer: 'a' | 'b' | 'even'
  why: string
}

const shortBelow = 12
const circlingBelow = 0.55
const connectedAbove = 0.7

const functionWords: ReadonlySet<string> = new Set(
  (
    'about above after again all also and any are because been before being below between both but ' +
    'can could did does doing down during each few for from further had has have having here how into its just ' +
    'more most not now off once only other our out over own same she should some such than that the their them ' +
    'then there these they this those through too under until very was were what when where which while who why ' +
    'will with would you your'
  ).split(' '),
)

/** Measures the shape of a text in any language, and lists the measures that do not apply. */
export function measurePhrasing(text: string): Phrasing {
  const words = rawWords(text)
  const sentences = sentencesOf(text)
  const content = sentences.map(contentWords)
  const all = content.flat()
  const variety = all.length === 0 ? null : new Set(all).size / all.length
  const isEnglish = looksEnglish(text, words)
  const { claims, observations } = countClaims(text)
  return {
    words: words.length,
    sentences: sentences.length,
    variety: variety === null ? null : rounded(variety),
    repetition: rounded(repeatedShare(words)),
    claims,
    observations,
    shape: shapeOf(all.length, variety ?? 1, content),
    readability: isEnglish ? readingEase(words, sentences.length) : null,
    notes: isEnglish || words.length === 0 ? [] : [notEnglish],
  }
}

/**
 * Which of two phrasings is clearer. A text that names fewer than three things (different content words)
 * is vaguer than one sentence of at most twelve words that names more, and never clearer. Else a point each for fewer words a sentence (by a fifth), more
 * content among its words (by 0.05), fewer repeated pairs (by 0.05), fewer claims beyond what was
 * observed, and easier reading (by 10) where that is measured for both.
 */
export function comparePhrasings(a: string, b: string): PhrasingComparison {
  const left = measurePhrasing(a)
  const right = measurePhrasing(b)
  const points = { a: [] as string[], b: [] as string[] }
  for (const { name, of, margin, digits } of measures) {
    const [x, y] = [of(left, a), of(right, b)]
    if (x === null || y === null) continue
    const [low, high] = x < y ? [x, y] : [y, x]
    if (high - low <= margin(high)) continue
    points[x < y ? 'a' : 'b'].push(
      `${name} (${low.toFixed(digits)} against ${high.toFixed(digits)})`,
    )
  }
  const vaguer = vaguerOf(a, b)
  if (vaguer !== null) {
    points[vaguer === 'a' ? 'b' : 'a'].unshift('more things named')
    points[vaguer] = []
  }
  const ahead = points.a.length - points.b.length
  const clearer = ahead > 0 ? 'a' : ahead < 0 ? 'b' : 'even'
  const parts = (['a', 'b'] as const)
    .filter((side) => points[side].length > 0)
    .map((side) => `${side} has ${points[side].join(', ')}`)
  return {
    a: left,
    b: right,
    overlap: rounded(overlapOf(wordsOf(a), wordsOf(b))),
    clearer,
    why: parts.length === 0 ? 'No measure tells them apart.' : `${parts.join('; ')}.`,
  }
}

const vagueBelow = 3
const oneLineWords = 12

/** The phrasing that names too little to be measured while the other names more in one line; null if neither. */
function vaguerOf(a: string, b: string): 'a' | 'b' | null {
  const isVague = (text: string) => namedIn(text) < vagueBelow
  const isPrecise = (text: string) =>
    !isVague(text) && sentencesOf(text).length === 1 && rawWords(text).length <= oneLineWords
  if (isVague(a) && isPrecise(b)) return 'a'
  return isVague(b) && isPrecise(a) ? 'b' : null
}

function namedIn(text: string): number {
  return new Set(contentWords(text)).size
}

const notEnglish =
  'readability is null: the formula is made for English; claims and observations are English phrases.'

/** The criteria; a lower value is clearer. */
const measures: readonly {
  name: string
  of(measured: Phrasing, text: string): number | null
  margin(high: number): number
  digits: number
}[] = [
  {
    name: 'fewer words a sentence',
    of: ({ words, sentences }) => (sentences === 0 ? null : words / sentences),
    margin: (high) => high / 5,
    digits: 1,
  },
  {
    name: 'less filler',
    of: ({ words }, text) => (words === 0 ? null : 1 - contentWords(text).length / words),
    margin: () => 0.05,
    digits: 2,
  },
  { name: 'fewer repeats', of: ({ repetition }) => repetition, margin: () => 0.05, digits: 2 },
  {
    name: 'fewer claims beyond what was seen',
    of: ({ claims, observations }) => Math.max(0, claims - observations),
    margin: () => 0,
    digits: 0,
  },
  {
    name: 'easier reading',
    of: ({ readability }) => (readability === null ? null : 206.8 - readability),
    margin: () => 10,
    digits: 0,
  },
]

/** The sentences of a text that have a word. */
function sentencesOf(text: string): string[] {
  return text
    .split(/[\n。！？｡।؟]+|[.!?…]+(?=\s|$)/u)
    .filter((stretch) => rawWords(stretch).length > 0)
}

function contentWords(text: string): string[] {
  return rawWords(text).flatMap((word) => {
    const stem = functionWords.has(word) ? null : stemOf(word)
    return stem === null || !isContent(stem) ? [] : [stem]
  })
}

/** Beyond ASCII a word may be a pair of characters. */
function isContent(word: string): boolean {
  return /^[a-z0-9']*$/.test(word) ? /^[a-z']{3,}$/.test(word) : true
}

function shapeOf(
  count: number,
  variety: number,
  content: readonly (readonly string[])[],
): Phrasing['shape'] {
  if (count < shortBelow) return 'short'
  if (variety < circlingBelow) return 'circling'
  const joins = content.slice(1).map((words, at) => {
    const before = new Set(content[at])
    return words.some((word) => before.has(word))
  })
  const connected = joins.filter(Boolean).length / Math.max(1, joins.length)
  return connected > connectedAbove ? 'connected' : 'loose'
}

function repeatedShare(words: readonly string[]): number {
  const pairs = words.slice(1).map((word, at) => `${words[at]} ${word}`)
  return pairs.length === 0 ? 0 : 1 - new Set(pairs).size / pairs.length
}

/** Detects English: nearly all letters are ASCII, and long texts have some of the commonest words. */
function looksEnglish(text: string, words: readonly string[]): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const ascii = text.match(/[a-z]/gi)?.length ?? 0
  if (letters === 0 || ascii / letters < 0.97) return false
  if (words.length < shortBelow) return true
  const common = words.filter((word) => functionWords.has(word) || stemOf(word) === null).length
  return common / words.length >= 0.1
}

function readingEase(words: readonly string[], sentences: number): number {
  const syllables = words.reduce((sum, word) => sum + syllablesOf(word), 0)
  const ease =
    206.835 -
    (1.015 * words.length) / Math.max(1, sentences) -
    (84.6 * syllables) / Math.max(1, words.length)
  return Number(ease.toFixed(1))
}

/** Counts groups of vowels without a silent final e; at least one. */
function syllablesOf(word: string): number {
  const groups = word.replace(/(?<![aeiouyl])e$|es$|ed$/, '').match(/[aeiouy]+/g)
  return Math.max(1, groups?.length ?? 0)
}
