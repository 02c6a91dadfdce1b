import { type Accounts, createAccounts, forgetKeys, newKeyMemory } from './accounts.ts'
import { type Counters, createCounters } from './counters.ts'
import type { Database, Queries } from './database.ts'
import { createFieldStore, type FieldStore } from './field.ts'
import { createIdempotency, type Idempotency } from './idempotency.ts'
import { createJobs, type Jobs } from './jobs.ts'
import { inTurn } from './migrations.ts'
import { createRuns, type Runs } from './runs.ts'
import { createStepLog } from './step-log.ts'
import { type Entry, type LoggedStep, logSteps } from './steps.ts'

/** What the service remembers, one member for each noun. */
export interface Store {
  readonly counters: Counters
  readonly accounts: Accounts
  readonly idempotency: Idempotency
  readonly runs: Runs
  readonly jobs: Jobs
  readonly field: FieldStore
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
  /** As `tx`, and of all nodes only one at a time, migrations included. */
  inTurn<T>(work: (store: Store) => Promise<T>): Promise<T>
  /** Resolves when a row was written at `at` (milliseconds since 1970), and rejects when none can be. */
  writable(at: number): Promise<void>
  /** Steps that have come in and are not stored yet. */
  waitingSteps(): number
  /** Has `listener` called with the number of steps after each commit of steps. */
  onSteps(listener: (steps: number) => void): void
  /** Has `wake` called after each commit that added a job. */
  onJob(wake: () => void): void
  /** Stores what is still in memory and closes the database. */
  close(): Promise<void>
}

/** The store in a migrated database. */
export function createStore(db: Database): OpenStore {
  const counters = createCounters(db)
  const keys = newKeyMemory()

  let wake = () => {}
  let countSteps = (_steps: number) => {}
  /** What this node does when a change of the kind is committed. */
  const committed = { keys: () => forgetKeys(keys), jobs: () => wake() }
  type Kind = keyof typeof committed
  type Note = (kind: Kind) => void

  function over(queries: Queries, note: Note): Omit<Store, 'tx' | 'log'> {
    return {
      counters,
      accounts: createAccounts(queries, db.kind, keys, () => note('keys')),
      idempotency: createIdempotency(queries),
      runs: createRuns(queries, db.kind),
      jobs: createJobs(queries, db.kind, () => note('jobs')),
      field: createFieldStore(queries),
    }
  }

  function within(tx: Queries, note: Note): Store {
    const store: Store = {
      ...over(tx, note),
      log: (entries) => logSteps(tx, db.kind, [entries]),
      tx: (work) => work(store),
    }
    return store
  }

  async function transact<T>(
    work: (store: Store) => Promise<T>,
    begin: (inside: (tx: Queries) => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const kinds = new Set<Kind>()
    try {
      return await begin((tx) => work(within(tx, (kind) => kinds.add(kind))))
    } finally {
      // A commit that seems to have failed may have happened.
      for (const kind of kinds) committed[kind]()
    }
  }

  const { log, waitingSteps } = createStepLog(db, (steps) => countSteps(steps))
  const root = over(db, (kind) => committed[kind]())
  return {
    ...root,
    db,
    log,
    waitingSteps,
    onSteps(listener) {
      countSteps = listener
    },
    tx: (work) => transact(work, (inside) => db.tx(inside)),
    inTurn: (work) => transact(work, (inside) => inTurn(db, inside)),
    onJob(listener) {
      wake = listener
    },
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
