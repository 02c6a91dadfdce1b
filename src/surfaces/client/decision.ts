import type { CallOptions } from './calls.ts'
import { type Calls, pause } from './calls.ts'
import type { Escalation } from './routes.ts'

/** How long to wait for a decision. */
export interface DecisionOptions extends Omit<CallOptions, 'idempotencyKey'> {
  /** Milliseconds to wait in total. The default is to wait until the decision. */
  waitMs?: number | undefined
}

const longestWaitSeconds = 30
/** Margin for the network, and for a service that answers slightly after the requested wait. */
const marginMs = 15_000
/**
 * Shortest time between two requests, for a service that does not hold them because it is stopping or
 * already holds too many.
 */
const shortestRoundMs = 1_000

/**
 * Asks for an escalation until it is decided or the time is up, and returns it. The service holds each
 * request for a while.
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
