import { factOf } from '../../core/hosts/host-answer.ts'
import type { HostEvent, HostName } from '../../core/hosts/host-event.ts'
import { type ObservedStep, observe, type SettledPrompt } from '../../core/hosts/observe.ts'
import {
  agentsToTell,
  nothingObserved,
  type Observed,
  withTold,
  withVerdict,
} from '../../core/hosts/observed.ts'
import { requestOf } from '../../core/runs/shown-step.ts'
import type { DriftRequest } from '../../core/runs/step-request.ts'
import { dayMs } from '../../core/time.ts'
import type { Store } from '../../storage/store.ts'
import type { Keyed } from '../gate/context.ts'
import { Refusal } from '../gate/refusal.ts'
import { logRequest } from '../steps/drift.ts'
import { learnAhead } from '../steps/learn-ahead.ts'

/** What goes with the folding of events. */
export interface LogOptions {
  /** Whether an agent that has left its errand is to be told so. */
  tells?: boolean
  /** Counts a step as a write of the account; may refuse it. */
  countWrite(): Promise<unknown>
  /** Work in the transaction of the steps. */
  alongside?(tx: Store): Promise<void>
}

/**
 * Folds events of one session and logs the steps. Returns what is known of the session then, and, if `tells`, what an agent
 * that has left its errand is to be told.
 */
export async function logEvents(
  context: Keyed,
  host: HostName,
  runId: string,
  events: readonly HostEvent[],
  { tells = false, countWrite, alongside }: LogOptions,
): Promise<{ observed: Observed; told: string | null }> {
  const { store, account, tier, now } = context
  const timed = events.map((event) => ({ ...event, at: event.at ?? now() }))
  const known = (await store.hostSessions.find(account.id, runId, now())) ?? nothingObserved
  const read = folded(known, timed)
  const expected = read.steps.map((step) => requested(host, runId, step, read.observed))
  // Counted before they are logged, so that an account beyond its quota logs none.
  for (const _ of expected) await countWrite()
  if (expected.length > 0) await learnAhead(context, () => expected)
  return store.tx(async (tx) => {
    const before = await tx.hostSessions.lock(account.id, runId, now())
    const { observed, steps, settled } = folded(before, timed)
    let after = observed
    let ground: string | null = null
    for (const step of steps) {
      const request = requested(host, runId, step, observed)
      const verdict = await logRequest({ ...context, store: tx }, request)
      after = withVerdict(after, step.agentId, verdict)
      if (verdict.drifting) ground = verdict.ground
    }
    // After the steps: a host may tell a prompt and its speaker in one call.
    for (const { text, by, isHeadless, personAt } of settled) {
      const message = { message: text, by, isHeadless, personAt }
      await tx.runs.settle(account.id, runId, message, now())
    }
    const acting = events.at(-1)?.agentId ?? ''
    const agent = tells && agentsToTell(after).includes(acting) ? after.agents[acting] : undefined
    let told: string | null = null
    if (agent !== undefined) {
      const errand = ground ?? agent.task ?? after.errand ?? ''
      told = factOf(errand, agent)
      after = withTold(after, acting)
    }
    const expires = now() + tier.retention_days * dayMs
    await tx.hostSessions.save(account.id, runId, after, expires)
    await alongside?.(tx)
    return { observed: after, told }
  })
}

function folded(
  known: Observed,
  events: readonly HostEvent[],
): { observed: Observed; steps: ObservedStep[]; settled: SettledPrompt[] } {
  const steps: ObservedStep[] = []
  const settled: SettledPrompt[] = []
  let observed = known
  for (const event of events) {
    const after = observe(observed, event)
    observed = after.observed
    steps.push(...after.steps)
    if (after.settles !== undefined) settled.push(after.settles)
  }
  return { observed, steps, settled }
}

function requested(
  host: HostName,
  runId: string,
  step: ObservedStep,
  observed: Observed,
): DriftRequest {
  const request = requestOf(host, runId, step, observed)
  if ('fault' in request) throw new Refusal(400, 'bad_request', { detail: request.fault })
  return request
}
