import type { DetectorName } from '../detector/contract/detector.ts'
import type {
  Act,
  Coverage,
  Evidence,
  SharedWords,
  StandsOn,
  Swap,
} from '../detector/contract/findings.ts'
import type { Verdict } from '../detector/detect.ts'
import type { ActEvidence } from '../hosts/evidence.ts'
import type { HostName } from '../hosts/host-event.ts'
import type { GoalSource } from '../hosts/observed.ts'
import { parseJson } from '../text.ts'
import type { Observation } from './observation.ts'

/**
 * The part of a verdict that is kept with its step as one JSON text, so that anyone can ask later why it was
 * given. Null is what the step or its detector does not have.
 */
export interface KeptVerdict {
  why: string
  advice: string
  confidence: number
  drift_probability: number | null
  uncertain: boolean
  detector: DetectorName
  evidence: Evidence | null
  words: SharedWords | null
  swap: Swap | null
  act: Act | null
  stands_on: StandsOn | null
  coverage: Coverage | null
  parent_overlap: number | null
  repetition: number | null
  distance_reported: boolean
  /** What a host has shown of the step; null if the agent reported it. */
  host: HostName | null
  goal_source: GoalSource | null
  acts: number | null
  failed_acts: number | null
  doing: readonly string[] | null
  act_evidence: ActEvidence | null
  /** Milliseconds since a person was there. */
  unattended_ms: number
}

/**
 * Selects what is kept of a verdict; `distanceReported` says whether the agent reported its distance, and `unattendedMs` how
 * long no person had been there.
 */
export function keptVerdict(
  verdict: Verdict,
  distanceReported: boolean,
  observation: Observation | null,
  unattendedMs: number,
): KeptVerdict {
  const { why, advice, confidence, uncertain, detector } = verdict
  return {
    why,
    advice,
    confidence,
    drift_probability: verdict.drift_probability ?? null,
    uncertain,
    detector,
    evidence: verdict.evidence ?? null,
    words: verdict.words ?? null,
    swap: verdict.swap ?? null,
    act: verdict.act ?? null,
    stands_on: verdict.stands_on ?? null,
    coverage: verdict.coverage ?? null,
    parent_overlap: verdict.parent_overlap ?? null,
    repetition: verdict.repetition ?? null,
    distance_reported: distanceReported,
    host: observation?.host ?? null,
    goal_source: observation?.goalSource ?? null,
    acts: observation?.acts ?? null,
    failed_acts: observation?.failedActs ?? null,
    doing: observation?.doing ?? null,
    act_evidence: observation?.actEvidence ?? null,
    unattended_ms: unattendedMs,
  }
}

/** Reads a kept verdict; every part is null for a step that was stored without one. */
export function readKept(text: string | null): {
  [Part in keyof KeptVerdict]: KeptVerdict[Part] | null
} {
  const kept = text === null ? null : (parseJson(text) as Partial<KeptVerdict> | null | undefined)
  return { ...nothingKept, ...kept }
}

const nothingKept = {
  why: null,
  advice: null,
  confidence: null,
  drift_probability: null,
  uncertain: null,
  detector: null,
  evidence: null,
  words: null,
  swap: null,
  act: null,
  stands_on: null,
  coverage: null,
  parent_overlap: null,
  repetition: null,
  distance_reported: null,
  host: null,
  goal_source: null,
  acts: null,
  failed_acts: null,
  doing: null,
  act_evidence: null,
  unattended_ms: null,
}
