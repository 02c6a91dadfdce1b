import type { Observed } from '../core/hosts/observed.ts'
import type { LoggedStep } from '../core/runs/batch.ts'
import { type Entry, readEntry } from '../core/runs/entry.ts'
import { nothingSuspended, type Suspension } from '../core/runs/suspended-grounds.ts'
import { type Accounts, createAccounts, forgetKeys, newKeyMemory } from './accounts.ts'
import { type Acts, createActs } from './acts.ts'
import { type AddressBuckets, createAddressBuckets } from './address-buckets.ts'
import { type Alerts, createAlerts } from './alerts/alerts.ts'
import { type Budgets, createBudgets } from './alerts/budgets.ts'
import { createDeliveries, type Deliveries } from './alerts/deliveries.ts'
import { createResults, type Results } from './alerts/results.ts'
import { type Conversations, createConversations } from './conversations.ts'
import { type Counters, createCounters } from './counters.ts'
import type { Database, Queries } from './database/database.ts'
import { createIdempotency, type Idempotency } from './database/idempotency.ts'
import { createJobs, type Jobs } from './database/jobs.ts'
import { inTurn } from './database/migrations.ts'
import { createStream, type Stream } from './database/stream.ts'
import { createDigests, type Digests } from './digests.ts'
import { createEmails, type Emails } from './emails.ts'
import { createErasure, type Erasure } from './erasure.ts'
import { createEscalations, type Escalations } from './escalations.ts'
import { createFieldStore, type FieldStore } from './field.ts'
import { createHookSettings, type HookSettingsStore } from './hook-settings.ts'
import { createHostSessions, type HostSessions } from './host-sessions.ts'
import { createIdentities, type Identities } from './identities.ts'
import { createPendingSpans, type PendingSpans } from './pending-spans.ts'
import { createParsedStates, createRunStates, type RunStates } from './run-states.ts'
import { createStepLog, type StepLog } from './runs/group-commit.ts'
import { createLabels, type Labels } from './runs/labels.ts'
import { logSteps } from './runs/log-steps.ts'
import { createRuns, type Runs } from './runs/runs.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { createSelves, type Selves } from './selves.ts'
import { createSessions, type SessionMemory, type Sessions } from './sessions.ts'
import { createSignInLinks, type SignInLinks } from './sign-in-links.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'
import { createTeams, type Teams } from './teams.ts'
import { createTemplates, type Templates } from './templates.ts'
import { createUnknownEvents, type UnknownEvents } from './unknown-events.ts'

/** The stored state of the service, one member for each noun. */
export interface Store {
  readonly counters: Counters
  readonly addressBuckets: AddressBuckets
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly subscriptions: Subscriptions
  readonly identities: Identities
  readonly signInLinks: SignInLinks
  readonly idempotency: Idempotency
  readonly runs: Runs
  readonly labels: Labels
  readonly jobs: Jobs
  readonly alerts: Alerts
  readonly budgets: Budgets
  readonly deliveries: Deliveries
  /** The evaluation results that wait for the operator's collector. */
  readonly results: Results
  readonly escalations: Escalations
  readonly emails: Emails
  readonly digests: Digests
  readonly teams: Teams
  readonly selves: Selves
  readonly conversations: Conversations
  readonly templates: Templates
  readonly acts: Acts
  readonly field: FieldStore
  /** The data that the tools keep about a task, besides its run. */
  readonly toolSessions: RunStates<Suspension>
  /** What is known of the sessions of hosts. */
  readonly hostSessions: HostSessions
  /** The spans whose traces are not folded yet. */
  readonly pendingSpans: PendingSpans
  /** How hooks are answered. */
  readonly hookSettings: HookSettingsStore
  /** The events of hosts that no reader understood. */
  readonly unknownEvents: UnknownEvents
  readonly secrets: Secrets
  readonly erasure: Erasure
  /** What listeners are told of. */
  readonly stream: Stream
  /** Logs steps in order and resolves when they are durable; see `logSteps`. */
  log(entries: readonly Entry[]): Promise<LoggedStep[]>
  /** As `log`, once for an idempotency key; inside a transaction it always returns `apart`. */
  readonly logOnce: StepLog['logOnce']
  /**
   * Runs `work` as one transaction on the store that it gets. `work` must await only this store. Inside a
   * transaction, `work` joins it.
   */
  tx<T>(work: (store: Store) => Promise<T>): Promise<T>
}

/** The store of a process, with its health checks and `close`. */
export interface OpenStore extends Store {
  readonly db: Database
  /** As `tx`, but only one node runs it at a time, migrations included. */
  inTurn<T>(work: (store: Store) => Promise<T>): Promise<T>
  /** Writes a row at `at` (milliseconds since 1970); rejects if the database takes no writes. */
  writable(at: number): Promise<void>
  /** Steps that wait to be stored. */
  waitingSteps(): number
  /** Calls `listener` with the steps of each durable commit of steps. */
  onSteps(listener: (logged: readonly LoggedStep[]) => void): void
  /** Calls `wake` after each commit that enqueued a job. */
  onJob(wake: () => void): void
  /** Calls `wake` after each commit that may have recorded events of a stream. */
  onEvent(wake: () => void): void
  /** Stores the data that is still in memory and closes the database. */
  close(): Promise<void>
}

/** Creates the store on a migrated database. */
export function createStore(db: Database): OpenStore {
  const counters = createCounters(db)
  const addressBuckets = createAddressBuckets(counters)
  const keys = newKeyMemory()
  const usedSessions: SessionMemory = new Map()
  const parsedSessions = createParsedStates<Observed>()

  let wake = () => {}
  let tellListeners = () => {}
  let tellSteps = (_logged: readonly LoggedStep[]) => {}
  /** The callbacks of this node for each kind of committed change. */
  const committed = { keys: () => forgetKeys(keys), jobs: () => wake() }
  type Kind = keyof typeof committed
  type Note = (kind: Kind) => void

  function over(queries: Queries, note: Note): Omit<Store, 'tx' | 'log' | 'logOnce'> {
    return {
      counters,
      addressBuckets,
      accounts: createAccounts(queries, db.kind, keys, () => note('keys')),
      sessions: createSessions(queries, db.kind, usedSessions),
      identities: createIdentities(queries),
      subscriptions: createSubscriptions(queries),
      signInLinks: createSignInLinks(queries),
      idempotency: createIdempotency(queries, db.kind),
      runs: createRuns(queries, db.kind),
      labels: createLabels(queries),
      jobs: createJobs(queries, db.kind, () => note('jobs')),
      alerts: createAlerts(queries, db.kind, () => note('jobs')),
      budgets: createBudgets(queries, db.kind),
      deliveries: createDeliveries(queries, db.kind, () => note('jobs')),
      results: createResults(queries, db.kind),
      escalations: createEscalations(queries),
      emails: createEmails(queries, () => note('keys')),
      digests: createDigests(queries, db.kind),
      teams: createTeams(queries),
      selves: createSelves(queries),
      conversations: createConversations(queries, db.kind),
      templates: createTemplates(queries),
      acts: createActs(queries, db.kind),
      field: createFieldStore(queries),
      toolSessions: createRunStates(queries, db.kind, 'tool_sessions', nothingSuspended),
      hostSessions: createHostSessions(queries, db.kind, parsedSessions),
      pendingSpans: createPendingSpans(queries, db.kind),
      hookSettings: createHookSettings(queries),
      unknownEvents: createUnknownEvents(queries),
      secrets: createSecrets(queries),
      erasure: createErasure(queries, db.kind),
      stream: createStream(queries, db.kind),
    }
  }

  function within(tx: Queries, note: Note, logged: LoggedStep[]): Store {
    const store: Store = {
      ...over(tx, note),
      async log(entries) {
        const read = entries.map(readEntry)
        const steps = await logSteps(tx, db.kind, [read], () => note('jobs'))
        logged.push(...steps)
        return steps
      },
      logOnce: async () => 'apart',
      tx: (work) => work(store),
    }
    return store
  }

  async function transact<T>(
    work: (store: Store) => Promise<T>,
    begin: (inside: (tx: Queries) => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const kinds = new Set<Kind>()
    const logged: LoggedStep[] = []
    try {
      const result = await begin((tx) => work(within(tx, (kind) => kinds.add(kind), logged)))
      if (logged.length > 0) tellSteps(logged)
      return result
    } finally {
      // A commit that reported failure may still have happened.
      for (const kind of kinds) committed[kind]()
      tellListeners()
    }
  }

  const { log, logOnce, waitingSteps } = createStepLog(
    db,
    (logged) => {
      tellSteps(logged)
      tellListeners()
    },
    () => committed.jobs(),
  )
  const root = over(db, (kind) => committed[kind]())
  return {
    ...root,
    db,
    log,
    logOnce,
    waitingSteps,
    onSteps(listener) {
      tellSteps = listener
    },
    tx: (work) => transact(work, (inside) => db.tx(inside)),
    inTurn: (work) => transact(work, (inside) => inTurn(db, inside)),
    onJob(listener) {
      wake = listener
    },
    onEvent(listener) {
      tellListeners = listener
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
      await root.sessions.saveUse().catch(() => {})
      await db.close()
    },
  }
}
