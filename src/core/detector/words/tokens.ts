import { normaliser } from '../contract/constants.ts'

/** A run of letters, digits, underscores and apostrophes of a text in ASCII. */
export interface Piece {
  text: string
  /** Its words, lower-cased, with stop words and endings. */
  raw: readonly string[]
  /** The stem of each word, or null for a stop word. */
  stems: readonly (string | null)[]
  /** Whether it begins and ends with a letter or a digit. */
  isWhole: boolean
  /** Its index in the cache, or -1. */
  place: number
}

const tokens = new RegExp(normaliser.tokenPattern, 'g')
const suffix = new RegExp(normaliser.stemPattern)
const stopWords: ReadonlySet<string> = new Set(normaliser.stopWords)
const startsWithDigit = /^[0-9]/
const longestRemembered = 80
const longestNumber = 4
const isOneWord = /^[a-z0-9']+$/

// The role of an ASCII character: part of a piece, a mark with its own meaning, a joint of its neighbours,
// or nothing.
const roleOf = new Uint8Array(128)
const role = { none: 0, ofPiece: 1, mark: 2, joint: 3 } as const
for (const [which, characters] of [
  [role.ofPiece, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_'"],
  [role.mark, '"`#$%>'],
  [role.joint, './@:,-'],
] as const) {
  for (const character of characters) roleOf[character.charCodeAt(0)] = which
}

interface Cut {
  text: string
  pieces: readonly Piece[] | null
  isPlain: boolean
}

// Cached, because a goal is cut for its words, its meaning and its explanation.
let newest: Cut = { text: '', pieces: [], isPlain: true }

/**
 * The pieces of an ASCII text in order; null for other texts. No word crosses the end of a piece, so facts
 * about a piece hold anywhere.
 */
export function piecesOf(text: string): readonly Piece[] | null {
  if (newest.text !== text) newest = cut(text)
  return newest.pieces
}

/**
 * The pieces of a text without other meaningful characters: no quotation, address, file name, sign or
 * currency; otherwise null.
 */
export function plainPiecesOf(text: string): readonly Piece[] | null {
  const pieces = piecesOf(text)
  return newest.isPlain ? pieces : null
}

function cut(text: string): Cut {
  const pieces: Piece[] = []
  let isPlain = true
  let start = 0
  let hash = 0
  // One index past the end, which closes the last piece.
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : space
    if (code >= 128) return { text, pieces: null, isPlain: false }
    const is = roleOf[code] as number
    if (is === role.ofPiece) {
      hash = (Math.imul(hash, 31) + code) | 0
      continue
    }
    if (at > start) {
      const piece = pieceAt(text, start, at, hash)
      if (!piece.isWhole) isPlain = false
      pieces.push(piece)
    }
    start = at + 1
    hash = 0
    // A joint before a gap ends a clause.
    if (is === role.mark || (is === role.joint && !isGap(text, at + 1))) isPlain = false
  }
  return { text, pieces, isPlain }
}

const space = 0x20

function isGap(text: string, at: number): boolean {
  return at >= text.length || roleOf[text.charCodeAt(at)] === role.none
}

// A cache of the latest pieces, indexed by hash. A lookup creates no string, which is the main cost of a
// map.
const places = 1 << 14
const read: (Piece | undefined)[] = Array.from({ length: places })

function pieceAt(text: string, start: number, end: number, hash: number): Piece {
  if (end - start > longestRemembered) return readPiece(text.slice(start, end), -1)
  const place = (hash ^ (hash >>> 14)) & (places - 1)
  const known = read[place]
  if (known !== undefined && stands(known.text, text, start, end)) return known
  const piece = readPiece(unshared(text.slice(start, end)), place)
  read[place] = piece
  return piece
}

function stands(piece: string, text: string, start: number, end: number): boolean {
  if (piece.length !== end - start) return false
  for (let at = 0; at < piece.length; at++) {
    if (piece.charCodeAt(at) !== text.charCodeAt(start + at)) return false
  }
  return true
}

function readPiece(text: string, place: number): Piece {
  const raw = isOneWord.test(text) ? [text] : (text.toLowerCase().match(tokens) ?? [])
  const isWhole = !isEdge(text.charCodeAt(0)) && !isEdge(text.charCodeAt(text.length - 1))
  return { text, raw, stems: raw.map(stemOf), isWhole, place }
}

function isEdge(code: number): boolean {
  return code === underscore || code === apostrophe
}

const underscore = 0x5f
const apostrophe = 0x27

/** A further property of pieces, cached as long as the piece. */
export function rememberingPieces<Further>(
  readFurther: (text: string) => Further,
): (piece: Piece) => Further {
  const known: (Piece | undefined)[] = Array.from({ length: places })
  const furthers: (Further | undefined)[] = Array.from({ length: places })
  return (piece) => {
    const { place } = piece
    if (place < 0) return readFurther(piece.text)
    if (known[place] === piece) return furthers[place] as Further
    const further = readFurther(piece.text)
    known[place] = piece
    furthers[place] = further
    return further
  }
}

/** The stem of a raw word, or null for a stop word. */
export function stemOf(word: string): string | null {
  if (stopWords.has(word)) return null
  return word.length < normaliser.stemMinLength ? word : word.replace(suffix, '')
}

/** Copies a text, because an engine keeps the whole source of a long slice in memory. */
function unshared(slice: string): string {
  return slice.length < longSlice ? slice : Array.from(slice).join('')
}

const longSlice = 13
const mostRemembered = 20_000

/** Caches a function of short texts; the result must depend only on the text. */
export function remembering<Read>(read: (text: string) => Read): (text: string) => Read {
  const known = new Map<string, Read>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    // Most long numbers occur only once.
    const longest = startsWithDigit.test(text) ? longestNumber : longestRemembered
    if (text.length > longest) return read(text)
    const kept = unshared(text)
    const answer = read(kept)
    if (known.size >= mostRemembered) known.clear()
    known.set(kept, answer)
    return answer
  }
}

// Characters of the cached texts: this many new ones and as many older ones.
const roomForTexts = 200_000

/** Caches a function of texts of any length, for the newest ones; the result must depend only on the text. */
export function rememberingTexts<Read>(read: (text: string) => Read): (text: string) => Read {
  let newer = new Map<string, Read>()
  let older = new Map<string, Read>()
  let length = 0
  return (text) => {
    const known = newer.get(text)
    if (known !== undefined) return known
    const answer = older.get(text) ?? read(text)
    length += text.length
    if (length > roomForTexts) {
      older = newer
      newer = new Map()
      length = text.length
    }
    newer.set(text, answer)
    return answer
  }
}
