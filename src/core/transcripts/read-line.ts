import type { HostEvent } from '../hosts/host-event.ts'

/**
 * Reads the lines of one session file in their order, each parsed from JSON. Total: a line that it does not know is no
 * event. The ids of the events are those of the host's hooks where both know one.
 */
export type ReadLine = (line: unknown) => HostEvent[]

/** What the path of a session file tells: the session, and the agent if the file is a sub-agent's ('' if not). */
export interface TranscriptPlace {
  session: string
  agentId: string
}
