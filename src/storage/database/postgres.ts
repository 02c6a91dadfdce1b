import { createHash } from 'node:crypto'
import { nextTick } from 'node:process'
import pg, { type PoolClient, type QueryResult } from 'pg'
import {
  commitUnknown,
  type Database,
  DEFAULT_LIMIT_MS,
  isUnavailable,
  notAwaited,
  type Queries,
  storable,
  unavailable,
  unusable,
  type Value,
} from './database.ts'

const CONNECT_LIMIT_MS = 2_000
const STATEMENT_LIMIT_MS = 3_000
const MAX_CONNECTIONS = 10
const MAX_STATEMENTS = 1_000
const toReadOnly = 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY'

/**
 * Opens a PostgreSQL database through a pool of ten connections, each opened on first use. If it is read-only, the
 * server refuses whatever would write.
 */
export async function openPostgres(
  url: string,
  { isReadOnly = false }: { isReadOnly?: boolean } = {},
): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'plumbline',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    statement_timeout: STATEMENT_LIMIT_MS,
    // Frees the locks of a node that died inside a transaction.
    idle_in_transaction_session_timeout: 2 * STATEMENT_LIMIT_MS,
    // Sends queries without waiting for earlier answers, which saves round trips.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: readType },
  })
  const statements = createStatements()
  const used = new WeakSet<PoolClient>()
  const lost = new WeakSet<PoolClient>()
  const running = new Set<Promise<unknown>>()
  let closed = false
  // Without these listeners a lost connection would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => lost.add(client))
    if (isReadOnly) client.query(toReadOnly).catch(() => lost.add(client))
  })

  async function connect(): Promise<PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      if (needsOperator(error)) throw refusedByServer(error)
      // An error with a SQLSTATE came from the server; without one the server is unreachable.
      throw sqlState(error) === '' || isPassing(error) ? unavailable(error) : error
    }
  }

  async function send(client: PoolClient, query: pg.QueryConfig): Promise<QueryResult> {
    try {
      gatherWrites(client)
      return await client.query(query)
    } catch (error) {
      if (endsConnection(error)) lost.add(client)
      if (needsOperator(error)) throw refusedByServer(error)
      throw lost.has(client) || isPassing(error) ? unavailable(error) : error
    }
  }

  function ask(client: PoolClient, sql: string, values: readonly Value[]): Promise<QueryResult> {
    return send(client, {
      ...statements(sql),
      values: values.map((value) => (typeof value === 'string' ? storable(value) : value)),
    })
  }

  /**
   * Takes a connection and sends the first query. A pooled connection may have died unnoticed; the next
   * one is then tried, if repeating the query is safe.
   */
  async function start<T>(
    deadline: Deadline,
    first: (client: PoolClient) => Promise<T>,
    mayRepeat = () => true,
  ) {
    for (;;) {
      const client = await connect()
      const fresh = !used.has(client)
      used.add(client)
      try {
        deadline.watch(client)
        return { client, answer: await first(client) }
      } catch (error) {
        client.release(lost.has(client))
        if (fresh || deadline.passed() || !lost.has(client) || !mayRepeat()) throw error
      }
    }
  }

  async function limited<T>(limitMs: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    if (closed) throw unavailable('it is closed')
    const answer = within(limitMs, work)
    running.add(answer)
    try {
      return await answer
    } finally {
      running.delete(answer)
    }
  }

  function read(sql: string, values: readonly Value[]): Promise<QueryResult> {
    return limited(DEFAULT_LIMIT_MS, async (deadline) => {
      const { client, answer } = await start(deadline, (client) => ask(client, sql, values))
      client.release()
      return answer
    })
  }

  function tx<T>(work: (tx: Queries) => Promise<T>, limitMs: number): Promise<T> {
    return limited(limitMs, async (deadline) => {
      const session = createSession(deadline, begin(limitMs))
      const loan = lendQueries(session.ask)
      try {
        const result = await work(loan.queries)
        loan.end()
        assertNone(loan.failure())
        // COMMIT is pipelined behind the writes; after a failed statement it rolls everything back.
        const undone = (await session.commit()) === 'ROLLBACK'
        assertNone(loan.failure())
        if (undone) throw new Error('A failed statement undid this transaction.')
        return result
      } catch (error) {
        loan.end()
        await session.rollBack()
        // PostgreSQL rejected the later statements because of the first failure.
        const first = loan.failure()?.error ?? error
        throw session.isCommitUnknown() && isUnavailable(first) ? commitUnknown(first) : first
      } finally {
        session.release()
      }
    })
  }

  /**
   * A connection for one transaction, taken at the first query. BEGIN and the queries sent with it leave
   * in one write, which saves round trips. If the connection turns out to be lost, they are sent again on
   * another one, because nothing is stored without COMMIT. If `work` awaits no query, COMMIT leaves with
   * them too.
   */
  function createSession(deadline: Deadline, begin: string) {
    const waiting: Waiting[] = []
    let taken: PoolClient | null = null
    let opening: Promise<void> | null = null
    let failure: { error: unknown } | null = null
    let isOver = false

    async function open(): Promise<void> {
      let asked: Promise<QueryResult>[] = []
      const first = (client: PoolClient) => {
        const answer = send(client, { text: begin })
        asked = waiting.map(({ ask }) => ask(client))
        for (const each of asked) notAwaited(each)
        return answer
      }
      const { client } = await start(deadline, first, () => !isOver)
      taken = client
      for (const [place, { ask, resolve, reject }] of waiting.entries()) {
        const answer = asked[place] ?? ask(client)
        answer.then(resolve, reject)
      }
    }

    function whenTaken(ask: Waiting['ask']): Promise<QueryResult> {
      if (taken !== null) return ask(taken)
      if (failure !== null) return Promise.reject(failure.error)
      return new Promise((resolve, reject) => {
        waiting.push({ ask, resolve, reject })
        opening ??= open().catch((error) => {
          failure = { error }
          for (const { reject } of waiting) reject(error)
        })
      })
    }

    return {
      ask: (sql: string, values: readonly Value[]) =>
        whenTaken((client) => ask(client, sql, values)),
      /** Returns the command that PostgreSQL executed, COMMIT or ROLLBACK; null if there was no query. */
      async commit(): Promise<string | null> {
        if (opening === null) return null
        isOver = true
        const sendCommit = (client: PoolClient) => {
          deadline.noteCommit()
          return send(client, { text: 'COMMIT' })
        }
        return (await whenTaken(sendCommit)).command
      },
      /** Whether the connection was lost after COMMIT was sent. */
      isCommitUnknown: () => deadline.hasCommitted() && (taken === null || lost.has(taken)),
      async rollBack(): Promise<void> {
        await opening
        if (taken === null || lost.has(taken)) return
        const client = taken
        await send(client, { text: 'ROLLBACK' }).catch(() => lost.add(client))
      },
      release() {
        if (taken !== null) taken.release(lost.has(taken))
      },
    }
  }

  const database: Database = {
    kind: 'postgres',
    all: async <Row>(sql: string, ...values: Value[]) => (await read(sql, values)).rows as Row[],
    get: async <Row>(sql: string, ...values: Value[]) =>
      (await read(sql, values)).rows[0] as Row | undefined,
    run: (sql, ...values) => database.tx((tx) => tx.run(sql, ...values)),
    tx: (work, { limitMs = DEFAULT_LIMIT_MS } = {}) => tx(work, limitMs),
    async close() {
      if (closed) return
      closed = true
      // Ending the pool drops the callers that wait for a connection.
      await Promise.allSettled(running)
      await pool.end()
    },
  }
  return database
}

/** Replaces each `?` outside quotes and line comments with `$1, $2, …`. */
export function numberPlaceholders(sql: string): string {
  let count = 0
  return sql.replace(/'[^']*'|"[^"]*"|--[^\n]*|\?/g, (found) => {
    if (found !== '?') return found
    count += 1
    return `$${count}`
  })
}

/**
 * Names each statement, so that a connection parses and plans it once; bounded, because servers keep the
 * names.
 */
function createStatements(): (sql: string) => { text: string; name?: string } {
  const known = new Map<string, { text: string; name: string }>()
  return (sql) => {
    const statement = known.get(sql)
    if (statement !== undefined) return statement
    const text = numberPlaceholders(sql)
    if (known.size >= MAX_STATEMENTS) return { text }
    const named = { text, name: createHash('sha256').update(text).digest('hex').slice(0, 32) }
    known.set(sql, named)
    return named
  }
}

/** Sends all queries of one tick in one write, because each write wakes the server. */
function gatherWrites({ connection: { stream } }: PoolClient): void {
  stream.cork()
  nextTick(() => stream.uncork())
}

/** A query that waits for a connection. */
interface Waiting {
  ask(client: PoolClient): Promise<QueryResult>
  resolve(answer: QueryResult): void
  reject(error: unknown): void
}

interface Deadline {
  /** Destroys the connection when the time limit passes. */
  watch(client: PoolClient): void
  passed(): boolean
  /** Records that COMMIT is being sent: without an answer its result is unknown from here on. */
  noteCommit(): void
  hasCommitted(): boolean
}

/** Runs `work` and rejects as unavailable after `limitMs`. */
function within<T>(limitMs: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let current: PoolClient | null = null
    let passed = false
    let committed = false
    const cut = () => current?.connection.stream.destroy()
    const timer = setTimeout(() => {
      passed = true
      cut()
      const reason = `no answer within ${limitMs} ms`
      reject(committed ? commitUnknown(reason) : unavailable(reason))
    }, limitMs)
    const deadline: Deadline = {
      watch(client) {
        current = client
        if (passed) cut()
      },
      passed: () => passed,
      noteCommit() {
        committed = true
      },
      hasCommitted: () => committed,
    }
    work(deadline)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

function begin(limitMs: number): string {
  // The default limits of a connection are close enough.
  if (limitMs >= STATEMENT_LIMIT_MS && limitMs <= DEFAULT_LIMIT_MS) return 'BEGIN'
  return `BEGIN; SET LOCAL statement_timeout = ${Math.ceil(limitMs)}`
}

/**
 * Creates the queries of one transaction. They run in order and reject after the transaction ends, because
 * they would run inside another one.
 */
function lendQueries(ask: (sql: string, values: readonly Value[]) => Promise<QueryResult>): {
  queries: Queries
  /** The error of the first failing query, which the caller may not have awaited. */
  failure(): { error: unknown } | null
  end(): void
} {
  let over = false
  let failure: { error: unknown } | null = null

  async function use<T>(
    sql: string,
    values: readonly Value[],
    read: (result: QueryResult) => T,
  ): Promise<T> {
    if (over) throw new Error('This transaction is over.')
    try {
      return read(await ask(sql, values))
    } catch (error) {
      failure ??= { error }
      throw error
    }
  }

  return {
    queries: {
      all: <Row>(sql: string, ...values: Value[]) => use(sql, values, ({ rows }) => rows as Row[]),
      get: <Row>(sql: string, ...values: Value[]) =>
        use(sql, values, ({ rows }) => rows[0] as Row | undefined),
      run: (sql, ...values) => use(sql, values, ({ rowCount }) => rowCount ?? 0),
    },
    failure: () => failure,
    end() {
      over = true
    },
  }
}

function assertNone(failure: { error: unknown } | null): void {
  if (failure !== null) throw failure.error
}

const INT8 = 20
const NUMERIC = 1700

/** Reads BIGINT, and the NUMERIC of its sums, as numbers; no value here exceeds their precision. */
function readType(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 || oid === NUMERIC) return Number
  return pg.types.getTypeParser(oid, format)
}

/** The SQLSTATE of a server error, or '' for any other error. */
function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : ''
}

/**
 * Connection lost, resources (disk, connections) exhausted, shutdown, time-out, i/o error, read-only, lock
 * timeout or deadlock.
 */
function isPassing(error: unknown): boolean {
  return /^(08|53|57|58|25006|25P03|55P03|40001|40P01)/.test(sqlState(error))
}

/** Wrong role or password, missing database or no permission: retrying does not help. */
function needsOperator(error: unknown): error is pg.DatabaseError {
  return /^(28|3D000|42501)/.test(sqlState(error))
}

function refusedByServer(error: pg.DatabaseError): Error {
  return unusable(
    `PostgreSQL refuses: ${error.message}. Make the role and the database with the rights to create tables, or correct DATABASE_URL.`,
    error,
  )
}

/**
 * Whether the server has closed the connection, or a migration on another node has invalidated its
 * prepared statements.
 */
function endsConnection(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  return /^(08|57P|25P03|26000)/.test(sqlState(error)) || error.routine === 'RevalidateCachedQuery'
}
