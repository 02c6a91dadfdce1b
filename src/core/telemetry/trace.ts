import { digestOf, given } from '../hosts/fields.ts'
import type { HostEvent, HostFact, HostName } from '../hosts/host-event.ts'
import { spanOf } from './records.ts'

/** What a span of an agent is, by the conventions of the libraries. */
export type SpanKind = 'agent' | 'model' | 'tool'

/** A fact of a span. */
export interface NotedFact {
  fact: HostFact
  /** The id of its event; what begins with `#` is one for the whole conversation. */
  id: string
  /** Milliseconds since 1970; null if the span does not say. */
  at: number | null
}

/** What is kept of a span until its trace is folded: JSON, without contents of files and outputs. */
export interface SpanNote {
  traceId: string
  spanId: string
  parentSpanId: string
  host: HostName
  /** Null for a span that only holds others. */
  kind: SpanKind | null
  /** The beginning and the end, milliseconds since 1970. */
  at: number | null
  ended?: number | null
  /** The conversation; '' if the span does not say. */
  session: string
  /** The id of the agent; '' if the span does not say. */
  agent: string
  /** The name of an agent; absent if the span does not say. */
  name?: string
  /** The agent that the span itself says it belongs to, with all that is in it; absent if it does not. */
  named?: string
  /** The id of a model's answer; absent without one. */
  responseId?: string
  /** Digests of the texts that a tool was given; absent without any. */
  asks?: readonly string[]
  /** Whether it is a sub-agent, also if no agent is above it. */
  isChild: boolean
  /** The id of the call of a tool; '' without one. */
  call: string
  /** What it says of the call above it, or that a program has handed over the prompt of its trace. */
  tells: 'ok' | 'failed' | 'granted' | 'handed over' | null
  facts: readonly NotedFact[]
}

/** Spans above one span that are looked at. */
const deepest = 64
const longestId = 200

/** How the id of the event begins that tells the words of a person: one for the whole conversation. */
export const wordsMark = '#words#'

/**
 * Folds the spans of one trace into events, in the order in which they happened. Spans arrive after their end, those of
 * a trace in any order and the root last; so their places are known only now.
 */
export function eventsOfTrace(notes: readonly SpanNote[]): HostEvent[] {
  const trace = placesIn(notes)
  const [known] = notes.filter(({ session }) => session !== '')
  const reporting = new Set(notes.filter(reportsErrand).map((note) => trace.agentOf(note)))
  const tasks = tasksIn(notes, trace)
  /** Digests of words whose agent is known. */
  const placed = new Set([...tasks.values()].map(digestOf))
  const restated = agentsRestating(notes, trace)
  const events = notes.flatMap((note) => {
    const above = trace.aboveWith(note)
    const isPartial = above.at(-1)?.parentSpanId !== ''
    const session = above.find((each) => each.session !== '') ?? known
    const span = spanOf(note)
    const place = {
      runId: `${note.host}:${(session?.session ?? note.traceId).slice(0, longestId)}`,
      ...(span === null ? {} : { span }),
      ...given('responseId', note.responseId),
      way: 'span' as const,
    }
    const facts = reporting.has(trace.agentOf(note)) ? withReport(note) : note.facts
    const told = [...askedBy(note, placed), ...facts].filter(
      ({ fact }) => !(fact.kind === 'prompt' && restated.has(note)),
    )
    const own = told.map(({ fact: one, id, at }): HostEvent => {
      const fact = delegatedBy(one, note, trace, tasks)
      const agentId =
        fact.kind === 'delegate' && note.isChild ? trace.agentAbove(note) : trace.agentOf(note)
      const time = fact === one ? at : note.at
      return {
        ...settled(fact, agentId, note, notes),
        ...place,
        ...(time === null ? {} : { at: time }),
        ...(isPartial && fact.kind === 'prompt' ? { isPartial } : {}),
        agentId,
        eventId: (id.startsWith('#') ? `${place.runId}${id}` : id).slice(0, longestId),
      }
    })
    return [...own, ...granted(note, above).map((event) => ({ ...event, ...place }))]
  })
  return events.sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
}

/** The first words that the sub-agents of a trace were given. */
function tasksIn(notes: readonly SpanNote[], trace: Places): ReadonlyMap<string, string> {
  const told = notes.flatMap((note) =>
    note.facts.flatMap(({ fact, at }) =>
      fact.kind === 'prompt' ? [{ agent: trace.agentOf(note), text: fact.text, at: at ?? 0 }] : [],
    ),
  )
  told.sort((a, b) => b.at - a.at)
  return new Map(told.map(({ agent, text }) => [agent, text]))
}

/** A call of a tool inside which an agent works, as the delegation that it is. */
function delegatedBy(
  fact: HostFact,
  note: SpanNote,
  trace: Places,
  tasks: ReadonlyMap<string, string>,
): HostFact {
  const child = trace.agentIn(note)
  if (child === undefined) return fact
  if (fact.kind === 'delegate') return { ...fact, child: fact.child ?? child }
  const task = tasks.get(child)
  const isCall = fact.kind === 'act' && fact.outcome !== 'failed'
  return isCall && task !== undefined ? { kind: 'delegate', task, child } : fact
}

/**
 * What a call of a tool says of the words that it was given: no person spoke them. An agent that works inside was perhaps
 * read before its call, which ends later, and then its task looked like a person's words.
 */
function askedBy({ asks = [], at }: SpanNote, placed: ReadonlySet<string>): NotedFact[] {
  return asks
    .filter((text) => !placed.has(text))
    .map((text) => ({
      fact: { kind: 'prompt', text: '', by: 'machine' },
      id: `${wordsMark}${text}`,
      at,
    }))
}

/**
 * The agents whose words are not those that their model was given: OpenInference gives the nodes of a graph the first
 * words of the conversation, and the model has the newest.
 */
function agentsRestating(notes: readonly SpanNote[], trace: Places): ReadonlySet<SpanNote> {
  const told = new Map<SpanNote, string[]>()
  for (const note of notes) {
    if (note.kind !== 'model' || note.host !== 'otlp') continue
    for (const above of trace.aboveWith(note)) {
      if (above.kind !== 'agent' || trace.agentOf(above) !== trace.agentOf(note)) continue
      const words = told.get(above) ?? []
      words.push(...wordsIn(note))
      told.set(above, words)
    }
  }
  const restating = [...told].filter(
    ([agent, words]) => words.length > 0 && !wordsIn(agent).some((each) => words.includes(each)),
  )
  return new Set(restating.map(([agent]) => agent))
}

/** Whether a span reports what its agent was asked for, so that the words in the trace do not tell it. */
function reportsErrand({ facts }: SpanNote): boolean {
  return facts.some(
    ({ fact }) =>
      fact.kind === 'report' && (fact.ground !== undefined || fact.userTurn !== undefined),
  )
}

/**
 * The facts of a span of an agent that reports what it was asked for. The words of a person count only where the span says
 * that it is their turn, and reports no goal for it.
 */
function withReport({ facts, spanId }: SpanNote): NotedFact[] {
  const report = facts.map(({ fact }) => fact).find((fact) => fact.kind === 'report')
  const isTurn = report?.userTurn === true && report.goal === undefined
  const words = isTurn ? facts.filter(({ fact }) => fact.kind === 'prompt') : []
  return facts.flatMap((noted): NotedFact[] => {
    const { fact } = noted
    if (fact.kind === 'prompt') {
      const spoken = { ...fact, by: 'person' as const }
      return words.includes(noted) ? [{ ...noted, fact: spoken, id: `${spanId}${wordsMark}` }] : []
    }
    if (fact.kind !== 'report' || words.length === 0) return [noted]
    const { userTurn: _, ...more } = fact
    return Object.keys(more).length === 1 ? [] : [{ ...noted, fact: more }]
  })
}

/** Where the spans of a trace stand. */
interface Places {
  /** A span and those above it, the nearest first. */
  aboveWith(note: SpanNote): readonly SpanNote[]
  /** The agent of a span; '' is the main one. */
  agentOf(note: SpanNote): string
  /** The agent that holds a span, whatever the span is itself. */
  agentAbove(note: SpanNote): string
  /** The agent that works inside a call of a tool; undefined if none does. */
  agentIn(note: SpanNote): string | undefined
}

function placesIn(notes: readonly SpanNote[]): Places {
  const byId = new Map(notes.map((note) => [note.spanId, note]))
  const chains = new Map(notes.map((note) => [note, [note, ...aboveOf(note, byId)]]))
  const aboveWith = (note: SpanNote) => chains.get(note) ?? [note]
  /** Calls of tools with the first span of the agent that works inside. */
  const delegations = new Map<SpanNote, SpanNote>()
  for (const note of notes) {
    if (note.kind !== 'model' && note.kind !== 'agent') continue
    const [, ...above] = aboveWith(note)
    const tool = above.find(({ kind, host }) => kind === 'tool' && host === 'otlp')
    if (tool !== undefined && !delegations.has(tool)) delegations.set(tool, note)
  }
  const asked = agentsAsked(notes, aboveWith)
  for (const [agent, call] of asked) delegations.set(call, agent)
  const agentIn = (above: readonly SpanNote[]) => agentAt(above, delegations, asked)
  const ids = new Map(notes.map((note) => [note, agentIn(aboveWith(note))]))
  return {
    aboveWith,
    agentOf: (note) => ids.get(note) ?? '',
    agentAbove: (note) => agentIn(aboveWith(note).slice(1)),
    agentIn(note) {
      const inside = delegations.get(note)
      return inside && ids.get(inside)
    },
  }
}

/**
 * The agents that were asked in the words that a tool was given while they worked, with the call. An agent that is used as
 * a tool does not always stand inside its call.
 */
function agentsAsked(
  notes: readonly SpanNote[],
  aboveWith: (note: SpanNote) => readonly SpanNote[],
): ReadonlyMap<SpanNote, SpanNote> {
  const calls = new Map<string, SpanNote[]>()
  for (const note of notes) {
    for (const text of note.asks ?? []) calls.set(text, [...(calls.get(text) ?? []), note])
  }
  const asked = new Map<SpanNote, SpanNote>()
  for (const note of notes) {
    const above = aboveWith(note)
    const agent = above.find(({ kind }) => kind === 'agent')
    const call = wordsIn(note)
      .flatMap((words) => calls.get(words.slice(wordsMark.length)) ?? [])
      .find((each) => isDuring(note, each) && !above.includes(each))
    // The agent that calls a tool was not asked by it.
    if (agent !== undefined && call !== undefined && !aboveWith(call).includes(agent)) {
      asked.set(agent, call)
    }
  }
  return asked
}

function isDuring(note: SpanNote, call: SpanNote): boolean {
  const { at, ended = null } = call
  return note.at !== null && at !== null && ended !== null && note.at >= at && note.at <= ended
}

/** The ids of the words of a person that a span tells. */
function wordsIn({ facts }: SpanNote): string[] {
  return facts.flatMap(({ fact, id }) => (fact.kind === 'prompt' ? [id] : []))
}

function aboveOf({ parentSpanId }: SpanNote, byId: ReadonlyMap<string, SpanNote>): SpanNote[] {
  const above: SpanNote[] = []
  let at = byId.get(parentSpanId)
  while (at !== undefined && above.length < deepest) {
    above.push(at)
    at = byId.get(at.parentSpanId)
  }
  return above
}

/**
 * The agent at a span, from the spans above it, itself first; '' is the main one. A sub-agent is an agent inside another
 * one, one that works inside a call of a tool or was asked by one, and one that says so itself.
 */
function agentAt(
  above: readonly SpanNote[],
  delegations: ReadonlyMap<SpanNote, SpanNote>,
  asked: ReadonlyMap<SpanNote, SpanNote>,
): string {
  let id = ''
  let around: SpanNote | null = null
  let outer = ''
  for (const [depth, note] of [...above.entries()].reverse()) {
    if (note.kind === 'agent' && !(depth === above.length - 1 && isFrame(note))) {
      const isInner = around !== null && !isSame(around, note)
      // Some libraries give all agents one id.
      const own = note.agent === outer ? '' : note.agent
      if (note.isChild || asked.has(note) || isInner) id = own || note.spanId
      else if (around === null && id !== '') id = own || id
      around = note
      outer = note.agent
    }
    if (note.named !== undefined) id = note.named
    if (depth > 0 && delegations.has(note)) {
      id = note.spanId
      around = null
    }
  }
  return id.slice(0, longestId)
}

/** Whether a span without a name and without anything to tell only holds agents: the run of a workflow. */
function isFrame({ name, agent, facts }: SpanNote): boolean {
  return name === undefined && agent === '' && facts.length === 0
}

/** Whether two spans, one inside the other, are of one agent: some libraries make several for each. */
function isSame(outer: SpanNote, inner: SpanNote): boolean {
  if (inner.host !== 'otlp') return false
  if (outer.name !== undefined && inner.name !== undefined) return outer.name === inner.name
  if (outer.agent !== '' && inner.agent !== '') return outer.agent === inner.agent
  const words = wordsIn(outer)
  return wordsIn(inner).some((each) => words.includes(each))
}

/** A fact with what its place in the trace says of it. */
function settled(
  fact: HostFact,
  agentId: string,
  { spanId }: SpanNote,
  notes: readonly SpanNote[],
): HostFact {
  // The words that a sub-agent was given are its task.
  if (fact.kind === 'prompt' && agentId !== '') {
    return { kind: 'delegate', task: fact.text, child: agentId }
  }
  if (fact.kind === 'prompt' && fact.by === 'unknown') {
    const isHanded = notes.some(({ tells }) => tells === 'handed over')
    return isHanded ? { ...fact, by: 'person', isHeadless: true } : fact
  }
  if (fact.kind !== 'act' || fact.outcome !== 'unknown') return fact
  const below = notes.find((each) => each.parentSpanId === spanId && isOutcome(each.tells))
  return below === undefined ? fact : { ...fact, outcome: below.tells as 'ok' | 'failed' }
}

function isOutcome(tells: SpanNote['tells']): boolean {
  return tells === 'ok' || tells === 'failed'
}

/** The permission of a person for the call above a span, with the id that the logs give it. */
function granted(
  { tells, at, spanId }: SpanNote,
  [, ...above]: readonly SpanNote[],
): Omit<HostEvent & { kind: 'person' }, 'runId'>[] {
  if (tells !== 'granted') return []
  const call = above.find((each) => each.call !== '')?.call ?? digestOf(spanId)
  const time = at === null ? {} : { at }
  return [{ kind: 'person', how: 'permission', agentId: '', eventId: `${call}#granted`, ...time }]
}
