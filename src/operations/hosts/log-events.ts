import { factOf } from '../../core/hosts/host-answer.ts'
import type { HostEvent, HostName } from '../../core/hosts/host-event.ts'
import { observe } from '../../core/hosts/observe.ts'
import {
  agentsToTell,
  answerBefore,
  canWait,
  errandAt,
  nothingObserved,
  type Observed,
  type ObservedAgent,
  withTold,
  withUnread,
  withVerdict,
} from '../../core/hosts/observed.ts'
import type { SettledPrompt } from '../../core/hosts/observed-prompts.ts'
import type { ObservedStep } from '../../core/hosts/opened-step.ts'
import { seenOf } from '../../core/hosts/seen.ts'
import { isOtherwise } from '../../core/hosts/silence.ts'
import { requestOf } from '../../core/runs/shown-step.ts'
import type { DriftRequest } from '../../core/runs/step-request.ts'
import { dayMs } from '../../core/time.ts'
import { unreadJob } from '../../jobs/unread.ts'
import type { WaitingSession } from '../../jobs/waiting-acts.ts'
import type { Store } from '../../storage/store.ts'
import type { Keyed } from '../gate/context.ts'
import { Refusal } from '../gate/refusal.ts'
import { logRequest } from '../steps/drift.ts'
import { encoderWaitMs, learnAhead } from '../steps/learn-ahead.ts'

/**
 * The longest wait of a host for the encoder, in milliseconds: a host leaves the server alone for a while if it waits
 * longer than 300.
 */
const hostWaitMs = 200
/** Most attempts to log steps of a session that other requests change meanwhile. */
const mostRounds = 4

/** What goes with the folding of events. */
export interface LogOptions {
  /**
   * Who is to be told that an agent has left its errand: the agent, once and again after ten steps; or a person who
   * watches, when it leaves it, beside what the agent is told. Nobody if absent.
   */
  tells?: 'agent' | 'person' | 'nobody'
  /** Whether a host waits: then acts that open no step may be answered before they are stored. */
  mayWait?: boolean
  /** Whether steps that the encoder does not read in time may be judged later, by a job. */
  mayPostpone?: boolean
  /** Counts a step as a write of the account; may refuse it. */
  countWrite(): Promise<unknown>
  /** Work in the transaction of the steps. */
  alongside?(tx: Store): Promise<void>
}

/** What is to be told of an agent of a session, and what is known of the session. */
interface Logged {
  observed: Observed
  told: string | null
  /** Whether steps wait for the encoder. */
  isLate: boolean
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
  // Nor beside steps that wait for the encoder, which come first.
  if (stored !== null && stored.unread === undefined && mayWait(read, timed, options)) {
    const storeLater = (session: WaitingSession) =>
      storeActs(context, host, runId, session, options)
    if (waitingActs.keep(account.id, runId, session, storeLater)) {
      return { observed: read.observed, told: null, isLate: false }
    }
  }
  const logged = await logSession(context, host, runId, session, read, options)
  waitingActs.forget(account.id, runId, all)
  return logged ?? { observed: read.observed, told: null, isLate: false }
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
    const read = before === stored ? { ...nothingFolded, observed: known } : folded(before, events)
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

/**
 * Logs the steps of a session in one transaction, after the encoder has read them; null if it `wasStored` before and no
 * longer is. Steps of a host that the encoder has not read in time are stored as events, and a job judges them: a verdict
 * does not depend on how busy the machine is.
 */
async function logSession(
  context: Keyed,
  host: HostName,
  runId: string,
  session: WaitingSession,
  read: Folded,
  options: LogOptions & { wasStored?: boolean },
): Promise<Logged | null> {
  const { store, account, now } = context
  const { mayWait = false, mayPostpone = false, countWrite, wasStored = false } = options
  const until = performance.now() + (mayWait ? hostWaitMs : encoderWaitMs)
  let counted = 0
  for (let round = 1; ; round++) {
    const { events, stored } = session
    const expected = read.steps.map((step) => requested(host, runId, step, read.observed))
    const fresh = expected.length - read.postponed.length
    // Counted before they are logged, so that an account beyond its quota logs none.
    for (; counted < fresh; counted++) await countWrite()
    // What opens no step of its own does not wait for those before it.
    const waitMs = mayWait && fresh === 0 ? 0 : Math.max(0, until - performance.now())
    const isRead = expected.length === 0 || (await learnAhead(context, () => expected, waitMs))
    const isLate = !isRead && mayPostpone
    const logged = await store.tx(async (tx): Promise<Logged | Observed | null> => {
      const { hostSessions } = tx
      const before = wasStored
        ? await hostSessions.lockStored(account.id, runId, now())
        : await hostSessions.lock(account.id, runId, now())
      if (before === null) return null
      if (isLate && canWait(before, events, now())) {
        return postpone(tx, context, runId, before, events, read, options)
      }
      if (before === stored)
        return logFolded(tx, context, host, runId, before, events, read, options)
      const newer = folded(before, events)
      // Steps that others have logged meanwhile are among those before these: the encoder has them to read.
      if (newer.steps.length > 0 && round < mostRounds) return before
      return logFolded(tx, context, host, runId, before, events, newer, options)
    })
    if (logged === null || 'isLate' in logged) return logged
    session = { events, stored: logged, known: logged }
    read = folded(logged, events)
  }
}

/** Keeps events until the encoder has read their steps. */
async function postpone(
  tx: Store,
  { account, tier, now }: Keyed,
  runId: string,
  before: Observed,
  events: readonly HostEvent[],
  { observed }: Folded,
  { tells, alongside }: LogOptions,
): Promise<Logged> {
  const newest = events.at(-1)
  if (newest !== undefined) {
    const expires = now() + tier.retention_days * dayMs
    await tx.hostSessions.save(account.id, runId, withUnread(before, events, now()), expires)
    await tx.jobs.add(unreadJob({ account: account.id, runId }, now()))
  }
  await alongside?.(tx)
  const told = tells === 'agent' && newest !== undefined ? answerBefore(before, newest) : null
  return { observed, told, isLate: true }
}

/** Logs the steps that events have opened, and stores what is known of the session then. */
async function logFolded(
  tx: Store,
  context: Keyed,
  host: HostName,
  runId: string,
  before: Observed,
  events: readonly HostEvent[],
  { observed, steps, postponed, settled }: Folded,
  { tells = 'nobody', alongside }: LogOptions,
): Promise<Logged> {
  const { account, tier, now } = context
  let after = observed
  let ground: string | null = null
  for (const [place, step] of steps.entries()) {
    const request = requested(host, runId, step, observed)
    const at = postponed[place]
    const then = at === undefined ? now : () => at
    const verdict = await logRequest({ ...context, now: then, store: tx }, request)
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
  return { observed: after, told, isLate: false }
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
  /** When the first of the steps came, which have waited for the encoder. */
  postponed: readonly number[]
  settled: readonly SettledPrompt[]
}

const nothingFolded = { steps: [], postponed: [], settled: [] }

/** Folds events into a session, after those that wait for the encoder. */
function folded(known: Observed, events: readonly HostEvent[]): Folded {
  const { unread = [], ...session } = known
  const steps: ObservedStep[] = []
  const settled: SettledPrompt[] = []
  let observed: Observed = session
  const fold = (event: HostEvent) => {
    const after = observe(observed, event)
    observed = after.observed
    steps.push(...after.steps)
    if (after.settles !== undefined) settled.push(after.settles)
  }
  const postponed: number[] = []
  for (const { event, came } of unread) {
    fold(event)
    while (postponed.length < steps.length) postponed.push(came)
  }
  for (const event of events) fold(event)
  return { observed, steps, postponed, settled }
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
