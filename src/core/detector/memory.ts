import { parseJson } from '../text.ts'
import type { DetectorName, Ground } from './contract/detector.ts'
import { detectorNames } from './contract/detector.ts'
import { beginAnew, type Tally } from './tally.ts'

/**
 * All a run needs to judge its next step: plain JSON, bounded however long the run grows. `v` is
 * the version of this shape; a reader refuses one it does not know.
 */
export interface Memory {
  v: 1
  detector: DetectorName
  /** Steps of the run so far, judged or not. */
  steps: number
  /** How many grounds there have been: 0 before the first, +1 each time a user turn moves it. */
  revision: number
  ground: Ground | null
  /** Steps since the ground was last moved, those before the first ground included. */
  since: number
  /** Whether the last recorded reason was a drift reason. */
  drifted: boolean
  /** Distances of the steps that stayed on the ground: the newest five, and how many in a row did not fall. */
  accepted: { recent: number[]; flat: number }
  /** Distances of the spelled steps since the ground was moved, and how many they are. */
  reported: { highest: number; last: number; count: number }
  goalDrifts: number
  stalls: number
  /** Cycles found since the ground was moved, and the steps after which the goals repeat now, or null. */
  cycles: number
  period: number | null
  /** Contexts of the newest goals, '' for one without words: as many as the longest cycle needs. */
  trail: string[]
  /** How often each spelling was written in the run and since the ground was moved, least recent first. */
  spellings: Tally
  /** Highest count of any one spelling since the ground was moved. */
  mostRepeated: number
  /** What the chosen detector keeps for itself about the ground and the steps on it. */
  own: unknown
  /**
   * The tables of one's own work that were asked, newest last, each with the step from which on; null
   * is none. Absent in a run that never had one.
   */
  adaptations?: readonly { version: string | null; from: number }[]
}

const mostAdaptations = 8

/** The memory of a run that has not begun, to be judged by `detector`. */
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

/** The memory after `ground` was frozen: everything measured against an earlier ground starts anew. */
export function frozen(memory: Memory, ground: Ground, own: unknown): Memory {
  const kept: Memory =
    memory.ground === null
      ? memory
      : {
          ...newMemory(memory.detector),
          steps: memory.steps,
          spellings: beginAnew(memory.spellings),
          ...(memory.adaptations === undefined ? {} : { adaptations: memory.adaptations }),
        }
  return { ...kept, revision: memory.revision + 1, ground, own }
}

/** The memory after a step that was judged with a table, or without one. */
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

/** Reads a stored memory; null when it is damaged, of another version, or of an unknown detector. */
export function readMemory(text: string): Memory | null {
  const memory = parseJson(text) as Memory | null | undefined
  const isKnown = memory?.v === 1 && detectorNames.includes(memory.detector)
  return isKnown ? memory : null
}
