import { cutTo } from '../text.ts'
import { explainedAfter, explains, termsOf } from './coverage.ts'
import {
  type ActEvidence,
  doingsAfter,
  doingsAfterEnd,
  doingsAfterPrompt,
  doingsAfterSkipped,
  evidenceOf,
  evidenceOfEnd,
  withEnd,
} from './evidence.ts'
import { digestOf, digestOfValue, given } from './fields.ts'
import type { Act, EventSpan, HostEvent, PlanItem, Report } from './host-event.ts'
import {
  type GoalSource,
  mostKept,
  newObservedAgent,
  type Observed,
  type ObservedAgent,
  type UnendedAct,
  type Unsettled,
} from './observed.ts'
import { rateAfter } from './sampling.ts'
import { heardAfter } from './seen.ts'
import { actTold, type DerivedGoal, firstSentence, goalOf, untold } from './step-goal.ts'

/** Acts under one goal after which the step is told again. */
const actsOfStep = 10
/** Acts after which a sub-agent opens a step though nobody has told its task. */
const actsBeforeTask = 3
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

/** What an event makes of a session. */
export interface Observation {
  observed: Observed
  steps: ObservedStep[]
  /** The earlier prompt of which the event tells who spoke it; absent if it tells none. */
  settles?: SettledPrompt
}

/** A prompt of which it has come out who spoke it, and whether a program handed it over. */
export interface SettledPrompt extends Unsettled {
  by: 'person' | 'machine'
  isHeadless: boolean
}

/** Milliseconds after which an act that a person was asked about has been granted by one. */
const grantMs = 1000

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

/**
 * The newest list of marks and, once the next event of its session has come, its set: a back-test folds thousands of
 * events one after another, and a search of the list for each is its main cost.
 */
let newestSeen: { list: readonly string[]; marks: Set<string> | null } = { list: [], marks: null }

function seenIn(list: readonly string[]): (mark: string) => boolean {
  if (newestSeen.list !== list) return (mark) => list.includes(mark)
  newestSeen.marks ??= new Set(list)
  const { marks } = newestSeen
  return (mark) => marks.has(mark)
}

function seenAfter(list: readonly string[], marks: readonly string[]): string[] {
  const dropped = Math.max(0, list.length + marks.length - mostKept.seen)
  const after = list.slice(dropped)
  after.push(...marks)
  const known = newestSeen.list === list ? newestSeen.marks : null
  for (const mark of known === null ? [] : list.slice(0, dropped)) known?.delete(mark)
  for (const mark of known === null ? [] : marks) known?.add(mark)
  newestSeen = { list: after, marks: known }
  return after
}

/**
 * What an event leaves, so that none counts twice, and what others leave that tell the same. A hook, a log record and a
 * span may tell one call of a tool as different facts. Telemetry does not say which sub-agent has called, and hooks do;
 * calls of two agents that one way tells are two.
 */
function marksOf({ kind, agentId, eventId, way }: HostEvent): {
  marks: string[]
  same: string[]
} {
  const isCall = kind === 'act' || kind === 'plan' || kind === 'intent' || kind === 'delegate'
  if (!isCall) return { marks: [digestOf(`${agentId}\n${eventId}\n${kind}`)], same: [] }
  const own = digestOf(`${agentId}\n${eventId}\ncall`)
  const isTelemetry = isByTelemetry(way)
  if (!isTelemetry && agentId === '') return { marks: [own], same: [] }
  const byTelemetry = digestOf(`${eventId}\ntelemetry`)
  const bySubAgent = digestOf(`${eventId}\nsub-agent`)
  return isTelemetry
    ? { marks: [own, byTelemetry], same: [bySubAgent] }
    : { marks: [own, bySubAgent], same: [byTelemetry] }
}

/** The marks that a call leaves by which it is known to have ended. */
function callMarks({ agentId, eventId }: HostEvent): string[] {
  return [digestOf(`${agentId}\n${eventId}\ncall`), digestOf(`${eventId}\ntelemetry`)]
}

function isByTelemetry(way: HostEvent['way']): way is 'log' | 'span' {
  return way === 'log' || way === 'span'
}

/** The earlier act of which an event tells how it ended; null if it is none. Telemetry does not say whose call it was. */
function unendedBy({ unended }: Observed, event: HostEvent): UnendedAct | null {
  if (event.kind !== 'act' || event.outcome === 'unknown') return null
  const { eventId, agentId, way } = event
  return (
    unended.find(
      (each) => each.id === eventId && (each.agentId === agentId || isByTelemetry(way)),
    ) ?? null
  )
}

/** Milliseconds within which equal calls that were told by different ways are one. */
const sameCallMs = 10_000

/**
 * Finds out whether a call without an id of its host was told before by another way: the first of equal calls by one
 * way is the first by the others, the second is the second.
 */
function callsAfter(
  calls: Observed['calls'],
  event: HostEvent,
): { calls: Observed['calls']; isTold: boolean } {
  const { at, way = 'hook' } = event
  // Without an id of the host, an event is known by its digest.
  if (at === undefined || !/^[\da-f]{16}$/.test(event.eventId)) return { calls, isTold: false }
  const what = calledIn(event)
  if (what === null) return { calls, isTold: false }
  const place = calls.findIndex(
    (each) => each.what === what && Math.abs(each.at - at) < sameCallMs && !each.ways.includes(way),
  )
  const known = calls[place]
  if (known === undefined) {
    return { calls: [...calls, { what, at, ways: [way] }].slice(-mostKept.calls), isTold: false }
  }
  return { calls: calls.with(place, { ...known, ways: [...known.ways, way] }), isTold: true }
}

/** What tells a call from calls of other tools or with other arguments; null for an event that is no call. */
function calledIn(event: HostEvent): string | null {
  if (event.kind === 'act') return `${event.tool}\n${event.argsHash}`
  if (event.kind === 'plan') return `plan\n${digestOfValue(event.items)}`
  return event.kind === 'intent' ? `intent\n${digestOf(event.text)}` : null
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

/** A step before it is known which span showed it. */
type OpenedStep = Omit<ObservedStep, 'span' | 'responseId'>

interface Folded {
  state: Observed
  /** The agent of the event, changed; null if it is as before. */
  agent: ObservedAgent | null
  steps: OpenedStep[]
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
    case 'plan':
      return {
        ...unchanged,
        agent: explained(state, { ...agent, plan: planAfter(agent.plan, event) }),
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
  // A hook and an exporter tell one prompt, under ids of their own.
  if (toldBefore(state, event) !== undefined)
    return { state: withAttendance(state, event), agent: null, steps: [] }
  const told = [...state.spoken, { words: digestOf(text), at: event.at ?? null, id: event.eventId }]
  const prompts = state.told.prompts + (event.by === 'machine' ? 0 : 1)
  const heard = {
    ...state,
    spoken: told.slice(-mostKept.spoken),
    told: { ...state.told, prompts },
  }
  if (event.by === 'machine' || state.expects.includes(text))
    return { state: heard, agent: null, steps: [] }
  const trace = event.span?.traceId ?? null
  const isSameTrace = event.way === 'span' && trace !== null && trace === state.errandTrace
  // Each call of a model tells the newest words again.
  if (isSameTrace && text === state.errand) return { state: heard, agent: null, steps: [] }
  const isHeadless = event.isHeadless === true
  const isDoubtful = event.by === 'unknown' || (isSameTrace && event.isPartial === true)
  const isUnsure = isDoubtful && text !== untold
  const spoken = {
    ...seenPerson(heard, event.at),
    errand: text,
    errandTrace: trace,
    isHeadless,
    unsettled: isUnsure ? withUnsettled(state, event, text) : (state.unsettled ?? []),
    unended: state.unended.map((each) =>
      each.agentId === event.agentId ? { ...each, isPast: true as const } : each,
    ),
  }
  // What was planned and said before served the words before. What they explained, the new words may still need.
  const begun: ObservedAgent = {
    ...agent,
    ...given('reported', agent.reported && { ...agent.reported, goal: null }),
    intent: null,
    said: null,
    goal: null,
    done: [],
    doings: doingsAfterPrompt(agent.doings),
    shown: null,
  }
  const step = stepOf(event.agentId, begun, { goal: text, source: 'prompt' })
  const distance = begun.toTell?.distance ?? null
  const next = explained(spoken, { ...begun, ...nothingOpen })
  return {
    state: spoken,
    agent: { ...next, terms: termsOf([...next.terms, ...agent.terms.slice(0, 200)]) },
    steps: [{ ...step, userMessage: text, isUnsure, plan: null, distance }],
  }
}

/** The prompt with the same words that was told before by another way; undefined if there is none. */
function toldBefore({ spoken }: Observed, { text, at }: HostEvent & { kind: 'prompt' }) {
  const words = digestOf(cut(text))
  return text === untold
    ? undefined
    : spoken.find((each) => each.words === words && isSoon(each.at, at ?? null))
}

/**
 * The event with the id under which the same words were told before by another way. Without it nobody who does not see the
 * words could know them again.
 */
export function underFirstId(
  observed: Observed,
  event: HostEvent & { kind: 'prompt' },
): HostEvent & { kind: 'prompt' } {
  const id = toldBefore(observed, event)?.id
  return id === undefined ? event : { ...event, eventId: id }
}

/** The session after a prompt was told again that a program had handed over, which not every way of telling says. */
function withAttendance(state: Observed, event: HostEvent): Observed {
  const isNews = event.kind === 'prompt' && event.isHeadless === true && state.isHeadless !== true
  return isNews && cut(event.text) === state.errand ? { ...state, isHeadless: true } : state
}

/** The prompts of which it is not known who spoke them, with a new one. */
function withUnsettled(
  { unsettled = [], errand, personAt }: Observed,
  { eventId, at }: HostEvent,
  text: string,
): Unsettled[] {
  return [...unsettled, { id: eventId, text, at: at ?? null, errand, personAt }].slice(
    -mostKept.unsettled,
  )
}

/**
 * The prompt that a later event of the same tells the speaker of; null if it is none. Claude Code gives what a machine says
 * while it works on a prompt the id of that prompt: other words of a machine tell nothing of it.
 */
function unsettledBy({ unsettled = [] }: Observed, event: HostEvent): Unsettled | null {
  if (event.kind !== 'prompt' || event.by === 'unknown') return null
  // Who spoke is not known before what stands around the words has arrived.
  if (event.isPartial === true && event.by === 'person' && event.isHeadless !== true) return null
  const { eventId, by, at = null } = event
  const text = cut(event.text)
  const mayTellOf = (each: Unsettled) => by === 'person' || text === '' || each.text === text
  return (
    unsettled.findLast(
      (each) =>
        (each.id === eventId && mayTellOf(each)) || (each.text === text && isSoon(each.at, at)),
    ) ?? null
  )
}

/** The session after it has come out who spoke a prompt. What a machine spoke is no errand. */
function settled(
  known: Observed,
  event: HostEvent & { kind: 'prompt' },
  prompt: Unsettled,
): Observed {
  const { told } = known
  const prompts = Math.max(0, told.prompts - (event.by === 'machine' ? 1 : 0))
  const state = { ...known, told: { ...told, prompts } }
  const before = state.unsettled ?? []
  const unsettled = before.filter((each) => each !== prompt)
  const isNewest = state.errand === prompt.text && before.at(-1) === prompt
  if (event.by === 'person' || prompt.errand === null) {
    return isNewest && event.isHeadless === true
      ? { ...state, unsettled, isHeadless: true }
      : { ...state, unsettled }
  }
  if (!isNewest) {
    // What a machine spoke is not to stand again when a later prompt is taken back.
    const { errand, personAt } = prompt
    const later = unsettled.map((each) =>
      each.errand === prompt.text ? { ...each, errand, personAt } : each,
    )
    return { ...state, unsettled: later }
  }
  const after = { ...state, unsettled, errand: prompt.errand, personAt: prompt.personAt }
  const agent = agentOf(after, '')
  return { ...after, agents: { ...after.agents, '': explained(after, agent) } }
}

/** What an agent reports itself opens a step if it tells a goal, or anything else that belongs to the goal that it is at. */
function reported(
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
function asked(
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

/** Milliseconds within which the same words are the same prompt, told by another way. */
const sameWordsMs = 15_000

function isSoon(before: number | null, at: number | null): boolean {
  return before !== null && at !== null && Math.abs(at - before) < sameWordsMs
}

function delegated(
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
function begun(state: Observed, event: HostEvent & { kind: 'agent' }): Observed {
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
function stopped(state: Observed, { child }: HostEvent & { kind: 'agent' }): Observed {
  const after = { ...state, stopped: state.stopped + 1 }
  if (!Object.hasOwn(state.agents, child)) return after
  const known = agentOf(state, child)
  if (known.hasStopped === true) return state
  return { ...after, agents: { ...state.agents, [child]: { ...known, hasStopped: true } } }
}

/** What stands after a step was opened: the acts since then are none. */
const nothingOpen = { acts: 0, failed: 0, doing: [], toTell: {}, tokens: 0 }

/** The agent with the words that explain its acts: those of its task or the errand, of its plan and its stated goal. */
function explained(state: Observed, agent: ObservedAgent): ObservedAgent {
  const errand = agent.task ?? state.errand
  const { goal = null, plan = null } = agent.reported ?? {}
  const items = plan ?? agent.plan.map(({ text }) => text)
  const terms = termsOf([errand, goal ?? agent.intent, ...items])
  return { ...agent, terms }
}

function seenPerson(state: Observed, at: number | undefined): Observed {
  return { ...state, waitsSince: null, personAt: at ?? state.personAt }
}

/** An act opens a step if it shows a new goal, is the tenth under one, or is the first to show evidence of its kind. */
function acted(state: Observed, agent: ObservedAgent, act: HostEvent & Act): Folded {
  const at = act.at ?? null
  const isCovered = act.isExplained === undefined ? explains(agent, act) : act.isExplained
  const doings = doingsAfter(agent.doings, act, { isCovered, at })
  const hasBegun = agent.plan.length > 0 || doings.edits > 0
  const [shown = null] = evidenceOf(doings, act, { hasBegun, at })
  const derived = goalOf(agent, act)
  const counted: ObservedAgent = {
    ...agent,
    ...(isCovered === true ? explainedAfter(agent, act) : {}),
    said: null,
    acts: agent.acts + 1,
    failed: agent.failed + (act.outcome === 'failed' ? 1 : 0),
    doings,
    doing: [...agent.doing, actTold(act)].slice(-mostKept.doing),
    shown: shown?.kind ?? null,
  }
  // A person who was asked has granted what then happens.
  const isGranted =
    state.waitsSince !== null && at !== null && at - state.waitsSince >= grantMs && !act.agentId
  const hides = act.isHidden === true ? ({ hidesActs: true } as const) : {}
  const granted = isGranted
    ? { ...seenPerson(state, act.at), ...hides }
    : { ...state, ...hides, waitsSince: null }
  const { acts: nth, world, edits } = doings
  const after = withUnended(granted, act, { isCovered, place: { nth, world, edits } })
  const unopened = { state: after, agent: counted, steps: [] }
  if (mayNotOpen(state, counted, act, derived)) return unopened
  const isNew = isNews(agent, shown) || opens(agent, act, derived)
  return isNew || counted.acts >= actsOfStep
    ? opened(after, counted, act, derived, shown)
    : unopened
}

/** Whether evidence of this kind has not been told of the agent yet. */
function isNews(agent: ObservedAgent, shown: ActEvidence | null): boolean {
  return shown !== null && shown.gives !== null && shown.kind !== agent.shown
}

/** Whether an act opens no step whatever it shows, because nothing is known that it could be measured against. */
function mayNotOpen(
  state: Observed,
  agent: ObservedAgent,
  act: HostEvent & Act,
  { goal }: DerivedGoal,
): boolean {
  // The task of a sub-agent may be told after its first acts, and its first step makes the ground.
  const isEarly = act.agentId !== '' && agent.task === null && agent.acts < actsBeforeTask
  // What is untold must not become the ground.
  const isGroundless = goal === untold && state.errand === null && agent.task === null
  return isEarly || isGroundless
}

/** A step that an act opens, and the agent after it. */
function opened(
  state: Observed,
  agent: ObservedAgent,
  act: HostEvent & Act,
  derived: DerivedGoal,
  shown: ActEvidence | null,
): Folded {
  const told = digestOf(derived.goal)
  const after = {
    ...agent,
    ...nothingOpen,
    isTaskTold: true,
    goal: derived.goal,
    done: [...agent.done.filter((each) => each !== told), told].slice(-mostKept.done),
  }
  return { state, agent: after, steps: [{ ...stepOf(act.agentId, agent, derived), shown }] }
}

/** The session with an act of which it is not known how it ended; as it was if that is known. */
function withUnended(
  state: Observed,
  act: HostEvent & Act,
  { isCovered, place }: Pick<UnendedAct, 'isCovered' | 'place'>,
): Observed {
  if (act.outcome !== 'unknown') return state
  const { eventId: id, agentId, argsHash: args, resultHash: result = null } = act
  const unended = [
    ...state.unended,
    { id, agentId, args, result, told: actTold(act), isCovered, place },
  ]
  return { ...state, unended: unended.slice(-mostKept.unended) }
}

/**
 * An earlier act of which it comes out how it ended: it counts as if that had been told at once, and opens a step if it is the
 * first to show evidence of its kind.
 */
function ended(state: Observed, event: HostEvent & Act, unended: UnendedAct): Folded {
  const { agentId, place, args, result } = unended
  const { told } = state
  const at = state.unended.indexOf(unended)
  const later = state.unended.slice(at + 1)
  const others = state.unended.toSpliced(at, 1)
  const counted: Observed = {
    ...state,
    unended: others,
    told: { ...told, ended: told.ended + 1 },
  }
  const agent = agentOf(state, agentId)
  const isForgotten = !Object.hasOwn(state.agents, agentId)
  if (place === null || isForgotten) return { state: counted, agent: null, steps: [] }
  const act = { ...event, ...given('resultHash', result ?? event.resultHash), argsHash: args }
  if (unended.isPast === true) {
    return { state: counted, agent: { ...agent, doings: withEnd(agent.doings, act) }, steps: [] }
  }
  const isCovered = act.isExplained === undefined ? explains(agent, act) : act.isExplained
  const { doings, isOther } = doingsAfterEnd(agent.doings, act, {
    ...place,
    at: act.at ?? null,
    isCovered,
    wasCovered: unended.isCovered,
  })
  const isOpen = agent.doings.acts - place.nth < agent.acts
  const spot = isOpen ? agent.doing.lastIndexOf(unended.told) : -1
  const [shown = null] = later.some((each) => each.agentId === agentId && each.args === args)
    ? []
    : evidenceOfEnd(doings, act, place.edits)
  const after: ObservedAgent = {
    ...agent,
    ...(isCovered === true ? explainedAfter(agent, act) : {}),
    failed: agent.failed + (isOpen && act.outcome === 'failed' ? 1 : 0),
    doings,
    doing: spot < 0 ? agent.doing : agent.doing.with(spot, actTold(act)),
    shown: shown?.kind ?? agent.shown,
  }
  // What its result has changed, the acts after it have seen.
  const moved = isOther
    ? others.map((each, nth) => (nth < at ? each : movedOn(each, agentId)))
    : others
  const settledState = { ...counted, unended: moved }
  const derived = goalOf(agent, act)
  const opensNone = !isNews(agent, shown) || mayNotOpen(state, after, act, derived)
  return opensNone
    ? { state: settledState, agent: after, steps: [] }
    : opened(settledState, after, act, derived, shown)
}

function movedOn(each: UnendedAct, agentId: string): UnendedAct {
  if (each.agentId !== agentId || each.place === null) return each
  return { ...each, place: { ...each.place, world: each.place.world + 1 } }
}

/** Reading and searching for their own sake open no step, unless nothing else is known since the user spoke. */
function opens(agent: ObservedAgent, { family }: Act, { goal, source }: DerivedGoal): boolean {
  if (goal === agent.goal || goal === '' || goal === untold) return false
  if (source !== 'act') return !(source === 'description' && agent.done.includes(digestOf(goal)))
  const onlyLooks = family === 'read' || family === 'search' || family === 'wait'
  return agent.goal === null || (!onlyLooks && !agent.done.includes(digestOf(goal)))
}

function stepOf(agentId: string, agent: ObservedAgent, { goal, source }: DerivedGoal): OpenedStep {
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

function cut(text: string): string {
  return text.length > longestText ? text.slice(0, longestText).toWellFormed() : text
}
