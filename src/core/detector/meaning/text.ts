import { hashOf } from '../words/hash.ts'
import { wordsOfEveryScript } from '../words/scripts.ts'
import { type Piece, piecesOf, remembering, rememberingPieces } from '../words/tokens.ts'
import { type Model, packagedModel, rowOf } from './model.ts'

/** The model's data for one word. */
export interface Token {
  /** Its id, the key of cached comparisons; from 1. */
  id: number
  word: string
  /** The word without its ending. */
  root: string
  /** The letters of the word and of its root, as in `lettersOf`. */
  letters: number
  lettersOfRoot: number
  /** The root as a hash. */
  stem: number
  /** Hash of the first letters of a long enough root, or 0. */
  prefix: number
  /** Rarity: about the natural logarithm of its rank, 0–16. */
  rarity: number
  /** Weight of a match of the word, above 0. */
  weight: number
  vector: Int8Array
  /** Length of the vector, 0 for an unknown word. */
  length: number
  /** Log-odds of drift if the ground has no similar word. */
  unmatched: number
  /** Log-odds of drift if the ground has the word. */
  matched: number
  /** Whether it is a word of English or of the trade. */
  known: boolean
  digits: boolean
  /**
   * Whether its absence from the ground has no meaning: numbers, single letters, unknown words and words
   * of user interfaces. They count only if both texts have them, otherwise a log line, a name or a click
   * would look like another errand.
   */
  opaque: boolean
}

/** The prepared form of one text for the pair score; it takes microseconds to build. */
export interface Analysed {
  /** The distinct content words in order, `mostTokens` at most. */
  tokens: readonly Token[]
  /** Hashes of neighbouring pairs of content words. */
  pairs: readonly number[]
  /** The same as a set, built when the text is first compared as a ground. */
  pairSet: ReadonlySet<number> | null
  /** The letters and digits of the text in lower case, without separators. */
  squashed: string
  /** The letters of `squashed`, as in `lettersOf`. */
  letters: number
  /** Content words with repeats. */
  size: number
  isFile: boolean
}

/** Most distinct words of a text that are compared. */
export const mostTokens = 32

const stopWords: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been being but by can could did do does for from had has have he her him his ' +
    'how i if in into is it its just me my no not of on or our out please shall she should so some such ' +
    'than that the their them then there these they this to too up us very was we were what when where ' +
    'which while who will with would you your also all any about after before need want'
  ).split(' '),
)
// Removes the longest ending that leaves three letters, then a doubled last consonant and a final e.
const endings: readonly (readonly [ending: string, instead: string])[] = (
  'ational ization fulness ousness iveness ations ation ingly edly ments ment ings ing ies ers er ed ' +
  'es ly s'
)
  .split(' ')
  .map((ending) => [ending, ending === 'ies' ? 'y' : ''])

// Words of user interfaces: a click says nothing about its errand.
const wordsOfScreens: ReadonlySet<string> = new Set(
  (
    'click press scroll navigate pane tab menu button console dialog window icon checkbox dropdown toolbar ' +
    'panel screen choose select field box bar corner next ok section left right double'
  )
    .split(' ')
    .map(stemOf),
)
const beyondAscii = /[^\0-\x7f]/
// Mixes of letters and digits that are not names.
const keyOrHash = /\b(?=[a-z]*\d+[a-z]+\d)[a-z0-9]{10,}\b/gi
const camel = /([a-z0-9])([A-Z])/g
const lettersOrDigits = /[a-z\x80-\uffff]+|[0-9]+/g
const between = /[^a-z0-9\x80-\uffff]+/g
// Quotes, dashes, ellipses, bullets and arrows must not hide identifiers.
const typography = /[\xa0\xab\xbb\u2010-\u2027\u2190-\u21ff]/g
const isOneWord = /^(?:[a-z]+|[0-9]+)$/
const onlyDigits = /^[0-9]+$/
const file = /\.\w{1,5}$|\//

/** Reads a text for the pair score; takes some microseconds for a dozen words. */
export function analyse(text: string): Analysed {
  return analyseWith(packagedModel(), text)
}

/** Reads a text with another model, for training. */
export function analyseWith(model: Model, text: string): Analysed {
  const plain = withoutTypography(text)
  const content: Token[] = []
  const squashed = readContent(model, plain, content)
  const tokens: Token[] = []
  const pairs: number[] = []
  let before: Token | undefined
  for (const token of content) {
    if (before !== undefined) pairs.push(Math.imul(before.stem, 31) ^ token.stem)
    before = token
    if (tokens.length < mostTokens && !holds(tokens, token)) tokens.push(token)
  }
  return {
    tokens,
    pairs,
    pairSet: null,
    squashed,
    letters: lettersOf(squashed),
    size: content.length,
    isFile: isFile(text),
  }
}

/** Appends the tokens of the content words to `content`, and returns the letters and digits of the text. */
function readContent(model: Model, plain: string, content: Token[]): string {
  const readPiece = readersOf(model).piece
  let squashed = ''
  for (const piece of piecesOf(plain) ?? []) {
    const read = readPiece(piece)
    for (const token of read.content) content.push(token)
    squashed += read.squashed
  }
  if (content.length > 0) return squashed
  const lower = readable(plain)
  for (const word of contentOf(lower)) content.push(readersOf(model).token(word))
  return lower.replace(between, '')
}

function holds(tokens: readonly Token[], { stem, word }: Token): boolean {
  for (const token of tokens) if (token.stem === stem && token.word === word) return true
  return false
}

/**
 * The content words of a text in order, with repeats: identifiers are split into words, everything is in
 * lower case, and stop words count only if there are no other words.
 */
export function contentWords(text: string): string[] {
  return contentOf(readable(withoutTypography(text)))
}

function contentOf(lower: string): string[] {
  const words = lower.match(lettersOrDigits) ?? []
  const content = words.filter((word) => !stopWords.has(word))
  return content.length > 0 ? content : words
}

function withoutTypography(text: string): string {
  return piecesOf(text) === null ? text.replace(typography, ' ') : text
}

/** The text in lower case, without keys and hashes, with spaces at case changes in identifiers. */
function readable(plain: string): string {
  if (beyondAscii.test(plain)) return wordsOfEveryScript(plain).join(' ')
  return plain.replace(keyOrHash, ' ').replace(camel, '$1 $2').toLowerCase()
}

function isFile(text: string): boolean {
  return (text.includes('.') || text.includes('/')) && file.test(text.trim())
}

/** The contribution of a piece of a text. */
interface ReadPiece {
  /** Its words without stop words. */
  content: readonly Token[]
  squashed: string
}

/** The caches of pieces and words for each model. */
interface Readers {
  piece(piece: Piece): ReadPiece
  token(word: string): Token
}

// The caches of the current model; training uses several models one after another.
let newest: { model: Model; readers: Readers } | undefined

function readersOf(model: Model): Readers {
  if (newest?.model === model) return newest.readers
  const token = remembering((word) => readToken(model, word))
  const piece = rememberingPieces((text): ReadPiece => {
    if (isOneWord.test(text)) {
      return { content: stopWords.has(text) ? [] : [token(text)], squashed: text }
    }
    const lower = readable(text)
    const words = lower.match(lettersOrDigits) ?? []
    const content = words.filter((word) => !stopWords.has(word)).map(token)
    return { content, squashed: lower.replace(between, '') }
  })
  newest = { model, readers: { piece, token } }
  return newest.readers
}

let lastId = 0
const unknownVector = new Int8Array(0)

function readToken(model: Model, word: string): Token {
  const { dims, vectors, unknown } = model
  const digits = onlyDigits.test(word)
  const root = digits ? word : stemOf(word)
  const hash = hashOf(word)
  const letters = lettersOf(word)
  const row = rowOf(model, hash)
  const isKnown = row >= 0
  const vector = isKnown ? vectors.subarray(row * dims, (row + 1) * dims) : unknownVector
  const scaled = (column: Int8Array | Uint8Array) => (column[row] ?? 0) / steps
  lastId += 1
  return {
    id: lastId,
    word,
    root,
    letters,
    lettersOfRoot: root === word ? letters : lettersOf(root),
    stem: root === word ? hash : hashOf(root),
    prefix: root.length >= 4 ? hashOf(root.slice(0, 4)) : 0,
    rarity: isKnown ? scaled(model.rarities) : unknown.rarity,
    weight: isKnown ? scaled(model.weights) : unknown.weight,
    vector,
    length: lengthOf(vector),
    unmatched: isKnown ? scaled(model.unmatched) : 0,
    matched: isKnown ? scaled(model.matched) : 0,
    known: isKnown && model.known[row] === 1,
    digits,
    opaque: !isKnown || word.length === 1 || wordsOfScreens.has(root),
  }
}

/** Denominator of the model's rarities, weights and log-odds. */
export const steps = 16

/** The letters of a text as a bit set in which some share a bit: a missing bit means a missing letter. */
function lettersOf(text: string): number {
  let letters = 0
  for (let at = 0; at < text.length; at++) letters |= 1 << (text.charCodeAt(at) & 31)
  return letters
}

function lengthOf(vector: Int8Array): number {
  let squares = 0
  for (const value of vector) squares += value * value
  return Math.sqrt(squares)
}

/** A word without its ending, so that its forms are one. */
export function stemOf(word: string): string {
  if (word.length <= 3) return word
  let stem = word
  for (const [ending, instead] of endings) {
    if (word.length - ending.length < 3 || !word.endsWith(ending)) continue
    stem = word.slice(0, word.length - ending.length) + instead
    const last = stem.charAt(stem.length - 1)
    const isDoubled = stem.length > 3 && last === stem.charAt(stem.length - 2)
    if (isDoubled && !'aeiosl'.includes(last)) stem = stem.slice(0, -1)
    break
  }
  return stem.length > 4 && stem.endsWith('e') ? stem.slice(0, -1) : stem
}
