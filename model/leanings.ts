import { stemOf } from '../src/core/detector/meaning/text.ts'
import { createRandom, seed } from '../src/core/evaluation/resampling.ts'
import { shuffled } from './shuffle.ts'

/** The log-odds of drift that a stem adds by itself: if the ground lacks it, and if the ground has it. */
export interface Leanings {
  unmatched: Map<string, number>
  matched: Map<string, number>
}

/**
 * A pair as the stems of its goal, with the likeness of the ground to each, and its score without leanings.
 */
export interface Worded {
  stems: readonly string[]
  /** 0–1 for each stem. */
  likeness: readonly number[]
  offset: number
  drift: boolean
  weight: number
}

const epochs = 5
const rate = 0.1
const shrinking = 0.003
const firstSquares = 1e-2

/** Learns the log-odds that single words add to the features, with strong regularisation. */
export function fitLeanings(pairs: readonly Worded[]): Leanings {
  const random = createRandom(seed)
  const unmatched = new Map<string, Moved>()
  const matched = new Map<string, Moved>()
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const pair of shuffled(pairs, random)) move(pair, unmatched, matched)
  }
  return { unmatched: valuesOf(unmatched), matched: valuesOf(matched) }
}

interface Moved {
  value: number
  squares: number
}

function move(
  { stems, likeness, offset, drift, weight }: Worded,
  unmatched: Map<string, Moved>,
  matched: Map<string, Moved>,
): void {
  const without = likeness.reduce((sum, like) => sum + 1 - like, 0)
  const scale = without > 0 ? 1 / Math.sqrt(without) : 0
  let sum = offset
  for (const [at, stem] of stems.entries()) {
    const like = likeness[at] ?? 0
    sum += entry(unmatched, stem).value * (1 - like) * scale + entry(matched, stem).value * like
  }
  const error = weight * (1 / (1 + Math.exp(-sum)) - (drift ? 1 : 0))
  for (const [at, stem] of stems.entries()) {
    const like = likeness[at] ?? 0
    if (like < 1) descend(entry(unmatched, stem), error * (1 - like) * scale)
    if (like > 0) descend(entry(matched, stem), error * like)
  }
}

function entry(table: Map<string, Moved>, stem: string): Moved {
  const known = table.get(stem)
  if (known !== undefined) return known
  const fresh = { value: 0, squares: firstSquares }
  table.set(stem, fresh)
  return fresh
}

function descend(moved: Moved, slope: number): void {
  const gradient = slope + shrinking * moved.value
  moved.squares += gradient * gradient
  moved.value -= (rate * gradient) / Math.sqrt(moved.squares)
}

function valuesOf(table: Map<string, Moved>): Map<string, number> {
  return new Map([...table].map(([stem, { value }]) => [stem, value]))
}

/** The leaning of each word, by its stem; 0 if nothing was learned. */
export function leaningsOf(words: readonly string[], by: ReadonlyMap<string, number>): number[] {
  return words.map((word) => by.get(stemOf(word)) ?? 0)
}
