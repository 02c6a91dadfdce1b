import type { Verdict } from '../../src/surfaces/client/client.ts'

/** A step of a recorded run: the answer of the service to it, as far as a page draws or says it. */
export interface RecordedStep
  extends Pick<
    Verdict,
    'goal' | 'reason' | 'drifting' | 'uncertain' | 'confidence' | 'phi' | 'revision' | 'why'
  > {
  /** The user's own words that came with the step; null if none came. */
  asked: string | null
  evidence: { score: number; sum: number; limit: number } | null
  /** The words that the goal shares with the ground. */
  shared: readonly string[]
  swap: NonNullable<Verdict['swap']> | null
}

/** The steps of a recorded run, in order. */
export type RecordedRun = readonly RecordedStep[]
