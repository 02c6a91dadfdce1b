import type { CallOptions } from './calls.ts'
import { type Calls, pause } from './calls.ts'
import type { Escalation } from './routes.ts'

/** How long to wait for a decision. */
export interface DecisionOptions extends Omit<CallOptions, 'idempotencyKey'> {
  /** Milliseconds to wait in all; until it is decided unless given. */
  waitMs?: number | undefined
}

const longestWaitSeconds = 30
/** The service answers a little after the wait it was asked for, and a network takes its time too. */
const marginMs = 15_000
/** From one question to the next when the service did not hold it, because it stops or is asked too often. */
const shortestRoundMs = 1_000

/**
 * Asks for an escalation again and again, each time held by the service, until it is decided or the
 * time is over; answers it as it is then.
 */
export async function awaitDecision(
  calls: Calls,
  escId: string,
  { waitMs = Number.POSITIVE_INFINITY, timeoutMs, ...options }: DecisionOptions,
): Promise<Escalation> {
  const began = performance.now()
  const leftMs = () => Math.max(0, waitMs - (performance.now() - began))
  for (;;) {
    const asked = performance.now()
    const wait = Math.min(longestWaitSeconds, leftMs() / 1000)
    const query = new URLSearchParams({ id: escId, wait: String(wait) })
    const escalation = (await calls.send(
      { method: 'GET', path: `/v1/escalation?${query}`, keyed: true },
      { ...options, timeoutMs: timeoutMs ?? wait * 1000 + marginMs },
    )) as Escalation
    if (escalation.status !== 'pending' || leftMs() === 0) return escalation
    const restMs = shortestRoundMs - (performance.now() - asked)
    await pause(Math.min(leftMs(), Math.max(0, restMs)), options.signal, undefined)
  }
}
