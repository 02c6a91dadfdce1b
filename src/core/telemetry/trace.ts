import { digestOf } from '../hosts/fields.ts'
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
  /** The beginning, milliseconds since 1970. */
  at: number | null
  /** The conversation; '' if the span does not say. */
  session: string
  /** The id of the agent; '' if the span does not say. */
  agent: string
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

/**
 * Folds the spans of one trace into events, in the order in which they happened. Spans arrive after their end, those of
 * a trace in any order and the root last; so their places are known only now.
 */
export function eventsOfTrace(notes: readonly SpanNote[]): HostEvent[] {
  const byId = new Map(notes.map((note) => [note.spanId, note]))
  const [known] = notes.filter(({ session }) => session !== '')
  const events = notes.flatMap((note) => {
    const above = [note, ...aboveOf(note, byId)]
    const session = above.find((each) => each.session !== '') ?? known
    const span = spanOf(note)
    const place = {
      runId: `${note.host}:${(session?.session ?? note.traceId).slice(0, longestId)}`,
      ...(span === null ? {} : { span }),
      way: 'span' as const,
    }
    const own = note.facts.map(({ fact, id, at }) => {
      const agentId = agentIn(fact.kind === 'delegate' && note.isChild ? above.slice(1) : above)
      return {
        ...settled(fact, agentId, note, notes),
        ...place,
        ...(at === null ? {} : { at }),
        agentId,
        eventId: (id.startsWith('#') ? `${place.runId}${id}` : id).slice(0, longestId),
      }
    })
    return [...own, ...granted(note, above).map((event) => ({ ...event, ...place }))]
  })
  return events.sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
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

/** The nearest agent of spans that has an agent above itself, or is a sub-agent by itself; '' is the main one. */
function agentIn(spans: readonly SpanNote[]): string {
  const agents = spans.filter(({ kind }) => kind === 'agent')
  const [own] = agents
  if (own === undefined || (agents.length < 2 && !own.isChild)) return ''
  return (own.agent || own.spanId).slice(0, longestId)
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
