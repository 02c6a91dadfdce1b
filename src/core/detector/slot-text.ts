import { wordsOfEveryScript } from './scripts.ts'
import { stemOf } from './words.ts'

/** A text cut for the comparison of its slots. */
export interface SlotText {
  tokens: readonly SlotToken[]
  keys: ReadonlySet<string>
  /** Tokens that are not function words. */
  content: number
}

/** One word, number, identifier or quotation of a text. */
export interface SlotToken {
  /** As it is written. */
  text: string
  /** What counts as the same: numbers and identifiers as they are, words without their ending. */
  key: string
  kind: Kind
  /** Whether a "not" stands shortly before it. */
  negated: boolean
}

/** What a token is: two of one kind can stand in one slot. */
export type Kind = 'number' | 'identifier' | 'quote' | 'name' | 'word' | 'function' | 'negation'

const mostTokens = 80
const beyondAscii = /[^\0-\x7f]/
const pieces =
  /"[^"]{1,80}"|`[^`]{1,80}`|(?<![a-z0-9])'[^']{2,80}'(?![a-z0-9])|->|[#@$]?[a-z0-9]+(?:[._/@:,'-]+[a-z0-9]+)*%?/gi
const number = /^[#$]?[0-9][0-9.,:/-]*(%|st|nd|rd|th|k|m|gb|mb|kb|ms|s|h|am|pm|x)?$/
const identifier = /[._/@:]|[0-9].*[a-z]|[a-z].*[0-9]/
const capital = /[A-Z]/
const functionWords = new Set(
  (
    'a an the of in on at for from to into onto with by as is are be was were it its this that these those ' +
    'my our your their his her i you we me us and or please can could would should will shall then now so ' +
    'do does did also all any some up out'
  ).split(' '),
)
// What forbids; "cannot" and "doesn't" tell of a problem.
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
// A "not" reaches over this many tokens: do not ever delete.
const negationReach = 3

/** Cuts a text; of a long one the first tokens. */
export function readSlots(text: string): SlotText {
  const tokens: SlotToken[] = []
  let reach = 0
  let starts = true
  for (const piece of piecesOf(text)) {
    if (tokens.length >= mostTokens) break
    const token = tokenOf(piece, starts, reach > 0)
    starts = false
    reach = token.kind === 'negation' ? negationReach : reach - 1
    tokens.push(token)
  }
  return {
    tokens,
    keys: new Set(tokens.map(({ key }) => key)),
    content: tokens.filter(isContent).length,
  }
}

function piecesOf(text: string): readonly string[] {
  const plain = text.replaceAll('\u2019', "'").replaceAll('\u2192', '->')
  return beyondAscii.test(plain) ? wordsOfEveryScript(plain) : (plain.match(pieces) ?? [])
}

function tokenOf(piece: string, starts: boolean, negated: boolean): SlotToken {
  const lower = piece.toLowerCase()
  const kind = kindOf(piece, lower, starts)
  const key =
    kind === 'number'
      ? (numberWords.get(lower) ?? lower.replace(/[#,]/g, ''))
      : kind === 'identifier' || kind === 'quote'
        ? lower
        : (stemOf(lower) ?? lower)
  return { text: piece, key, kind, negated }
}

function kindOf(piece: string, lower: string, starts: boolean): Kind {
  if (/^["'`]/.test(piece)) return 'quote'
  if (negations.has(lower)) return 'negation'
  if (functionWords.has(lower) || lower === '->') return 'function'
  if (number.test(lower) || numberWords.has(lower)) return 'number'
  if (identifier.test(lower)) return 'identifier'
  return !starts && capital.test(piece) ? 'name' : 'word'
}

/** Whether a token says something: function words and "not" say how the others belong together. */
export function isContent({ kind }: SlotToken): boolean {
  return kind !== 'function' && kind !== 'negation'
}
