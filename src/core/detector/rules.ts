import { progressValues, selfReportFloor } from './contract/constants.ts'

/** The measurements that the rules use. */
export interface Situation {
  /** Whether the goal is not blank and the progress is one of the three values. */
  spelled: boolean
  /** Whether this step's goal was just frozen as the ground. */
  grounded: boolean
  progress: string
  /** 0–1, unrounded. */
  phi: number
  /** Whether the goal has left the ground, and whether its declared parent still serves it. */
  left: boolean
  parentServes: boolean
  /** Whether the distances stand still, including this step's. */
  stands: boolean
  /** Whether the previous step was recorded with a drift reason. */
  drifted: boolean
  /** Whether a stall would count as drift, beside what else was found. */
  stallDrifts: boolean
}

/** One reason and when it applies. */
export interface Rule {
  reason: Reason
  applies(situation: Situation): boolean
  /** Whether the step counts as drifting. */
  drifting(situation: Situation): boolean
  /** Whether the next step sees this one as drift, drifting or not. */
  recordsDrift: boolean
  /** Whether the step's distance counts for pace and stalls. */
  acceptsDistance: boolean
}

/** Why a step got its verdict. */
export type Reason =
  | 'ungrammatical'
  | 'grounded'
  | 'self-report:stuck'
  | 'self-report:circling'
  | 'excursion'
  | 'goal-drift'
  | 'stalled'
  | 'advancing'
  | 'oscillating'

const always = () => true
const never = () => false
const onRepeat = (situation: Situation) => situation.drifted

/** The rules in order; the first applicable rule gives the reason. */
export const rules: readonly Rule[] = [
  {
    reason: 'ungrammatical',
    applies: (s) => !s.spelled,
    drifting: always,
    recordsDrift: true,
    acceptsDistance: false,
  },
  {
    reason: 'grounded',
    applies: (s) => s.grounded,
    drifting: never,
    recordsDrift: false,
    acceptsDistance: true,
  },
  {
    reason: 'self-report:stuck',
    applies: (s) => s.progress === 'stuck' && s.phi > selfReportFloor,
    drifting: onRepeat,
    recordsDrift: true,
    acceptsDistance: false,
  },
  {
    reason: 'self-report:circling',
    applies: (s) => s.progress === 'circling' && s.phi > selfReportFloor,
    drifting: onRepeat,
    recordsDrift: true,
    acceptsDistance: false,
  },
  {
    reason: 'excursion',
    applies: (s) => s.left && s.parentServes,
    drifting: never,
    recordsDrift: false,
    acceptsDistance: false,
  },
  {
    reason: 'goal-drift',
    applies: (s) => s.left,
    drifting: always,
    recordsDrift: true,
    acceptsDistance: false,
  },
  {
    reason: 'stalled',
    applies: (s) => s.stands,
    drifting: (s) => s.stallDrifts,
    recordsDrift: true,
    acceptsDistance: true,
  },
]

/** The rule when no other applies. */
export const otherwise: Rule = {
  reason: 'advancing',
  applies: always,
  drifting: never,
  recordsDrift: false,
  acceptsDistance: true,
}

/** The first rule that applies; `advancing` when none does. */
export function ruleFor(situation: Situation): Rule {
  return rules.find((rule) => rule.applies(situation)) ?? otherwise
}

/** Whether a step can be spelled: its goal is not blank and its progress is one of the three values. */
export function isSpelled(goal: string, progress: string): boolean {
  return goal.trim() !== '' && (progressValues as readonly string[]).includes(progress)
}
