import type { Vocabulary } from './vocabulary.ts'

/** The parameters that the training moves. */
export interface Parameters {
  dims: number
  /** `dims` rows that map pretrained vectors to the model's. */
  map: Float64Array
  /** The part of each word's vector besides its mapped pretrained one. */
  own: Float64Array
  /** The part of each word's weight besides the one from its rarity. */
  weights: Float64Array
}

/** Trains one batch after another. */
export interface Batch {
  /**
   * Moves the parameters so that ground i scores higher with goal i than with the other goals of its
   * comparisons, and the same for goals. Goals beyond the grounds are wrong for every ground.
   */
  learn(
    grounds: readonly number[],
    goals: readonly number[],
    compares: (ground: number, goal: number) => boolean,
    random: () => number,
    rate: number,
  ): void
}

const temperature = 0.08
const ownRate = 0.06
const mapRate = 0.001
const regularisation = 0.01
const dropped = 0.1
const mostDistinct = 4000
const negligible = 1e-5
const excluded = -1e9

/** Prepares batches over `texts`, each a list of rows of the vocabulary. */
export function createBatch(
  parameters: Parameters,
  { vectors: wideVectors, dims: wide, rarities, words }: Vocabulary,
  stems: Int32Array,
  texts: readonly (readonly number[])[],
): Batch {
  const { dims, map, own, weights } = parameters
  const ownSquares = new Float64Array(own.length).fill(1e-6)
  const weightSquares = new Float64Array(weights.length).fill(1e-6)
  const mapMoment = new Float64Array(map.length)
  const mapSquares = new Float64Array(map.length)
  const mapGradient = new Float64Array(map.length)
  let steps = 0

  // The distinct words of the batch: place, direction, length before normalisation, weight.
  const placeOf = new Int32Array(words.length).fill(-1)
  const rows = new Int32Array(mostDistinct)
  const direction = new Float64Array(mostDistinct * dims)
  const lengths = new Float64Array(mostDistinct)
  const importance = new Float64Array(mostDistinct)
  const directionGradient = new Float64Array(mostDistinct * dims)
  const importanceGradient = new Float64Array(mostDistinct)
  let distinct = 0
  let alike = new Float64Array(0)
  let alikeGradient = new Float64Array(0)

  const enter = (row: number): number => {
    const known = placeOf[row]!
    if (known >= 0) return known
    const place = distinct++
    placeOf[row] = place
    rows[place] = row
    let squares = 0
    for (let d = 0; d < dims; d++) {
      let value = own[row * dims + d]!
      for (let e = 0; e < wide; e++) value += map[d * wide + e]! * wideVectors[row * wide + e]!
      direction[place * dims + d] = value
      squares += value * value
    }
    const length = Math.sqrt(squares) + 1e-9
    lengths[place] = length
    for (let d = 0; d < dims; d++) direction[place * dims + d]! /= length
    importance[place] = weightOf(rarities[row]!, weights[row]!)
    directionGradient.fill(0, place * dims, (place + 1) * dims)
    importanceGradient[place] = 0
    return place
  }

  const read = (text: number, random: () => number): Int32Array => {
    const all = texts[text]!
    const kept = all.filter(() => all.length <= 2 || random() >= dropped)
    return Int32Array.from(kept.length > 0 ? kept : all.slice(0, 1), enter)
  }

  const compareWords = () => {
    if (alike.length < distinct * distinct) {
      alike = new Float64Array(Math.ceil(1.2 * distinct * distinct))
      alikeGradient = new Float64Array(alike.length)
    }
    alikeGradient.fill(0, 0, distinct * distinct)
    // Constants for the inner loop, which takes most of the training time.
    const count = distinct
    const values = alike
    for (let a = 0; a < count; a++) {
      const stem = stems[rows[a]!]
      const x = a * dims
      for (let b = a; b < count; b++) {
        const y = b * dims
        let dot = 0
        if (stem === stems[rows[b]!]) dot = 1
        else for (let d = 0; d < dims; d++) dot += direction[x + d]! * direction[y + d]!
        values[a * count + b] = dot
        values[b * count + a] = dot
      }
    }
  }

  const groundBest = new Float64Array(64)
  const groundBestAt = new Int32Array(64)
  const goalBest = new Float64Array(64)
  const goalBestAt = new Int32Array(64)

  // The weighted mean best match of each side's words in the other. With a gradient it also backpropagates.
  const scoreOf = (ground: Int32Array, goal: Int32Array, gradient: number): number => {
    const count = distinct
    const values = alike
    for (let p = 0; p < ground.length; p++) {
      groundBest[p] = 0
      groundBestAt[p] = -1
    }
    let goalWeight = 0
    let goalSum = 0
    for (let r = 0; r < goal.length; r++) {
      const line = goal[r]! * count
      let best = 0
      let bestAt = -1
      for (let p = 0; p < ground.length; p++) {
        const value = values[line + ground[p]!]!
        if (value > best) {
          best = value
          bestAt = p
        }
        if (value > groundBest[p]!) {
          groundBest[p] = value
          groundBestAt[p] = r
        }
      }
      goalBest[r] = best
      goalBestAt[r] = bestAt
      const weight = importance[goal[r]!]!
      goalWeight += weight
      goalSum += weight * best
    }
    let groundWeight = 0
    let groundSum = 0
    for (let p = 0; p < ground.length; p++) {
      const weight = importance[ground[p]!]!
      groundWeight += weight
      groundSum += weight * groundBest[p]!
    }
    const goalMean = goalSum / goalWeight
    const groundMean = groundSum / groundWeight
    if (gradient !== 0) {
      const toGoal = (0.5 * gradient) / goalWeight
      const toGround = (0.5 * gradient) / groundWeight
      for (let r = 0; r < goal.length; r++) {
        const u = goal[r]!
        const at = goalBestAt[r]!
        if (at >= 0) alikeGradient[u * count + ground[at]!]! += toGoal * importance[u]!
        importanceGradient[u]! += toGoal * importance[u]! * (goalBest[r]! - goalMean)
      }
      for (let p = 0; p < ground.length; p++) {
        const u = ground[p]!
        const at = groundBestAt[p]!
        if (at >= 0) alikeGradient[u * count + goal[at]!]! += toGround * importance[u]!
        importanceGradient[u]! += toGround * importance[u]! * (groundBest[p]! - groundMean)
      }
    }
    return 0.5 * (goalMean + groundMean)
  }

  const backToWords = () => {
    for (let a = 0; a < distinct; a++) {
      const stem = stems[rows[a]!]
      for (let b = 0; b < distinct; b++) {
        const gradient = alikeGradient[a * distinct + b]!
        if (gradient === 0 || stem === stems[rows[b]!]) continue
        const x = a * dims
        const y = b * dims
        for (let d = 0; d < dims; d++) {
          directionGradient[x + d]! += gradient * direction[y + d]!
          directionGradient[y + d]! += gradient * direction[x + d]!
        }
      }
    }
  }

  const moveWords = (rate: number, size: number) => {
    mapGradient.fill(0)
    for (let place = 0; place < distinct; place++) {
      const row = rows[place]!
      const at = place * dims
      placeOf[row] = -1
      let along = 0
      for (let d = 0; d < dims; d++) along += directionGradient[at + d]! * direction[at + d]!
      for (let d = 0; d < dims; d++) {
        const inward = directionGradient[at + d]! - along * direction[at + d]!
        const gradient = inward / lengths[place]!
        for (let e = 0; e < wide; e++) {
          mapGradient[d * wide + e]! += gradient * wideVectors[row * wide + e]!
        }
        const o = row * dims + d
        const held = gradient + (regularisation * own[o]!) / size
        ownSquares[o]! += held * held
        own[o]! -= (ownRate * rate * held) / Math.sqrt(ownSquares[o]! + 1e-10)
      }
      const held = importanceGradient[place]! + (0.1 * regularisation * weights[row]!) / size
      weightSquares[row]! += held * held
      weights[row]! -= (ownRate * rate * held) / Math.sqrt(weightSquares[row]! + 1e-10)
    }
  }

  // Adam.
  const moveMap = (rate: number) => {
    steps += 1
    for (let i = 0; i < map.length; i++) {
      const gradient = mapGradient[i]!
      mapMoment[i] = 0.9 * mapMoment[i]! + 0.1 * gradient
      mapSquares[i] = 0.999 * mapSquares[i]! + 0.001 * gradient * gradient
      const moment = mapMoment[i]! / (1 - 0.9 ** steps)
      const squares = mapSquares[i]! / (1 - 0.999 ** steps)
      map[i]! -= (mapRate * rate * moment) / (Math.sqrt(squares) + 1e-8)
    }
  }

  return {
    learn(groundTexts, goalTexts, compares, random, rate) {
      distinct = 0
      const grounds = groundTexts.map((text) => read(text, random))
      const goals = goalTexts.map((text) => read(text, random))
      compareWords()
      const scores = grounds.map((ground, i) =>
        Float64Array.from(goals, (goal, j) =>
          compares(i, j) ? scoreOf(ground, goal, 0) / temperature : excluded,
        ),
      )
      for (const [i, gradients] of gradientsOf(scores).entries()) {
        for (const [j, gradient] of gradients.entries()) {
          const scaled = gradient / (temperature * grounds.length)
          if (Math.abs(scaled) >= negligible) scoreOf(grounds[i]!, goals[j]!, scaled)
        }
      }
      backToWords()
      moveWords(rate, grounds.length)
      moveMap(rate)
    },
  }
}

/** The gradient of the loss for each score: cross entropy over the rows and over the columns. */
function gradientsOf(scores: readonly Float64Array[]): Float64Array[] {
  const gradients = scores.map((row) => softmax(row).map((share) => share / 2))
  for (let j = 0; j < scores.length; j++) {
    const column = softmax(Float64Array.from(scores, (row) => row[j]!))
    for (let i = 0; i < scores.length; i++) gradients[i]![j]! += column[i]! / 2
  }
  for (let i = 0; i < scores.length; i++) gradients[i]![i]! -= 1
  return gradients
}

function softmax(values: Float64Array): Float64Array {
  const highest = values.reduce((a, b) => Math.max(a, b), excluded)
  const raised = values.map((value) => (value <= excluded ? 0 : Math.exp(value - highest)))
  const sum = raised.reduce((a, b) => a + b, 0)
  return raised.map((value) => value / sum)
}

/** The weight of a match: higher for rare words, and adjusted for each word by the pairs. */
export function weightOf(rarity: number, learned: number): number {
  return Math.exp(Math.max(-4, Math.min(4, 0.35 * rarity - 2 + learned)))
}
