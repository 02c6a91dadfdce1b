// The texts a meaning is read from, each read once: what is kept here can be made again from the
// text alone.

import { hashOf } from '../words/hash.ts'
import { piecesOf, rememberingTexts } from '../words/tokens.ts'
import { composed } from '../words/unicode.ts'
import { rawWords } from '../words/words.ts'
import { partsOf } from './long-texts.ts'
import { coverage } from './score.ts'
import { readSlots, type SlotText } from './slot-text.ts'
import { type Analysed, analyse } from './text.ts'

/** A text as the pair score and the slots see it. */
export interface ReadText {
  /** In canonical composition. */
  text: string
  meaning: Analysed
  /** Whether the model knows enough of it to judge it: words of its language, and not one alone. */
  isKnown: boolean
  /** A hash of its words in order, the same for all texts that say the same to the letter. */
  said: number
  /** What `slotsOf` and `partsIn` have found; most texts are not asked. */
  slots: SlotText | null
  parts: readonly Analysed[] | null
}

const fewestWords = 2
const leastCoverage = 0.5
const someDigit = /[0-9]/
const underscore = 0x5f
const hyphen = 0x2d
const shortestId = 5
const shortestNumber = 8
const shortestWord = 3
const fewWordsBesideIds = 5

/** Reads a text, or answers what was read of it before. */
export const readText = rememberingTexts(readAnew)

function readAnew(given: string): ReadText {
  // A text in ASCII is composed as it is.
  const text = piecesOf(given) === null ? composed(given) : given
  const meaning = analyse(text)
  return {
    text,
    meaning,
    isKnown:
      meaning.tokens.length >= fewestWords && coverage(meaning) >= leastCoverage && !isOpaque(text),
    said: saidIn(text),
    slots: null,
    parts: null,
  }
}

/** What of a text is compared with others slot by slot. */
export function slotsOf(read: ReadText): SlotText {
  read.slots ??= readSlots(read.text)
  return read.slots
}

/** The parts of a text that is too long to be compared as a whole, else none. */
export function partsIn(read: ReadText): readonly Analysed[] {
  read.parts ??= partsOf(read.text, read.meaning)
  return read.parts
}

/** Whether two texts say the same, to the letter. */
export function saysTheSame(one: ReadText, other: ReadText): boolean {
  if (one.said !== other.said) return false
  const [words, others] = [spokenIn(one.text), spokenIn(other.text)]
  return words.length === others.length && words.every((word, place) => word === others[place])
}

/** Whether a text says what another begins with; the last word of that may be cut. */
export function saysBeginningWith(one: ReadText, begins: ReadText): boolean {
  return spokenIn(one.text).join(' ').startsWith(spokenIn(begins.text).join(' '))
}

/** The words of a text in order; a text without words by itself. */
function spokenIn(text: string): readonly string[] {
  const words = rawWords(text)
  return words.length === 0 ? [text] : words
}

function saidIn(text: string): number {
  let said = 0
  for (const word of spokenIn(text)) said = (Math.imul(said, 31) + hashOf(word)) | 0
  return said
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
