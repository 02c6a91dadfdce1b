import { factOf } from '../../core/hosts/host-answer.ts'
import type { HostEvent, HostName } from '../../core/hosts/host-event.ts'
import { observe } from '../../core/hosts/observe.ts'
import {
  agentsToTell,
  answerBefore,
  errandAt,
  nothingObserved,
  type Observed,
  type ObservedAgent,
  withTold,
  withVerdict,
} from '../../core/hosts/observed.ts'
import type { SettledPrompt } from '../../core/hosts/observed-prompts.ts'
import type { ObservedStep } from '../../core/hosts/opened-step.ts'
import { seenOf } from '../../core/hosts/seen.ts'
import { isOtherwise } from '../../core/hosts/silence.ts'
import { requestOf } from '../../core/runs/shown-step.ts'
import type { DriftRequest } from '../../core/runs/step-request.ts'
import { dayMs } from '../../core/time.ts'
import type { WaitingSession } from '../../jobs/waiting-acts.ts'
import type { Store } from '../../storage/store.ts'
import type { Keyed } from '../gate/context.ts'
import { Refusal } from '../gate/refusal.ts'
import { logRequest } from '../steps/drift.ts'
import { hostWaitMs, learnAhead } from '../steps/learn-ahead.ts'

/** What goes with the folding of events. */
export interface LogOptions {
  /**
   * Who is to be told that an agent has left its errand: the agent, once and again after ten steps; or a person who
   * watches, when it leaves it, beside what the agent is told. Nobody if absent.
   */
  tells?: 'agent' | 'person' | 'nobody'
  /** Whether a host waits: then acts that open no step may be answered before they are stored. */
  mayWait?: boolean
  /** Counts a step as a write of the account; may refuse it. */
  countWrite(): Promise<unknown>
  /** Work in the transaction of the steps. */
  alongside?(tx: Store): Promise<void>
}

/** What is to be told of an agent of a session, and what is known of the session. */
interface Logged {
  observed: Observed
  told: string | null
}

/**
 * Folds events of one session and logs the steps. Returns what is known of the session then, and what is to be told of an
 * agent that has left its errand.
 */
export async function logEvents(
  context: Keyed,
  host: HostName,
  runId: string,
  events: readonly HostEvent[],
  options: LogOptions,
): Promise<Logged> {
  const { store, account, now, waitingActs } = context
  const timed = events.map((event) => ({ ...event, at: event.at ?? now() }))
  const stored = await store.hostSessions.find(account.id, runId, now())
  const kept = waitingActs.of(account.id, runId)
  // A session that was deleted takes its acts with it.
  if (stored === null && kept !== null) waitingActs.forget(account.id, runId, kept.events)
  const waiting = stored === null ? null : kept
  const all = waiting === null ? timed : [...waiting.events, ...timed]
  const base = stored ?? nothingObserved
  const read = waiting?.stored === stored ? folded(waiting.known, timed) : folded(base, all)
  const session = { events: all, stored: base, known: read.observed }
  // Acts wait only beside what is stored of their session, so that they go when it is deleted.
  if (stored !== null && mayWait(read, timed, options)) {
    const storeLater = (session: WaitingSession) =>
      storeActs(context, host, runId, session, options)
    if (waitingActs.keep(account.id, runId, session, storeLater)) {
      return { observed: read.observed, told: null }
    }
  }
  const logged = await logSession(context, host, runId, session, read, options)
  waitingActs.forget(account.id, runId, all)
  return logged ?? { observed: read.observed, told: null }
}

/** Whether events are acts, or their beginnings, that open no step, and whose agent is told nothing. */
function mayWait(
  { observed, steps, settled }: Folded,
  events: readonly HostEvent[],
  options: LogOptions,
): boolean {
  if (options.mayWait !== true || steps.length > 0 || settled.length > 0) return false
  const newest = events.at(-1)
  if (options.tells === 'agent' && newest !== undefined) {
    if (agentsToTell(observed).includes(newest.agentId)) return false
    if (answerBefore(observed, newest) !== null) return false
  }
  return events.every(({ kind }) => kind === 'act' || kind === 'begin')
}

/** Stores acts that have waited. A step that they open after all, because another node has seen more, is logged. */
async function storeActs(
  context: Keyed,
  host: HostName,
  runId: string,
  { events, stored, known }: WaitingSession,
  { countWrite }: LogOptions,
): Promise<void> {
  const { store, account, tier, now } = context
  const isStored = await store.tx(async (tx) => {
    const { hostSessions } = tx
    const before = await hostSessions.lockStored(account.id, runId, now())
    if (before === null) return true
    const read =
      before === stored ? { observed: known, steps: [], settled: [] } : folded(before, events)
    if (read.steps.length > 0 || read.settled.length > 0) return false
    const expires = now() + tier.retention_days * dayMs
    if (read.observed !== before) {
      await hostSessions.save(account.id, runId, read.observed, expires)
      await recordHearing(tx, context, runId, before, read.observed)
    }
    return true
  })
  if (isStored) return
  const before = await store.hostSessions.find(account.id, runId, now())
  if (before === null) return
  const read = folded(before, events)
  const session = { events, stored: before, known: read.observed }
  await logSession(context, host, runId, session, read, { countWrite, wasStored: true })
}

/** Logs the steps of a session in one transaction; null if it `wasStored` before and no longer is. */
async function logSession(
  context: Keyed,
  host: HostName,
  runId: string,
  { events, stored }: WaitingSession,
  read: Folded,
  {
    tells = 'nobody',
    mayWait = false,
    countWrite,
    alongside,
    wasStored = false,
  }: LogOptions & { wasStored?: boolean },
): Promise<Logged | null> {
  const { store, account, tier, now } = context
  const expected = read.steps.map((step) => requested(host, runId, step, read.observed))
  // Counted before they are logged, so that an account beyond its quota logs none.
  for (const _ of expected) await countWrite()
  const waitMs = mayWait ? hostWaitMs : undefined
  if (expected.length > 0) await learnAhead(context, () => expected, waitMs)
  return store.tx(async (tx) => {
    const before = wasStored
      ? await tx.hostSessions.lockStored(account.id, runId, now())
      : await tx.hostSessions.lock(account.id, runId, now())
    if (before === null) return null
    const { observed, steps, settled } = before === stored ? read : folded(before, events)
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
    const newest = events.at(-1)
    // A host that sends an event again is answered as before.
    const again = tells === 'agent' && newest !== undefined ? answerBefore(observed, newest) : null
    const acting = newest?.agentId ?? ''
    const left = again === null ? driftingAgent(tells, acting, before, after) : undefined
    const agent = left === undefined ? undefined : after.agents[left]
    const words = ground ?? agent?.task ?? after.errand ?? ''
    const saidAt = words === after.errand ? errandAt(after) : null
    const told = again ?? (agent === undefined ? null : factOf(words, agent, saidAt))
    if (tells === 'agent' && told !== null && newest !== undefined && again === null) {
      after = withTold(after, newest, told)
    }
    const expires = now() + tier.retention_days * dayMs
    await tx.hostSessions.save(account.id, runId, after, expires)
    await recordHearing(tx, context, runId, before, after)
    await alongside?.(tx)
    return { observed: after, told }
  })
}

/** Tells whoever shows a run that its session is heard again after a silence, has ended, or goes on. */
async function recordHearing(
  { stream }: Store,
  { account, now }: Keyed,
  run_id: string,
  before: Observed,
  after: Observed,
): Promise<void> {
  // Without words of a person there is no run yet.
  if (after.errand === null || !isOtherwise(seenOf(before), seenOf(after))) return
  await stream.record([{ account: account.id, at: now(), kind: 'run', run_id, subject: '' }])
}

/** The agent of whose drift is told: to itself if it acts, or to a person once it has left its errand. */
function driftingAgent(
  tells: LogOptions['tells'],
  acting: string,
  before: Observed,
  after: Observed,
): string | undefined {
  if (tells === 'agent') return agentsToTell(after).find((id) => id === acting)
  return tells === 'person' ? strayedIn(before, after) : undefined
}

/** The agent that drifts after a step, and did not before; undefined if none does. */
function strayedIn(before: Observed, { agents }: Observed): string | undefined {
  const drifts = (agent: ObservedAgent | undefined) => (agent?.drift ?? null) !== null
  return Object.keys(agents).find((id) => drifts(agents[id]) && !drifts(before.agents[id]))
}

/** What events leave, the steps that they open, and the prompts whose speaker they tell. */
interface Folded {
  observed: Observed
  steps: readonly ObservedStep[]
  settled: readonly SettledPrompt[]
}

function folded(known: Observed, events: readonly HostEvent[]): Folded {
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
