import type { Adaptation } from '../detector/contract/adaptation.ts'
import type { DetectorName } from '../detector/contract/detector.ts'
import type { Reads } from '../detector/contract/reads.ts'
import { type Reading, readStep } from '../detector/step.ts'
import { keyOf } from '../text.ts'
import type { SimilarityOf } from './similarity.ts'
import type { DriftRequest } from './step-request.ts'

/** Which steps are reported to the collector of evaluation results, and how. */
export interface ResultSettings {
  /** Every step; otherwise only those that change the label of their agent. */
  all: boolean
  /** With the words of ground, goal and verdict; otherwise with numbers and fixed words alone. */
  text: boolean
}

/** A step to log. */
export interface Entry {
  account: string
  request: DriftRequest
  /** The personal table, if there is one. */
  adaptation?: Adaptation | undefined
  /** Measures how near goal and ground are, when the step is judged. */
  similarity?: SimilarityOf
  /** What the encoder has read, when the step is judged. */
  reads?: Reads | undefined
  /** The score above which a step is drift; undefined for the built-in one. */
  limit?: number | undefined
  /** How its result is reported to the collector; undefined without one. */
  results?: ResultSettings | undefined
  /** The detector of a new run. */
  detector: DetectorName
  /** Milliseconds since 1970. */
  now: number
  retentionDays: number
}

/** An entry with its texts read, and the keys of the state that judges it. */
export interface ReadEntry extends Entry {
  readonly reading: Reading
  /** The context of the step; null if it has no words or cannot be spelled. */
  readonly context: string | null
  readonly keys: {
    readonly run: string
    readonly agent: string
    /** Null without a context. */
    readonly context: string | null
    /** The opening of the context by the run; null without a context. */
    readonly opening: string | null
  }
}

/** Reads the texts of an entry, which is the costly part of a step without its judgment. */
export function readEntry(entry: Entry): ReadEntry {
  const { account, request } = entry
  const { runId, agentId } = request
  const reading = readStep(request.step)
  const context = reading.spelled ? reading.context : null
  return {
    ...entry,
    reading,
    context,
    keys: {
      run: keyOf(account, runId),
      agent: keyOf(account, runId, agentId),
      context: context === null ? null : keyOf(account, context),
      opening: context === null ? null : keyOf(account, runId, context),
    },
  }
}
