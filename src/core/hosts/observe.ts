import { cutTo } from '../text.ts'
import { explainedAfter, explains, termsOf } from './coverage.ts'
import {
  type ActEvidence,
  doingsAfter,
  doingsAfterPrompt,
  doingsAfterSkipped,
  evidenceOf,
} from './evidence.ts'
import { digestOf, digestOfValue, given } from './fields.ts'
import type { Act, EventSpan, HostEvent, PlanItem } from './host-event.ts'
import {
  type GoalSource,
  mostKept,
  newObservedAgent,
  type Observed,
  type ObservedAgent,
  type Unsettled,
} from './observed.ts'
import { rateAfter } from './sampling.ts'
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
  /** The task of a sub-agent, with its first step. */
  ground: string | null
  /** The words of the user that open the step, and whether it is not known that a person spoke them. */
  userMessage: string | null
  isUnsure: boolean
  /** The item of the plan that the step is under, or what the agent above is at. */
  parentGoal: string | null
  plan: string[] | null
  /** 0–10 by the share of the plan that is left; null without a plan. */
  distance: number | null
  /** What the acts show: the surest evidence, or null. */
  shown: ActEvidence | null
  /** The acts since the step before, how many of them failed, and the newest of them in words. */
  acts: number
  failedActs: number
  doing: string[]
  /** The span of the event that opened it; null if it came another way. */
  span: EventSpan | null
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
  if (marks.some(isSeen) || same.some(isSeen)) {
    return { observed: withAttendance(observed, event), steps: [] }
  }
  const seen = seenAfter(observed.seen, marks)
  const { calls, isTold } = callsAfter(observed.calls, event)
  if (isTold) return { observed: { ...observed, seen, calls }, steps: [] }
  const { state, agent, steps } = folded({ ...observed, seen, calls }, event)
  const { [event.agentId]: _, ...others } = state.agents
  const known = agent === null ? state.agents : { ...others, [event.agentId]: agent }
  const opened = steps.map((step) => ({
    ...step,
    parentGoal: step.parentGoal ?? goalAbove(state, step),
    span: event.span ?? null,
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
  const isTelemetry = way === 'log' || way === 'span'
  if (!isTelemetry && agentId === '') return { marks: [own], same: [] }
  const byTelemetry = digestOf(`${eventId}\ntelemetry`)
  const bySubAgent = digestOf(`${eventId}\nsub-agent`)
  return isTelemetry
    ? { marks: [own, byTelemetry], same: [bySubAgent] }
    : { marks: [own, bySubAgent], same: [byTelemetry] }
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
type OpenedStep = Omit<ObservedStep, 'span'>

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
        ? { ...unchanged, state: { ...state, agents: {}, tasks: [] } }
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
    case 'say':
      return { ...unchanged, agent: { ...agent, said: firstSentence(event.text) } }
    case 'delegate':
      return delegated(state, agent, event)
    case 'agent':
      // One that has stopped stays known: its delegation may be told again.
      return event.state === 'start'
        ? { ...unchanged, state: begun(state, event) }
        : { ...unchanged, state: { ...state, stopped: state.stopped + 1 } }
    case 'act': {
      const { rate, every, isRead } = rateAfter(state.rate ?? null, event)
      const counted = { ...state, rate }
      if (isRead) return acted(counted, agent, event)
      const doings = doingsAfterSkipped(agent.doings, every)
      return { state: counted, agent: { ...agent, doings }, steps: [] }
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
  // A hook and an exporter tell one prompt, under ids of their own.
  if (toldBefore(state, event) !== undefined)
    return { state: withAttendance(state, event), agent: null, steps: [] }
  const told = [...state.spoken, { words: digestOf(text), at: event.at ?? null, id: event.eventId }]
  const heard = { ...state, spoken: told.slice(-mostKept.spoken) }
  if (event.by === 'machine' || state.expects.includes(text))
    return { state: heard, agent: null, steps: [] }
  const isHeadless = event.isHeadless === true
  const isUnsure = event.by === 'unknown' && text !== untold
  const spoken = {
    ...seenPerson(heard, event.at),
    errand: text,
    isHeadless,
    unsettled: isUnsure ? withUnsettled(state, event, text) : (state.unsettled ?? []),
  }
  // What was planned and said before served the words before. What they explained, the new words may still need.
  const begun: ObservedAgent = {
    ...agent,
    intent: null,
    said: null,
    goal: null,
    done: [],
    doings: doingsAfterPrompt(agent.doings),
    shown: null,
  }
  const step = stepOf(event.agentId, begun, { goal: text, source: 'prompt' })
  const next = explained(spoken, { ...begun, ...nothingOpen })
  return {
    state: spoken,
    agent: { ...next, terms: termsOf([...next.terms, ...agent.terms.slice(0, 200)]) },
    steps: [{ ...step, userMessage: text, isUnsure, plan: null, distance: null }],
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
  state: Observed,
  event: HostEvent & { kind: 'prompt' },
  prompt: Unsettled,
): Observed {
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
  if (Object.hasOwn(state.agents, event.child)) return state
  const { tasks } = state
  const at = tasks.findIndex(
    ({ agentType }) => !event.agentType || agentType === null || agentType === event.agentType,
  )
  const found = tasks[at]
  const agent = {
    ...newObservedAgent(found?.parent ?? event.parent),
    task: found?.task ?? null,
    ...given('taskHash', found?.taskHash),
  }
  return {
    ...state,
    begun: state.begun + 1,
    agents: { ...state.agents, [event.child]: explained(state, agent) },
    tasks: tasks.filter((_, place) => place !== at),
  }
}

/** What stands after a step was opened: the acts since then are none. */
const nothingOpen = { acts: 0, failed: 0, doing: [] }

/** The agent with the words that explain its acts: those of its task or the errand, of its plan and its stated goal. */
function explained(state: Observed, agent: ObservedAgent): ObservedAgent {
  const errand = agent.task ?? state.errand
  const terms = termsOf([errand, agent.intent, ...agent.plan.map(({ text }) => text)])
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
  const after = isGranted ? seenPerson(state, act.at) : { ...state, waitsSince: null }
  // The task of a sub-agent may be told after its first acts, and its first step makes the ground.
  const isEarly = act.agentId !== '' && agent.task === null && counted.acts < actsBeforeTask
  // What is untold must not become the ground.
  const isGroundless = derived.goal === untold && state.errand === null && agent.task === null
  if (isEarly || isGroundless) return { state: after, agent: counted, steps: [] }
  const isNewEvidence = shown !== null && shown.gives !== null && shown.kind !== agent.shown
  const isNew = isNewEvidence || opens(agent, act, derived)
  if (!isNew && counted.acts < actsOfStep) return { state: after, agent: counted, steps: [] }
  const told = digestOf(derived.goal)
  const opened = {
    ...counted,
    ...nothingOpen,
    isTaskTold: true,
    goal: derived.goal,
    done: [...agent.done.filter((each) => each !== told), told].slice(-mostKept.done),
  }
  const step = stepOf(act.agentId, { ...counted, isTaskTold: agent.isTaskTold }, derived)
  return { state: after, agent: opened, steps: [{ ...step, shown }] }
}

/** Reading and searching for their own sake open no step, unless nothing else is known since the user spoke. */
function opens(agent: ObservedAgent, { family }: Act, { goal, source }: DerivedGoal): boolean {
  if (goal === agent.goal || goal === '' || goal === untold) return false
  if (source !== 'act') return !(source === 'description' && agent.done.includes(digestOf(goal)))
  const onlyLooks = family === 'read' || family === 'search' || family === 'wait'
  return agent.goal === null || (!onlyLooks && !agent.done.includes(digestOf(goal)))
}

function stepOf(
  agentId: string,
  { plan, parent, task, isTaskTold, acts, failed, doing }: ObservedAgent,
  { goal, source }: DerivedGoal,
): OpenedStep {
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
    isUnsure: false,
    parentGoal: isUnder ? now.text : null,
    plan: plan.length === 0 ? null : plan.map(({ text }) => text),
    distance: plan.length === 0 ? null : Math.round((10 * left) / plan.length),
    shown: null,
    acts,
    failedActs: failed,
    doing: [...doing],
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
