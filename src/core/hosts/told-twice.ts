import { digestOf, digestOfValue } from './fields.ts'
import type { HostEvent } from './host-event.ts'
import { markOf, mostKept, type Observed, type UnendedAct } from './observed.ts'

/**
 * The newest list of marks and, once the next event of its session has come, its set: a back-test folds thousands of
 * events one after another, and a search of the list for each is its main cost.
 */
let newestSeen: { list: readonly string[]; marks: Set<string> | null } = { list: [], marks: null }

/** Whether a list of marks holds one. */
export function seenIn(list: readonly string[]): (mark: string) => boolean {
  if (newestSeen.list !== list) return (mark) => list.includes(mark)
  newestSeen.marks ??= new Set(list)
  const { marks } = newestSeen
  return (mark) => marks.has(mark)
}

/** The list with new marks, and without the oldest. */
export function seenAfter(list: readonly string[], marks: readonly string[]): string[] {
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
export function marksOf(event: HostEvent): {
  marks: string[]
  same: string[]
} {
  const { kind, agentId, eventId, way } = event
  const isCall = kind === 'act' || kind === 'plan' || kind === 'intent' || kind === 'delegate'
  if (!isCall) return { marks: [markOf(event)], same: [] }
  const own = markOf(event, 'call')
  const isTelemetry = isByTelemetry(way)
  if (!isTelemetry && agentId === '') return { marks: [own], same: [] }
  const byTelemetry = digestOf(`${eventId}\ntelemetry`)
  const bySubAgent = digestOf(`${eventId}\nsub-agent`)
  return isTelemetry
    ? { marks: [own, byTelemetry], same: [bySubAgent] }
    : { marks: [own, bySubAgent], same: [byTelemetry] }
}

/** The marks that a call leaves by which it is known to have ended. */
export function callMarks(event: HostEvent): string[] {
  return [markOf(event, 'call'), digestOf(`${event.eventId}\ntelemetry`)]
}

/** Whether telemetry told an event, and no hook. */
export function isByTelemetry(way: HostEvent['way']): way is 'log' | 'span' {
  return way === 'log' || way === 'span'
}

/** The earlier act of which an event tells how it ended; null if it is none. Telemetry does not say whose call it was. */
export function unendedBy({ unended }: Observed, event: HostEvent): UnendedAct | null {
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
export function callsAfter(
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
