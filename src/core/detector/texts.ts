// The texts a meaning is read from, each read once: what is kept here can be made again from the
// text alone.

import { coverage } from './meaning-score.ts'
import { type Analysed, analyse } from './meaning-text.ts'
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
  spoken: string
  slots(): SlotText
}

// Characters of all texts that are remembered.
const roomForTexts = 400_000
const fewestWords = 2
const leastCoverage = 0.5
const someDigit = /[0-9]/
const pieces = /[a-z0-9_-]+/gi
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
  const read = readAnew(composed(text))
  texts.set(text, read)
  return read
}

function readAnew(text: string): ReadText {
  const meaning = analyse(text)
  const spoken = rawWords(text).join(' ')
  let slots: SlotText | undefined
  return {
    text,
    meaning,
    isKnown:
      meaning.tokens.length >= fewestWords && coverage(meaning) >= leastCoverage && !isOpaque(text),
    spoken: spoken === '' ? text : spoken,
    slots() {
      slots ??= readSlots(text)
      return slots
    },
  }
}

/** Whether a text is made of ids and figures more than of words, as a call of a tool can be. */
function isOpaque(text: string): boolean {
  if (!someDigit.test(text)) return false
  let letters = 0
  let digits = 0
  let ids = 0
  let words = 0
  for (const piece of text.match(pieces) ?? []) {
    const digitsOfPiece = piece.replace(/[^0-9]/g, '').length
    const lettersOfPiece = piece.replace(/[^a-z]/gi, '').length
    letters += lettersOfPiece
    digits += digitsOfPiece
    // Letters with several digits in one word mean nothing by themselves; a year or a size is none.
    const isId =
      lettersOfPiece === 0
        ? digitsOfPiece >= shortestNumber
        : digitsOfPiece >= 2 && piece.length >= shortestId
    if (isId) ids++
    else if (lettersOfPiece >= shortestWord) words++
  }
  return digits > letters / 2 || (ids > 0 && words <= fewWordsBesideIds)
}
