import {
  cycleRange,
  distanceRange,
  goalFloor,
  judgmentLimits,
  normaliser,
  phiWeights,
  progressValues,
  rememberedSpellings,
  selfReportFloor,
  stallWindow,
} from '../detector/contract/constants.ts'
import { detectorNames } from '../detector/contract/detector.ts'
import { otherwise, rules } from '../detector/rules.ts'
import { evidenceKinds, evidenceLimits, evidenceVersion } from '../hosts/evidence.ts'
import { dialogueReasons, dialogueWindow, echoFloor, restatementFloor } from '../runs/dialogue.ts'
import { depths, modes, presets } from '../runs/modulation.ts'
import { causeClaims, observations } from './claims.ts'

/** The version of the grammar's shape. */
export const grammarVersion = '1'

/**
 * Describes the detector as plain JSON from the constants that it uses, so that the two cannot disagree.
 * The rules are listed in the order of their checks.
 */
export function describeGrammar(): Record<string, unknown> {
  return {
    version: grammarVersion,
    immutable: true,
    detectors: detectorNames,
    fields: {
      goal: 'What the agent is doing now, a text.',
      progress: `One of ${progressValues.join(', ')}; anything else is ungrammatical.`,
      distance: `How far from done, ${distanceRange.min} to ${distanceRange.max}.`,
      parent_goal: 'The goal this one is declared to be a part of.',
      doing: 'What the agent is doing, in a sentence.',
      next: 'What comes next.',
      blocked: 'What is in the way.',
    },
    measured: ['goal', 'progress', 'distance'],
    carried: ['doing', 'next', 'blocked', 'parent_goal'],
    progress_enum: progressValues,
    distance: { ...distanceRange, reading: 'base-10 integer of the text form, clamped' },
    normaliser: {
      order: ['lower case', 'tokens', 'stop words dropped', 'stem', 'set, sorted by code unit'],
      token_pattern: normaliser.tokenPattern,
      stopwords: normaliser.stopWords,
      stem_min_length: normaliser.stemMinLength,
      stem_pattern: normaliser.stemPattern,
      stem_rule: `one ending that matches is cut from a word of at least ${normaliser.stemMinLength} characters`,
      beyond_ascii:
        'NFC; letters and digits of every script; scripts without spaces as overlapping pairs of characters',
    },
    spelling: {
      form: '⟨sorted|words⟩ progress dN',
      parent: ' ⊂ ⟨parent|words⟩, when one was declared',
      context: "'ctx_' and the base-36 of the 32-bit FNV-1a hash over the words joined by |",
      remembered: rememberedSpellings,
    },
    phi: {
      formula:
        'goal · displacement + distance · |distance − ground distance| / 10 + progress · (progress ≠ ground progress)',
      weights: phiWeights,
      displacement: { overlap: '1 − Jaccard overlap of the words', meaning: 'the model’s, 0 to 1' },
    },
    thresholds: {
      goal_floor: goalFloor,
      self_report_floor: selfReportFloor,
      stall_window: stallWindow,
      cycle: cycleRange,
      echo_floor: echoFloor,
      restatement_floor: restatementFloor,
      dialogue_window: dialogueWindow,
    },
    reasons: [...rules, otherwise].map(({ reason, recordsDrift, acceptsDistance }) => ({
      reason,
      records_drift: recordsDrift,
      accepts_distance: acceptsDistance,
    })),
    overlays: ['oscillating'],
    act_evidence: { version: evidenceVersion, gives: evidenceKinds, limits: evidenceLimits },
    dialogue_reasons: dialogueReasons,
    judgments: {
      order: ['abandon', 'wrong-problem', 'repeating', 'narrow'],
      limits: judgmentLimits,
    },
    modulation: { modes, depths, presets },
    word_lists: { cause_claims: causeClaims, observations },
  }
}
