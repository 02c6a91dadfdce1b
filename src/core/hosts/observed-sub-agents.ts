import { given } from './fields.ts'
import type { HostEvent } from './host-event.ts'
import { mostKept, newObservedAgent, type Observed, type ObservedAgent } from './observed.ts'
import { agentOf, cut, explained, type Folded, nothingOpen, stepOf } from './opened-step.ts'
import { firstSentence } from './step-goal.ts'

/** A delegation opens a step, and its task waits for the sub-agent. */
export function delegated(
  state: Observed,
  agent: ObservedAgent,
  event: HostEvent & { kind: 'delegate' },
): Folded {
  const task: Task = { task: cut(event.task), ...given('taskHash', event.taskHash) }
  // The host tells one delegation before and after it, and the agent's prompt may tell it again.
  const isKnown = [...state.tasks, ...Object.values(state.agents)].some(isTask(task))
  if (event.child !== undefined && event.child === event.agentId) {
    return { state: withTask(state, event.agentId, task), agent: null, steps: [] }
  }
  const child = event.child
  const told = child === undefined ? null : withTask(state, child, task, event.agentId)
  if (isKnown) return { state: told ?? state, agent: null, steps: [] }
  const goal = event.label ?? firstSentence(task.task)
  const tasks = [
    ...state.tasks,
    { ...task, agentType: event.agentType ?? null, parent: event.agentId },
  ]
  return {
    state: told ?? { ...state, tasks: tasks.slice(-mostKept.tasks) },
    agent: { ...agent, ...nothingOpen },
    steps: [stepOf(event.agentId, agent, { goal, source: 'task' })],
  }
}

/** The task of a sub-agent, as far as it is told. */
interface Task {
  task: string
  taskHash?: string
}

function isTask({ task, taskHash }: Task) {
  return (other: { task: string | null; taskHash?: string }) =>
    other.task === task && other.taskHash === taskHash
}

/** Gives a sub-agent its task, unless it has told one. */
function withTask(state: Observed, id: string, task: Task, parent?: string): Observed {
  const agent = agentOf(state, id)
  const { tasks, agents } = state
  const known = {
    ...agent,
    ...(agent.task === null ? task : {}),
    parent: parent ?? agent.parent,
  }
  const isSame = isTask(task)
  return {
    ...state,
    agents: { ...agents, [id]: explained(state, known) },
    tasks: tasks.filter((each) => !isSame(each)),
  }
}

/** A sub-agent that begins takes the oldest waiting task of its kind. */
export function begun(state: Observed, event: HostEvent & { kind: 'agent' }): Observed {
  if (Object.hasOwn(state.agents, event.child)) {
    const known = agentOf(state, event.child)
    if (known.hasBegun === true) return state
    const { agents } = state
    return {
      ...state,
      begun: state.begun + 1,
      agents: { ...agents, [event.child]: { ...known, hasBegun: true } },
    }
  }
  const { tasks } = state
  const at = tasks.findIndex(
    ({ agentType }) => !event.agentType || agentType === null || agentType === event.agentType,
  )
  const found = tasks[at]
  const agent = {
    ...newObservedAgent(found?.parent ?? event.parent),
    task: found?.task ?? null,
    ...given('taskHash', found?.taskHash),
    hasBegun: true as const,
  }
  return {
    ...state,
    begun: state.begun + 1,
    agents: { ...state.agents, [event.child]: explained(state, agent) },
    tasks: tasks.filter((_, place) => place !== at),
  }
}

/** One that has stopped stays known: its delegation may be told again. It counts once, also if it goes on and stops again. */
export function stopped(state: Observed, { child }: HostEvent & { kind: 'agent' }): Observed {
  const after = { ...state, stopped: state.stopped + 1 }
  if (!Object.hasOwn(state.agents, child)) return after
  const known = agentOf(state, child)
  if (known.hasStopped === true) return state
  return { ...after, agents: { ...state.agents, [child]: { ...known, hasStopped: true } } }
}
