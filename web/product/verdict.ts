import type { Verdict } from '../../src/surfaces/client/client.ts'
import { type Mark, markOf } from '../shared/line.ts'

/** A verdict of the service, as far as the try-it reads it. */
export type Answered = Pick<
  Verdict,
  'drifting' | 'reason' | 'phi' | 'confidence' | 'uncertain' | 'why'
> &
  Partial<Pick<Verdict, 'evidence' | 'swap'>>

/** What the try-it says of a verdict. */
export interface Said {
  word: string
  isDrift: boolean
  mark: Mark
  phi: number
  sentence: string
  numbers: string
}

/** Puts a verdict into one word, the first sentence of its reason, and its numbers. */
export function saidOf(verdict: Answered): Said {
  const { drifting, uncertain, phi, confidence, why, evidence } = verdict
  const { swap = null } = verdict
  const mark = markOf({ ...verdict, swap })
  const [sentence, rest] = cutAfterFirst(why)
  const measured =
    evidence === null || evidence === undefined
      ? ''
      : `Evidence ${evidence.sum.toFixed(2)}, drift from ${evidence.limit.toFixed(2)}. `
  return {
    word: drifting ? 'Drifting.' : uncertain ? 'Uncertain.' : 'On the errand.',
    isDrift: drifting,
    mark,
    phi,
    sentence: sentence.replaceAll("'", '’'),
    numbers: `${rest === '' ? '' : `${rest.replaceAll("'", '’')} `}${measured}Confidence ${confidence.toFixed(2)}. Answered by this server, nothing stored.`,
  }
}

function cutAfterFirst(text: string): [string, string] {
  const end = /[.?!] (?=[A-Z])/.exec(text)
  if (end === null) return [text, '']
  return [text.slice(0, end.index + 1), text.slice(end.index + 2)]
}

/** A piece of a text; one that counts is coloured. */
export interface Piece {
  text: string
  kind: 'plain' | 'swapped' | 'shared'
}

/** Cuts a text where words stand that were swapped for others, or that both texts share. */
export function piecesOf(
  text: string,
  swapped: readonly string[],
  shared: readonly string[],
): Piece[] {
  const fold = (word: string) => word.toLowerCase()
  const [marked, common] = [new Set(swapped.map(fold)), new Set(shared.map(fold))]
  return text
    .split(/([\p{L}\p{N}]+)/u)
    .filter((piece) => piece !== '')
    .map((piece) => {
      const word = fold(piece)
      return {
        text: piece,
        kind: marked.has(word) ? 'swapped' : common.has(word) ? 'shared' : 'plain',
      }
    })
}

/** The words of each side of a swap that the other side lacks. */
export function swappedWords({ ground, goal }: { ground: string; goal: string }): {
  ground: string[]
  goal: string[]
} {
  const words = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? []
  const [left, right] = [words(ground), words(goal)]
  const without = (own: string[], other: string[]) =>
    own.filter((word) => !other.some((each) => each.toLowerCase() === word.toLowerCase()))
  return { ground: without(left, right), goal: without(right, left) }
}
