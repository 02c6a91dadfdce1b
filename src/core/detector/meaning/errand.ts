import { type ReadText, saysBeginningWith, saysTheSame } from './texts.ts'

/**
 * What the meaning detector keeps of a run beside its ground: plain JSON of some kilobytes at most.
 * `v` is the version of this shape.
 */
export interface Errand {
  v: 1
  /** The decayed sums of evidence that the run has left the ground, ≥ 0: one soon gone, one lasting. */
  evidence: number
  lasting: number
  /** Declared sub-goals that came with the ground or with a user turn. */
  plan: readonly string[]
  /** Sub-goals of a plan the agent declared on its own. */
  ownPlan: readonly string[]
  /** Parents that were confirmed; the first ones stay. */
  parents: readonly string[]
  /** The newest goals that were on the errand beyond doubt. */
  accepted: readonly string[]
  /** Steps since the plan came that were no drift, and how many of them restated one of its items. */
  planSteps: number
  planRestated: number
  /** Whether a step counted as drift and none has leaned to the errand since. */
  alarmed: boolean
}

/** How many characters of all plan items are kept, and how many of each when they are few or many. */
const planRoom = 4_000
const itemRoom = { min: 80, max: 240 }
const mostParents = 8
const mostAccepted = 3

/** A run that has just begun, or whose ground was moved; a plan that came with it is trusted. */
export function newErrand(plan: readonly string[] | null): Errand {
  return {
    v: 1,
    evidence: 0,
    lasting: 0,
    plan: fitted(plan ?? []),
    ownPlan: [],
    parents: [],
    accepted: [],
    planSteps: 0,
    planRestated: 0,
    alarmed: false,
  }
}

/** The errand as it was kept; anew when it was kept by another version. */
export function readErrand(own: unknown): Errand {
  return (own as Errand | null)?.v === 1 ? (own as Errand) : newErrand(null)
}

/**
 * The errand once a plan was declared. By the user it is trusted. The agent's own replaces the plan
 * too, but only what the trusted one held already stays trusted.
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

/** The errand with a confirmed parent. */
export function withParent(errand: Errand, parent: ReadText): Errand {
  const kept = cut(parent.text, itemRoom.max)
  if (errand.parents.includes(kept) || errand.parents.length >= mostParents) return errand
  return { ...errand, parents: [...errand.parents, kept] }
}

/** The errand with a goal that was on it beyond doubt. */
export function withAccepted(errand: Errand, goal: ReadText): Errand {
  const kept = cut(goal.text, itemRoom.max)
  const others = errand.accepted.filter((each) => each !== kept)
  return { ...errand, accepted: [...others, kept].slice(-mostAccepted) }
}

/** Whether a goal says what a kept text says, to the letter and as far as it was kept. */
export function restates(goal: ReadText, kept: ReadText): boolean {
  if (saysTheSame(goal, kept)) return true
  return kept.text.length >= itemRoom.min && saysBeginningWith(goal, kept)
}

function fitted(plan: readonly string[]): string[] {
  const each = Math.floor(planRoom / Math.max(1, plan.length))
  const room = Math.min(itemRoom.max, Math.max(itemRoom.min, each))
  return plan.map((item) => cut(item, room))
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed()
}
