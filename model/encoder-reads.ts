import { existsSync, readFileSync } from 'node:fs'
import type { PairRead, Reads } from '../src/core/detector/contract/reads.ts'
import { shippedWeights } from '../src/encoder/encoder.ts'
import { likeness } from '../src/encoder/likeness.ts'
import { createNetwork, type ReadErrand, type ReadGoal } from '../src/encoder/network.ts'
import { readWeights } from '../src/encoder/weights.ts'

/** Reads with the shipped weights in this thread, and keeps all that it has read; null without weights. */
export function readShipped(): Reads | null {
  if (!existsSync(shippedWeights)) return null
  const network = createNetwork(readWeights(readFileSync(shippedWeights)))
  const errands = new Map<string, ReadErrand>()
  const goals = new Map<string, ReadGoal>()
  const pairs = new Map<string, PairRead>()
  const goalOf = (text: string) => kept(goals, text, () => network.readGoal(text))
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
    alike: (earlier, goal) => likeness(goalOf(earlier).meaning, goalOf(goal).meaning),
  }
}

function kept<Value>(values: Map<string, Value>, key: string, read: () => Value): Value {
  const known = values.get(key)
  if (known !== undefined) return known
  const value = read()
  values.set(key, value)
  return value
}
