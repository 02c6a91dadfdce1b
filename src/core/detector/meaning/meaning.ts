import { two } from '../../figures.ts'
import { goalFloor } from '../contract/constants.ts'
import type { Compared, Detector } from '../contract/detector.ts'
import {
  type Errand,
  newErrand,
  readErrand,
  restates,
  withAccepted,
  withParent,
  withPlan,
} from './errand.ts'
import type { Seen } from './evidence.ts'
import {
  acceptBelow,
  driftProbabilityAt,
  hardScore,
  limits,
  nearest,
  restatedScore,
  scoreStep,
  scoreTexts,
  uncertainAbove,
  type Weighed,
  weigh,
  weights,
} from './evidence.ts'
import { takeHints } from './hints.ts'
import { isOverride } from './injection.ts'
import { scorePair } from './score.ts'
import { deniedIn, keysOf, readSlots } from './slot-text.ts'
import { compareSlots, deniedVerb, type SlotDifference } from './slots.ts'
import { type ReadText, readText, saysTheSame, slotsOf } from './texts.ts'
import { explainStep } from './why.ts'

const leastFrameOverlap = 0.1

/**
 * Judges by meaning: a small built-in model scores the goal against the ground and the other trusted
 * texts, and evidence adds up over the steps. Identifiers and opposites are compared slot by slot. Texts
 * that the model cannot read are uncertain, never drift.
 */
export const meaning: Detector = {
  asPublished: false,
  start: (_ground, plan) => newErrand(plan),
  // Evidence from before the user has spoken is reset: the user has seen it.
  heard: (own) => ({ ...readErrand(own), evidence: 0, lasting: 0, alarmed: false }),
  measure(compared, own) {
    const before = errandBefore(compared, readErrand(own))
    const ground = readText(compared.ground.goal)
    const goal = readText(compared.goal)
    const hinted = takeHints(look(compared, before, ground, goal), compared, ground, goal)
    const { seen } = hinted
    const parent = compared.parent === null ? null : readText(compared.parent)
    const parentScore = parent === null ? null : scoreParent(compared, before, ground, parent)
    const parentServes =
      parent !== null && parentScore !== null && parentScore < 0 && serves(parent, goal, seen)
    const weighed = weigh(before, parentServes ? Math.min(0, seen.score) : seen.score)
    const drifts = weighed.evidence >= weighed.limit
    const share = weighed.evidence / weighed.limit
    const accepts = isAccepted(seen, compared.begins) && !drifts
    const after = errandAfter(before, seen, weighed, drifts)
    return {
      displacement: seen.kind === 'restated' ? 0 : squashed(seen.score),
      left: drifts || (parentServes && seen.score > 0),
      parentServes,
      driftProbability: surelyOf(seen.kind) ?? driftProbabilityAt(share),
      uncertain: !drifts && isUncertain(seen) && !hinted.isSettled,
      figure: `evidence ${two(weighed.evidence)} of ${two(weighed.limit)}`,
      parentFigure: `scores ${two(parentScore ?? 0)} for drift against the ground and what is trusted`,
      why: explainStep({
        compared,
        seen,
        hints: hinted.told,
        weighed,
        drifts,
        parentScore,
        returned: before.alarmed,
      }),
      score: squashed(share),
      own: kept(after, accepts ? goal : null, parentServes ? parent : null),
      adaptation: hinted.adaptation,
    }
  },
}

function errandBefore({ plan, userTurn }: Compared, errand: Errand): Errand {
  return plan === null ? errand : withPlan(errand, plan, userTurn)
}

function look(compared: Compared, errand: Errand, ground: ReadText, goal: ReadText): Seen {
  if (saysTheSame(goal, ground)) return { kind: 'restated', score: restatedScore, told: '' }
  if (errand.plan.some((item) => restates(goal, readText(item)))) {
    return { kind: 'restated', score: restatedScore, told: 'It restates an item of the plan.' }
  }
  if (isOverride(goal.text, ground.text)) {
    return { kind: 'override', score: hardScore, told: 'It says to set the instructions aside.' }
  }
  const slot = differenceOf(compared, errand, ground, goal)
  if (slot?.hard) return { kind: 'hard', score: hardScore, told: slot.told }
  const isReadable = ground.isKnown && goal.isKnown
  const score = scoreStep(errand, ground, goal)
  if (slot !== null) return { kind: 'slot', score: halved(score), told: slot.told }
  if (isReadable) return { kind: 'scored', score, told: '' }
  if (compared.overlap >= goalFloor)
    return { kind: 'lexical', score: Math.min(score, -1), told: '' }
  return { kind: 'unreadable', score: halved(score), told: '' }
}

function differenceOf(
  { overlap }: Compared,
  errand: Errand,
  ground: ReadText,
  goal: ReadText,
): SlotDifference | null {
  const denies = deniedIn(slotsOf(ground)).size > 0
  // Texts of one frame share words; most steps do not, and are not cut for the comparison.
  if (!denies && overlap < leastFrameOverlap) return null
  // Computed once for each goal, unlike for grounds.
  const slots = readSlots(goal.text)
  const denied = denies ? deniedVerb(slotsOf(ground), slots) : null
  if (denied !== null || overlap < leastFrameOverlap) return denied
  return compareSlots(slotsOf(ground), slots, (key) => isTrusted(key, errand, ground))
}

/** If something else is in doubt, the score counts half for the errand and not against it. */
function halved(score: number): number {
  return Math.min(0, Math.round(score * 512) / 1024)
}

/** Whether the errand or a trusted sub-goal names it. */
function isTrusted(key: string, { plan, parents }: Errand, ground: ReadText): boolean {
  if (keysOf(slotsOf(ground)).has(key)) return true
  const names = (text: string) => keysOf(slotsOf(readText(text))).has(key)
  return plan.some(names) || parents.some(names)
}

/** The score of a declared parent against the errand; below 0 it belongs to it. */
function scoreParent(
  { parentOverlap }: Compared,
  { plan, parents, accepted }: Errand,
  ground: ReadText,
  parent: ReadText,
): number {
  if (saysTheSame(parent, ground)) return restatedScore
  const lexical = (parentOverlap ?? 0) >= goalFloor ? -1 : 1
  if (!parent.isKnown || !ground.isKnown) return lexical
  const score = Math.min(
    scoreTexts(ground, parent),
    nearest([...plan, ...parents, ...accepted], parent),
  )
  return Math.min(score, lexical === -1 ? lexical : score)
}

/** A parent speaks for a step that has to do with it, and for none that is another errand by itself. */
function serves(parent: ReadText, goal: ReadText, { kind }: Seen): boolean {
  if (kind === 'hard' || kind === 'override') return false
  if (!parent.isKnown || !goal.isKnown) return true
  return scorePair(parent.meaning, goal.meaning) * (1 + weights.newest) < limits.alone
}

function errandAfter(
  errand: Errand,
  seen: Seen,
  { sum, lasting }: Weighed,
  alarmed: boolean,
): Errand {
  const isPlanned = errand.plan.length > 0
  const onPlan = seen.kind === 'restated' && seen.told !== ''
  return {
    ...errand,
    evidence: sum,
    lasting,
    // Drifting steps say nothing about how the plan was kept before.
    planSteps: errand.planSteps + (isPlanned && !alarmed ? 1 : 0),
    planRestated: errand.planRestated + (onPlan ? 1 : 0),
    alarmed: alarmed || (errand.alarmed && seen.score > 0),
  }
}

/**
 * Whether a goal joins the accepted ones. A new ground comes with its first goal, which therefore counts
 * as part of it even if its words do not show that.
 */
function isAccepted({ kind, score }: Seen, begins: boolean): boolean {
  return score < acceptBelow || (begins && kind === 'scored')
}

function kept(errand: Errand, goal: ReadText | null, parent: ReadText | null): Errand {
  const accepting = goal === null ? errand : withAccepted(errand, goal)
  return parent === null ? accepting : withParent(accepting, parent)
}

function isUncertain({ kind, score }: Seen): boolean {
  return kind === 'unreadable' || kind === 'slot' || score > uncertainAbove
}

/**
 * The probability of drift where it does not rest on the evidence: on the development data one hard
 * difference in 10,000 on-errand goals was found, and a goal that restates the errand is no other.
 */
function surelyOf(kind: Seen['kind']): number | null {
  if (kind === 'restated') return 0.01
  return kind === 'hard' || kind === 'override' ? 0.95 : null
}

/** Maps a number to 0–1, with 0 at one half. */
function squashed(value: number): number {
  return 0.5 + (0.5 * value) / (1 + Math.abs(value))
}
