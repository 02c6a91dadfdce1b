import { termsOf } from './coverage.ts'
import type { ActEvidence } from './evidence.ts'
import type { EventSpan, PlanItem } from './host-event.ts'
import { type GoalSource, newObservedAgent, type Observed, type ObservedAgent } from './observed.ts'
import type { DerivedGoal } from './step-goal.ts'

/** A step that a session shows, as `POST /v1/drift` takes it. */
export interface ObservedStep {
  agentId: string
  /** The agent that a sub-agent works for; null for the main agent and for its own. */
  parentAgentId: string | null
  goal: string
  source: GoalSource
  /** The task of a sub-agent, with its first step; or the ground that the agent reports. */
  ground: string | null
  /** The words of the user that open the step, and whether it is not known that a person spoke them. */
  userMessage: string | null
  isUnsure: boolean
  /** The item of the plan that the step is under, or what the agent above is at. */
  parentGoal: string | null
  plan: readonly string[] | null
  /** 0–10, as reported, else by the share of the plan that is left; null without either. */
  distance: number | null
  /** As the agent reports it; null if it does not. */
  progress: string | null
  userTurn: boolean | null
  /** Tokens of its model since the step before; null if none were told. */
  tokens: number | null
  /** What the acts show: the surest evidence, or null. */
  shown: ActEvidence | null
  /** The acts since the step before, how many of them failed, and the newest of them in words. */
  acts: number
  failedActs: number
  doing: string[]
  /** The span of the event that opened it, and the id of the model's answer there; null if it came another way. */
  span: EventSpan | null
  responseId: string | null
}

/** A step before it is known which span showed it. */
export type OpenedStep = Omit<ObservedStep, 'span' | 'responseId'>

/** What an event leaves of a session, and the steps that it opens. */
export interface Folded {
  state: Observed
  /** The agent of the event, changed; null if it is as before. */
  agent: ObservedAgent | null
  steps: OpenedStep[]
}

/** Characters of an errand, a task or a message that are kept. */
const longestText = 4000

/** The agent of an id, as far as it is known. */
export function agentOf({ agents }: Observed, id: string): ObservedAgent {
  return Object.hasOwn(agents, id) ? (agents[id] as ObservedAgent) : newObservedAgent('')
}

/** What stands after a step was opened: the acts since then are none. */
export const nothingOpen = { acts: 0, failed: 0, doing: [], toTell: {}, tokens: 0 }

/** The agent with the words that explain its acts: those of its task or the errand, of its plan and its stated goal. */
export function explained(state: Observed, agent: ObservedAgent): ObservedAgent {
  const errand = agent.task ?? state.errand
  const { goal = null, plan = null } = agent.reported ?? {}
  const items = plan ?? agent.plan.map(({ text }) => text)
  const terms = termsOf([errand, goal ?? agent.intent, ...items])
  return { ...agent, terms }
}

/** The session after a person was there; `at` in milliseconds since 1970. */
export function seenPerson(state: Observed, at: number | undefined): Observed {
  return { ...state, waitsSince: null, personAt: at ?? state.personAt }
}

/** The step that an agent opens with a goal. */
export function stepOf(
  agentId: string,
  agent: ObservedAgent,
  { goal, source }: DerivedGoal,
): OpenedStep {
  const { plan, parent, task, isTaskTold, acts, failed, doing, toTell = {}, tokens = 0 } = agent
  const reportedPlan = agent.reported?.plan ?? null
  const now = plan.find(({ state }) => state === 'now')
  const isUnder = now !== undefined && source !== 'plan' && source !== 'prompt'
  return {
    agentId,
    parentAgentId: agentId === '' || parent === '' ? null : parent,
    goal: cut(goal),
    source,
    ground: toTell.ground ?? (isTaskTold ? null : task),
    userMessage: null,
    isUnsure: false,
    parentGoal: isUnder ? now.text : null,
    plan: reportedPlan ?? (plan.length === 0 ? null : plan.map(({ text }) => text)),
    distance: toTell.distance ?? distanceBy(reportedPlan, plan),
    progress: toTell.progress ?? null,
    userTurn: toTell.userTurn ?? null,
    tokens: tokens === 0 ? null : tokens,
    shown: null,
    acts,
    failedActs: failed,
    doing: [...doing],
  }
}

/** By the share of a plan that is left; of a reported plan nobody knows what is done. */
function distanceBy(reported: readonly string[] | null, plan: readonly PlanItem[]): number | null {
  if (reported !== null || plan.length === 0) return null
  const left = plan.filter(({ state }) => state !== 'done').length
  return Math.round((10 * left) / plan.length)
}

/** A text as long as a session keeps it. */
export function cut(text: string): string {
  return text.length > longestText ? text.slice(0, longestText).toWellFormed() : text
}
