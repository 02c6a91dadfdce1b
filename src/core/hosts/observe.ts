import { cutTo } from '../text.ts'
import { doingsAfterPlan, doingsAfterSkipped } from './evidence.ts'
import { digestOf, given } from './fields.ts'
import type { HostEvent, PlanItem, Report } from './host-event.ts'
import { mostKept, type Observed, type ObservedAgent } from './observed.ts'
import { acted, ended, withUnended } from './observed-acts.ts'
import {
  prompted,
  type SettledPrompt,
  settled,
  unsettledBy,
  withAttendance,
} from './observed-prompts.ts'
import { begun, delegated, stopped } from './observed-sub-agents.ts'
import {
  agentOf,
  cut,
  explained,
  type Folded,
  nothingOpen,
  type ObservedStep,
  type OpenedStep,
  seenPerson,
  stepOf,
} from './opened-step.ts'
import { rateAfter } from './sampling.ts'
import { heardAfter } from './seen.ts'
import { firstSentence, untold } from './step-goal.ts'
import {
  callMarks,
  callsAfter,
  isByTelemetry,
  marksOf,
  seenAfter,
  seenIn,
  unendedBy,
} from './told-twice.ts'

/** Characters of an item of a plan, or of an intent, that are kept. */
const longestItem = 300

/** What an event makes of a session. */
export interface Observation {
  observed: Observed
  steps: ObservedStep[]
  /** The earlier prompt of which the event tells who spoke it; absent if it tells none. */
  settles?: SettledPrompt
}

/**
 * Folds an event of a host into what is known of its session, and says which steps it opens: a prompt of a person, a new
 * goal, a delegation, or ten acts under one goal. Pure; the state is bounded.
 */
export function observe(observed: Observed, event: HostEvent): Observation {
  const { marks, same } = marksOf(event)
  const prompt = unsettledBy(observed, event)
  if (prompt !== null && event.kind === 'prompt' && event.by !== 'unknown') {
    return {
      observed: { ...settled(observed, event, prompt), seen: seenAfter(observed.seen, marks) },
      steps: [],
      settles: { ...prompt, by: event.by, isHeadless: event.isHeadless === true },
    }
  }
  // What only says who spoke is no prompt by itself.
  if (event.kind === 'prompt' && event.text === '') return { observed, steps: [] }
  const isSeen = seenIn(observed.seen)
  const unended = unendedBy(observed, event)
  if (unended !== null && event.kind === 'act') {
    const isNew = !marks.every(isSeen)
    const seen = isNew ? seenAfter(observed.seen, marks) : observed.seen
    const { agentId } = unended
    return merged(ended({ ...observed, seen }, { ...event, agentId }, unended), {
      ...event,
      agentId,
    })
  }
  // A call that was told to its end begins no more.
  const hasEnded = event.kind === 'begin' && callMarks(event).some(isSeen)
  if (hasEnded || marks.some(isSeen) || same.some(isSeen)) {
    return { observed: withAttendance(observed, event), steps: [] }
  }
  const seen = seenAfter(observed.seen, marks)
  const { calls, isTold } = callsAfter(observed.calls, event)
  if (isTold) return { observed: { ...observed, seen, calls }, steps: [] }
  return merged(folded(heardAfter({ ...observed, seen, calls }, event), event), event)
}

/** What an event leaves of a session, with the agent that it changed as the newest. */
function merged({ state, agent, steps }: Folded, event: HostEvent): Observation {
  const { [event.agentId]: _, ...others } = state.agents
  const known = agent === null ? state.agents : { ...others, [event.agentId]: agent }
  const opened = steps.map((step) => ({
    ...step,
    parentGoal: step.parentGoal ?? goalAbove(state, step),
    span: event.span ?? null,
    responseId: event.responseId ?? null,
  }))
  return { observed: { ...state, agents: newest(known) }, steps: opened }
}

function newest(agents: Observed['agents']): Observed['agents'] {
  if (Object.keys(agents).length <= mostKept.agents) return agents
  return Object.fromEntries(Object.entries(agents).slice(-mostKept.agents))
}

/** What the agent that a sub-agent works for is at; null for the main agent, and if that is not known. */
function goalAbove(state: Observed, { agentId, parentAgentId }: OpenedStep): string | null {
  if (agentId === '') return null
  const above = agentOf(state, parentAgentId ?? '')
  const goal = above.plan.find(({ state }) => state === 'now')?.text || above.intent || above.goal
  return goal === untold ? null : goal
}

function folded(state: Observed, event: HostEvent): Folded {
  const agent = agentOf(state, event.agentId)
  const unchanged: Folded = { state, agent: null, steps: [] }
  switch (event.kind) {
    case 'session':
      return event.source === 'clear'
        ? { ...unchanged, state: { ...state, agents: {}, tasks: [], unended: [] } }
        : unchanged
    case 'prompt':
      return prompted(state, agent, event)
    case 'plan': {
      const plan = planAfter(agent.plan, event)
      const didMove = JSON.stringify(plan) !== JSON.stringify(agent.plan)
      const doings = didMove ? doingsAfterPlan(agent.doings, event.at ?? null) : agent.doings
      return { ...unchanged, agent: explained(state, { ...agent, plan, doings }) }
    }
    case 'intent':
      return {
        ...unchanged,
        agent: explained(state, { ...agent, intent: cutTo(event.text, longestItem) }),
      }
    case 'report':
      return reported(state, agent, event)
    case 'say':
      return { ...unchanged, agent: { ...agent, said: firstSentence(event.text) } }
    case 'delegate':
      return delegated(state, agent, event)
    case 'agent':
      return {
        ...unchanged,
        state: event.state === 'start' ? begun(state, event) : stopped(state, event),
      }
    case 'act': {
      const { rate, every, isRead } = rateAfter(state.rate ?? null, event)
      const counted = { ...state, rate }
      if (isRead) return acted(counted, agent, event)
      const doings = doingsAfterSkipped(agent.doings, every)
      const after = withUnended(counted, event, { isCovered: null, place: null })
      return { state: after, agent: { ...agent, doings }, steps: [] }
    }
    case 'turnEnd':
      return {
        ...unchanged,
        state: {
          ...state,
          expects: [...state.expects, ...event.expects.map(cut)].slice(-mostKept.expects),
        },
        agent: { ...agent, said: null, acts: 0, failed: 0 },
      }
    case 'wait':
      return { ...unchanged, state: { ...state, waitsSince: event.at ?? null } }
    case 'person':
      return { ...unchanged, state: seenPerson(state, event.at) }
    case 'tokens':
      // Hooks tell some of them again, as the sum of a sub-agent, and spans and logs tell the same ones.
      if (!isByTelemetry(event.way) || (state.tokensBy ?? event.way) !== event.way) return unchanged
      return {
        ...unchanged,
        state: { ...state, tokensBy: event.way },
        agent: { ...agent, tokens: (agent.tokens ?? 0) + event.count },
      }
    case 'begin':
    case 'unheard':
    case 'runEnd':
    case 'compact':
      return unchanged
  }
}

/** What an agent reports itself opens a step if it tells a goal, or anything else that belongs to the goal that it is at. */
export function reported(
  state: Observed,
  agent: ObservedAgent,
  { agentId, goal, plan, ...more }: HostEvent & Report,
): Folded {
  const { ground, progress, distance, userTurn } = more
  const after = asked(state, agentId, more, goal)
  const next = explained(after, {
    ...agent,
    ...(agentId === '' || ground === undefined ? {} : { task: agent.task ?? cut(ground) }),
    reported: {
      goal: goal ?? agent.reported?.goal ?? null,
      plan: plan ?? agent.reported?.plan ?? null,
    },
    toTell: {
      ...agent.toTell,
      ...given('ground', ground),
      ...given('progress', progress),
      ...given('distance', distance),
      ...given('userTurn', userTurn),
    },
  })
  const isMore = progress !== undefined || distance !== undefined || userTurn === true
  const at = goal ?? (isMore ? goalAt(after, next) : null)
  if (at === null) return { state: after, agent: next, steps: [] }
  const told = digestOf(at)
  const opened: ObservedAgent = {
    ...next,
    ...nothingOpen,
    isTaskTold: true,
    goal: at,
    done: [...next.done.filter((each) => each !== told), told].slice(-mostKept.done),
  }
  const step = stepOf(agentId, next, { goal: at, source: 'intent' })
  return { state: after, agent: opened, steps: [{ ...step, parentGoal: null }] }
}

/** The session after the main agent has reported what it was asked for. */
export function asked(
  state: Observed,
  agentId: string,
  { ground, userTurn }: Report,
  goal: string | undefined,
): Observed {
  const errand = ground ?? goal
  const isNews = state.errand === null || userTurn === true
  return agentId === '' && isNews && errand !== undefined
    ? { ...state, errand: cut(errand) }
    : state
}

/** The goal that an agent is at; null if none is known. */
function goalAt({ errand }: Observed, agent: ObservedAgent): string | null {
  const now = agent.plan.find(({ state }) => state === 'now')
  const known = [agent.reported?.goal, now?.text, agent.intent, agent.goal, agent.task, errand]
  return known.find((text) => text && text !== untold) ?? null
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
    } else if (
      item.text === untold ||
      (item.text !== '' && !changed.some(({ text }) => text === item.text))
    ) {
      changed.push(item)
    }
  }
  return changed.slice(-mostKept.plan)
}
