import { parseJson } from '../text.ts'
import type { AssignedRequest } from './assignment.ts'
import type { DetectorName, Ground } from './contract/detector.ts'
import { detectorNames } from './contract/detector.ts'
import type { Pace } from './pace.ts'
import { beginAnew, type Tally } from './tally.ts'

/**
 * The state that the next step of a run needs: plain JSON of bounded size. `v` is the version of this
 * shape; a reader rejects an unknown version.
 *
 * @example
 * ```ts
 * import { detect, type Memory, newMemory } from 'plumbline/detector'
 *
 * const step = { goal: 'translate the handbook into French', progress: 'advancing', distance: 9 }
 * const stored = JSON.stringify(detect(newMemory('meaning'), step).memory)
 *
 * // Later, in another process.
 * const memory: Memory = JSON.parse(stored)
 * console.log(memory.ground?.goal) // → translate the handbook into French
 * console.log(detect(memory, step).memory.steps) // → 2
 * ```
 */
export interface Memory {
  v: 1
  detector: DetectorName
  /** Steps of the run, judged or not. */
  steps: number
  /** Number of grounds: 0 before the first, +1 for each user turn that changes it. */
  revision: number
  ground: Ground | null
  /**
   * What the user has asked for, oldest first; the texts that stand are the ground. A memory that an earlier
   * release has stored lacks it, and its ground is the one request.
   */
  assignment?: readonly AssignedRequest[]
  /** What stood before the newest revision while it is not known whether a person asked for that; absent otherwise. */
  before?: { ground: Ground; assignment: readonly AssignedRequest[] }
  /** Steps since the last change of the ground, including those before the first ground. */
  since: number
  /** Whether the last recorded reason was a drift reason. */
  drifted: boolean
  /** Distances of steps on the ground: the newest five, and how many in a row did not fall. */
  accepted: { recent: number[]; flat: number }
  /** Distances of the spelled steps since the last change of the ground, and their number. */
  reported: { highest: number; last: number; count: number }
  /** The reported distances as the default detector reads them; absent under the published rules. */
  pace?: Pace
  /** Steps with the reason `goal-drift`, and with `stalled`, since the last change of the ground. */
  goalDrifts: number
  stalls: number
  /** Cycles since the last change of the ground, and the current period of the goals in steps, or null. */
  cycles: number
  period: number | null
  /** Contexts of the newest goals, as many as the longest cycle needs; '' for a goal without words. */
  trail: string[]
  /** Counts of each spelling in the run and since the last change of the ground, least recent first. */
  spellings: Tally
  /** Highest count of one spelling since the last change of the ground. */
  mostRepeated: number
  /** The detector's own state about the ground and its steps. */
  own: unknown
  /**
   * The personal tables that were used, newest last, each with its first step; null is no table. Absent in
   * a run that never had one.
   */
  adaptations?: readonly { version: string | null; from: number }[]
}

const mostAdaptations = 8

/**
 * Creates the memory of a new run for `detector`.
 *
 * @example
 * ```ts
 * import { newMemory } from 'plumbline/detector'
 *
 * const memory = newMemory('meaning')
 * console.log(memory.steps, memory.ground) // → 0 null
 * ```
 */
export function newMemory(detector: DetectorName): Memory {
  return {
    v: 1,
    detector,
    steps: 0,
    revision: 0,
    ground: null,
    since: 0,
    drifted: false,
    accepted: { recent: [], flat: 0 },
    reported: { highest: 0, last: 0, count: 0 },
    goalDrifts: 0,
    stalls: 0,
    cycles: 0,
    period: null,
    trail: [],
    spellings: '',
    mostRepeated: 0,
    own: null,
  }
}

/** The memory after `ground` was frozen; measurements against earlier grounds are reset. */
export function frozen(
  memory: Memory,
  { ground, assignment }: { ground: Ground; assignment: readonly AssignedRequest[] },
  own: unknown,
): Memory {
  const kept: Memory =
    memory.ground === null
      ? memory
      : {
          ...newMemory(memory.detector),
          steps: memory.steps,
          spellings: beginAnew(memory.spellings),
          ...(memory.adaptations === undefined ? {} : { adaptations: memory.adaptations }),
        }
  return { ...kept, revision: memory.revision + 1, ground, assignment, own }
}

/** The memory after a step that was judged with or without a table. */
export function withAdaptation(
  memory: Memory,
  version: string | null,
  wasMeasured: boolean,
): Memory {
  const { adaptations = [], steps } = memory
  if (!wasMeasured || (adaptations.at(-1)?.version ?? null) === version) return memory
  const newest = [...adaptations, { version, from: steps }]
  return { ...memory, adaptations: newest.slice(-mostAdaptations) }
}

/** Reads a stored memory; null if it is damaged or has an unknown version or detector. */
export function readMemory(text: string): Memory | null {
  const memory = parseJson(text) as Memory | null | undefined
  const isKnown = memory?.v === 1 && detectorNames.includes(memory.detector)
  return isKnown ? memory : null
}
