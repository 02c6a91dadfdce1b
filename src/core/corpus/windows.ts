import { stemOf } from '../detector/words/tokens.ts'
import { rawWords } from '../detector/words/words.ts'
import { meanOf, rounded } from '../figures.ts'
import type { Fault } from '../runs/field-reader.ts'
import type { Corpus } from './corpus.ts'

/**
 * Displacement at which a window counts as drifting, 0–1. Chosen with `npm run model:corpus` on documents
 * of one subject each: lines of one kind stay below it from window to window, and most windows of another
 * document are above.
 */
export const displacementFloor = 0.4

/** Standard deviations by which the shared words must fall short of chance. */
export const evidenceFloor = 3

/** Most windows of one corpus, which bounds the answer. */
export const maxWindows = 20_000

/** Most different words of one window, which bounds memory and the time that the event loop is blocked. */
export const maxDistinctWords = 200_000

/** Most words named in `top_new` and `top_lost`. */
export const maxTopWords = 10

/** One window of a corpus compared with the first, as in the answer. */
export interface WindowDrift {
  index: number
  /** Number of its first line, from 0. */
  from: number
  /** Number of its last line. */
  to: number
  /** Displacement from the first window, 0–1, rounded to two decimals. */
  phi: number
  /** Jaccard overlap of its words with those of the first window, 0–1, rounded to two decimals. */
  goal_score: number
  drifting: boolean
  /** Words of this window that the first lacks, most frequent first. */
  top_new: string[]
  /** Words of the first window that this one lacks, most frequent first. */
  top_lost: string[]
}

/** A corpus compared with its first window, as in the answer. */
export interface CorpusDrift {
  windows: WindowDrift[]
  /** Index of the first drifting window, or null. */
  first_drift: number | null
  /** Over all windows except the first; 0 if there is no other. */
  max_phi: number
  mean_phi: number
  /** Words of all lines, including stop words. */
  tokens: number
  /** Lines without a content word. */
  unusable_lines: number
}

/**
 * Measures a corpus against its own first window. A window is so many usable lines, those between
 * which have nothing to compare passed over; a last one that is not full counts when at least half
 * full, and the first always does.
 *
 * `phi` is the goal part alone, since lines report neither distance nor progress. It is made to mean
 * the same for windows of any length, which an overlap of words does not: two windows of one subject
 * share few of their words, the fewer the shorter they are. With a and b, how often a word occurs in
 * the two windows, they share S = Σ ab / (a + b). phi = 1 − S / E, where E is the S to be expected
 * had the same words fallen into the two windows by chance: 0 is no farther apart than chance, 1 is
 * no word in common. (Pearson's chi-square of windows × words, less its expectation, over its largest
 * value less its expectation.) A window is drifting when phi is at least `displacementFloor` and S
 * falls short of E by `evidenceFloor` standard deviations, which too few words never do.
 *
 * Takes linear time and yields every now and then, so that other work can go on.
 */
export function* measureCorpus({
  lines,
  window,
}: Corpus): Generator<undefined, CorpusDrift | Fault> {
  const windows: WindowDrift[] = []
  const phis: number[] = []
  let first: First | null = null
  let current = newWindow()
  let tokens = 0
  let unusable = 0
  let sinceYield = 0

  function close(): void {
    if (first === null) first = rememberFirst(current.words)
    const { phi, ...measured } = compare(first, current.words)
    const index = windows.length
    windows.push({ index, from: current.from, to: current.to, phi: rounded(phi), ...measured })
    if (index > 0) phis.push(phi)
    current = newWindow()
  }

  let number = 0
  let line = lines.next()
  for (; !line.done; line = lines.next(), number += 1) {
    const before = current.words.count
    for (const piece of piecesOf(line.value)) {
      tokens += addWords(current.words, piece)
      if (current.words.byForm.size > maxDistinctWords) {
        return {
          fault: `window: send fewer lines, for at most ${maxDistinctWords} different words`,
        }
      }
      sinceYield += piece.length
      if (sinceYield >= sliceLength) {
        sinceYield = 0
        yield
      }
    }
    sinceYield += lineCost
    if (current.words.count === before) {
      unusable += 1
      continue
    }
    if (current.lines === 0) {
      if (windows.length === maxWindows) {
        return { fault: `window: send more lines a window, for at most ${maxWindows} windows` }
      }
      current.from = number
    }
    current.to = number
    current.lines += 1
    if (current.lines === window) close()
  }
  if (line.value !== null) return { fault: line.value }
  if (current.lines * 2 >= window || (windows.length === 0 && current.lines > 0)) close()
  if (windows.length === 0) {
    return { fault: 'body: send at least one line with a word that is not a stop word' }
  }
  return {
    windows,
    first_drift: windows.find(({ drifting }) => drifting)?.index ?? null,
    max_phi: rounded(phis.reduce((most, phi) => Math.max(most, phi), 0)),
    mean_phi: rounded(meanOf(phis)),
    tokens,
    unusable_lines: unusable,
  }
}

// Characters after which other requests are served, and the fixed cost of a line.
const sliceLength = 1 << 16
const lineCost = 32
const maxWordLength = 200

interface Window {
  words: Words
  lines: number
  from: number
  to: number
}

function newWindow(): Window {
  return { words: { count: 0, byStem: new Map(), byForm: new Map() }, lines: 0, from: 0, to: 0 }
}

/** The content words of a window, counted by stem; the answer shows the commonest form of a stem. */
interface Words {
  count: number
  byStem: Map<string, Word>
  /** null for a stop word. */
  byForm: Map<string, Form | null>
}

interface Word {
  count: number
  shown: string
  shownCount: number
}

interface Form {
  count: number
  word: Word
}

/** Returns the number of words, including stop words. */
function addWords(words: Words, text: string): number {
  const raw = rawWords(text)
  for (const each of raw) {
    let form = words.byForm.get(each)
    if (form === undefined) {
      form = newForm(words, each)
      words.byForm.set(each, form)
    }
    if (form === null) continue
    const { word } = form
    words.count += 1
    word.count += 1
    form.count += 1
    if (form.count > word.shownCount) {
      word.shown = each
      word.shownCount = form.count
    }
  }
  return raw.length
}

function newForm({ byStem }: Words, form: string): Form | null {
  const stem = stemOf(form)
  if (stem === null) return null
  let word = byStem.get(stem)
  if (word === undefined) {
    word = { count: 0, shown: form, shownCount: 0 }
    byStem.set(stem, word)
  }
  return { count: 0, word }
}

/** Splits a line into pieces that fit a slice, at spaces where possible. */
function* piecesOf(line: string): Generator<string> {
  let at = 0
  for (; line.length - at > sliceLength; ) {
    const end = at + sliceLength
    const space = line.slice(end, end + maxWordLength).search(/\s/)
    yield line.slice(at, end + Math.max(0, space))
    at = end + Math.max(0, space)
  }
  yield line.slice(at)
}

/** The first window, prepared for the comparison with every other window. */
interface First extends Words {
  /** Stems, the most frequent first. */
  ranked: readonly (readonly [stem: string, word: Word])[]
  inverseCounts: number
}

function rememberFirst(words: Words): First {
  const all = [...words.byStem]
  return {
    ...words,
    ranked: mostFrequent(all, all.length),
    inverseCounts: all.reduce((sum, [, { count }]) => sum + 1 / count, 0),
  }
}

/** Takes time linear in the words of `other`, whatever the size of the first window. */
function compare(
  first: First,
  other: Words,
): Pick<WindowDrift, 'phi' | 'goal_score' | 'drifting' | 'top_new' | 'top_lost'> {
  const added: [string, Word][] = []
  let both = 0
  let shared = 0
  let inverseCounts = first.inverseCounts
  for (const entry of other.byStem) {
    const [stem, { count: b }] = entry
    const a = first.byStem.get(stem)?.count
    if (a === undefined) {
      added.push(entry)
      inverseCounts += 1 / b
      continue
    }
    both += 1
    shared += (a * b) / (a + b)
    inverseCounts += 1 / (a + b) - 1 / a
  }
  const distinct = first.byStem.size + other.byStem.size - both
  const chance = sharedByChance(first.count, other.count, distinct, inverseCounts)
  const phi = chance.mean === 0 ? 1 : Math.max(0, 1 - shared / chance.mean)
  return {
    phi,
    goal_score: rounded(both / distinct),
    drifting: phi >= displacementFloor && chance.mean - shared > evidenceFloor * chance.deviation,
    top_new: mostFrequent(added, maxTopWords).map(([, { shown }]) => shown),
    top_lost: lostWords(first, other),
  }
}

/**
 * Mean and standard deviation of S when `distinct` words fall into two windows of m and n words by
 * chance: those of Pearson's chi-square in a table with fixed sums, each word taken as independent
 * of the others. `inverseCounts` is the sum of 1 / count over the distinct words.
 */
function sharedByChance(
  m: number,
  n: number,
  distinct: number,
  inverseCounts: number,
): { mean: number; deviation: number } {
  const total = m + n
  const scale = (m * n) / total ** 2
  const variance = 2 * distinct + (1 / scale - 6) * inverseCounts
  return {
    mean: (scale * total * (total - distinct)) / (total - 1),
    deviation: scale * Math.sqrt(Math.max(0, variance)),
  }
}

function lostWords({ ranked }: First, { byStem }: Words): string[] {
  const lost: string[] = []
  for (const [stem, { shown }] of ranked) {
    if (lost.length === maxTopWords) break
    if (!byStem.has(stem)) lost.push(shown)
  }
  return lost
}

/** The most frequent words, at most `limit`; among equals the earlier ones. */
function mostFrequent(
  words: readonly (readonly [string, Word])[],
  limit: number,
): (readonly [string, Word])[] {
  const byCount = Map.groupBy(words, ([, { count }]) => count)
  const ranked: (readonly [string, Word])[] = []
  for (const count of [...byCount.keys()].sort((a, b) => b - a)) {
    for (const each of byCount.get(count) ?? []) {
      if (ranked.length === limit) return ranked
      ranked.push(each)
    }
  }
  return ranked
}
