import type { DetectorName } from '../../core/detector/contract/detector.ts'
import type { Verdict } from '../../core/detector/detect.ts'
import type { EarlierRuns } from '../../core/detector/step.ts'
import type { DriftRequest } from '../../core/runs/drift.ts'
import type { SimilarityOf } from '../../core/runs/similarity.ts'

/** A step to log. */
export interface Entry {
  account: string
  request: DriftRequest
  /** Measures how near goal and ground are, when the step is judged. */
  similarity?: SimilarityOf
  /** The detector of a new run. */
  detector: DetectorName
  /** Milliseconds since 1970. */
  now: number
  retentionDays: number
}

/** The result of an entry; `damaged` if the stored state of a run in its request cannot be read. */
export type LoggedStep =
  | {
      run_id: string
      agent_id: string
      step: number
      revision: number
      verdict: Verdict
      earlier: EarlierRuns | null
      /** The reason of the agent's previous step; null for the first. */
      previous: string | null
    }
  | 'damaged'
