import type { LoggedStep } from '../../core/runs/batch.ts'
import { type Entry, type ReadEntry, readEntry } from '../../core/runs/entry.ts'
import {
  type Database,
  DEFAULT_LIMIT_MS,
  isUnavailable,
  lostDeadlock,
  notAwaited,
  type Queries,
  unavailable,
} from '../database/database.ts'
import {
  type Claim,
  createIdempotency,
  keyOfClaim,
  type StoredAnswer,
} from '../database/idempotency.ts'
import { logSteps } from './log-steps.ts'
import { createRunCache } from './run-cache.ts'

/**
 * Most steps that one transaction logs, and most characters of their texts; a single call may exceed both.
 * Judging a batch blocks the event loop.
 */
const maxBatch = 512
const maxText = 64_000

/** Most steps in the queue; further ones are refused at once, because they would time out. */
const maxWaiting = 20_000

/**
 * A transaction that has run for this long may wait for a run that another node has locked. It no longer
 * holds up the steps of other runs: the next transaction starts beside it, up to `maxTransactions`. SQLite
 * has one writer.
 */
const lateMs = 50
const maxTransactions = { sqlite: 1, postgres: 4 }

/**
 * Logs steps by group commit: concurrent requests share one transaction with their idempotency records.
 * Each caller gets its answer when the transaction is durable. If a batch loses a deadlock or fails with
 * the database available, its requests are retried one by one, so that one faulty request does not fail
 * the others.
 */
export function createStepLog(
  db: Database,
  onCommit: (logged: readonly LoggedStep[]) => void,
  onJob: () => void,
): StepLog {
  let queue: QueuedCall[] = []
  /** Steps in the queue. */
  let waitingSteps = 0
  /** Runs and idempotency keys of the transactions in flight; other requests for one of them wait. */
  const inFlight = new Set<string>()
  const cache = createRunCache(db.kind)
  /** The transactions that run, and how many of them are late. */
  let running = 0
  let late = 0

  /** Splits the queue into a batch for a transaction that starts now and the rest. */
  function choose(): { taken: QueuedCall[]; left: QueuedCall[] } {
    const taken: QueuedCall[] = []
    const left: QueuedCall[] = []
    const blocked = new Set(inFlight)
    let entries = 0
    let text = 0
    for (const [place, call] of queue.entries()) {
      const isFull = entries + call.entries.length > maxBatch || text + call.text > maxText
      if (taken.length > 0 && isFull) {
        left.push(...queue.slice(place))
        break
      }
      if (needsOneOf(call, blocked)) {
        // A later request for the same run must not overtake it.
        left.push(call)
        for (const each of call.runs) blocked.add(each)
      } else {
        taken.push(call)
        entries += call.entries.length
        text += call.text
      }
      // A second request with the same key waits for the first.
      if (call.key !== null) blocked.add(call.key)
    }
    return { taken, left }
  }

  function takeBatch(): QueuedCall[] {
    const { taken, left } = choose()
    queue = left
    for (const call of taken) {
      waitingSteps -= call.entries.length
      for (const each of keysOf(call)) inFlight.add(each)
    }
    return taken
  }

  /** Refuses the queued requests whose time limit has passed. */
  function refuseLate(): void {
    const now = performance.now()
    if (!queue.some(({ until }) => until <= now)) return
    const late = queue.filter(({ until }) => until <= now)
    queue = queue.filter(({ until }) => until > now)
    for (const call of late) {
      waitingSteps -= call.entries.length
      call.reject(unavailable('the turn of these steps did not come in time'))
    }
  }

  /** The remaining time of the oldest request that could start now. */
  function timeLeft(): number {
    const oldest = queue.find((call) => !needsOneOf(call, inFlight))
    return oldest === undefined ? DEFAULT_LIMIT_MS : oldest.until - performance.now()
  }

  async function logTogether(): Promise<void> {
    refuseLate()
    if (queue.length === 0) return
    let batch: QueuedCall[] = []
    let jobs = false
    const jobAdded = () => {
      jobs = true
    }
    const begin = (tx: Queries) => {
      // Take the batch now, so that it includes requests that came while the transaction started.
      batch = takeBatch()
      return work(tx, batch, jobAdded)
    }
    let outcomes: Worked[] | null = null
    try {
      outcomes = await db.tx(begin, { limitMs: timeLeft() })
    } catch (error) {
      cache.clear()
      // The transaction may have failed before it took a batch; take one now, otherwise its callers get no
      // answer.
      if (batch.length === 0) batch = takeBatch()
      // After a lost deadlock, the other transaction is done and a retry can succeed.
      const canRetry = lostDeadlock(error) || (batch.length > 1 && !isUnavailable(error))
      for (const each of batch) {
        if (canRetry) await logAlone(each, jobAdded)
        else each.reject(error)
      }
    }
    for (const call of batch) for (const each of keysOf(call)) inFlight.delete(each)
    for (const [place, outcome] of (outcomes ?? []).entries()) batch[place]?.end(outcome)
    // Do this even after a failed commit, which may have happened.
    if (jobs) onJob()
    if (outcomes !== null) onCommit(outcomes.flatMap(({ logged }) => logged))
  }

  async function logAlone(call: QueuedCall, jobAdded: () => void): Promise<void> {
    // Its work has already run once and cannot be restarted here.
    if (call.once !== null) return call.end('apart')
    let outcomes: Worked[]
    try {
      const limitMs = call.until - performance.now()
      if (limitMs <= 0) throw unavailable('the time of these steps is up')
      outcomes = await db.tx((tx) => work(tx, [call], jobAdded), { limitMs })
    } catch (error) {
      cache.clear()
      return call.reject(error)
    }
    for (const outcome of outcomes) call.end(outcome)
    onCommit(outcomes.flatMap(({ logged }) => logged))
  }

  async function work(
    tx: Queries,
    calls: readonly QueuedCall[],
    jobAdded: () => void,
  ): Promise<Worked[]> {
    const idempotency = createIdempotency(tx, db.kind)
    const claims = calls.flatMap(({ once }) => (once === null ? [] : [once.claim]))
    const earlier = await idempotency.claim(claims)
    const earlierOf = ({ once }: QueuedCall) =>
      once === null ? undefined : earlier.get(keyOfClaim(once.claim))
    const requests = calls.filter((call) => earlierOf(call) === undefined)
    const entries = requests.map(({ entries }) => entries)
    const logged = await logSteps(tx, db.kind, entries, jobAdded, cache)
    const outcomes: Worked[] = []
    const answers = []
    for (const call of calls) {
      const before = earlierOf(call)
      const own = before === undefined ? logged.splice(0, call.entries.length) : []
      outcomes.push({ logged: own, earlier: before ?? null })
      if (call.once === null || before !== undefined) continue
      answers.push({ claim: call.once.claim, ...(await call.once.answer(own)) })
    }
    notAwaited(idempotency.keep(answers))
    return outcomes
  }

  function canStart(): boolean {
    return running === late && running < maxTransactions[db.kind] && choose().taken.length > 0
  }

  /** Runs transactions one after the other while there are steps for them, until one of them is late. */
  async function run(): Promise<void> {
    running++
    let isLate = false
    while (!isLate && choose().taken.length > 0) {
      const timer = setTimeout(() => {
        isLate = true
        late++
        if (canStart()) void run()
      }, lateMs)
      await logTogether()
      clearTimeout(timer)
    }
    running--
    if (isLate) late--
    if (canStart()) void run()
  }

  function add(
    given: readonly Entry[],
    once: Once | null,
    { end, reject }: Pick<QueuedCall, 'end' | 'reject'>,
  ): void {
    if (waitingSteps + given.length > maxWaiting) {
      reject(unavailable('too many steps wait'))
      return
    }
    const entries = given.map(readEntry)
    const runs = [...new Set(entries.map(({ keys }) => keys.run))]
    const key = once === null ? null : keyOfClaim(once.claim)
    const text = entries.reduce((sum, entry) => sum + textOf(entry), 0)
    const until = performance.now() + DEFAULT_LIMIT_MS
    const call = { entries, text, once, runs, key, until, end, reject }
    queue.push(call)
    waitingSteps += entries.length
    if (canStart()) void run()
  }

  return {
    log: (entries) =>
      new Promise((resolve, reject) => {
        const end = (outcome: Outcome) => resolve(outcome === 'apart' ? [] : outcome.logged)
        add(entries, null, { end, reject })
      }),
    logOnce: (entries, once) =>
      new Promise((resolve, reject) => {
        const end = (outcome: Outcome) =>
          resolve(outcome === 'apart' ? 'apart' : (outcome.earlier ?? 'worked'))
        add(entries, once, { end, reject })
      }),
    waitingSteps: () => waitingSteps,
  }
}

/** Logs steps by group commit, outside a transaction of the caller. */
export interface StepLog {
  /** Resolves when the steps are durable. */
  log(entries: readonly Entry[]): Promise<LoggedStep[]>
  /**
   * Logs steps unless the key was used before, and resolves when the steps and the answer are durable.
   * Returns the stored answer of an earlier request, or `apart` if the caller must retry in its own
   * transaction.
   */
  logOnce(entries: readonly Entry[], once: Once): Promise<StoredAnswer | 'worked' | 'apart'>
  /** Steps in the queue. */
  waitingSteps(): number
}

/** A request that logs its steps once. */
export interface Once {
  readonly claim: Claim
  /** Builds the answer; must not await anything outside itself. */
  answer(logged: readonly LoggedStep[]): Promise<{ status: number; answer: string }>
}

function keysOf({ runs, key }: QueuedCall): readonly string[] {
  return key === null ? runs : [...runs, key]
}

function needsOneOf(call: QueuedCall, keys: ReadonlySet<string>): boolean {
  return keys.size > 0 && keysOf(call).some((each) => keys.has(each))
}

/** Characters of the texts that a step is judged by. */
function textOf({ request: { step } }: Entry): number {
  return step.goal.length + (step.ground?.length ?? 0) + (step.parentGoal?.length ?? 0)
}

interface QueuedCall {
  readonly entries: readonly ReadEntry[]
  /** Characters of all texts of its steps. */
  readonly text: number
  /** Null for a request without an idempotency key. */
  readonly once: Once | null
  /** The distinct runs, and the idempotency key or null. */
  readonly runs: readonly string[]
  readonly key: string | null
  /** Time limit, by `performance.now`. */
  readonly until: number
  readonly end: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** The result of a request: its logged steps, or the stored answer of an earlier request with its key. */
interface Worked {
  logged: LoggedStep[]
  earlier: StoredAnswer | null
}

type Outcome = Worked | 'apart'
