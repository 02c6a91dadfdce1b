import { rounded } from '../../figures.ts'
import { goalFloor } from '../contract/constants.ts'
import type { Compared, Detector } from '../contract/detector.ts'
import type { Coverage } from '../contract/findings.ts'
import { plainErrand, plainGoal } from '../exact/plain.ts'
import { readExactly } from '../exact/reading.ts'
import { signOf } from '../exact/swaps.ts'
import { readSequence, type Sequence, scoreRead } from './encoded.ts'
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
  actWeight,
  hardScore,
  nearest,
  restatedScore,
  scoreStep,
  scoreTexts,
  sequenceShares,
  uncertainAbove,
  type Weighed,
  weigh,
} from './evidence.ts'
import { takeHints } from './hints.ts'
import { isOverride } from './injection.ts'
import { languageOf } from './languages.ts'
import { halfOfLimit, isProof, probabilityOf } from './probability.ts'
import { coverage, scorePair } from './score.ts'
import { restatesSentence } from './sentences.ts'
import { asSaid, overlapWithoutParticles, shareWords } from './shared-words.ts'
import { deniedIn, keysOf, readSlots } from './slot-text.ts'
import { compareSlots, deniedVerb, type SlotDifference } from './slots.ts'
import { standsOn } from './stands-on.ts'
import { type ReadText, readText, saysTheSame, slotsOf } from './texts.ts'
import { explainStep, type ParentFound, sharedTold } from './why.ts'

const leastFrameOverlap = 0.1
/** Overlap of a parent with the ground from which on it only repeats it, 0–1. */
const repeatsFrom = 0.75
/** The least score of a step that is drift at any limit, 0–1. */
const hardRank = 0.995
const restatesPlan = 'It restates an item of the plan.'
/** Shares of known words from which on a text counts as known in part, and in whole. */
const someCoverage = 0.5
const fullCoverage = 0.8

/**
 * Judges by meaning: a small built-in model scores the goal against the ground and the other trusted
 * texts, and evidence adds up over the steps. Identifiers and opposites are compared slot by slot. Texts
 * that the model cannot read are uncertain, never drift.
 */
export const meaning: Detector = {
  asPublished: false,
  start: (_ground, plan, isOwnPlan) => newErrand(plan, isOwnPlan),
  // Evidence from before the user has spoken is reset: the user has seen it.
  heard(own) {
    const errand = readErrand(own)
    const calm = { ...errand, evidence: 0, lasting: 0, alarmed: false, swap: null, act: false }
    // The steps of a drift tell nothing of what the user wants now.
    return errand.alarmed && errand.read !== undefined ? { ...calm, read: [] } : calm
  },
  measure(given, own) {
    const before = errandBefore(given, readErrand(own))
    const [plainGround, plain] = [plainErrand(given.ground.goal), plainGoal(given.goal)]
    const compared = asSaid(given, plainGround, plain)
    const ground = readText(plainGround)
    const goal = readText(plain)
    const hinted = takeHints(look(compared, before, ground, goal), compared, ground, goal)
    const { seen } = hinted
    const parent = compared.parent === null ? null : readText(compared.parent)
    const claim = parent === null ? null : weighClaim(compared, before, ground, goal, parent, seen)
    const parentServes = claim?.found === 'serves'
    const times = compared.limit === null ? 1 : shareAt(compared.limit)
    const score = Math.min(seen.score, claim?.score ?? seen.score)
    const sequence = readSequence(compared.reads, before.read ?? [], ground, goal, before.ownPlan)
    const ofSequence = seen.kind === 'scored' ? sequence : null
    const weighed = weigh(
      before,
      score,
      times,
      ofSequence === null ? null : ofSequence.evidence + score - ofSequence.score,
    )
    const { share } = weighed
    const drifts = share >= times || isHard(seen)
    // Nobody asked for the act, however near the words and the embeddings are.
    const unsettled =
      seen.act !== undefined ||
      (!hinted.isSettled &&
        (ofSequence === null ? isUncertain(seen) : share > sequenceShares.uncertain))
    const isBack =
      hinted.isSettled ||
      (ofSequence === null
        ? seen.score < acceptBelow && (!isUncertain(seen) || isNearWording(seen))
        : share < sequenceShares.ends)
    const continues = !drifts && before.alarmed && !parentServes && !isBack
    const left = drifts || continues
    // A step that only leans to the errand ends no drift: it has to be seen there.
    const isAstray = left || (before.alarmed && !parentServes && unsettled && !isNearWording(seen))
    const accepts = isAccepted(seen) && !left
    const words = shareWords(compared)
    const languagesDiffer = differInLanguage(before, ground, goal, seen)
    const after = errandAfter(before, seen, weighed, isAstray, sequence)
    return {
      displacement: seen.kind === 'restated' ? 0 : squashed(seen.score),
      left: left || (parentServes && seen.score > 0),
      parentServes,
      driftProbability: probabilityOf(seen, share, unsettled, continues, ofSequence !== null),
      uncertain: !left && unsettled,
      leans: share > halfOfLimit,
      figure: sharedTold(words),
      parentFigure: claim?.found === 'far' ? 'is not near the ground either' : 'does not cover it',
      why: explainStep({
        compared,
        words,
        seen,
        hints: hinted.told,
        weighed,
        hasBefore: (before.read ?? []).length > 0 || before.evidence > 0 || before.lasting > 0,
        drifts,
        isClear: !left && !unsettled,
        continues,
        parent: claim?.found ?? null,
        returned: before.alarmed && !isAstray,
        leans: isAstray && !left,
        languagesDiffer,
      }),
      findings: {
        evidence: {
          score: rounded(seen.score),
          sum: rounded(weighed.evidence),
          limit: rounded(weighed.limit),
        },
        words,
        swap: seen.swap ?? null,
        act: seen.act ?? null,
        stands_on: standsOn(before, ground, goal, parent),
        coverage: coverageOf(ground, goal),
      },
      score: isHard(seen) ? Math.max(hardRank, squashed(share)) : squashed(share),
      own: {
        ...kept(after, accepts ? goal : null, parentServes ? parent : null),
        ...(languagesDiffer ? { languagesTold: true } : {}),
      },
      adaptation: hinted.adaptation,
    }
  },
}

function errandBefore({ plan, isOwnPlan, userTurn }: Compared, errand: Errand): Errand {
  return plan === null ? errand : withPlan(errand, plan, userTurn && !isOwnPlan)
}

function look(compared: Compared, errand: Errand, ground: ReadText, goal: ReadText): Seen {
  if (saysTheSame(goal, ground)) return { kind: 'restated', score: restatedScore, told: '' }
  if (errand.plan.some((item) => restates(goal, readText(item)))) {
    return { kind: 'restated', score: restatedScore, told: restatesPlan }
  }
  if (restatesSentence(ground, goal)) {
    return {
      kind: 'restated',
      score: restatedScore,
      told: 'The goal restates a part of the ground.',
    }
  }
  if (isOverride(goal.text, ground.text)) {
    return { kind: 'override', score: hardScore, told: 'It says to set the instructions aside.' }
  }
  const slot = differenceOf(compared, errand, ground, goal)
  const exact = readExactly(compared.assignment, [...errand.plan, ...errand.parents], goal.text)
  if (slot?.hard) {
    const hard: Seen = { kind: 'hard', score: hardScore, told: slot.told }
    return exact.swap === null ? hard : { ...hard, swap: exact.swap.swap }
  }
  if (exact.forbidden !== null) {
    const told = `The ground says "${exact.forbidden.ground}", but the goal does "${exact.forbidden.goal}".`
    return { kind: 'forbidden', score: hardScore, told, swap: exact.forbidden }
  }
  const areKnown = ground.isKnown && goal.isKnown
  const read = scoreRead(compared.reads, ground, goal)
  // If the words are not known, the encoder is trusted only where it speaks for the step.
  const isReadable = areKnown || (read !== null && read < acceptBelow)
  const score = read ?? scoreStep(errand, ground, goal)
  if (exact.swap !== null) {
    const { swap, isSure } = exact.swap
    const told = `The ground says "${swap.ground}", but the goal "${swap.goal}".`
    if (!isSure) return { kind: 'slot', score: halved(score), told, swap }
    const repeats = errand.swap === signOf(swap)
    return { kind: 'swap', score: repeats ? hardScore : halved(score), told, swap }
  }
  if (exact.act !== null) {
    if (errand.act === true) {
      const told = `Nobody asked for "${exact.act.text}", nor for the act before it.`
      return { kind: 'acts', score: hardScore, told, act: exact.act }
    }
    const told = `Nobody asked for "${exact.act.text}".`
    return { kind: 'scored', score: Math.max(0, score) + actWeight, told, act: exact.act }
  }
  if (slot !== null) return { kind: 'slot', score: halved(score), told: slot.told }
  if (isReadable) return { kind: 'scored', score, told: '' }
  if (overlapWithoutParticles(compared) >= goalFloor)
    return { kind: 'lexical', score: Math.min(score, -1), told: '' }
  return { kind: 'unreadable', score: read ?? halved(score), told: '' }
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

/**
 * How a declared parent counts. It is a claim of the agent: it covers a step only as far as it is near the
 * errand itself and the step fits it. A parent that repeats the ground adds nothing.
 */
function weighClaim(
  compared: Compared,
  errand: Errand,
  ground: ReadText,
  goal: ReadText,
  parent: ReadText,
  { kind }: Seen,
): { found: ParentFound; score: number | null } {
  if (saysTheSame(parent, ground) || (compared.parentOverlap ?? 0) >= repeatsFrom) {
    return { found: 'repeats', score: null }
  }
  const near = scoreParent(compared, errand, ground, parent)
  if (near >= acceptBelow) return { found: 'far', score: null }
  if (isProof(kind)) {
    return { found: 'unfit', score: null }
  }
  const areKnown = parent.isKnown && goal.isKnown
  const fit = areKnown ? scorePair(parent.meaning, goal.meaning) : 0
  return fit > uncertainAbove
    ? { found: 'unfit', score: null }
    : { found: 'serves', score: Math.max(near, fit) }
}

/** The score of a declared parent against ground and plan; below 0 it belongs to them. */
function scoreParent(
  { parentOverlap }: Compared,
  { plan }: Errand,
  ground: ReadText,
  parent: ReadText,
): number {
  const lexical = (parentOverlap ?? 0) >= goalFloor ? -1 : 1
  if (!parent.isKnown || !ground.isKnown) return lexical
  const score = Math.min(scoreTexts(ground, parent), nearest(plan, parent))
  return Math.min(score, lexical === -1 ? lexical : score)
}

/** Whether ground and goal are in two known languages, and no earlier step has said so. */
function differInLanguage(
  { languagesTold }: Errand,
  ground: ReadText,
  goal: ReadText,
  { kind }: Seen,
): boolean {
  if (languagesTold === true || kind === 'restated') return false
  const [one, other] = [languageOf(ground.text), languageOf(goal.text)]
  return one !== null && other !== null && one !== other
}

function coverageOf(ground: ReadText, goal: ReadText): Coverage {
  const known = Math.min(coverage(ground.meaning), coverage(goal.meaning))
  if (known < someCoverage) return 'none'
  return known >= fullCoverage && ground.isKnown && goal.isKnown ? 'words' : 'partly'
}

function errandAfter(
  errand: Errand,
  seen: Seen,
  { sum, lasting }: Weighed,
  alarmed: boolean,
  sequence: Sequence | null,
): Errand {
  const isPlanned = errand.plan.length > 0
  const onPlan = seen.kind === 'restated' && seen.told === restatesPlan
  return {
    ...errand,
    evidence: sum,
    lasting,
    swap: seen.kind === 'swap' && seen.swap !== undefined ? signOf(seen.swap) : null,
    act: seen.act !== undefined,
    // Drifting steps say nothing about how the plan was kept before.
    planSteps: errand.planSteps + (isPlanned && !alarmed ? 1 : 0),
    planRestated: errand.planRestated + (onPlan ? 1 : 0),
    alarmed,
    ...(sequence === null ? {} : { read: sequence.after }),
  }
}

/**
 * Whether a goal joins the accepted ones. The first goal beside a ground in the user's words is a claim as
 * any other.
 */
function isAccepted({ score }: Seen): boolean {
  return score < acceptBelow
}

function kept(errand: Errand, goal: ReadText | null, parent: ReadText | null): Errand {
  const accepting = goal === null ? errand : withAccepted(errand, goal)
  return parent === null ? accepting : withParent(accepting, parent)
}

/** Nearly the wording of the ground, with other plain words: whatever it means, it is back at the errand. */
function isNearWording({ kind, swap }: Seen): boolean {
  return kind === 'slot' && swap === undefined
}

function isUncertain({ kind, score }: Seen): boolean {
  return kind === 'unreadable' || kind === 'slot' || kind === 'swap' || score > uncertainAbove
}

/** Whether a step is drift by itself, at any limit. */
function isHard({ kind, score }: Seen): boolean {
  return isProof(kind) || (kind === 'swap' && score === hardScore)
}

/** The share of the limit at a score: the inverse of `squashed`. */
function shareAt(score: number): number {
  return (2 * score - 1) / (2 * Math.min(score, 1 - score))
}

/** Maps a number to 0–1, with 0 at one half. */
function squashed(value: number): number {
  return 0.5 + (0.5 * value) / (1 + Math.abs(value))
}
