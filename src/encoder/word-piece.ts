/** Splits a text into tokens of a vocabulary. */
export type WordPiece = (text: string) => number[]

const unknownToken = '[UNK]'
/** A longer word is unknown as a whole. */
const maxWordLength = 100

const dropped = /[\0\uFFFD\p{Cc}\p{Cf}\p{Co}]/u
const space = /[\t\n\r\p{Z}]/u
const nonSpacingMark = /\p{Mn}/gu
const punctuation = /[!-/:-@[-`{-~\p{P}]/u
const ideograph =
  /[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/u

/**
 * Creates the splitter of an uncased BERT vocabulary, whose places are the tokens: words in lower case without
 * accents, each punctuation mark and each ideograph alone, and each word as the longest pieces that the
 * vocabulary holds. A text cannot name the vocabulary's special tokens: `[SEP]` in it is three plain tokens.
 */
export function createWordPiece(vocabulary: readonly string[]): WordPiece {
  const places = new Map(vocabulary.map((piece, place) => [piece, place]))
  const unknown = places.get(unknownToken) ?? 0

  /** The tokens of a word, or the unknown token if a part of it is not in the vocabulary. */
  function piecesOf(word: string): number[] {
    const characters = [...word]
    if (characters.length > maxWordLength) return [unknown]
    const pieces: number[] = []
    for (let start = 0; start < characters.length; ) {
      let end = characters.length
      let place: number | undefined
      for (; end > start; end--) {
        const piece = characters.slice(start, end).join('')
        place = places.get(start === 0 ? piece : `##${piece}`)
        if (place !== undefined) break
      }
      if (place === undefined) return [unknown]
      pieces.push(place)
      start = end
    }
    return pieces
  }

  return (text) => wordsOf(text).flatMap(piecesOf)
}

function wordsOf(text: string): string[] {
  let spaced = ''
  for (const character of text) {
    if (space.test(character)) spaced += ' '
    else if (ideograph.test(character)) spaced += ` ${character} `
    else if (!dropped.test(character)) spaced += character
  }
  let split = ''
  for (const character of spaced.normalize('NFD').replace(nonSpacingMark, '')) {
    // One character at a time: in a whole word, a final sigma would become another letter.
    const lower = character.toLowerCase()
    split += punctuation.test(character) ? ` ${lower} ` : lower
  }
  return split.split(/\s+/u).filter((word) => word !== '')
}
