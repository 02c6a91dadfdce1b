import type { Adaptation } from './contract/adaptation.ts'
import type { Reads } from './contract/reads.ts'
import { isSpelled } from './rules.ts'
import { contextOf } from './spelling.ts'
import type { UserEffect } from './user/effects.ts'
import { wordsOf } from './words/words.ts'

/** Whether a number can be a limit: a step that is drift at any limit scores above all of them. */
export function isLimit(score: number): boolean {
  return score > 0 && score < 0.99
}

/** Evidence beside the texts of a step. */
export interface Hints {
  /** The totals of the owner's earlier runs in this context; undefined counts as none. */
  earlier?: EarlierRuns | undefined
  /** The personal table; a detector that uses it names its version. */
  adaptation?: Adaptation | undefined
  /**
   * How much nearer embeddings put the goal to the ground than to unrelated errands: 0 is no nearer, 1 is
   * the same text. It can only settle uncertainty or add evidence.
   */
  similarity?: number | undefined
  /** What an encoder has read of the texts; undefined without one. */
  reads?: Reads | undefined
  /**
   * The `score` above which a step is drift, above 0 and below 0.99; undefined for the built-in limit, which is
   * 0.75.
   */
  limit?: number | undefined
  /** When the step was reported, milliseconds since 1970; the assignment keeps it and no verdict uses it. */
  now?: number | undefined
}

/**
 * One report of an agent.
 *
 * @example
 * ```ts
 * import { detect, newMemory, type Step } from 'plumbline/detector'
 *
 * const steps: Step[] = [
 *   { goal: 'add rate limiting to the login endpoint', progress: 'advancing', distance: 9 },
 *   {
 *     goal: 'install the redis client',
 *     parentGoal: 'write a token bucket for the login endpoint',
 *     progress: 'advancing',
 *     distance: 7,
 *   },
 *   { goal: 'rename the login page', progress: 'advancing', distance: 9, userTurn: true },
 * ]
 * let memory = newMemory('meaning')
 * for (const step of steps) {
 *   const { verdict, memory: after } = detect(memory, step)
 *   memory = after
 *   console.log(verdict.reason)
 * }
 * // → grounded
 * // → excursion
 * // → grounded
 * console.log(memory.revision) // → 2
 * ```
 */
export interface Step extends Hints {
  goal: string
  /** `advancing`, `stuck` or `circling`; anything else makes the step ungrammatical. */
  progress: string
  /** 0–10, as the agent sees it. */
  distance: number
  /** False if nobody reported the distance. */
  distanceReported?: boolean
  /** The declared parent goal. */
  parentGoal?: string
  /** Whether the user has just spoken; only then can an existing ground change. */
  userTurn?: boolean
  /** The errand in the user's words; it becomes the ground on the first step or with a user turn. */
  ground?: string
  /** Declared sub-goals of the ground; a new plan replaces the old one. */
  plan?: readonly string[]
  /** Whether the plan is the agent's own: a claim, whatever it comes with. */
  isOwnPlan?: boolean
  /** What the user has just said, word for word. Its effect decides, and not `userTurn`. */
  userMessage?: string
  /** What the message does to the assignment; it is read out of the message if it is not given. */
  userEffect?: UserEffect
  /** Whether it is not known that a person spoke the message. */
  isUnsure?: boolean
  /**
   * What somebody who watches the acts of the agent has seen of them. With it, a stall or a loop comes from the acts,
   * and never from distances or goals; absent if nobody watches.
   */
  acts?: SeenActs
}

/** What the acts of an agent show, beside its goals. */
export interface SeenActs {
  /** The reason that they give a step; null if none. */
  gives: 'stalled' | 'oscillating' | null
  /** Whether too few of them share a word or a place with the errand. */
  isUnexplained: boolean
  /** The numbers behind it, in one sentence; '' if they show nothing. */
  says: string
}

/** A step with analysed texts, before any comparison. */
export interface Reading {
  /** Trimmed. */
  goal: string
  progress: string
  distance: number
  distanceReported: boolean
  /** Whether it has a goal and one of the three progress values. */
  spelled: boolean
  words: readonly string[]
  context: string | null
  /** The declared parent, trimmed, and its words; null if none was declared. */
  parent: string | null
  parentWords: readonly string[] | null
  /** The ground given with the step, trimmed; null without one. */
  ground: string | null
  /** The plan declared with the step, its items trimmed and not blank; null without one. */
  plan: string[] | null
  isOwnPlan: boolean
  userTurn: boolean
  /** What the user has just said, trimmed; null without a message. */
  message: string | null
  /** The effect of the message as the caller states it; null if it does not. */
  statedEffect: UserEffect | null
  /** Whether it is not known that a person spoke the message. */
  isUnsure: boolean
  /** What the acts show; null if nobody watches them. */
  acts: SeenActs | null
}

/** Analyses the texts of a step. Blank parents, grounds, plan items and messages count as not given. */
export function readStep(step: Step): Reading {
  const goal = step.goal.trim()
  const words = wordsOf(goal)
  const parent = given(step.parentGoal)
  return {
    goal,
    progress: step.progress,
    distance: step.distance,
    distanceReported: step.distanceReported !== false,
    spelled: isSpelled(goal, step.progress),
    words,
    context: contextOf(words),
    parent,
    parentWords: parent === null ? null : wordsOf(parent),
    ground: given(step.ground),
    plan: step.plan?.flatMap((item) => given(item) ?? []) ?? null,
    isOwnPlan: step.isOwnPlan === true,
    userTurn: step.userTurn === true,
    message: given(step.userMessage),
    statedEffect: step.userEffect ?? null,
    isUnsure: step.isUnsure === true,
    acts: step.acts ?? null,
  }
}

function given(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? null : trimmed
}

/** Earlier runs that opened the same context, and the lowest distance any of them reached. */
export interface EarlierRuns {
  runs: number
  /** 0–10, or null when none reported one. */
  lowest: number | null
}
