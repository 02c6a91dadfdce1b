import { normaliser } from './constants.ts'

/** A run of letters, digits, underscores and apostrophes of a text in ASCII. */
export interface Piece {
  text: string
  /** Its words, lower-cased, with stop words and endings. */
  raw: readonly string[]
  /** What each of them counts as: its stem, or null for a stop word. */
  stems: readonly (string | null)[]
  /** Where what is known of it is kept, or -1 where nothing is. */
  place: number
}

const tokens = new RegExp(normaliser.tokenPattern, 'g')
const suffix = new RegExp(normaliser.stemPattern)
const stopWords: ReadonlySet<string> = new Set(normaliser.stopWords)
const startsWithDigit = /^[0-9]/
const longestRemembered = 80
const longestNumber = 4
const isOneWord = /^[a-z0-9']+$/
const isOfPiece = new Uint8Array(128)
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_'") {
  isOfPiece[character.charCodeAt(0)] = 1
}

// A goal is cut for its words, its meaning and its explanation, one after the other.
let newest: { text: string; pieces: readonly Piece[] | null } = { text: '', pieces: [] }

/**
 * The pieces of a text in ASCII, in order; null for any other text. No word reaches over the end of a
 * piece, so that what is known of one is known wherever it stands.
 */
export function piecesOf(text: string): readonly Piece[] | null {
  if (newest.text !== text) newest = { text, pieces: cut(text) }
  return newest.pieces
}

function cut(text: string): Piece[] | null {
  const pieces: Piece[] = []
  let start = 0
  let hash = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 128) return null
    if (isOfPiece[code] === 1) hash = (Math.imul(hash, 31) + code) | 0
    else {
      if (at > start) pieces.push(pieceAt(text, start, at, hash))
      start = at + 1
      hash = 0
    }
  }
  if (text.length > start) pieces.push(pieceAt(text, start, text.length, hash))
  return pieces
}

// The pieces read last, each at the place that its hash gives: found without a string made of it,
// which is most of what a map would cost.
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
  return { text, raw, stems: raw.map(stemOf), place }
}

/** A further reading of pieces, each remembered as long as its piece is. */
export function rememberingPieces<Further>(
  readFurther: (text: string) => Further,
): (piece: Piece) => Further {
  const known: ({ piece: Piece; further: Further } | undefined)[] = Array.from({ length: places })
  return (piece) => {
    const kept = piece.place < 0 ? undefined : known[piece.place]
    if (kept?.piece === piece) return kept.further
    const further = readFurther(piece.text)
    if (piece.place >= 0) known[piece.place] = { piece, further }
    return further
  }
}

/** What a raw word counts as: its stem, or null for a stop word. */
export function stemOf(word: string): string | null {
  if (stopWords.has(word)) return null
  return word.length < normaliser.stemMinLength ? word : word.replace(suffix, '')
}

/** The same text by itself: an engine keeps the whole of a text for the sake of a long slice of it. */
function unshared(slice: string): string {
  return slice.length < longSlice ? slice : Array.from(slice).join('')
}

const longSlice = 13
const mostRemembered = 20_000

/** A reading of short texts that is remembered; its answer must follow from the text alone. */
export function remembering<Read>(read: (text: string) => Read): (text: string) => Read {
  const known = new Map<string, Read>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    // Most long numbers do not come again.
    const longest = startsWithDigit.test(text) ? longestNumber : longestRemembered
    if (text.length > longest) return read(text)
    const kept = unshared(text)
    const answer = read(kept)
    if (known.size >= mostRemembered) known.clear()
    known.set(kept, answer)
    return answer
  }
}
