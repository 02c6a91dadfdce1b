import type { DetectorName } from '../../core/detector/contract/detector.ts'
import type { Verdict } from '../../core/detector/detect.ts'
import type { EarlierRuns } from '../../core/detector/step.ts'
import type { DriftRequest } from '../../core/runs/drift.ts'
import type { SimilarityOf } from '../../core/runs/similarity.ts'

/** A step that is to be logged. */
export interface Entry {
  account: string
  request: DriftRequest
  /** Asked how near goal and ground lie when the step is judged. */
  similarity?: SimilarityOf
  /** The detector of the run if this is its first step. */
  detector: DetectorName
  /** Milliseconds since 1970. */
  now: number
  retentionDays: number
}

/** What became of an entry; `damaged` when the stored state of a run in its request cannot be read. */
export type LoggedStep =
  | {
      run_id: string
      agent_id: string
      step: number
      revision: number
      verdict: Verdict
      earlier: EarlierRuns | null
      /** The reason of the agent's step before; null when there was none. */
      previous: string | null
    }
  | 'damaged'
