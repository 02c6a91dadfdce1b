// The texts a meaning is read from, each read once: what is kept here can be made again from the
// text alone.

import { partsOf } from './long-texts.ts'
import { coverage } from './meaning-score.ts'
import { type Analysed, analyse } from './meaning-text.ts'
import { piecesOf } from './pieces.ts'
import { readSlots, type SlotText } from './slot-text.ts'
import { composed } from './unicode.ts'
import { rawWords } from './words.ts'

/** A text as the pair score and the slots see it. */
export interface ReadText {
  /** In canonical composition. */
  text: string
  meaning: Analysed
  /** Whether the model knows enough of it to judge it: words of its language, and not one alone. */
  isKnown: boolean
  /** Its words in order: what two texts share that say the same to the letter. */
  spoken: readonly string[]
  slots(): SlotText
  /** Its parts where it is too long to be compared as a whole, else none. */
  parts(): readonly Analysed[]
}

// Characters of all texts that are remembered.
const roomForTexts = 400_000
const fewestWords = 2
const leastCoverage = 0.5
const someDigit = /[0-9]/
const underscore = 0x5f
const hyphen = 0x2d
const shortestId = 5
const shortestNumber = 8
const shortestWord = 3
const fewWordsBesideIds = 5

const texts = new Map<string, ReadText>()
let rememberedLength = 0

/** Reads a text, or answers what was read of it before. */
export function readText(text: string): ReadText {
  const known = texts.get(text)
  if (known !== undefined) return known
  rememberedLength += text.length
  if (rememberedLength > roomForTexts) {
    texts.clear()
    rememberedLength = text.length
  }
  // A text in ASCII is composed as it is.
  const read = readAnew(piecesOf(text) === null ? composed(text) : text)
  texts.set(text, read)
  return read
}

function readAnew(text: string): ReadText {
  const meaning = analyse(text)
  const spoken = rawWords(text)
  let slots: SlotText | undefined
  let parts: readonly Analysed[] | undefined
  return {
    text,
    meaning,
    isKnown:
      meaning.tokens.length >= fewestWords && coverage(meaning) >= leastCoverage && !isOpaque(text),
    spoken: spoken.length === 0 ? [text] : spoken,
    slots() {
      slots ??= readSlots(text)
      return slots
    },
    parts() {
      parts ??= partsOf(text, meaning)
      return parts
    },
  }
}

/** Whether two texts say the same, to the letter. */
export function saysTheSame(one: ReadText, other: ReadText): boolean {
  const words = other.spoken
  return (
    one.spoken.length === words.length && one.spoken.every((word, place) => word === words[place])
  )
}

/** Whether a text says what another begins with; the last word of that may be cut. */
export function saysBeginningWith(one: ReadText, begins: ReadText): boolean {
  return one.spoken.join(' ').startsWith(begins.spoken.join(' '))
}

/** Whether a text is made of ids and figures more than of words, as a call of a tool can be. */
function isOpaque(text: string): boolean {
  if (!someDigit.test(text)) return false
  let letters = 0
  let digits = 0
  let ids = 0
  let words = 0
  let digitsOfPiece = 0
  let lettersOfPiece = 0
  let start = 0
  // One place further than the text, so that its end closes the last piece.
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at)
    if (isDigit(code)) digitsOfPiece++
    else if (isLetter(code)) lettersOfPiece++
    else if (code !== underscore && code !== hyphen) {
      // Letters with several digits in one word mean nothing by themselves; a year or a size is none.
      const isId =
        lettersOfPiece === 0
          ? digitsOfPiece >= shortestNumber
          : digitsOfPiece >= 2 && at - start >= shortestId
      if (isId) ids++
      else if (lettersOfPiece >= shortestWord) words++
      letters += lettersOfPiece
      digits += digitsOfPiece
      digitsOfPiece = 0
      lettersOfPiece = 0
      start = at + 1
    }
  }
  return digits > letters / 2 || (ids > 0 && words <= fewWordsBesideIds)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}
