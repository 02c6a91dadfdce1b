import type { HostEvent } from './host-event.ts'
import { mostKept, type Observed } from './observed.ts'
import type { Hearing } from './silence.ts'

/** How much of a session has been seen, and when. Counts are 0 or more. */
export interface SessionSeen extends Hearing {
  /** Acts that began, and those of which the host told how they ended. */
  acts: number
  ended: number
  /** Sub-agents that began and that stopped. */
  agentsBegun: number
  agentsStopped: number
  /** Prompts that no machine spoke, as they were told, and those of them that stand in the session file alone. */
  prompts: number
  unheard: number
}

/** How much of the acts of sessions has been seen. */
export interface SeenShare {
  /** Whether there are enough acts to say. */
  known: boolean
  acts: number
  /** Share of the acts of which the host told how they ended, 0–1; null without acts. */
  share: number | null
}

/** Fewest acts of which a share is told. */
const fewestActs = 8
/** With less seen, no precision is claimed. */
export const leastSeen = 0.8
/** How much of a session has been seen. */
export function seenOf(observed: Observed): SessionSeen {
  const { begun, stopped, heardAt, overAt, starts, told } = observed
  return {
    acts: told.acts + starts.length,
    ended: told.ended,
    agentsBegun: begun,
    agentsStopped: stopped,
    prompts: told.prompts,
    unheard: told.unheard,
    heardAt,
    overAt: overAt !== null && overAt >= (heardAt ?? 0) ? overAt : null,
  }
}

/** The share of acts that has been seen. */
export function seenShare({ acts, ended }: Pick<SessionSeen, 'acts' | 'ended'>): SeenShare {
  return {
    known: acts >= fewestActs,
    acts,
    share: acts === 0 ? null : Math.round((100 * ended) / acts) / 100,
  }
}

/** Whether so little has been seen that no precision is claimed. */
export function isTooLittle({ acts, ended }: Pick<SessionSeen, 'acts' | 'ended'>): boolean {
  return acts >= fewestActs && ended / acts < leastSeen
}

/** What is known of a session after an event that was not told before: when it was heard, and which calls go on. */
export function heardAfter(observed: Observed, event: HostEvent): Observed {
  const { at, eventId, kind } = event
  const { starts, told } = observed
  const heardAt = at === undefined ? observed.heardAt : Math.max(observed.heardAt ?? at, at)
  const isEnd = starts.includes(eventId) && kind !== 'begin'
  const kept = isEnd ? starts.filter((id) => id !== eventId) : starts
  const heard = { ...observed, heardAt, starts: kept }
  switch (kind) {
    case 'begin':
      return withStart(heard, eventId)
    case 'act': {
      const ended = told.ended + (event.outcome === 'unknown' ? 0 : 1)
      return { ...heard, told: { ...told, acts: told.acts + 1, ended } }
    }
    case 'unheard':
      return { ...heard, told: { ...told, unheard: told.unheard + 1 } }
    case 'runEnd':
      return { ...heard, overAt: heardAt }
    default:
      return heard
  }
}

/** A call that began long ago and is forgotten stays one of which nobody told how it ended. */
function withStart(observed: Observed, id: string): Observed {
  const { starts, told } = observed
  const all = [...starts, id]
  const acts = told.acts + Math.max(0, all.length - mostKept.starts)
  return { ...observed, starts: all.slice(-mostKept.starts), told: { ...told, acts } }
}
