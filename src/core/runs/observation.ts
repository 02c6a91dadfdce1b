import type { ActCoverage } from '../hosts/coverage.ts'
import type { ActEvidence } from '../hosts/evidence.ts'
import type { EventSpan, HostName } from '../hosts/host-event.ts'
import type { GoalSource } from '../hosts/observed.ts'
import type { WordsTold } from '../hosts/words-told.ts'

/** How much a host shows of what an agent did, and which words it tells. */
export interface RunCoverage extends ActCoverage {
  words: WordsTold
}

/** What a host has shown of a step that no agent reported by itself. */
export interface Observation {
  host: HostName
  /** Where the goal comes from. */
  goalSource: GoalSource
  /** The acts since the step before, how many of them failed, and the newest of them in words. */
  acts: number
  failedActs: number
  doing: readonly string[]
  /** What the acts show; null if nothing. */
  actEvidence: ActEvidence | null
  /** How much of what the agent did its errand explains, over the run. */
  coverage: RunCoverage
  /** When a person last spoke, granted or answered, milliseconds since 1970; null if that is not known. */
  personAt: number | null
  /** The span that the step was read from; null if it came another way. */
  span: EventSpan | null
  /** The id of the model's answer in which it was shown; null if that is not told. */
  responseId: string | null
  /** Whether a program started the session, so that no person can speak in it. */
  isHeadless: boolean
}
