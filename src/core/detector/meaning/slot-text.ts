import { hashOf } from '../words/hash.ts'
import { wordsOfEveryScript } from '../words/scripts.ts'
import {
  type Piece,
  plainPiecesOf,
  remembering,
  rememberingPieces,
  stemOf,
} from '../words/tokens.ts'

/** A text cut for the comparison of its slots. */
export interface SlotText {
  text: string
  tokens: readonly SlotToken[]
  /** Tokens that are not function words. */
  content: number
  /** The results of `keysOf` and `deniedIn`, computed on demand. */
  keys: ReadonlySet<string> | null
  denied: ReadonlySet<string> | null
}

/** One word, number, identifier or quotation of a text. */
export interface SlotToken {
  /** The original spelling. */
  text: string
  /** The key for comparison: numbers and identifiers unchanged, words without their ending. */
  key: string
  /** The key as a hash. */
  hash: number
  kind: Kind
  /** Whether a "not" precedes it closely. */
  negated: boolean
}

/** The kind of a token: two of one kind can fill the same slot. */
export type Kind = 'number' | 'identifier' | 'quote' | 'name' | 'word' | 'function' | 'negation'

/** Most tokens of a text that are compared. */
export const mostTokens = 80
const beyondAscii = /[^\0-\x7f]/
const pieces =
  /"[^"]{1,80}"|`[^`]{1,80}`|(?<![a-z0-9])'[^']{2,80}'(?![a-z0-9])|->|[#@$]?[a-z0-9]+(?:[._/@:,'-]+[a-z0-9]+)*%?/gi
const number = /^[#$]?[0-9][0-9.,:/-]*(%|st|nd|rd|th|k|m|gb|mb|kb|ms|s|h|am|pm|x)?$/
const identifier = /[._/@:]|[0-9].*[a-z]|[a-z].*[0-9]/
const opensQuote = /^["'`]/
const capital = /[A-Z]/
const functionWords = new Set(
  (
    'a an the of in on at for from to into onto with by as is are be was were it its this that these those ' +
    'my our your their his her i you we me us and or please can could would should will shall then now so ' +
    'do does did also all any some up out'
  ).split(' '),
)
// Words that forbid; "cannot" and "doesn't" describe a problem.
const negations = new Set(
  "not no never don't dont without shouldn't mustn't nor neither avoid".split(' '),
)
const numberWords = new Map(
  (
    'zero 0,one 1,two 2,three 3,four 4,five 5,six 6,seven 7,eight 8,nine 9,ten 10,eleven 11,twelve 12,' +
    'twenty 20,thirty 30,forty 40,fifty 50,hundred 100,thousand 1000,first 1st,second 2nd,third 3rd,' +
    'fourth 4th,fifth 5th,monday,tuesday,wednesday,thursday,friday,saturday,sunday,january,february,' +
    'march,april,june,july,august,september,october,november,december,today,tomorrow,yesterday'
  )
    .split(',')
    .map((entry) => {
      const [word = '', digits = word] = entry.split(' ')
      return [word, digits]
    }),
)
// Reach of a "not" in tokens: do not ever delete.
const negationReach = 3
// The object of a "not" is complete: not like that, use Redis.
const endsDenial = new Set(['that', 'this', 'it', 'them', 'those', 'these'])

/** Tokenises a text; only the first tokens of a long one. */
export function readSlots(text: string): SlotText {
  const tokens: SlotToken[] = []
  let content = 0
  let reach = 0
  const plain = plainPiecesOf(text)
  const cut = plain ?? cutOf(text)
  const count = Math.min(mostTokens, cut.length)
  for (let at = 0; at < count; at++) {
    const { first, inside } =
      plain === null ? readPiece(cut[at] as string) : readPlain(plain[at] as Piece)
    const affirmed = at === 0 ? first : inside
    const token = reach > 0 ? { ...affirmed, negated: true } : affirmed
    reach = token.kind === 'negation' ? negationReach : reach - 1
    if (isContent(token)) content++
    tokens.push(token)
  }
  return { text, tokens, content, keys: null, denied: null }
}

/** The keys of all tokens of a text, also beyond the compared ones. */
export function keysOf(slots: SlotText): ReadonlySet<string> {
  slots.keys ??= new Set(cutOf(slots.text).map((piece) => readPiece(piece).inside.key))
  return slots.keys
}

/** The keys of tokens that occur only after a "not", also beyond the compared ones. */
export function deniedIn(slots: SlotText): ReadonlySet<string> {
  slots.denied ??= deniedOf(cutOf(slots.text))
  return slots.denied
}

function deniedOf(pieces: readonly string[]): Set<string> {
  const denied = new Set<string>()
  const affirmed = new Set<string>()
  let reach = 0
  for (const piece of pieces) {
    const { key, kind } = readPiece(piece).inside
    const keys = reach > 0 ? denied : affirmed
    keys.add(key)
    reach = kind === 'negation' ? negationReach : endsDenial.has(key) ? 0 : reach - 1
  }
  for (const key of affirmed) denied.delete(key)
  return denied
}

function cutOf(text: string): readonly string[] {
  if (!beyondAscii.test(text)) return text.match(pieces) ?? []
  const plain = text.replaceAll('\u2019', "'").replaceAll('\u2192', '->')
  if (!beyondAscii.test(plain)) return plain.match(pieces) ?? []
  return wordsOfEveryScript(plain).map((word) => word.replace(particleAtNumber, '$1'))
}

/** Korean writes particles at the number: 1234를 and 9876을 differ in the number alone. */
const particleAtNumber =
  /^(\d+)번?(?:을|를|이|가|은|는|의|에|에서|에게|로|으로|와|과|도|만|부터|까지)?$/

/** Converts a piece to a token. At the start of a text a capital letter does not mean a name. */
interface ReadPiece {
  first: SlotToken
  inside: SlotToken
}

const readPiece = remembering(readAnew)
/** The same for a piece of a plain text, which is a token unchanged. */
const readPlain = rememberingPieces(readAnew)

function readAnew(text: string): ReadPiece {
  const lower = text.toLowerCase()
  const kind = kindOf(text, lower)
  const key = keyOf(lower, kind)
  const inside: SlotToken = { text, key, hash: hashOf(key), kind, negated: false }
  const first: SlotToken = kind === 'name' ? { ...inside, kind: 'word' } : inside
  return { first, inside }
}

function keyOf(lower: string, kind: Kind): string {
  if (kind === 'number') return numberWords.get(lower) ?? lower.replace(/[#,]/g, '')
  if (kind === 'identifier' || kind === 'quote') return lower
  return stemOf(lower) ?? lower
}

function kindOf(piece: string, lower: string): Kind {
  if (opensQuote.test(piece)) return 'quote'
  if (negations.has(lower)) return 'negation'
  if (functionWords.has(lower) || lower === '->') return 'function'
  if (number.test(lower) || numberWords.has(lower)) return 'number'
  if (identifier.test(lower)) return 'identifier'
  return capital.test(piece) ? 'name' : 'word'
}

/** Whether a token carries content; function words and "not" do not. */
export function isContent({ kind }: SlotToken): boolean {
  return kind !== 'function' && kind !== 'negation'
}
