import type { EarlierRuns } from './judgment.ts'
import { isSpelled } from './rules.ts'
import { contextOf } from './spelling.ts'
import { wordsOf } from './words.ts'

/** One report of an agent: what it is doing now. */
export interface Step {
  goal: string
  /** `advancing`, `stuck` or `circling`; anything else makes the step ungrammatical. */
  progress: string
  /** 0–10, as the agent sees it. */
  distance: number
  /** The goal this one is declared to be a part of. */
  parentGoal?: string
  /** Whether the user has just spoken; only then can an existing ground move. */
  userTurn?: boolean
  /** The errand in the user's words: the ground, on the first step or with a user turn. */
  ground?: string
  /** What earlier runs of the same owner made of this context; without it, as if there were none. */
  earlier?: EarlierRuns
}

/** A step with its texts analysed, before anything is compared. */
export interface Reading {
  /** Trimmed. */
  goal: string
  progress: string
  distance: number
  /** Whether it has a goal and one of the three progress values. */
  spelled: boolean
  words: string[]
  context: string | null
  /** Words of the declared parent, null when none was declared. */
  parentWords: string[] | null
  /** The ground given with the step, trimmed, null when none was. */
  ground: string | null
  userTurn: boolean
}

/** Analyses the texts of a step. Blank parents and grounds count as not given. */
export function readStep(step: Step): Reading {
  const goal = step.goal.trim()
  const words = wordsOf(goal)
  const parent = given(step.parentGoal)
  return {
    goal,
    progress: step.progress,
    distance: step.distance,
    spelled: isSpelled(goal, step.progress),
    words,
    context: contextOf(words),
    parentWords: parent === null ? null : wordsOf(parent),
    ground: given(step.ground),
    userTurn: step.userTurn === true,
  }
}

function given(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? null : trimmed
}
