import { groundToFreeze } from '../detector/ground.ts'
import { similarityLimits } from '../detector/meaning/hints.ts'
import type { Memory } from '../detector/memory.ts'
import { readStep, type Step } from '../detector/step.ts'

/** How near the goal lies to the ground by what is known at the moment; undefined where nothing is. */
export type SimilarityOf = (ground: string, goal: string) => number | undefined

/** Errands of many kinds: how near a goal lies to any of them says what nearness means nothing. */
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
 * How much nearer two vectors of length 1 are than the goal is to unrelated errands: 0 is no nearer, 1
 * is the same direction. Models differ in how near they put any two texts, and this takes it out.
 * Rounded to 1/1024, so that no engine's last digit can turn a verdict.
 */
export function similarityOf(
  ground: Float32Array,
  goal: Float32Array,
  unrelated: readonly Float32Array[],
): number {
  let usual = 0
  for (const vector of unrelated) usual += dot(vector, goal) / unrelated.length
  // Of a goal that is as near to everything as to itself nothing can be told.
  if (usual > 0.99) return (similarityLimits.near + similarityLimits.far) / 2
  const share = (dot(ground, goal) - usual) / (1 - usual)
  return Math.round(1024 * Math.max(-1, Math.min(1, share))) / 1024
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0)
  return sum
}

/** The vector with length 1; null when it has none, or holds what is no finite number. */
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

/** The step with how near its goal lies to the ground it will be measured against, where that is known. */
export function withSimilarity(memory: Memory, step: Step, known: SimilarityOf): Step {
  const reading = readStep(step)
  const ground = groundToFreeze(memory, reading) ?? memory.ground
  const similarity = ground === null ? undefined : known(ground.goal, reading.goal)
  return similarity === undefined ? step : { ...step, similarity }
}
