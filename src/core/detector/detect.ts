import { rounded } from '../figures.ts'
import { advise } from './advice.ts'
import { standingTexts } from './assignment.ts'
import { confidenceIn } from './confidence.ts'
import { phiWeights } from './contract/constants.ts'
import type { Detector, DetectorName, Ground, Measured } from './contract/detector.ts'
import type { Act, Coverage, Evidence, SharedWords, StandsOn, Swap } from './contract/findings.ts'
import { detectors } from './detectors.ts'
import { assignmentOf, readTurn, type Turn } from './ground.ts'
import { type Judgment, judge } from './judgment.ts'
import { frozen, type Memory, withAdaptation } from './memory.ts'
import { measureNearest } from './nearest.ts'
import { hasFallenSince, newPace, wouldStall } from './pace.ts'
import { record, standsStill } from './record.ts'
import { type Reason, ruleFor } from './rules.ts'
import { spell } from './spelling.ts'
import { type Hints, type Reading, readStep, type SeenActs, type Step } from './step.ts'
import { timesOfNewest } from './tally.ts'
import type { UserEffect } from './user/effects.ts'
import { explain } from './why.ts'
import { overlapOf } from './words/compare.ts'

/**
 * The verdict on one step, as it goes over the wire. Scores are rounded to two decimals.
 *
 * @example
 * ```ts
 * import { detect, newMemory, type Verdict } from 'plumbline/detector'
 *
 * const tell = ({ drifting, uncertain, reason }: Verdict) =>
 *   `${drifting ? 'drifting' : uncertain ? 'uncertain' : 'on the errand'}: ${reason}`
 *
 * const step = { goal: 'refund order 1234', progress: 'advancing', distance: 5 }
 * const { memory, verdict } = detect(newMemory('meaning'), step)
 * console.log(tell(verdict)) // → on the errand: grounded
 * console.log(tell(detect(memory, { ...step, goal: 'refund order 9876' }).verdict)) // → drifting: goal-drift
 * ```
 */
export interface Verdict {
  /** The trimmed goal. */
  goal: string
  progress: string
  /** 0–10. */
  distance: number
  /** Whether the step counts as drift. */
  drifting: boolean
  reason: Reason
  /** Displacement from the ground, 0–1. */
  phi: number
  /** The measured facts and their possible meaning, for the agent. */
  advice: string
  /** The canonical spelling of the step; null if it is ungrammatical. */
  svcscore: string | null
  /** The ground of the run; null before there is one. */
  ground: string | null
  /** Jaccard overlap of the goal with the ground, 0–1. */
  goal_score: number
  /** The stable id of the goal's words; null for a goal without words. */
  context: string | null
  /** How often the run has had this spelling; absent the first time. */
  repetition?: number
  /** Absent unless a judgment applies, from the third step on. */
  judgment?: Judgment
  /** Jaccard overlap of the declared parent with the ground, 0–1; absent without a parent. */
  parent_overlap?: number
  /** The detector that judged the step. */
  detector: DetectorName
  /** Probability that `drifting` is right, 0–1. */
  confidence: number
  /** Whether the texts say too little to decide. Such a step is never drifting. */
  uncertain: boolean
  /** The deciding numbers, in one sentence. */
  why: string
  /** What the message of the user did to the assignment; absent without a message. */
  user_effect?: UserEffect
  /** The version of the personal table that was used; absent without one. */
  adaptation?: string
  /**
   * Probability that the step is drift, 0–1. Absent under the published rules, as the fields after it are;
   * those are null for a step that had nothing to be measured against.
   */
  drift_probability?: number
  evidence?: Evidence | null
  words?: SharedWords | null
  swap?: Swap | null
  act?: Act | null
  stands_on?: StandsOn | null
  coverage?: Coverage | null
}

/**
 * The result of `detect`: the verdict and the memory for the next step.
 *
 * @example
 * ```ts
 * import { type Detected, detect, newMemory } from 'plumbline/detector'
 *
 * const goals = ['book a flight to Rome', 'compare flights to Rome', 'bake a cake']
 * const judged: Detected[] = []
 * let memory = newMemory('overlap')
 * for (const goal of goals) {
 *   const detected = detect(memory, { goal, progress: 'advancing', distance: 5 })
 *   memory = detected.memory
 *   judged.push(detected)
 * }
 * console.log(judged.map(({ verdict }) => verdict.drifting).join(' ')) // → false false true
 * ```
 */
export interface Detected {
  verdict: Verdict
  /** The memory for the next step of the run. */
  memory: Memory
  /** Evidence of drift for ranking steps, 0–1, unrounded. */
  score: number
}

/**
 * Judges one step of a run: `(memory, step) → (verdict, memory)`. Pure and deterministic; the cost depends
 * only on the length of the texts, not on the length of the run. Never throws.
 *
 * @example
 * ```ts
 * import { detect, newMemory } from 'plumbline/detector'
 *
 * const first = detect(newMemory('meaning'), {
 *   goal: 'add rate limiting to the login endpoint',
 *   progress: 'advancing',
 *   distance: 8,
 * })
 * console.log(first.verdict.reason) // → grounded
 *
 * const next = detect(first.memory, {
 *   goal: 'remove rate limiting from the login endpoint',
 *   progress: 'advancing',
 *   distance: 8,
 * })
 * console.log(next.verdict.reason) // → goal-drift
 * console.log(next.verdict.drifting) // → true
 * ```
 */
export function detect(memory: Memory, step: Step): Detected {
  return detectReading(memory, readStep(step), step)
}

/** As `detect`, for a step whose texts are read already. */
export function detectReading(memory: Memory, reading: Reading, hints: Hints): Detected {
  const { goal, progress, distance, spelled, words, context, parent, parentWords } = reading

  const detector: Detector = detectors[memory.detector]
  const turn = readTurn(memory, reading, detector, hints)
  const begins = turn.moved !== null && !turn.keeps
  const grounded = turn.grounds
  // The user's own words are no goal of the agent: they are neither measured nor recorded as one.
  const onlySays = turn.effect === 'none' && goal === reading.message && memory.ground !== null
  const acts = detector.asPublished ? null : reading.acts
  // What is told of an agent whose words are kept back: its acts count, and there is no goal to measure.
  const isWordless = acts !== null && words.length === 0 && spelled && !grounded && !onlySays
  const paces = detector.asPublished || (reading.distanceReported && acts === null)
  const before = afterTurn(memory, turn, reading, detector)
  const { ground } = before

  const overlap = ground === null ? 1 : overlapOf(words, ground.words)
  const parentOverlap =
    parentWords === null || ground === null ? null : overlapOf(parentWords, ground.words)
  const measured: Measured | null =
    ground === null || !spelled || grounded || onlySays || isWordless
      ? null
      : measureNearest(
          detector,
          {
            goal,
            words,
            userTurn: turn.speaks,
            begins,
            plan: begins ? null : reading.plan,
            isOwnPlan: reading.isOwnPlan,
            ground,
            assignment: standingTexts(assignmentOf(before)),
            overlap,
            parent,
            parentOverlap,
            adaptation: hints.adaptation ?? null,
            similarity: hints.similarity ?? null,
            reads: hints.reads ?? null,
            limit: hints.limit ?? null,
          },
          before.own,
        )
  const phi =
    measured === null || ground === null ? 0 : phiOf(measured.displacement, reading, ground)

  const stands = detector.asPublished
    ? standsStill(before.accepted, distance)
    : acts?.gives === 'stalled' || (paces && wouldStall(before.pace ?? newPace, distance))
  const situation = {
    spelled,
    grounded,
    progress,
    phi,
    left: measured !== null && (measured.left || actsTell(measured, acts)),
    parentServes: measured?.parentServes ?? false,
    stands,
    drifted: before.drifted,
    stallDrifts: detector.asPublished ? before.drifted : measured?.leans === true,
  }
  const rule = ruleFor(situation)
  const after =
    onlySays || isWordless
      ? { ...before, steps: before.steps + 1 }
      : record(before, reading, rule, measured?.own ?? before.own, paces, detector.asPublished)

  // A cycle overrides the reason of the rule once; the memory records the reason of the rule.
  const cycleBegins =
    acts === null
      ? after.cycles > before.cycles &&
        (detector.asPublished || leadsNowhere(before, after, paces ? distance : null, measured))
      : acts.gives === 'oscillating' && !grounded
  const reason = cycleBegins ? 'oscillating' : rule.reason
  const drifting = cycleBegins || rule.drifting(situation)
  const wordless = words.length === 0 || ground?.words.length === 0
  const driftProbability = wordless ? null : (measured?.driftProbability ?? 0)
  const told = {
    reading,
    situation,
    onlySays,
    isWordless,
    memory: after,
    measured,
    overlap,
    parentOverlap,
    drifting,
  }

  const verdict: Verdict = {
    goal,
    progress,
    distance,
    drifting,
    reason,
    phi: rounded(phi),
    advice: advise(reason, told),
    svcscore: spelled ? spell(words, progress, distance, parentWords) : null,
    ground: ground?.goal ?? null,
    goal_score: ground?.words.length === 0 ? 1 : rounded(overlap),
    context,
    detector: memory.detector,
    confidence: rounded(confidenceIn(reason, drifting, driftProbability)),
    uncertain: !drifting && (wordless || measured?.uncertain === true),
    why: explain(reason, told),
  }
  const repetition = spelled && !onlySays && !isWordless ? timesOfNewest(after.spellings).times : 0
  if (repetition > 1) verdict.repetition = repetition
  const isPaced = detector.asPublished || after.reported.count > 1
  if (turn.effect !== null) verdict.user_effect = turn.effect
  const judgment =
    onlySays || isWordless ? null : judge(after, before.cycles, hints.earlier ?? null, isPaced)
  if (judgment !== null) verdict.judgment = judgment
  if (parentOverlap !== null) verdict.parent_overlap = rounded(parentOverlap)
  const adaptation = measured?.adaptation ?? null
  if (adaptation !== null) verdict.adaptation = adaptation
  if (!detector.asPublished) {
    const { confidence } = verdict
    verdict.drift_probability = drifting ? confidence : rounded(1 - confidence)
    Object.assign(verdict, measured?.findings ?? nothingFound)
    if (isWordless) verdict.coverage = 'none'
  }
  return {
    verdict,
    memory: withAdaptation(after, adaptation, measured !== null),
    score: measured?.score ?? (drifting ? 1 : 0),
  }
}

/**
 * Whether the acts settle a step that the words leave uncertain just below the limit: hardly any of them shares a word
 * or a place with the errand.
 */
function actsTell({ uncertain, findings }: Measured, acts: SeenActs | null): boolean {
  if (acts?.isUnexplained !== true || !uncertain || findings?.evidence == null) return false
  const { sum, limit } = findings.evidence
  return sum >= nearLimit * limit
}

/** Share of the limit from which acts that nothing explains make an uncertain step drift. */
const nearLimit = 0.85

/** The memory after what the user has said, before the goal of the step is measured. */
function afterTurn(
  memory: Memory,
  { moved, keeps, speaks }: Turn,
  { plan, isOwnPlan, isUnsure }: Reading,
  detector: Detector,
): Memory {
  const own = speaks ? detector.heard(memory.own) : memory.own
  if (moved === null) return { ...memory, own }
  const after = frozen(memory, moved, keeps ? own : detector.start(moved.ground, plan, isOwnPlan))
  const { ground } = memory
  if (!isUnsure || ground === null) return after
  return { ...after, before: { ground, assignment: assignmentOf(memory) } }
}

/** 0.5 · goal + 0.3 · |distance moved| / 10 + 0.2 · (progress changed), each part 0–1. */
function phiOf(displacement: number, { distance, progress }: Reading, ground: Ground): number {
  const moved = Math.abs(distance - ground.distance) / 10
  const changed = progress === ground.progress ? 0 : 1
  return (
    phiWeights.goal * displacement + phiWeights.distance * moved + phiWeights.progress * changed
  )
}

/** The findings on a step that had nothing to be measured against. */
const nothingFound = {
  evidence: null,
  words: null,
  swap: null,
  act: null,
  stands_on: null,
  coverage: null,
}

/**
 * Whether a cycle means drift: the distance has not fallen since the same place of the cycle before, or the
 * step is off the ground if nobody reported the distance. Cycles such as test, fix, test again are normal
 * work.
 */
function leadsNowhere(
  before: Memory,
  { period }: Memory,
  distance: number | null,
  measured: Measured | null,
): boolean {
  const hasFallen =
    period === null ? null : hasFallenSince(before.pace ?? newPace, period, distance)
  return hasFallen === null ? measured === null || measured.displacement > 0.5 : !hasFallen
}
