import { parseJson } from '../../text.ts'
import type { Adaptation, Associations } from '../contract/adaptation.ts'
import { hashOf } from '../words/hash.ts'
import { analyse, stemOf } from './text.ts'

/**
 * Counts which words of errands and of their parts occur together in one's own work. Words have no
 * endings, and count once for each example.
 */
export interface AdaptationTable {
  plumbline: 'adaptation'
  format: 1
  from: AdaptationSource
  examples: number
  /** Words of errands, each with its count, most frequent first. */
  errands: readonly (readonly [word: string, examples: number])[]
  /** The same for the parts of errands. */
  parts: readonly (readonly [word: string, examples: number])[]
  /** For each word of `errands`: indexes in `parts`, each followed by the number of common examples. */
  together: readonly (readonly number[])[]
}

/** The source of the examples: commits of a repository, or successful runs. */
const adaptationSources = ['git', 'history'] as const
export type AdaptationSource = (typeof adaptationSources)[number]

/** One example: an errand and the work done for it. */
export interface Example {
  errand: string
  parts: readonly string[]
}

/** Longest text of a table, in characters. */
export const maxTableLength = 200_000

const mostWordsOfParts = 120
/** A word that occurs once predicts nothing. */
const fewestOccurrences = 2

/**
 * Builds the text of a table of at most `maxTableLength` characters; the rarest words are dropped until it
 * fits. The same examples in any order give the same bytes. Null if they have no two words in common.
 */
export function buildTable(from: AdaptationSource, examples: Iterable<Example>): string | null {
  const counted = count(examples)
  const build = (least: number) => {
    const table = tableOf(from, counted, least)
    if (table.errands.length === 0 || table.parts.length === 0) return null
    return `${JSON.stringify(table)}\n`
  }
  const fits = (text: string | null) => text === null || text.length <= maxTableLength
  let [tooFew, enough] = [fewestOccurrences - 1, fewestOccurrences]
  while (!fits(build(enough))) [tooFew, enough] = [enough, enough * 2]
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1
    if (fits(build(middle))) enough = middle
    else tooFew = middle
  }
  return build(enough)
}

interface Counted {
  examples: number
  errands: Map<string, number>
  parts: Map<string, number>
  together: Map<string, Map<string, number>>
}

function count(examples: Iterable<Example>): Counted {
  const counted: Counted = {
    examples: 0,
    errands: new Map(),
    parts: new Map(),
    together: new Map(),
  }
  for (const { errand, parts } of examples) {
    const ofErrand = stemsOf([errand])
    const ofParts = [...stemsOf(parts)].slice(0, mostWordsOfParts)
    if (ofErrand.size === 0 || ofParts.length === 0) continue
    counted.examples += 1
    for (const word of ofParts) addOne(counted.parts, word)
    for (const word of ofErrand) {
      addOne(counted.errands, word)
      const row = counted.together.get(word) ?? new Map<string, number>()
      counted.together.set(word, row)
      for (const part of ofParts) addOne(row, part)
    }
  }
  return counted
}

function stemsOf(texts: readonly string[]): Set<string> {
  const stems = new Set<string>()
  for (const text of texts) {
    for (const { word, digits } of analyse(text).tokens) if (!digits) stems.add(stemOf(word))
  }
  return stems
}

function addOne(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1)
}

function tableOf(from: AdaptationSource, counted: Counted, least: number): AdaptationTable {
  const errands = frequent(counted.errands, least)
  const parts = frequent(counted.parts, least)
  const places = new Map(parts.map(([word], place) => [word, place]))
  return {
    plumbline: 'adaptation',
    format: 1,
    from,
    examples: counted.examples,
    errands,
    parts,
    together: errands.map(([word]) =>
      [...(counted.together.get(word) ?? [])]
        .flatMap(([part, both]) => {
          const place = places.get(part)
          return place === undefined ? [] : [{ place, both }]
        })
        .sort((a, b) => a.place - b.place)
        .flatMap(({ place, both }) => [place, both]),
    ),
  }
}

function frequent(counts: ReadonlyMap<string, number>, least: number): [string, number][] {
  return [...counts]
    .filter(([, examples]) => examples >= least)
    .sort(([a, many], [b, few]) => few - many || (a < b ? -1 : 1))
}

/**
 * Reads the text of a table that `plumbline adapt` wrote; `fault` says why a text is no table.
 *
 * @example
 * ```ts
 * import { readTable } from 'plumbline/detector'
 *
 * const text = JSON.stringify({
 *   plumbline: 'adaptation',
 *   format: 1,
 *   from: 'git',
 *   examples: 40,
 *   errands: [['limit', 12]],
 *   parts: [['bucket', 9]],
 *   together: [[0, 7]],
 * })
 * const table = readTable(text)
 * console.log('fault' in table ? table.fault : table.examples) // → 40
 *
 * const other = readTable('{}')
 * console.log('fault' in other) // → true
 * ```
 */
export function readTable(text: string): Adaptation | { fault: string } {
  if (text.length > maxTableLength)
    return { fault: `it has more than ${maxTableLength} characters` }
  const table = parseJson(text)
  if (!isTable(table)) return { fault: 'it is no table that plumbline adapt has written' }
  const errands = new Map<number, Associations>()
  for (const [row, [word, examples]] of table.errands.entries()) {
    const together = new Map<number, number>()
    const cells = table.together[row] ?? []
    for (let at = 0; at < cells.length; at += 2) {
      const part = table.parts[cells[at] ?? -1]
      if (part !== undefined) together.set(hashOf(part[0]), cells[at + 1] ?? 0)
    }
    errands.set(hashOf(word), { examples, together })
  }
  return {
    version: `${table.from}-${fingerprint(JSON.stringify(table))}`,
    examples: table.examples,
    errands,
    parts: new Map(table.parts.map(([word, examples]) => [hashOf(word), examples])),
  }
}

function isTable(table: unknown): table is AdaptationTable {
  const { plumbline, format, from, examples, errands, parts, together } = (table ??
    {}) as Partial<AdaptationTable>
  return (
    plumbline === 'adaptation' &&
    format === 1 &&
    adaptationSources.some((source) => source === from) &&
    isCount(examples) &&
    isWords(errands) &&
    isWords(parts) &&
    Array.isArray(together) &&
    together.length === errands.length &&
    together.every((row) => Array.isArray(row) && row.length % 2 === 0 && row.every(isCount))
  )
}

function isWords(words: unknown): words is AdaptationTable['errands'] {
  return (
    Array.isArray(words) &&
    words.every((each) => Array.isArray(each) && typeof each[0] === 'string' && isCount(each[1]))
  )
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** Hashes a text to sixteen hexadecimal digits. */
function fingerprint(text: string): string {
  return [text, `${text} `]
    .map((each) => (hashOf(each) >>> 0).toString(16).padStart(8, '0'))
    .join('')
}
