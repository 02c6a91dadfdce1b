// Caches the analysed texts; each entry depends only on its text.

import { hashOf } from '../words/hash.ts'
import { piecesOf, rememberingTexts } from '../words/tokens.ts'
import { composed } from '../words/unicode.ts'
import { rawWords } from '../words/words.ts'
import { partsOf } from './long-texts.ts'
import { coverage } from './score.ts'
import { readSlots, type SlotText } from './slot-text.ts'
import { type Analysed, analyse } from './text.ts'

/** A text prepared for the pair score and the slots. */
export interface ReadText {
  /** In canonical composition. */
  text: string
  meaning: Analysed
  /** Whether the model knows enough of its words to judge it, and more than one. */
  isKnown: boolean
  /** A hash of its words in order, equal for texts with equal words. */
  said: number
  /** The results of `slotsOf` and `partsIn`, computed on demand. */
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

/** Analyses a text, or returns the cached result. */
export const readText = rememberingTexts(readAnew)

function readAnew(given: string): ReadText {
  // ASCII text is in canonical composition already.
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

/** The slots of a text, computed on demand. */
export function slotsOf(read: ReadText): SlotText {
  read.slots ??= readSlots(read.text)
  return read.slots
}

/** The parts of a text that is too long to compare as a whole; empty for other texts. */
export function partsIn(read: ReadText): readonly Analysed[] {
  read.parts ??= partsOf(read.text, read.meaning)
  return read.parts
}

/** Whether two texts have the same words in the same order. */
export function saysTheSame(one: ReadText, other: ReadText): boolean {
  if (one.said !== other.said) return false
  const [words, others] = [spokenIn(one.text), spokenIn(other.text)]
  return words.length === others.length && words.every((word, place) => word === others[place])
}

/** Whether a text starts with the words of another, whose last word may be cut. */
export function saysBeginningWith(one: ReadText, begins: ReadText): boolean {
  return spokenIn(one.text).join(' ').startsWith(spokenIn(begins.text).join(' '))
}

/** The words of a text in order; a text without words counts as one. */
function spokenIn(text: string): readonly string[] {
  const words = rawWords(text)
  return words.length === 0 ? [text] : words
}

function saidIn(text: string): number {
  let said = 0
  for (const word of spokenIn(text)) said = (Math.imul(said, 31) + hashOf(word)) | 0
  return said
}

/** Whether a text consists more of ids and figures than of words, like some tool calls. */
function isOpaque(text: string): boolean {
  if (!someDigit.test(text)) return false
  let letters = 0
  let digits = 0
  let ids = 0
  let words = 0
  let digitsOfPiece = 0
  let lettersOfPiece = 0
  let start = 0
  // One index past the end, which closes the last piece.
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at)
    if (isDigit(code)) digitsOfPiece++
    else if (isLetter(code)) lettersOfPiece++
    else if (code !== underscore && code !== hyphen) {
      // Words of letters and several digits have no meaning, except a year or a size.
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
