import type { NewJob } from '../storage/database/jobs.ts'
import type { JobContext, JobKind } from './scheduler.ts'

/** A session of an account. */
interface SessionOf {
  account: string
  runId: string
}

/** The dependencies of the job. */
export interface UnreadParts {
  /** Judges the steps of a session that wait for the encoder. Returns false if it is still late. */
  judge(account: string, runId: string): Promise<boolean>
  /** Milliseconds since 1970. */
  now(): number
}

const kindName = 'unread'
/** The pause after which the encoder is asked again, in milliseconds. */
const againMs = 250

/** The job that judges the steps of a session whose texts the encoder had not read in time. */
export function unreadJob(session: SessionOf, now: number): NewJob {
  const { account, runId } = session
  const id = `${kindName}:${account}:${runId}`
  return { id, kind: kindName, input: JSON.stringify(session), due: now }
}

/**
 * Judges steps that a host has reported and that the encoder was too busy to read before the host had to be answered.
 * They wait in the database, so that no step is lost with the process, and no verdict depends on how busy the machine was.
 */
export function createUnreadJob({ judge, now }: UnreadParts): JobKind {
  async function run({ input }: JobContext): Promise<number | null> {
    const { account, runId } = JSON.parse(input) as SessionOf
    return (await judge(account, runId)) ? null : now() + againMs
  }

  return { name: kindName, leaseMs: 60_000, atOnce: 16, maxAttempts: 5, run }
}
