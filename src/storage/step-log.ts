import { type Database, isUnavailable } from './database.ts'
import { type Entry, type LoggedStep, logSteps } from './steps.ts'

/** Most steps that one transaction logs; a single call may bring more. */
const maxBatch = 512

/**
 * Logs steps outside a transaction: those of all requests of a moment share one, and each caller is
 * answered when it is durable. When a batch fails for another reason than the database being away,
 * its requests are tried one by one, so that a fault of one is not the others'.
 */
export function createStepLog(db: Database, onCommit: (steps: number) => void): StepLog {
  const waiting: Waiting[] = []
  let running = false

  function take(): Waiting[] {
    let entries = 0
    let calls = 0
    for (const each of waiting) {
      entries += each.entries.length
      if (calls > 0 && entries > maxBatch) break
      calls++
    }
    return waiting.splice(0, calls)
  }

  async function logTogether(): Promise<void> {
    let batch: Waiting[] = []
    try {
      const results = await db.tx((tx) => {
        // Taken only now, so that whatever came while the transaction began is part of it.
        batch = take()
        return logSteps(
          tx,
          db.kind,
          batch.map(({ entries }) => entries),
        )
      })
      onCommit(results.length)
      for (const { entries, resolve } of batch) resolve(results.splice(0, entries.length))
    } catch (error) {
      // It may not even have begun; then nobody was taken, and all would wait in vain.
      if (batch.length === 0) batch = take()
      const [first, ...more] = batch
      if (more.length === 0 || isUnavailable(error)) for (const { reject } of batch) reject(error)
      else for (const each of [first, ...more]) if (each !== undefined) await logAlone(each)
    }
  }

  async function logAlone({ entries, resolve, reject }: Waiting): Promise<void> {
    await db.tx((tx) => logSteps(tx, db.kind, [entries])).then(resolve, reject)
  }

  async function run(): Promise<void> {
    running = true
    while (waiting.length > 0) await logTogether()
    running = false
  }

  return {
    log: (entries) =>
      new Promise((resolve, reject) => {
        waiting.push({ entries, resolve, reject })
        if (!running) void run()
      }),
    waitingSteps: () => waiting.reduce((steps, { entries }) => steps + entries.length, 0),
  }
}

/** Logging outside a transaction. */
export interface StepLog {
  /** Answers when the steps are durable. */
  log(entries: readonly Entry[]): Promise<LoggedStep[]>
  /** Steps that wait for the transaction under way to end. */
  waitingSteps(): number
}

interface Waiting {
  readonly entries: readonly Entry[]
  readonly resolve: (results: LoggedStep[]) => void
  readonly reject: (error: unknown) => void
}
