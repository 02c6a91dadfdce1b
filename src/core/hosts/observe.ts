import { cutTo } from '../text.ts'
import { digestOf } from './fields.ts'
import type { Act, HostEvent, PlanItem } from './host-event.ts'
import {
  type GoalSource,
  mostKept,
  newObservedAgent,
  type Observed,
  type ObservedAgent,
} from './observed.ts'
import { type DerivedGoal, firstSentence, goalOf } from './step-goal.ts'

/** Acts under one goal after which the step is told again. */
const actsOfStep = 10
/** Characters of an item of a plan, or of an intent, that are kept. */
const longestItem = 300
/** Characters of an errand, a task or a message that are kept. */
const longestText = 4000

/** A step that a session shows, as `POST /v1/drift` takes it. */
export interface ObservedStep {
  agentId: string
  /** The agent that a sub-agent works for; null for the main agent and for its own. */
  parentAgentId: string | null
  goal: string
  source: GoalSource
  /** The task of a sub-agent, with its first step. */
  ground: string | null
  /** The words of the user that open the step. */
  userMessage: string | null
  parentGoal: string | null
  plan: string[] | null
  /** 0–10 by the share of the plan that is left; null without a plan. */
  distance: number | null
}

/**
 * Folds an event of a host into what is known of its session, and says which steps it opens: a prompt of a person, a new
 * goal, a delegation, or ten acts under one goal. Pure; the state is bounded.
 */
export function observe(
  observed: Observed,
  event: HostEvent,
): { observed: Observed; steps: ObservedStep[] } {
  const mark = digestOf(`${event.agentId}\n${event.eventId}\n${event.kind}`)
  if (observed.seen.includes(mark)) return { observed, steps: [] }
  const seen = [...observed.seen, mark].slice(-mostKept.seen)
  const { state, agent, steps } = folded({ ...observed, seen }, event)
  const { [event.agentId]: _, ...others } = state.agents
  const known = agent === null ? state.agents : { ...others, [event.agentId]: agent }
  const agents = Object.fromEntries(Object.entries(known).slice(-mostKept.agents))
  return { observed: { ...state, agents }, steps }
}

interface Folded {
  state: Observed
  /** The agent of the event, changed; null if it is as before. */
  agent: ObservedAgent | null
  steps: ObservedStep[]
}

function folded(state: Observed, event: HostEvent): Folded {
  const agent = agentOf(state, event.agentId)
  const unchanged: Folded = { state, agent: null, steps: [] }
  switch (event.kind) {
    case 'session':
      return event.source === 'clear'
        ? { ...unchanged, state: { ...state, agents: {}, tasks: [] } }
        : unchanged
    case 'prompt':
      return prompted(state, agent, event)
    case 'plan':
      return { ...unchanged, agent: { ...agent, plan: planAfter(agent.plan, event) } }
    case 'intent':
      return { ...unchanged, agent: { ...agent, intent: cutTo(event.text, longestItem) } }
    case 'say':
      return { ...unchanged, agent: { ...agent, said: firstSentence(event.text) } }
    case 'delegate':
      return delegated(state, agent, event)
    case 'agent':
      // One that has stopped stays known: its delegation may be told again.
      return event.state === 'start' ? { ...unchanged, state: begun(state, event) } : unchanged
    case 'act':
      return acted(state, agent, event)
    case 'turnEnd':
      return {
        ...unchanged,
        state: {
          ...state,
          expects: [...state.expects, ...event.expects.map(cut)].slice(-mostKept.expects),
        },
        agent: { ...agent, said: null, acts: 0 },
      }
    case 'wait':
    case 'person':
    case 'runEnd':
    case 'compact':
    case 'tokens':
      return unchanged
  }
}

function agentOf({ agents }: Observed, id: string): ObservedAgent {
  return Object.hasOwn(agents, id) ? (agents[id] as ObservedAgent) : newObservedAgent('')
}

/** A person's words open a step; a machine's do not, nor do prompts that were announced. */
function prompted(
  state: Observed,
  agent: ObservedAgent,
  event: HostEvent & { kind: 'prompt' },
): Folded {
  const text = cut(event.text)
  if (event.by === 'machine' || state.expects.includes(text))
    return { state, agent: null, steps: [] }
  // What was planned and said before served the words before.
  const next = { ...agent, intent: null, said: null, goal: null, done: [], acts: 0 }
  const step = stepOf(event.agentId, next, { goal: text, source: 'prompt' })
  return {
    state: { ...state, errand: text },
    agent: next,
    steps: [{ ...step, userMessage: text, plan: null, distance: null }],
  }
}

function delegated(
  state: Observed,
  agent: ObservedAgent,
  event: HostEvent & { kind: 'delegate' },
): Folded {
  const task = cut(event.task)
  const waits = state.tasks.some((each) => each.task === task)
  // The host tells one delegation before and after it, and the agent's prompt may tell it again.
  const isKnown = waits || Object.values(state.agents).some((each) => each.task === task)
  if (event.child !== undefined && event.child === event.agentId) {
    return { state: withTask(state, event.agentId, task), agent: null, steps: [] }
  }
  const child = event.child
  const told = child === undefined ? null : withTask(state, child, task, event.agentId)
  if (isKnown) return { state: told ?? state, agent: null, steps: [] }
  const goal = event.label ?? firstSentence(task)
  const tasks = [
    ...state.tasks,
    { task, agentType: event.agentType ?? null, parent: event.agentId },
  ]
  return {
    state: told ?? { ...state, tasks: tasks.slice(-mostKept.tasks) },
    agent,
    steps: [stepOf(event.agentId, agent, { goal, source: 'task' })],
  }
}

/** Gives a sub-agent its task, unless it has told one. */
function withTask(state: Observed, id: string, task: string, parent?: string): Observed {
  const agent = agentOf(state, id)
  const { tasks, agents } = state
  const known = { ...agent, parent: parent ?? agent.parent, task: agent.task ?? task }
  return {
    ...state,
    agents: { ...agents, [id]: known },
    tasks: tasks.filter((each) => each.task !== task),
  }
}

/** A sub-agent that begins takes the oldest waiting task of its kind. */
function begun(state: Observed, event: HostEvent & { kind: 'agent' }): Observed {
  if (Object.hasOwn(state.agents, event.child)) return state
  const { tasks } = state
  const at = tasks.findIndex(
    ({ agentType }) => !event.agentType || agentType === null || agentType === event.agentType,
  )
  const found = tasks[at]
  const agent = { ...newObservedAgent(found?.parent ?? event.parent), task: found?.task ?? null }
  return {
    ...state,
    agents: { ...state.agents, [event.child]: agent },
    tasks: tasks.filter((_, place) => place !== at),
  }
}

/** An act opens a step if it shows a new goal, or is the tenth under one. */
function acted(state: Observed, agent: ObservedAgent, act: HostEvent & Act): Folded {
  const derived = goalOf(agent, act)
  const counted = {
    ...agent,
    said: null,
    acts: agent.acts + 1,
  }
  const isNew = opens(agent, act, derived)
  if (!isNew && counted.acts < actsOfStep) return { state, agent: counted, steps: [] }
  const told = digestOf(derived.goal)
  const opened = {
    ...counted,
    isTaskTold: true,
    goal: derived.goal,
    done: [...agent.done.filter((each) => each !== told), told].slice(-mostKept.done),
    acts: 0,
  }
  return { state, agent: opened, steps: [stepOf(act.agentId, agent, derived)] }
}

/** Reading and searching for their own sake open no step, unless nothing else is known since the user spoke. */
function opens(agent: ObservedAgent, { family }: Act, { goal, source }: DerivedGoal): boolean {
  if (goal === agent.goal || goal === '') return false
  if (source !== 'act') return !(source === 'description' && agent.done.includes(digestOf(goal)))
  const onlyLooks = family === 'read' || family === 'search' || family === 'wait'
  return agent.goal === null || (!onlyLooks && !agent.done.includes(digestOf(goal)))
}

function stepOf(
  agentId: string,
  { plan, parent, task, isTaskTold }: ObservedAgent,
  { goal, source }: DerivedGoal,
): ObservedStep {
  const left = plan.filter(({ state }) => state !== 'done').length
  const now = plan.find(({ state }) => state === 'now')
  const isUnder = now !== undefined && source !== 'plan' && source !== 'prompt'
  return {
    agentId,
    parentAgentId: agentId === '' || parent === '' ? null : parent,
    goal: cut(goal),
    source,
    ground: isTaskTold ? null : task,
    userMessage: null,
    parentGoal: isUnder ? now.text : null,
    plan: plan.length === 0 ? null : plan.map(({ text }) => text),
    distance: plan.length === 0 ? null : Math.round((10 * left) / plan.length),
  }
}

/** The list after a change: the whole list, new items, or items that changed by id. */
function planAfter(
  plan: readonly PlanItem[],
  { items, whole }: { items: readonly PlanItem[]; whole: boolean },
): PlanItem[] {
  const given = items.map((item) => ({ ...item, text: cutTo(item.text, longestItem) }))
  if (whole) return given.filter(({ text }) => text !== '').slice(0, mostKept.plan)
  let changed = [...plan]
  for (const item of given) {
    // A host that numbers its tasks may not say the number of a new one.
    const at = changed.findIndex(
      ({ id }, place) => item.id !== undefined && (id ?? `${place + 1}`) === item.id,
    )
    if (at >= 0) {
      const before = changed[at] as PlanItem
      changed = changed.with(at, { ...before, ...item, text: item.text || before.text })
    } else if (item.text !== '' && !changed.some(({ text }) => text === item.text)) {
      changed.push(item)
    }
  }
  return changed.slice(-mostKept.plan)
}

function cut(text: string): string {
  return text.length > longestText ? text.slice(0, longestText).toWellFormed() : text
}
