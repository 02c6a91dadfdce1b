import { hashOf } from '../words/hash.ts'

/** The number of places that the features of a message are hashed to. */
export const userPlaces = 1 << 13

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
 * once, in ascending order: its words, pairs and parts of words, its beginning and end, its length, and the words that
 * it shares with the requests. `read` is what the word tables read.
 */
export function featuresOfMessage(
  text: string,
  standing: readonly string[],
  read: string,
): readonly number[] {
  const all = tokensOf(text)
  const said =
    all.length <= mostTokens
      ? all
      : [...all.slice(0, mostTokens / 2), ...all.slice(-mostTokens / 2)]
  const words = said.filter((token) => !mark.test(token))
  const places = new Set<number>()
  const add = (feature: string) => places.add((hashOf(feature) >>> 0) % userPlaces)
  add(`read ${read}`)
  add(`length ${lengths.findIndex((most) => words.length <= most)}`)
  for (const [at, word] of said.entries()) {
    add(`word ${word}`)
    add(`pair ${said[at - 1] ?? '^'} ${word}`)
  }
  add(`pair ${said.at(-1) ?? '^'} $`)
  for (const at of [0, 1, 2]) if (words[at] !== undefined) add(`begins ${at} ${words[at]}`)
  add(`begins ${words[0] ?? ''} ${words[1] ?? ''}`)
  add(`ends ${said.at(-1) ?? ''}`)
  for (const word of words) {
    const framed = `^${word}$`
    for (const length of parts) {
      for (let at = 0; at + length <= framed.length; at++)
        add(`part ${framed.slice(at, at + length)}`)
    }
  }
  const requested = new Set(standing.flatMap(tokensOf))
  const contents = words.filter((word) => word.length >= shortestWord)
  const shared = contents.filter((word) => requested.has(word)).length
  add(`shared ${Math.min(shared, 3)}`)
  add(`new ${Math.min(contents.length - shared, 8)}`)
  return [...places].sort((one, other) => one - other)
}

function tokensOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase().replace(digits, '0').replace(/’/g, "'")
  return plain.match(tokens) ?? []
}
