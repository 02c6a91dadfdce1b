import { readFileSync } from 'node:fs'
import type { Reads } from '../core/detector/contract/reads.ts'
import { likeness } from './likeness.ts'
import { createNetwork } from './network.ts'
import { type BesideRead, createReader, kept } from './reader.ts'
import { createRecent } from './recent.ts'
import { readWeights } from './weights.ts'

const maxTextBytes = 256 * 1024 * 1024
const maxPairs = 200_000
const maxMeanings = 50_000

/**
 * Reads with the weights of a file in the calling thread, for programs that judge one step after another: a new
 * goal costs some milliseconds, a new errand some more. Throws if the file is missing or damaged.
 */
export function createReads(weights: URL | string): Reads {
  const network = createNetwork(readWeights(readFileSync(weights)))
  const reader = createReader(network, maxTextBytes)
  const pairs = createRecent<BesideRead>(maxPairs, () => 1)
  const meanings = createRecent<Float32Array>(maxMeanings, () => 1)
  const meaningOf = (goal: string) => kept(meanings, goal, () => reader.meaning(goal))
  const besideOf = (errand: string, before: readonly string[], goal: string) =>
    kept(pairs, JSON.stringify([errand, ...before, goal]), () => reader.read(errand, before, goal))
  return {
    pair: (errand, goal) => besideOf(errand, [], goal),
    following: (errand, before, goal) =>
      network.readsBefore ? besideOf(errand, before, goal).serves : undefined,
    effects: (standing, message) =>
      network.readsMessages ? (besideOf(standing, [], message).effects ?? undefined) : undefined,
    alike: (earlier, goal) => likeness(meaningOf(earlier), meaningOf(goal)),
  }
}
