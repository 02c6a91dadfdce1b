import type { LoggedStep } from '../../core/runs/batch.ts'
import { type Entry, readEntry } from '../../core/runs/entry.ts'
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
import { createStepQueue, type QueuedRequest } from './step-queue.ts'

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
  const queue = createStepQueue<Request>()
  const cache = createRunCache(db.kind)
  /** The transactions that run, and how many of them are late. */
  let running = 0
  let late = 0

  function canStart(): boolean {
    return running === late && running < maxTransactions[db.kind] && queue.hasNext()
  }

  /** Runs transactions one after the other while there are requests for them, until one of them is late. */
  async function run(): Promise<void> {
    running++
    let isLate = false
    while (!isLate && queue.hasNext()) {
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

  async function logTogether(): Promise<void> {
    queue.refuseLate()
    let batch: Request[] = []
    let jobs = false
    const jobAdded = () => {
      jobs = true
    }
    let outcomes: Outcome[] | null = null
    try {
      outcomes = await db.tx(
        (tx) => {
          // Take the batch now, so that it includes requests that came while the transaction started.
          batch = queue.take()
          return work(tx, batch, jobAdded)
        },
        { limitMs: queue.timeLeft() },
      )
    } catch (error) {
      cache.clear()
      // The transaction may have failed before it took a batch; take one now, otherwise its callers get no
      // answer.
      if (batch.length === 0) batch = queue.take()
      // After a lost deadlock, the other transaction is done and a retry can succeed.
      const canRetry = lostDeadlock(error) || (batch.length > 1 && !isUnavailable(error))
      for (const each of batch) {
        if (canRetry) await logAlone(each, jobAdded)
        else each.reject(error)
      }
    }
    queue.end(batch)
    for (const [place, outcome] of (outcomes ?? []).entries()) batch[place]?.resolve(outcome)
    // Do this even after a failed commit, which may have happened.
    if (jobs) onJob()
    if (outcomes !== null) onCommit(outcomes.flatMap(({ logged }) => logged))
  }

  async function logAlone(request: Request, jobAdded: () => void): Promise<void> {
    // Its work has already run once and cannot be restarted here.
    if (request.once !== null) return request.resolve('apart')
    let outcomes: Outcome[]
    try {
      const limitMs = request.until - performance.now()
      if (limitMs <= 0) throw unavailable('the time of these steps is up')
      outcomes = await db.tx((tx) => work(tx, [request], jobAdded), { limitMs })
    } catch (error) {
      cache.clear()
      return request.reject(error)
    }
    for (const outcome of outcomes) request.resolve(outcome)
    onCommit(outcomes.flatMap(({ logged }) => logged))
  }

  /** Claims the idempotency keys of requests, logs the steps of the fresh ones, and keeps their answers. */
  async function work(
    tx: Queries,
    requests: readonly Request[],
    jobAdded: () => void,
  ): Promise<Outcome[]> {
    const idempotency = createIdempotency(tx, db.kind)
    const claims = requests.flatMap(({ once }) => (once === null ? [] : [once.claim]))
    const earlier = await idempotency.claim(claims)
    const fresh = requests.filter(({ key }) => key === null || !earlier.has(key))
    const entries = fresh.map(({ entries }) => entries)
    const logged = await logSteps(tx, db.kind, entries, jobAdded, cache)
    const outcomes: Outcome[] = []
    const answers = []
    for (const { key, once, entries } of requests) {
      const before = key === null ? undefined : earlier.get(key)
      const own = before === undefined ? logged.splice(0, entries.length) : []
      outcomes.push({ logged: own, earlier: before ?? null })
      if (once === null || before !== undefined) continue
      answers.push({ claim: once.claim, ...(await once.answer(own)) })
    }
    notAwaited(idempotency.keep(answers))
    return outcomes
  }

  function add(entries: readonly Entry[], once: Once | null): Promise<Outcome | 'apart'> {
    return new Promise((resolve, reject) => {
      if (!queue.hasRoom(entries.length)) throw unavailable('too many steps wait')
      const read = entries.map(readEntry)
      const key = once === null ? null : keyOfClaim(once.claim)
      const until = performance.now() + DEFAULT_LIMIT_MS
      queue.add({ entries: read, once, key, until, resolve, reject })
      if (canStart()) void run()
    })
  }

  return {
    async log(entries) {
      const outcome = await add(entries, null)
      return outcome === 'apart' ? [] : outcome.logged
    },
    async logOnce(entries, once) {
      const outcome = await add(entries, once)
      return outcome === 'apart' ? 'apart' : (outcome.earlier ?? 'worked')
    },
    waitingSteps: queue.waitingSteps,
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

/** A request to log steps; `once` is null without an idempotency key. */
interface Request extends QueuedRequest {
  readonly once: Once | null
  resolve(outcome: Outcome | 'apart'): void
}

/** The result of a request: its logged steps, or the stored answer of an earlier request with its key. */
interface Outcome {
  logged: LoggedStep[]
  earlier: StoredAnswer | null
}
