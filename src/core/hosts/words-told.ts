import type { Observed } from './observed.ts'
import { untold } from './step-goal.ts'

/** Which words of a session are told: all, those of people alone while paths and commands are hashes, or none of people. */
export const wordsTold = ['told', 'hashed', 'none'] as const

export type WordsTold = (typeof wordsTold)[number]

/** Which words of a session are told. */
export function wordsToldOf({ errand, hidesActs }: Observed): WordsTold {
  if (errand === null || errand === untold) return 'none'
  return hidesActs === true ? 'hashed' : 'told'
}
