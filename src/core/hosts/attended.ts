import type { HostEvent } from './host-event.ts'

/** What hooks put behind the address when their host has said that nobody can speak in the session. */
export const neverAttended = { name: 'attended', value: 'never' } as const

/** How the telemetry of Claude Code names the source of a prompt that a program handed over. */
export const byProgram = 'sdk'

/** The events of a session in which nobody can speak: a program handed its prompts over. */
export function asUnattended(events: readonly HostEvent[]): HostEvent[] {
  return events.map((event) =>
    event.kind === 'prompt' && event.by !== 'machine' ? { ...event, isHeadless: true } : event,
  )
}
