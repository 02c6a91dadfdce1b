import { hashOf } from '../words/hash.ts'
import type { ReadMessage } from './clauses.ts'
import { shapeOf } from './shape.ts'
import { englishTable } from './table.ts'

/** The number of places that the words of a message in English are hashed to. */
const wordPlaces = 1 << 13
/** The number of places that the shape of a message in any language is hashed to; they follow those of the words. */
const shapePlaces = 1 << 11

/** The number of places that the features of a message are hashed to. */
export const userPlaces = wordPlaces + shapePlaces

const tokens = /[\p{L}\p{M}\p{N}_]+(?:['’][\p{L}\p{M}]+)*|[?!.,:;？。！，…]/gu
const mark = /^[^\p{L}\p{M}\p{N}_]$/u
const digits = /\p{N}+/gu
/** Lengths of the parts of words, in code units. */
const parts = [3, 4] as const
/** Messages are told apart by their beginnings and their ends; the middle of a long one tells little. */
const mostTokens = 60
/** Upper bounds of the lengths in words that are told apart. */
const lengths = [1, 2, 3, 5, 8, 12, 20, 35]
const shortestWord = 4

/**
 * The features of a message of the user beside the `standing` requests, as places from 0 to `userPlaces` − 1, each
 * once, in ascending order: what the tables of its language see in it, and in English its words. `read` is what the
 * word tables read.
 */
export function featuresOfMessage(
  message: ReadMessage,
  text: string,
  standing: readonly string[],
  read: string,
): readonly number[] {
  const words = message.table === englishTable ? wordsOf(text, standing, read) : []
  const shape = shapeOf(message, standing, read)
  const places = new Set([
    ...words.map((feature) => (hashOf(feature) >>> 0) % wordPlaces),
    ...shape.map((feature) => wordPlaces + ((hashOf(feature) >>> 0) % shapePlaces)),
  ])
  return [...places].sort((one, other) => one - other)
}

/** Words, pairs and parts of words, beginning and end, length, and what a message shares with the requests. */
function wordsOf(text: string, standing: readonly string[], read: string): string[] {
  const all = tokensOf(text)
  const said =
    all.length <= mostTokens
      ? all
      : [...all.slice(0, mostTokens / 2), ...all.slice(-mostTokens / 2)]
  const words = said.filter((token) => !mark.test(token))
  const features = [
    `read ${read}`,
    `length ${lengths.findIndex((most) => words.length <= most)}`,
    `pair ${said.at(-1) ?? '^'} $`,
    `begins ${words[0] ?? ''} ${words[1] ?? ''}`,
    `ends ${said.at(-1) ?? ''}`,
  ]
  for (const [at, word] of said.entries()) {
    features.push(`word ${word}`, `pair ${said[at - 1] ?? '^'} ${word}`)
  }
  for (const at of [0, 1, 2]) {
    if (words[at] !== undefined) features.push(`begins ${at} ${words[at]}`)
  }
  for (const word of words) {
    const framed = `^${word}$`
    for (const length of parts) {
      for (let at = 0; at + length <= framed.length; at++) {
        features.push(`part ${framed.slice(at, at + length)}`)
      }
    }
  }
  const requested = new Set(standing.flatMap(tokensOf))
  const contents = words.filter((word) => word.length >= shortestWord)
  const shared = contents.filter((word) => requested.has(word)).length
  features.push(`shared ${Math.min(shared, 3)}`, `new ${Math.min(contents.length - shared, 8)}`)
  return features
}

function tokensOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(digits, '0').replace(/’/g, "'")
  return plain.match(tokens) ?? []
}
