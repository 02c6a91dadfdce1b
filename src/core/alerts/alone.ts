import { minuteMs } from '../time.ts'

/** What an agent did alone. */
export interface Alone {
  /** When a person was last there, or the run began, milliseconds since 1970. */
  since: number
  /** Milliseconds from there to the newest step. */
  ms: number
  /** Acts from there to the newest step; a step of which no host shows the acts counts as one. */
  acts: number
}

/** From when on an account is told that an agent works alone: when both are reached. */
export interface AloneLimit {
  /** 1 or more. */
  minutes: number
  /** 1 or more. */
  acts: number
}

/** Whether an agent has reached a limit with its newest step, and had not with the one before. */
export function reaches(limit: AloneLimit, after: Alone, before: Alone | null): boolean {
  const isBeyond = ({ ms, acts }: Alone) => ms >= limit.minutes * minuteMs && acts >= limit.acts
  const wasBeyond = before !== null && before.since === after.since && isBeyond(before)
  return isBeyond(after) && !wasBeyond
}
