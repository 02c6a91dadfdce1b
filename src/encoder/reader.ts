import type { PairRead } from '../core/detector/contract/reads.ts'
import { likeness } from './likeness.ts'
import type { Network, ReadBeside, ReadErrand, ReadGoal } from './network.ts'
import { createRecent, type Recent } from './recent.ts'

/** A goal beside an errand. */
export interface BesideRead extends PairRead {
  /**
   * Log-odds of each effect on the errand if the goal is a message of the user, in the order of `userEffects`; null if
   * the weights do not know.
   */
  effects: readonly number[] | null
}

/** Reads texts with a network and keeps what it has read of the newest ones. */
export interface Reader {
  /** Reads a goal beside an errand and earlier goals. */
  read(errand: string, before: readonly string[], goal: string): BesideRead
  /** The meaning of a goal, of length 1. */
  meaning(goal: string): Float32Array
}

/** Creates a reader that keeps at most about `maxBytes` of what it has read. */
export function createReader(network: Network, maxBytes: number): Reader {
  const errands = createRecent<ReadErrand>(
    maxBytes / 2,
    ({ keysAndValues, tokens }) => bytesOf(keysAndValues) + tokens.byteLength,
  )
  const goals = createRecent<ReadGoal>(
    maxBytes / 8,
    ({ rows, tokens }) => rows.byteLength + tokens.byteLength,
  )
  const pairs = createRecent<ReadBeside>((3 * maxBytes) / 8, ({ keysAndValues }) =>
    bytesOf(keysAndValues),
  )
  const errandOf = (text: string) => kept(errands, text, () => network.readErrand(text))
  const goalOf = (text: string) => kept(goals, text, () => network.readGoal(text))
  const besideOf = (errand: string, goal: string) =>
    kept(pairs, JSON.stringify([errand, goal]), () =>
      network.readBeside(errandOf(errand), goalOf(goal)),
    )
  return {
    read(errand, before, goal) {
      const alike = likeness(errandOf(errand).meaning, goalOf(goal).meaning)
      const earlier = before.map((each) => besideOf(errand, each))
      const { serves, effects } =
        before.length === 0
          ? besideOf(errand, goal)
          : network.readBeside(errandOf(errand), goalOf(goal), earlier)
      return { serves, alike, effects }
    },
    meaning: (goal) => goalOf(goal).meaning,
  }
}

function bytesOf(parts: readonly Float32Array[]): number {
  return parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

/** The value of a key, made and kept if it is not known. */
export function kept<Value>(values: Recent<Value>, key: string, make: () => Value): Value {
  const known = values.get(key)
  if (known !== undefined) return known
  const value = make()
  values.set(key, value)
  return value
}
