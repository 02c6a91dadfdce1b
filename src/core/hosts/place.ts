import { amountOf, digestOfValue, type Fields, given, textOf } from './fields.ts'
import type { HostEvent, HostFact, HostName } from './host-event.ts'

const longestId = 200

/** Where the facts of one event of a host belong. */
export interface Place {
  host: HostName
  /** The host's id of the root session. */
  session: string
  /** '' is the main agent. */
  agentId?: string
  /** Milliseconds since 1970. */
  at?: number | undefined
  /** The host's id of what happened; else the whole event tells itself from others. */
  id?: string
  event: Fields
}

/** The facts with their place in the run; none if the host names no session. */
export function placed(place: Place, facts: readonly HostFact[]): HostEvent[] {
  const { host, session, agentId = '', at, event } = place
  if (session === '') return []
  const id = place.id ? place.id.slice(0, longestId) : digestOfValue(event)
  const time = amountOf(at)
  return facts.map((fact, nth) => ({
    ...fact,
    ...given('at', time),
    runId: `${host}:${session.slice(0, longestId)}`,
    agentId: agentId.slice(0, longestId),
    // Several facts of one event have ids of their own.
    eventId: nth === 0 ? id : `${id}#${nth}`,
  }))
}

/** The first text among the values, short enough for an id. */
export function idOf(...values: readonly unknown[]): string {
  return textOf(...values).slice(0, longestId)
}
