import { type Doings, nothingDone } from './evidence.ts'
import { digestOf } from './fields.ts'
import type { HostEvent, PlanItem, Report } from './host-event.ts'
import type { ActRate } from './sampling.ts'

/** Where the goal of a step comes from, the surest first. */
export const goalSources = [
  'prompt',
  'plan',
  'intent',
  'narration',
  'description',
  'act',
  'task',
] as const

export type GoalSource = (typeof goalSources)[number]

/** What is known of one agent of a session. */
export interface ObservedAgent {
  /** The agent that it works for; '' is the main agent. */
  parent: string
  /** The task of a sub-agent, and whether a step has told it. */
  task: string | null
  isTaskTold: boolean
  /** Tells its task from others where the words are kept back; absent where they are told. */
  taskHash?: string
  plan: PlanItem[]
  intent: string | null
  /** The goal and the plan that it reports itself; they win over what its session shows. Absent if it reports none. */
  reported?: { goal: string | null; plan: readonly string[] | null }
  /** What it has reported beside them, for its next step. */
  toTell?: Pick<Report, 'ground' | 'progress' | 'distance' | 'userTurn'>
  /** Tokens of its model since the step before; absent if none were told. */
  tokens?: number
  /** What it said since its last act. */
  said: string | null
  /** The goal of the step that is open. */
  goal: string | null
  /** Digests of the newest goals, so that none that was derived from acts opens a step twice. */
  done: string[]
  /** Acts of the open step, and how many of them failed. */
  acts: number
  failed: number
  /** Stems of the words that explain its acts, the folders in which explained acts were, and whether one was an edit. */
  terms: readonly string[]
  folders: readonly string[]
  hasEdited: boolean
  /** What its acts show. */
  doings: Doings
  /** The kind of evidence that a step has told and that still holds. */
  shown: string | null
  /** The newest acts in words, for the step that they belong to. */
  doing: readonly string[]
  /** Whether it was counted among the sub-agents that began, and that stopped; absent until then. */
  hasBegun?: true
  hasStopped?: true
  /** Why its last step drifts, and the steps since the agent was told so (null if it was not); null if it does not. */
  drift: { why: string; told: number | null } | null
}

/** What is known of one session of a host: bounded, and equal after equal events. */
export interface Observed {
  agents: Record<string, ObservedAgent>
  /** Ids of the newest events, so that none counts twice. */
  seen: string[]
  /** Prompts that no person will have typed. */
  expects: string[]
  /** Tasks whose agent has not begun. */
  tasks: { task: string; taskHash?: string; agentType: string | null; parent: string }[]
  /** The newest words of a person. */
  errand: string | null
  /** The trace that told them; absent or null if they came another way. */
  errandTrace?: string | null
  /** When a person last spoke, granted or answered, and since when one is waited for; milliseconds since 1970. */
  personAt: number | null
  waitsSince: number | null
  /** The newest prompts by digests of their words, with their times, and the ids of their events. */
  spoken: { words: string; at: number | null; id?: string }[]
  /** The newest calls of tools without an id, and the ways by which they were told. */
  calls: { what: string; at: number; ways: string[] }[]
  /** The newest prompts of which it is not known whether a person spoke them; absent if there was none. */
  unsettled?: Unsettled[]
  /** What agents were told in the answers to the newest such events, by the marks of the events; absent if nothing was told. */
  answers?: { event: string; fact: string }[]
  /** Whether the words of an act were told as hashes alone; absent if none were. */
  hidesActs?: true
  /** Whether a program gave the newest words; absent if the host has not said. */
  isHeadless?: boolean
  /** The telemetry by which the tokens of the session were told first, which alone counts; absent if none were told. */
  tokensBy?: 'log' | 'span'
  /** The acts of the newest minute; absent or null if none had a time. */
  rate?: ActRate | null
  /** Sub-agents that began and that stopped. */
  begun: number
  stopped: number
  /** Ids of the newest calls that have begun and not ended. */
  starts: string[]
  /** The newest acts of which the host has not told how they ended. */
  unended: UnendedAct[]
  /** Acts, those of which the host told how they ended, prompts, and prompts of the session file that no hook told. */
  told: { acts: number; ended: number; prompts: number; unheard: number }
  /** When the newest event happened, and when a session ended last; milliseconds since 1970. */
  heardAt: number | null
  overAt: number | null
  /**
   * The events after these, whose steps wait for the encoder, the oldest first, and when they came, milliseconds since
   * 1970; absent if none does. What else is known of the session does not tell of them.
   */
  unread?: readonly { event: HostEvent; came: number }[]
}

/** An act of which it is not known how it ended. */
export interface UnendedAct {
  /** The id of its event. */
  id: string
  agentId: string
  args: string
  result: string | null
  /** How a step tells it. */
  told: string
  isCovered: boolean | null
  /** Which act of its agent it was, and what had changed by then; null if it was counted and not read. */
  place: { nth: number; world: number; edits: number } | null
  /** Whether the user has spoken since: then it counts, and is no evidence. */
  isPast?: true
}

/** A prompt of which it is not known whether a person spoke it. */
export interface Unsettled {
  /** The id of its event. */
  id: string
  text: string
  at: number | null
  /** The errand before it, and when a person was last there. */
  errand: string | null
  personAt: number | null
}

/** Most of each list that a session keeps. */
export const mostKept = {
  agents: 32,
  seen: 256,
  expects: 20,
  tasks: 20,
  done: 12,
  plan: 50,
  doing: 6,
  spoken: 8,
  calls: 32,
  unsettled: 4,
  answers: 4,
  starts: 32,
  unended: 32,
  unread: 64,
} as const

/** The longest time for which the steps of a session wait for the encoder, in milliseconds. */
const unreadMs = 60_000

/** A session of which nothing is known. */
export const nothingObserved: Observed = {
  agents: {},
  seen: [],
  expects: [],
  tasks: [],
  errand: null,
  personAt: null,
  waitsSince: null,
  spoken: [],
  calls: [],
  rate: null,
  begun: 0,
  stopped: 0,
  starts: [],
  unended: [],
  told: { acts: 0, ended: 0, prompts: 0, unheard: 0 },
  heardAt: null,
  overAt: null,
}

/** What is known while the steps of further events wait for the encoder. */
export function withUnread(
  observed: Observed,
  events: readonly HostEvent[],
  now: number,
): Observed {
  const added = events.map((event) => ({ event, came: now }))
  return { ...observed, unread: [...(observed.unread ?? []), ...added] }
}

/** Whether the steps of further events can wait for the encoder. */
export function canWait(
  { unread = [] }: Observed,
  events: readonly HostEvent[],
  now: number,
): boolean {
  const since = unread[0]?.came ?? now
  return unread.length + events.length <= mostKept.unread && now - since < unreadMs
}

/** Steps after which an agent that still drifts is told again. */
const toldAgainAfter = 10

/** What is known after the verdict on a step of an agent. */
export function withVerdict(
  observed: Observed,
  agentId: string,
  { drifting, why }: { drifting: boolean; why: string },
): Observed {
  return withAgent(observed, agentId, ({ drift }) => {
    if (!drifting) return null
    const told = drift?.told ?? null
    return { why, told: told === null ? null : told + 1 }
  })
}

/** The agents that drift and have not been told so, or not for ten steps. */
export function agentsToTell({ agents }: Observed): string[] {
  return Object.entries(agents).flatMap(([id, { drift }]) =>
    drift !== null && (drift.told ?? toldAgainAfter) >= toldAgainAfter ? [id] : [],
  )
}

/** What is known after an agent was told a fact in the answer to an event. */
export function withTold(observed: Observed, event: HostEvent, fact: string): Observed {
  const { answers = [] } = observed
  const told = withAgent(observed, event.agentId, ({ drift }) => drift && { ...drift, told: 0 })
  const answer = { event: markOf(event), fact }
  return { ...told, answers: [...answers, answer].slice(-mostKept.answers) }
}

/** The fact that was told in the answer to this event before; null if it told none. */
export function answerBefore({ answers = [] }: Observed, event: HostEvent): string | null {
  return answers.findLast((each) => each.event === markOf(event))?.fact ?? null
}

/** What an event leaves, so that it is known when it comes again. A `call` is known by whatever it is told as. */
export function markOf(
  { agentId, eventId, kind }: HostEvent,
  as: HostEvent['kind'] | 'call' = kind,
): string {
  return digestOf(`${agentId}\n${eventId}\n${as}`)
}

/** When the user said the newest errand, milliseconds since 1970; null if that is not known. */
export function errandAt({ spoken, errand }: Observed): number | null {
  if (errand === null) return null
  const words = digestOf(errand)
  return spoken.findLast((each) => each.words === words)?.at ?? null
}

function withAgent(
  observed: Observed,
  id: string,
  drift: (agent: ObservedAgent) => ObservedAgent['drift'],
): Observed {
  const known = Object.hasOwn(observed.agents, id) ? observed.agents[id] : undefined
  const agent = known ?? newObservedAgent('')
  return { ...observed, agents: { ...observed.agents, [id]: { ...agent, drift: drift(agent) } } }
}

/** An agent of which nothing is known. */
export function newObservedAgent(parent: string): ObservedAgent {
  return {
    parent,
    task: null,
    isTaskTold: false,
    plan: [],
    intent: null,
    said: null,
    goal: null,
    done: [],
    acts: 0,
    failed: 0,
    terms: [],
    folders: [],
    hasEdited: false,
    doings: nothingDone,
    shown: null,
    doing: [],
    drift: null,
  }
}
