import {
  type Database,
  DEFAULT_LIMIT_MS,
  gaveWay,
  isUnavailable,
  type Queries,
  unavailable,
} from '../database/database.ts'
import { type Claim, claimAll, type Kept, keepAll, keyOfClaim } from '../database/idempotency.ts'
import { keyOf } from '../database/rows.ts'
import type { Entry, LoggedStep } from './entries.ts'
import { createRecentRuns } from './run-cache.ts'
import { logAndTell } from './steps-and-alerts.ts'

/**
 * Most steps that one transaction logs, and most characters of their texts; a single call may bring more.
 * They are judged in one piece, and no other request is answered meanwhile.
 */
const maxBatch = 512
const maxText = 64_000

/** Most steps that wait for a transaction; more are refused at once, as their turn would come too late. */
const maxWaiting = 20_000

/**
 * How many transactions log at once: SQLite has one writer; on PostgreSQL one is gathered and judged
 * while the other is written.
 */
const lanes = { sqlite: 1, postgres: 2 }
/**
 * The second begins for no fewer steps than this, nor than the first has, because every transaction
 * costs; unless the first takes this long, as when another node holds one of its runs.
 */
const worthALane = 16
const lateMs = 50

/**
 * Logs steps outside a transaction: those of all requests of a moment share one, with the records of
 * their idempotency keys, and each caller is answered when it is durable. When a batch fails for another
 * reason than the database being away, or because it gave way to another transaction, its requests are
 * tried one by one, so that a fault of one is not the others'.
 */
export function createStepLog(
  db: Database,
  onCommit: (logged: readonly LoggedStep[]) => void,
  onJob: () => void,
): StepLog {
  let waiting: Waiting[] = []
  /** Steps of those that wait. */
  let waitingSteps = 0
  /** Runs and idempotency keys of the transactions under way: whatever else needs one waits. */
  const busy = new Set<string>()
  const recent = createRecentRuns(db.kind)
  let running = 0
  /** Steps of the transactions under way, and how many of these take long. */
  let underWay = 0
  let late = 0
  /** Whether a transaction begins, which will take what has come until then. */
  let beginning = false

  /** What a transaction that begins now could take of what waits, and what it has to leave. */
  function choose(): { taken: Waiting[]; left: Waiting[] } {
    const taken: Waiting[] = []
    const left: Waiting[] = []
    const held = new Set(busy)
    let entries = 0
    let text = 0
    for (const [place, call] of waiting.entries()) {
      const isFull = entries + call.entries.length > maxBatch || text + call.text > maxText
      if (taken.length > 0 && isFull) {
        left.push(...waiting.slice(place))
        break
      }
      if (needsOneOf(call, held)) {
        // Nor may a later one overtake it.
        left.push(call)
        for (const each of call.runs) held.add(each)
      } else {
        taken.push(call)
        entries += call.entries.length
        text += call.text
      }
      // The second use of a key waits for the first.
      if (call.key !== null) held.add(call.key)
    }
    return { taken, left }
  }

  function take(): Waiting[] {
    const { taken, left } = choose()
    waiting = left
    for (const call of taken) {
      waitingSteps -= call.entries.length
      underWay += call.entries.length
      for (const each of needsOf(call)) busy.add(each)
    }
    return taken
  }

  /** Refuses the requests that have waited as long as a transaction may take. */
  function refuseLate(): void {
    const now = performance.now()
    if (!waiting.some(({ until }) => until <= now)) return
    const late = waiting.filter(({ until }) => until <= now)
    waiting = waiting.filter(({ until }) => until > now)
    for (const call of late) {
      waitingSteps -= call.entries.length
      call.reject(unavailable('the turn of these steps did not come in time'))
    }
  }

  /** What is left of the time of the request that has waited longest, of those that can be taken now. */
  function timeLeft(): number {
    const oldest = waiting.find((call) => !needsOneOf(call, busy))
    return oldest === undefined ? DEFAULT_LIMIT_MS : oldest.until - performance.now()
  }

  async function logTogether(): Promise<void> {
    refuseLate()
    if (waiting.length === 0) return
    let batch: Waiting[] = []
    let jobs = false
    const jobAdded = () => {
      jobs = true
    }
    const patience = startPatience()
    beginning = true
    const begin = (tx: Queries) => {
      // Taken only now, so that whatever came while the transaction began is part of it.
      beginning = false
      batch = take()
      return work(tx, batch, jobAdded)
    }
    let outcomes: Worked[] | null = null
    try {
      outcomes = await db.tx(begin, { limitMs: timeLeft() })
    } catch (error) {
      recent.forget()
      beginning = false
      // It may not even have begun; then nobody was taken, and all would wait in vain.
      if (batch.length === 0) batch = take()
      // Whoever gave way to another transaction finds it done the next time.
      const isWorthATry = gaveWay(error) || (batch.length > 1 && !isUnavailable(error))
      for (const each of batch) {
        if (isWorthATry) await logAlone(each, jobAdded)
        else each.reject(error)
      }
    }
    patience.end()
    for (const call of batch) {
      underWay -= call.entries.length
      for (const each of needsOf(call)) busy.delete(each)
    }
    for (const [place, outcome] of (outcomes ?? []).entries()) batch[place]?.end(outcome)
    // Even when the commit seems to have failed: it may have happened.
    if (jobs) onJob()
    if (outcomes !== null) onCommit(outcomes.flatMap(({ logged }) => logged))
  }

  async function logAlone(call: Waiting, jobAdded: () => void): Promise<void> {
    // Its answer was begun, and cannot be begun again.
    if (call.once !== null) return call.end('apart')
    let outcomes: Worked[]
    try {
      const limitMs = call.until - performance.now()
      if (limitMs <= 0) throw unavailable('the time of these steps is up')
      outcomes = await db.tx((tx) => work(tx, [call], jobAdded), { limitMs })
    } catch (error) {
      recent.forget()
      return call.reject(error)
    }
    for (const outcome of outcomes) call.end(outcome)
    onCommit(outcomes.flatMap(({ logged }) => logged))
  }

  async function work(
    tx: Queries,
    calls: readonly Waiting[],
    jobAdded: () => void,
  ): Promise<Worked[]> {
    await recent.begin(tx)
    const claims = calls.flatMap(({ once }) => (once === null ? [] : [once.claim]))
    const earlier = await claimAll(tx, db.kind, claims)
    const earlierOf = ({ once }: Waiting) =>
      once === null ? undefined : earlier.get(keyOfClaim(once.claim))
    const requests = calls.filter((call) => earlierOf(call) === undefined)
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
    keepAll(tx, db.kind, answers)
    recent.end(tx)
    return outcomes
  }

  /** Lets others go on when the transaction that begins now takes long. */
  function startPatience(): { end(): void } {
    if (lanes[db.kind] === 1) return { end() {} }
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      late++
      if (running < lanes[db.kind] && mayBegin()) void run()
    }, lateMs)
    return {
      end() {
        clearTimeout(timer)
        if (isOver) late--
      },
    }
  }

  function mayBegin(): boolean {
    if (beginning) return false
    const isWorthIt = underWay === 0 || waitingSteps >= Math.max(underWay, worthALane)
    return (isWorthIt || late > 0) && choose().taken.length > 0
  }

  async function run(): Promise<void> {
    running++
    while (mayBegin()) await logTogether()
    running--
  }

  function add(
    entries: readonly Entry[],
    once: Once | null,
    { end, reject }: Pick<Waiting, 'end' | 'reject'>,
  ): void {
    if (waitingSteps + entries.length > maxWaiting) {
      reject(unavailable('too many steps wait'))
      return
    }
    const runs = [...new Set(entries.map(({ account, request }) => keyOf(account, request.runId)))]
    const key = once === null ? null : keyOfClaim(once.claim)
    const text = entries.reduce((sum, entry) => sum + textOf(entry), 0)
    const until = performance.now() + DEFAULT_LIMIT_MS
    const call = { entries, text, once, runs, key, until, end, reject }
    waiting.push(call)
    waitingSteps += entries.length
    if (running < lanes[db.kind] && !needsOneOf(call, busy) && mayBegin()) void run()
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

function needsOf({ runs, key }: Waiting): readonly string[] {
  return key === null ? runs : [...runs, key]
}

function needsOneOf(call: Waiting, held: ReadonlySet<string>): boolean {
  return held.size > 0 && needsOf(call).some((each) => held.has(each))
}

/** Characters of the texts that a step is judged by. */
function textOf({ request: { step } }: Entry): number {
  return step.goal.length + (step.ground?.length ?? 0) + (step.parentGoal?.length ?? 0)
}

interface Waiting {
  readonly entries: readonly Entry[]
  /** Characters of all texts of its steps. */
  readonly text: number
  /** Null for a request without an idempotency key. */
  readonly once: Once | null
  /** Its runs, each once, and its idempotency key or null. */
  readonly runs: readonly string[]
  readonly key: string | null
  /** When its time is up, by the clock of `performance.now`. */
  readonly until: number
  readonly end: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** What became of a request in a transaction: its steps, or what an earlier use of its key was given. */
interface Worked {
  logged: LoggedStep[]
  earlier: Kept | null
}

type Outcome = Worked | 'apart'
