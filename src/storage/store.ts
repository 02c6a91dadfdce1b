import { type Accounts, createAccounts, newKeyMemory } from './accounts.ts'
import { type Counters, createCounters } from './counters.ts'
import type { Database, Queries } from './database.ts'
import { createIdempotency, type Idempotency } from './idempotency.ts'
import { createRuns, type Runs } from './runs.ts'
import { createStepLog, type Entry, type LoggedStep, logSteps } from './steps.ts'

/** What the service remembers, one member for each noun. */
export interface Store {
  readonly counters: Counters
  readonly accounts: Accounts
  readonly idempotency: Idempotency
  readonly runs: Runs
  /** Logs steps in order and answers when they are durable; see `logSteps`. */
  log(entries: readonly Entry[]): Promise<LoggedStep[]>
  /**
   * Runs `work` as one transaction: all of what it does through the store it is given, or nothing.
   * It awaits nothing but that store. Inside a transaction the same one goes on.
   */
  tx<T>(work: (store: Store) => Promise<T>): Promise<T>
}

/** The store of a process, which can be asked for its health and is closed once. */
export interface OpenStore extends Store {
  readonly db: Database
  /** Resolves when a row was written at `at` (milliseconds since 1970), and rejects when none can be. */
  writable(at: number): Promise<void>
  /** Stores what is still in memory and closes the database. */
  close(): Promise<void>
}

/** The store in a migrated database. */
export function createStore(db: Database): OpenStore {
  const counters = createCounters(db)
  const keys = newKeyMemory()

  function over(queries: Queries): Omit<Store, 'tx' | 'log'> {
    return {
      counters,
      accounts: createAccounts(queries, keys),
      idempotency: createIdempotency(queries),
      runs: createRuns(queries, db.kind),
    }
  }

  function within(tx: Queries): Store {
    const store: Store = {
      ...over(tx),
      log: (entries) => logSteps(tx, db.kind, entries),
      tx: (work) => work(store),
    }
    return store
  }

  const root = over(db)
  return {
    ...root,
    db,
    log: createStepLog(db),
    tx: (work) => db.tx((tx) => work(within(tx))),
    async writable(at) {
      await db.run(
        'INSERT INTO heartbeat (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at',
        at,
      )
    },
    async close() {
      await counters.close()
      await root.accounts.saveUse().catch(() => {})
      await db.close()
    },
  }
}
