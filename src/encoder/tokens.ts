import { createWordPiece } from './word-piece.ts'

/** A longer text is cut in its middle before it is split into tokens. */
const maxCharacters = 16_000

/**
 * Creates a function that returns the tokens of a text between a first and a last one: with both at most `limit`.
 * Of a longer text, the first two thirds of them are its beginning, and the others its end. Throws an error if the
 * vocabulary lacks the first or the last token.
 */
export function createTokens(
  vocabulary: readonly string[],
): (text: string, limit: number) => number[] {
  const split = createWordPiece(vocabulary)
  const first = tokenOf('[CLS]')
  const last = tokenOf('[SEP]')

  function tokenOf(piece: string): number {
    const token = vocabulary.indexOf(piece)
    if (token < 0) throw new Error(`its vocabulary lacks ${piece}`)
    return token
  }

  return (text, limit) => {
    const tokens = split(shortened(text))
    const room = limit - 2
    const before = Math.floor((room * 2) / 3)
    const kept =
      tokens.length > room ? [...tokens.slice(0, before), ...tokens.slice(before - room)] : tokens
    return [first, ...kept, last]
  }
}

function shortened(text: string): string {
  if (text.length <= maxCharacters) return text
  const half = maxCharacters / 2
  return `${text.slice(0, half)} ${text.slice(-half)}`
}
