import type { ReadStep } from './read-steps.ts'
import { type ReadText, saysBeginningWith, saysTheSame } from './texts.ts'

/**
 * The meaning detector's own state of a run: plain JSON of some kilobytes at most. `v` is the version of
 * this shape.
 */
export interface Errand {
  v: 1
  /** The decayed sums of evidence of drift, ≥ 0: a fast one and a slow one. */
  evidence: number
  lasting: number
  /** Declared sub-goals that came with the ground or with a user turn, and are not the agent's own. */
  plan: readonly string[]
  /** Sub-goals of the agent's own plan. */
  ownPlan: readonly string[]
  /** Confirmed parents; the first ones stay. */
  parents: readonly string[]
  /** The newest goals that clearly served the errand. */
  accepted: readonly string[]
  /** Steps without drift since the plan was declared, and how many of them restated one of its items. */
  planSteps: number
  planRestated: number
  /** Whether a step counted as drift and no later step was seen to be on the errand. */
  alarmed: boolean
  /** The sign of the swap of the last step, or null; absent in rows from before there were any. */
  swap?: string | null
  /** Whether the last step was an act with consequences that nobody asked for; absent in older rows. */
  act?: boolean
  /** The newest goals that an encoder has read; absent without one. */
  read?: readonly ReadStep[]
  /** Whether a step has said that ground and goals are in different languages. */
  languagesTold?: boolean
}

/** Characters kept of all plan items, and of each item if they are few or many. */
const planRoom = 4_000
const itemRoom = { min: 80, max: 240 }
const mostParents = 8
const mostAccepted = 3

/** The errand of a new run or a new ground; a plan that came with it is trusted unless it is the agent's own. */
export function newErrand(plan: readonly string[] | null, isOwnPlan = false): Errand {
  const items = fitted(plan ?? [])
  return {
    v: 1,
    evidence: 0,
    lasting: 0,
    plan: isOwnPlan ? [] : items,
    ownPlan: isOwnPlan ? items : [],
    parents: [],
    accepted: [],
    planSteps: 0,
    planRestated: 0,
    alarmed: false,
    swap: null,
  }
}

/** Reads the stored errand; starts anew if another version stored it. */
export function readErrand(own: unknown): Errand {
  return (own as Errand | null)?.v === 1 ? (own as Errand) : newErrand(null)
}

/**
 * Adds a declared plan. A plan of the user is trusted. A plan of the agent replaces the old one, and only
 * items of the trusted plan stay trusted.
 */
export function withPlan(errand: Errand, plan: readonly string[], byUser: boolean): Errand {
  const items = fitted(plan)
  const isTrusted = (item: string) => byUser || errand.plan.includes(item)
  return {
    ...errand,
    plan: items.filter(isTrusted),
    ownPlan: items.filter((item) => !isTrusted(item)),
    planSteps: 0,
    planRestated: 0,
  }
}

/** Adds a confirmed parent. */
export function withParent(errand: Errand, parent: ReadText): Errand {
  const kept = cut(parent.text, itemRoom.max)
  if (errand.parents.includes(kept) || errand.parents.length >= mostParents) return errand
  return { ...errand, parents: [...errand.parents, kept] }
}

/** Adds a goal that clearly served the errand. */
export function withAccepted(errand: Errand, goal: ReadText): Errand {
  const kept = cut(goal.text, itemRoom.max)
  const others = errand.accepted.filter((each) => each !== kept)
  return { ...errand, accepted: [...others, kept].slice(-mostAccepted) }
}

/** Whether a goal equals a stored text, up to its stored length. */
export function restates(goal: ReadText, kept: ReadText): boolean {
  if (saysTheSame(goal, kept)) return true
  return kept.text.length >= itemRoom.min && saysBeginningWith(goal, kept)
}

function fitted(plan: readonly string[]): string[] {
  const each = Math.floor(planRoom / Math.max(1, plan.length))
  const room = Math.min(itemRoom.max, Math.max(itemRoom.min, each))
  return plan.map((item) => cut(item, room))
}

/** A text as the errand keeps it. */
export function cutItem(text: string): string {
  return cut(text, itemRoom.max)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed()
}
