import { digestOf } from '../hosts/fields.ts'
import type { HostEvent } from '../hosts/host-event.ts'
import { mostKept } from '../hosts/observed.ts'
import type { TranscriptHost } from './transcript.ts'

/** Hosts whose hooks name no call of a tool: their files know calls by ids that no hook tells. */
const unnamed: readonly TranscriptHost[] = ['gemini-cli', 'copilot']
/** The newest events of a session that are told again: a session remembers four times as many. */
const mostEvents = mostKept.seen / 4

/**
 * The event of a session file as a server is told it, so that it counts once beside the hooks of its host: by its id, or as
 * the n-th of equal calls where the hooks have none.
 */
export function asReported(host: TranscriptHost, event: HostEvent): HostEvent {
  if (!unnamed.includes(host)) return event
  return { ...event, eventId: digestOf(event.eventId), way: 'file' }
}

/**
 * What is told of a session that began before: its newest prompts and events, as many as the server surely knows again if
 * hooks have told them. The events are of one session, in their order.
 */
export function newestOf(events: readonly HostEvent[]): HostEvent[] {
  const prompts = events.filter(({ kind }) => kind === 'prompt').slice(-mostKept.spoken)
  return events.filter(
    (event, place) => place >= events.length - mostEvents || prompts.includes(event),
  )
}
