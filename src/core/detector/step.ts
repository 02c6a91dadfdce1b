import type { Adaptation } from './contract/adaptation.ts'
import { isSpelled } from './rules.ts'
import { contextOf } from './spelling.ts'
import { wordsOf } from './words/words.ts'

/** One report of an agent: what it is doing now. */
export interface Step {
  goal: string
  /** `advancing`, `stuck` or `circling`; anything else makes the step ungrammatical. */
  progress: string
  /** 0–10, as the agent sees it. */
  distance: number
  /** False where the distance stands in for one that nobody reported. */
  distanceReported?: boolean
  /** The goal this one is declared to be a part of. */
  parentGoal?: string
  /** Whether the user has just spoken; only then can an existing ground move. */
  userTurn?: boolean
  /** The errand in the user's words: the ground, on the first step or with a user turn. */
  ground?: string
  /** Declared sub-goals of the ground; a new plan replaces the old one. */
  plan?: readonly string[]
  /** What earlier runs of the same owner made of this context; without it, as if there were none. */
  earlier?: EarlierRuns
  /** Which words occur together in one's own work; a detector that asks it names its version. */
  adaptation?: Adaptation
  /**
   * How much nearer embeddings put the goal to the ground than to unrelated errands: 0 is no nearer,
   * 1 is the same text. It can only settle what is uncertain or add evidence.
   */
  similarity?: number
}

/** A step with its texts analysed, before anything is compared. */
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
  /** The declared parent, trimmed, and its words; null when none was declared. */
  parent: string | null
  parentWords: readonly string[] | null
  /** The ground given with the step, trimmed, null when none was. */
  ground: string | null
  /** The plan declared with the step, its items trimmed and not blank; null when none was. */
  plan: string[] | null
  userTurn: boolean
}

/** Analyses the texts of a step. Blank parents, grounds and plan items count as not given. */
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
    userTurn: step.userTurn === true,
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
