import { familyOf } from './act.ts'
import type { Act, HostEvent } from './host-event.ts'

/** What a host says of how one use of a tool ended. */
export interface Ending {
  tool: string
  /** The host says that it failed. */
  didFail: boolean
  exit: number | undefined
  output: string | undefined
}

/** How an act ended: that of a command is told by its exit code alone, since hosts call a failing command a success. */
export function outcomeOf({ tool, didFail, exit, output }: Ending): Act['outcome'] {
  if (didFail || (exit !== undefined && exit !== 0)) return 'failed'
  if (exit === 0) return 'ok'
  return output === undefined || familyOf(tool) === 'run' ? 'unknown' : 'ok'
}

/** The events of a host of which it is not known how it tells a failing command: one without an exit code is unknown. */
export function withDoubt(events: readonly HostEvent[]): HostEvent[] {
  return events.map((event) =>
    event.kind === 'act' &&
    event.outcome === 'ok' &&
    familyOf(event.tool) === 'run' &&
    event.exit === undefined
      ? { ...event, outcome: 'unknown' }
      : event,
  )
}
