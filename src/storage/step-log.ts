import { type Database, isUnavailable, type Queries } from './database.ts'
import { type Claim, claimAll, type Kept, keepAll, keyOfClaim } from './idempotency.ts'
import { createRecentRuns } from './recent-runs.ts'
import type { Entry, LoggedStep } from './steps.ts'
import { logAndTell } from './told-steps.ts'

/** Most steps that one transaction logs; a single call may bring more. */
const maxBatch = 512

/**
 * Logs steps outside a transaction: those of all requests of a moment share one, with the records of
 * their idempotency keys, and each caller is answered when it is durable. When a batch fails for another reason than the database being away,
 * its requests are tried one by one, so that a fault of one is not the others'.
 */
export function createStepLog(
  db: Database,
  onCommit: (steps: number) => void,
  onJob: () => void,
): StepLog {
  const waiting: Waiting[] = []
  /** Whether the transaction under way added jobs. */
  let jobs = false
  const recent = db.kind === 'sqlite' ? createRecentRuns() : undefined
  let running = false

  function take(): Waiting[] {
    let entries = 0
    let calls = 0
    const keys = new Set<string>()
    for (const each of waiting) {
      entries += each.entries.length
      if (calls > 0 && entries > maxBatch) break
      if (each.once !== null) {
        const key = keyOfClaim(each.once.claim)
        // The second use of a key waits for the first.
        if (keys.has(key)) break
        keys.add(key)
      }
      calls++
    }
    return waiting.splice(0, calls)
  }

  async function logTogether(): Promise<void> {
    let batch: Waiting[] = []
    try {
      const outcomes = await db.tx((tx) => {
        // Taken only now, so that whatever came while the transaction began is part of it.
        batch = take()
        return work(tx, batch)
      })
      onCommit(outcomes.reduce((steps, { logged }) => steps + logged.length, 0))
      for (const [place, outcome] of outcomes.entries()) batch[place]?.end(outcome)
    } catch (error) {
      recent?.forget()
      // It may not even have begun; then nobody was taken, and all would wait in vain.
      if (batch.length === 0) batch = take()
      const [first, ...more] = batch
      if (more.length === 0 || isUnavailable(error)) for (const { reject } of batch) reject(error)
      else for (const each of [first, ...more]) if (each !== undefined) await logAlone(each)
    }
  }

  async function logAlone(call: Waiting): Promise<void> {
    // Its answer was begun, and cannot be begun again.
    if (call.once !== null) return call.end('apart')
    try {
      for (const outcome of await db.tx((tx) => work(tx, [call]))) call.end(outcome)
    } catch (error) {
      recent?.forget()
      call.reject(error)
    }
  }

  async function work(tx: Queries, calls: readonly Waiting[]): Promise<Worked[]> {
    await recent?.begin(tx)
    const claims = calls.flatMap(({ once }) => (once === null ? [] : [once.claim]))
    const earlier = await claimAll(tx, db.kind, claims)
    const earlierOf = ({ once }: Waiting) =>
      once === null ? undefined : earlier.get(keyOfClaim(once.claim))
    const requests = calls.filter((call) => earlierOf(call) === undefined)
    const jobAdded = () => {
      jobs = true
    }
    const logged = await logAndTell(
      tx,
      db.kind,
      requests.map(({ entries }) => entries),
      jobAdded,
      recent,
    )
    const outcomes: Worked[] = []
    const answers = []
    for (const call of calls) {
      const before = earlierOf(call)
      const own = before === undefined ? logged.splice(0, call.entries.length) : []
      outcomes.push({ logged: own, earlier: before ?? null })
      if (call.once === null || before !== undefined) continue
      answers.push({ claim: call.once.claim, ...(await call.once.answer(own)) })
    }
    await keepAll(tx, db.kind, answers)
    await recent?.end(tx)
    return outcomes
  }

  async function run(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      await logTogether()
      // Even when the commit seems to have failed: it may have happened.
      if (jobs) onJob()
      jobs = false
    }
    running = false
  }

  function add(call: Waiting): void {
    waiting.push(call)
    if (!running) void run()
  }

  return {
    log: (entries) =>
      new Promise((resolve, reject) => {
        const end = (outcome: Outcome) => resolve(outcome === 'apart' ? [] : outcome.logged)
        add({ entries, once: null, end, reject })
      }),
    logOnce: (entries, once) =>
      new Promise((resolve, reject) => {
        const end = (outcome: Outcome) =>
          resolve(outcome === 'apart' ? 'apart' : (outcome.earlier ?? 'worked'))
        add({ entries, once, end, reject })
      }),
    waitingSteps: () => waiting.reduce((steps, { entries }) => steps + entries.length, 0),
  }
}

/** Logging outside a transaction. */
export interface StepLog {
  /** Answers when the steps are durable. */
  log(entries: readonly Entry[]): Promise<LoggedStep[]>
  /**
   * Logs steps unless the key was used before, and answers when they and the answer are durable. Answers
   * what the earlier use was given, and `apart` when it must be tried in a transaction of its own.
   */
  logOnce(entries: readonly Entry[], once: Once): Promise<Kept | 'worked' | 'apart'>
  /** Steps that wait for the transaction under way to end. */
  waitingSteps(): number
}

/** A request that logs its steps once. */
export interface Once {
  readonly claim: Claim
  /** What it is answered; awaits nothing outside itself. */
  answer(logged: readonly LoggedStep[]): Promise<{ status: number; answer: string }>
}

interface Waiting {
  readonly entries: readonly Entry[]
  /** Null for a request without an idempotency key. */
  readonly once: Once | null
  readonly end: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** What became of a request in a transaction: its steps, or what an earlier use of its key was given. */
interface Worked {
  logged: LoggedStep[]
  earlier: Kept | null
}

type Outcome = Worked | 'apart'
