import { readFileSync } from 'node:fs'
import type { PairRead, Reads } from '../core/detector/contract/reads.ts'
import { likeness } from './likeness.ts'
import { createNetwork, type ReadErrand, type ReadGoal } from './network.ts'
import { createRecent, type Recent } from './recent.ts'
import { readWeights } from './weights.ts'

const maxTextBytes = 128 * 1024 * 1024
const maxPairs = 200_000
const maxMeanings = 50_000

/**
 * Reads with the weights of a file in the calling thread, for programs that judge one step after another: a new
 * goal costs some milliseconds, a new errand some more. Throws if the file is missing or damaged.
 */
export function createReads(weights: URL | string): Reads {
  const network = createNetwork(readWeights(readFileSync(weights)))
  const errands = createRecent<ReadErrand>(maxTextBytes, ({ keysAndValues, tokens, meaning }) =>
    bytesOf([...keysAndValues, tokens, meaning]),
  )
  const goals = createRecent<ReadGoal>(maxTextBytes, ({ rows, tokens, meaning }) =>
    bytesOf([rows, tokens, meaning]),
  )
  const pairs = createRecent<PairRead>(maxPairs, () => 1)
  const meanings = createRecent<Float32Array>(maxMeanings, () => 1)
  const goalOf = (text: string) => kept(goals, text, () => network.readGoal(text))
  const meaningOf = (text: string) => kept(meanings, text, () => goalOf(text).meaning)
  return {
    pair: (errand, goal) =>
      kept(pairs, JSON.stringify([errand, goal]), () => {
        const one = kept(errands, errand, () => network.readErrand(errand))
        const other = goalOf(goal)
        return {
          serves: network.serves(one, other),
          alike: likeness(one.meaning, other.meaning),
        }
      }),
    alike: (earlier, goal) => likeness(meaningOf(earlier), meaningOf(goal)),
  }
}

function bytesOf(parts: readonly Float32Array[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

function kept<Value>(values: Recent<Value>, key: string, read: () => Value): Value {
  const known = values.get(key)
  if (known !== undefined) return known
  const value = read()
  values.set(key, value)
  return value
}
