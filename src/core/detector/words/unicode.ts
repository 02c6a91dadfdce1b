// What Unicode says of characters, from tables in the code: an engine's own data differs with its
// version, and a verdict must not depend on where it is reached.

import {
  compositions,
  decompositions,
  digitZeros,
  lowerRuns,
  markRuns,
  orderRuns,
  unspacedRuns,
  wordRuns,
} from './unicode-tables.ts'

/** The kind of a code point that separates words. */
export const separator = 0
/** The kind of a letter or number of a script that writes spaces between words. */
export const spaced = 1
/** The kind of a combining mark. */
export const mark = 2
/** The kind of a letter that the unspaced scripts of Japanese share, such as the long vowel mark. */
export const sharedKana = 3
// Each greater kind is one script that is written without spaces.

type Tables = {
  kinds: Uint8Array
  // The rank of a mark in canonical order, 0 for what never moves; and `unstable` on what
  // composition may change.
  orders: Uint8Array
  lower: Map<number, string>
  digits: Map<number, string>
  // second → first → what the two compose to
  composites: Map<number, Map<number, number>>
  // What a code point decomposes to, one step at a time; the second is 0 where there is one only.
  parts: Map<number, [number, number]>
}

const codePointCount = 0x110000
const unstable = 0x80
const dottedCapitalI = 0x130

// Hangul syllables compose by arithmetic (The Unicode Standard, 3.12); tail 0 is no tail.
const hangul = { syllable: 0xac00, lead: 0x1100, vowel: 0x1161, tail: 0x11a7 }
const leads = 19
const vowels = 21
const tails = 28

let decodedTables: Tables | undefined

/** The kind of a code point: `separator`, `spaced`, `mark`, `sharedKana` or an unspaced script. */
export function kindOf(codePoint: number): number {
  return tables().kinds[codePoint] ?? separator
}

/**
 * The text in full lower case, the same in every position and every language: İ becomes i̇, and both
 * Σ and ς become σ, so that the end of a word is spelt as it is inside one.
 */
export function lowered(text: string): string {
  return replaced(text, tables().lower)
}

/** The text with the decimal digits of every script as the digits 0 to 9. */
export function withAsciiDigits(text: string): string {
  return replaced(text, tables().digits)
}

/** The text in Unicode's canonical composition (NFC), in time linear in its length. */
export function composed(text: string): string {
  if (isComposed(text)) return text
  const points: number[] = []
  let starter = -1
  let orderBefore = 0
  for (const point of inCanonicalOrder(text)) {
    const order = orderOf(point)
    const adjacent = points.length - 1 === starter
    if (starter >= 0 && (adjacent || orderBefore < order)) {
      const composite = compositeOf(points[starter] ?? 0, point)
      if (composite !== undefined) {
        points[starter] = composite
        continue
      }
    }
    if (order === 0) starter = points.length
    orderBefore = order
    points.push(point)
  }
  let result = ''
  for (const point of points) result += String.fromCodePoint(point)
  return result
}

function replaced(text: string, replacements: Map<number, string>): string {
  let result = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0
    const next = at + (point > 0xffff ? 2 : 1)
    const replacement = replacements.get(point)
    if (replacement !== undefined) {
      result += text.slice(copied, at) + replacement
      copied = next
    }
    at = next
  }
  return copied === 0 ? text : result + text.slice(copied)
}

// Most text is composed already: the quick check of UAX 15.
function isComposed(text: string): boolean {
  const { orders } = tables()
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0
    if (point > 0xffff) at++
    const order = orders[point] ?? 0
    if (order >= unstable || (order > 0 && order < before)) return false
    before = order
  }
  return true
}

function orderOf(point: number): number {
  return (tables().orders[point] ?? 0) & ~unstable
}

function inCanonicalOrder(text: string): number[] {
  const points: number[] = []
  let marks: number[] = []
  for (const point of decomposed(text)) {
    if (orderOf(point) > 0) marks.push(point)
    else {
      for (const each of byOrder(marks)) points.push(each)
      marks = []
      points.push(point)
    }
  }
  for (const each of byOrder(marks)) points.push(each)
  return points
}

// Into one bucket per rank, which keeps a run of any length linear and equals in their order.
function byOrder(marks: number[]): number[] {
  if (marks.length < 2) return marks
  const buckets: number[][] = []
  for (const each of marks) {
    const order = orderOf(each)
    buckets[order] ??= []
    buckets[order].push(each)
  }
  return buckets.flat()
}

function decomposed(text: string): number[] {
  const points: number[] = []
  const add = (point: number) => {
    const syllable = syllableOf(point)
    if (syllable >= 0) {
      const pair = Math.floor(syllable / tails)
      points.push(hangul.lead + Math.floor(pair / vowels), hangul.vowel + (pair % vowels))
      if (syllable % tails > 0) points.push(hangul.tail + (syllable % tails))
      return
    }
    const [first, second] = tables().parts.get(point) ?? []
    if (first === undefined) points.push(point)
    else add(first)
    if (second) points.push(second)
  }
  for (const character of text) add(character.codePointAt(0) ?? 0)
  return points
}

function compositeOf(first: number, second: number): number | undefined {
  const lead = first - hangul.lead
  const vowel = second - hangul.vowel
  if (lead >= 0 && lead < leads && vowel >= 0 && vowel < vowels) {
    return hangul.syllable + (lead * vowels + vowel) * tails
  }
  const tail = second - hangul.tail
  if (syllableOf(first) % tails === 0 && tail > 0 && tail < tails) return first + tail
  return tables().composites.get(second)?.get(first)
}

function syllableOf(point: number): number {
  const syllable = point - hangul.syllable
  return syllable >= 0 && syllable < leads * vowels * tails ? syllable : -1
}

function tables(): Tables {
  decodedTables ??= decode()
  return decodedTables
}

function decode(): Tables {
  const kinds = new Uint8Array(codePointCount)
  const orders = new Uint8Array(codePointCount)
  const lower = new Map<number, string>([[dottedCapitalI, 'i\u0307']])
  const digits = new Map<number, string>()
  const composites = new Map<number, Map<number, number>>()
  const parts = new Map<number, [number, number]>()

  readRuns(wordRuns, 2, (start, end) => kinds.fill(spaced, start, end))
  readRuns(markRuns, 2, (start, end) => kinds.fill(mark, start, end))
  readRuns(unspacedRuns, 3, (start, end, script) => kinds.fill(mark + script, start, end))
  readRuns(orderRuns, 3, (start, end, order) => orders.fill(order, start, end))
  readPlaces(lowerRuns, 4, (start, count, step, added) => {
    for (let i = 0; i < count; i++) {
      const point = start + i * step
      lower.set(point, String.fromCodePoint(point + added))
    }
  })
  readPlaces(digitZeros, 1, (zero) => {
    for (let digit = 0; digit < 10; digit++) digits.set(zero + digit, String(digit))
  })
  readPlaces(decompositions, 3, (point, first, second) => {
    parts.set(point, [first, second])
    orders[point] = unstable
  })
  readPlaces(compositions, 3, (point, first, second) => {
    parts.set(point, [first, second])
    const firsts = composites.get(second) ?? new Map<number, number>()
    composites.set(second, firsts.set(first, point))
  })
  for (const second of composites.keys()) orders[second] = (orders[second] ?? 0) | unstable
  orders.fill(unstable, hangul.vowel, hangul.vowel + vowels)
  orders.fill(unstable, hangul.tail + 1, hangul.tail + tails)
  return { kinds, orders, lower, digits, composites, parts }
}

// The place of a run counts from the end of the run before it, any other from the place before it.
function readRuns(
  table: string,
  width: 2 | 3,
  read: (start: number, end: number, value: number) => void,
): void {
  let end = 0
  readRecords(table, width, (gap, length, value) => {
    const start = end + gap
    end = start + length
    read(start, end, value)
  })
}

function readPlaces(
  table: string,
  width: 1 | 3 | 4,
  read: (place: number, second: number, third: number, fourth: number) => void,
): void {
  let place = 0
  readRecords(table, width, (distance, second, third, fourth) => {
    place += distance
    read(place, second, third, fourth)
  })
}

// One pass over the characters instead of splitting the table: the first text in another language
// waits for it.
function readRecords(
  table: string,
  width: number,
  read: (first: number, second: number, third: number, fourth: number) => void,
): void {
  const fields = [0, 0, 0, 0]
  let field = 0
  let sign = 1
  let value = 0
  for (let at = 1; at < table.length; at++) {
    const code = table.charCodeAt(at)
    if (code >= 0x61) value = value * 36 + code - 0x57
    else if (code >= 0x30) value = value * 36 + code - 0x30
    else if (code === 0x2d) sign = -1
    else {
      fields[field++] = sign * value
      sign = 1
      value = 0
      if (field < width) continue
      field = 0
      read(fields[0] ?? 0, fields[1] ?? 0, fields[2] ?? 0, fields[3] ?? 0)
    }
  }
}
