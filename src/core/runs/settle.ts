import type { Memory } from '../detector/memory.ts'
import { settleSpeaker } from '../detector/settle.ts'
import type { Agent, Run } from './run.ts'

/** What has come out of a message. */
export interface SettledMessage {
  message: string
  by: 'person' | 'machine'
  /** Whether a program handed it over, and nobody waits for the answer. */
  isHeadless: boolean
  /** When a person was there before the message, milliseconds since 1970; null if that is not known. */
  personAt: number | null
}

/** A run and its main agent after it has come out who spoke. */
export interface SettledRun {
  run: Run
  agent: Agent
  /** The revision that the message had brought. */
  revision: number
  /** The ground that stands again, with a revision of its own; null if none was taken back. */
  restored: { revision: number; goal: string; by: 'user' | 'unknown' | 'machine' } | null
}

/** Settles who spoke a message of a run; null if the run holds no such message that is unsettled. */
export function settleRun(
  run: Run,
  agent: Agent,
  { message, by, isHeadless, personAt }: SettledMessage,
): SettledRun | null {
  const memory = settleSpeaker(agent.memory, message, by)
  const unsure = agent.memory.assignment?.findLast(
    (each) => each.by === 'unknown' && each.text.endsWith(message),
  )
  if (memory === null || unsure === undefined) return null
  const isBack = memory.revision > agent.memory.revision
  const goal = memory.ground?.goal ?? null
  return {
    run: {
      ...run,
      ground: goal,
      revision: memory.revision,
      assignment: memory.assignment ?? null,
      last_person_at: isBack ? personAt : run.last_person_at,
      clock: run.clock && (isHeadless ? { ...run.clock, isHeadless } : run.clock),
    },
    agent: { ...agent, memory },
    revision: unsure.revision,
    restored:
      isBack && goal !== null ? { revision: memory.revision, goal, by: speakerOf(memory) } : null,
  }
}

/** Who has asked for what stands: a user only if that is known of each request. */
function speakerOf({ assignment = [] }: Memory): 'user' | 'unknown' | 'machine' {
  const standing = assignment.filter(({ stands }) => stands).map(({ by }) => by)
  return (
    standing.find((by) => by === 'machine') ?? standing.find((by) => by === 'unknown') ?? 'user'
  )
}
