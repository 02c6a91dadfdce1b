import type { HostEvent } from './host-event.ts'

/** What hooks put behind the address when their host has said that nobody can speak in the session. */
export const neverAttended = { name: 'attended', value: 'never' } as const

/** The events of a session in which nobody can speak: a program handed its prompts over. */
export function asUnattended(events: readonly HostEvent[]): HostEvent[] {
  return events.map((event) =>
    event.kind === 'prompt' && event.by !== 'machine' ? { ...event, isHeadless: true } : event,
  )
}
