import type { Reads } from '../detector/contract/reads.ts'
import { detectors } from '../detector/detectors.ts'
import { readTurn } from '../detector/ground.ts'
import { similarityLimits } from '../detector/meaning/hints.ts'
import type { Memory } from '../detector/memory.ts'
import type { Reading } from '../detector/step.ts'

/** The similarity of goal and ground from cached embeddings; undefined if they are missing. */
export type SimilarityOf = (ground: string, goal: string) => number | undefined

/** Unrelated errands; the similarity to them is the baseline of a goal. */
export const unrelatedErrands = [
  'Book a table for dinner on Friday',
  'Fix the failing unit test of the parser',
  'Translate a letter into French',
  'Compare the prices of three laptops',
  'Summarise a paper about ocean currents',
  'Restart the web server after an outage',
  'Answer a customer who asks for a refund',
  'Draw a poster for the school concert',
] as const

/**
 * How much nearer two unit vectors are than the goal is to unrelated errands: 0 is no nearer, 1 is the
 * same direction. The baseline removes the differences between models. Rounded to 1/1024, so that the last
 * digit of an engine cannot change a verdict.
 */
export function similarityOf(
  ground: Float32Array,
  goal: Float32Array,
  unrelated: readonly Float32Array[],
): number {
  let usual = 0
  for (const vector of unrelated) usual += dot(vector, goal) / unrelated.length
  // A goal that is equally near to everything carries no information.
  if (usual > 0.99) return (similarityLimits.near + similarityLimits.far) / 2
  const share = (dot(ground, goal) - usual) / (1 - usual)
  return Math.round(1024 * Math.max(-1, Math.min(1, share))) / 1024
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0)
  return sum
}

/** Normalises a vector to length 1; null if it is zero or has a number that is not finite. */
export function unitVector(numbers: readonly unknown[]): Float32Array | null {
  let squares = 0
  for (const number of numbers) {
    if (typeof number !== 'number') return null
    squares += number * number
  }
  if (!(squares > 0 && squares < Number.POSITIVE_INFINITY)) return null
  const length = Math.sqrt(squares)
  return Float32Array.from(numbers as readonly number[], (number) => number / length)
}

/**
 * The similarity of the goal of a step to the ground that judges it; undefined if it is not known. `reads` is what an
 * encoder has read.
 */
export function similarityIn(
  memory: Memory,
  reading: Reading,
  known: SimilarityOf,
  reads?: Reads,
): number | undefined {
  const turn = readTurn(memory, reading, detectors[memory.detector], { reads })
  const ground = turn.moved?.ground ?? memory.ground
  return ground === null ? undefined : known(ground.goal, reading.goal)
}
