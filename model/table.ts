import { contentWords, stemOf } from '../src/core/detector/meaning/text.ts'
import { createRandom, seed } from '../src/core/evaluation/resampling.ts'
import { type Batch, createBatch, type Parameters, weightOf } from './batch.ts'
import type { TrainingPair } from './pairs.ts'
import { principalDirections } from './principal.ts'
import { shuffled } from './shuffle.ts'
import type { Vocabulary } from './vocabulary.ts'

/** The result of the training: a direction and a weight for each word of the vocabulary. */
export interface Table {
  /** `dims` numbers for each word, of length one. */
  vectors: Float64Array
  dims: number
  /** The weight of a match of each word, above 0. */
  weights: Float64Array
}

/** The length of a word's vector in the model. */
export const dims = 32
const epochs = 3
const batchSize = 64
// Most batches hold pairs of one source, so that the name of the source does not give the answer away.
const oneSource = 0.7
const mostWords = 24

/** A pair on the errand, with the drifted goals of the same ground. */
interface Positive {
  ground: number
  goal: number
  source: string
  drifted: number[]
}

/**
 * Trains directions and weights so that a goal finds its words again in its own ground and not in others. The
 * direction of a word is a linear map of its pretrained vector, plus a part that the pairs teach of the word
 * itself. The map also serves words that the pairs do not hold.
 */
export function trainTable(pairs: readonly TrainingPair[], vocabulary: Vocabulary): Table {
  const random = createRandom(seed)
  const parameters = initialParameters(vocabulary, random)
  const { texts, positives } = readTexts(pairs, vocabulary)
  const batch = createBatch(parameters, vocabulary, stemsOf(vocabulary.words), texts)
  const total = (epochs * positives.length) / batchSize
  let step = 0
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const members of batchesOf(positives, random)) {
      learn(batch, members, random, 1 - 0.9 * Math.min(1, step / total))
      step += 1
    }
  }
  return finished(parameters, vocabulary)
}

function initialParameters(vocabulary: Vocabulary, random: () => number): Parameters {
  const { words, vectors, dims: wide } = vocabulary
  const own = new Float64Array(words.length * dims)
  for (let row = 0; row < words.length; row++) {
    if (isPretrained(vocabulary, row)) continue
    for (let d = 0; d < dims; d++) own[row * dims + d] = (random() - 0.5) * 0.35
  }
  return {
    dims,
    map: principalDirections(vectors, wide, dims),
    own,
    weights: new Float64Array(words.length),
  }
}

function isPretrained({ vectors, dims: wide }: Vocabulary, row: number): boolean {
  for (let d = 0; d < wide; d++) if (vectors[row * wide + d] !== 0) return true
  return false
}

function stemsOf(words: readonly string[]): Int32Array {
  const numbers = new Map<string, number>()
  return Int32Array.from(words, (word) => {
    const stem = stemOf(word)
    const number = numbers.get(stem) ?? numbers.size
    numbers.set(stem, number)
    return number
  })
}

function readTexts(pairs: readonly TrainingPair[], { rowOf }: Vocabulary) {
  const texts: number[][] = []
  const numbers = new Map<string, number>()
  const numberOf = (text: string) => {
    const known = numbers.get(text)
    if (known !== undefined) return known
    const words = [...new Set(contentWords(text))].slice(0, mostWords)
    numbers.set(text, texts.length)
    texts.push(words.flatMap((word) => rowOf.get(word) ?? []))
    return texts.length - 1
  }
  const drifted = new Map<string, number[]>()
  for (const { ground, goal, drift } of pairs) {
    if (!drift) continue
    const goals = drifted.get(ground) ?? []
    drifted.set(ground, goals)
    const number = numberOf(goal)
    if (texts[number]!.length > 0) goals.push(number)
  }
  const positives: Positive[] = []
  for (const { ground, goal, drift, source } of pairs) {
    if (drift || source.startsWith('hijack:')) continue
    const positive = { ground: numberOf(ground), goal: numberOf(goal), source }
    if (texts[positive.ground]!.length === 0 || texts[positive.goal]!.length === 0) continue
    positives.push({ ...positive, drifted: drifted.get(ground) ?? [] })
  }
  return { texts, positives }
}

function batchesOf(positives: readonly Positive[], random: () => number): Positive[][] {
  const order = shuffled(positives, random)
  const cut = Math.floor(order.length * oneSource)
  const batches: Positive[][] = []
  const take = (from: readonly Positive[], fewest: number) => {
    for (let at = 0; at + fewest <= from.length; at += batchSize) {
      batches.push(from.slice(at, at + batchSize))
    }
  }
  for (const [, own] of Map.groupBy(order.slice(0, cut), ({ source }) => source)) {
    take(own, batchSize / 2)
  }
  take(order.slice(cut), batchSize)
  return shuffled(batches, random)
}

/** Every ground of the batch chooses among all goals, and every goal among all grounds. */
function learn(batch: Batch, members: readonly Positive[], random: () => number, rate: number) {
  const goals = members.map(({ goal, ground }) => ({ goal, ground }))
  for (const { drifted, ground } of members) {
    if (drifted.length === 0) continue
    goals.push({ goal: drifted[Math.floor(random() * drifted.length)]!, ground })
  }
  const compares = (row: number, column: number) => {
    const { ground, goal } = members[row]!
    const other = goals[column]!
    if (column === row) return true
    if (other.goal === goal || other.goal === ground) return false
    // Another drifted goal of this ground is compared with it. Another goal on its errand is not, because it
    // would be right too.
    const isDrifted = column >= members.length
    return other.ground !== ground || isDrifted
  }
  batch.learn(
    members.map(({ ground }) => ground),
    goals.map(({ goal }) => goal),
    compares,
    random,
    rate,
  )
}

function finished(parameters: Parameters, vocabulary: Vocabulary): Table {
  const { words, rarities, vectors: wideVectors, dims: wide } = vocabulary
  const vectors = new Float64Array(words.length * dims)
  for (let row = 0; row < words.length; row++) {
    let squares = 0
    for (let d = 0; d < dims; d++) {
      let value = parameters.own[row * dims + d]!
      for (let e = 0; e < wide; e++) {
        value += parameters.map[d * wide + e]! * wideVectors[row * wide + e]!
      }
      vectors[row * dims + d] = value
      squares += value * value
    }
    for (let d = 0; d < dims; d++) vectors[row * dims + d]! /= Math.sqrt(squares) + 1e-9
  }
  const weights = parameters.weights.map((weight, row) => weightOf(rarities[row]!, weight))
  return { vectors, dims, weights }
}
