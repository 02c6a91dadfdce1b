import { createHash } from 'node:crypto'
import { nextTick } from 'node:process'
import pg, { type PoolClient, type QueryResult } from 'pg'
import {
  commitUnknown,
  type Database,
  DEFAULT_LIMIT_MS,
  isUnavailable,
  leave,
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

/** Opens a PostgreSQL database through a pool of ten connections, each made when it is first needed. */
export async function openPostgres(url: string): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'plumbline',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    statement_timeout: STATEMENT_LIMIT_MS,
    // Frees the locks of a node that stopped in the middle of a transaction.
    idle_in_transaction_session_timeout: 2 * STATEMENT_LIMIT_MS,
    // What is asked before an answer has come is sent at once: each way there and back counts.
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
  // Without listeners the loss of a connection, idle or not, would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => lost.add(client))
  })

  async function connect(): Promise<PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      if (needsPerson(error)) throw refusedByServer(error)
      // An answer of the server is judged by its state; no answer at all means that it is away.
      throw sqlState(error) === '' || isPassing(error) ? unavailable(error) : error
    }
  }

  async function send(client: PoolClient, query: pg.QueryConfig): Promise<QueryResult> {
    try {
      gatherWrites(client)
      return await client.query(query)
    } catch (error) {
      if (endsConnection(error)) lost.add(client)
      if (needsPerson(error)) throw refusedByServer(error)
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
   * Takes a connection and asks the first thing of it. A connection that served before may have
   * died unnoticed; then the next one is asked, where what was asked can be lost without loss.
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
        // Sent behind what nobody has waited for; where a statement has failed, it undoes everything.
        const undone = (await session.commit()) === 'ROLLBACK'
        assertNone(loan.failure())
        if (undone) throw new Error('A failed statement undid this transaction.')
        return result
      } catch (error) {
        loan.end()
        await session.rollBack()
        // What followed a failed statement was refused because of it.
        const first = loan.failure()?.error ?? error
        throw session.isCommitUnknown() && isUnavailable(first) ? commitUnknown(first) : first
      } finally {
        session.release()
      }
    })
  }

  /**
   * A connection for one transaction, taken when the first thing is asked. BEGIN and what is asked with
   * that leave together, as each way there and back counts, and are asked again of another connection
   * when this one turns out to be lost: without COMMIT nothing of them has come to stay. A work that
   * waits for no answer has even COMMIT leave with them.
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
        for (const each of asked) leave(each)
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
      /** Answers what PostgreSQL made of it; null where nothing was asked. */
      async commit(): Promise<string | null> {
        if (opening === null) return null
        isOver = true
        const sendCommit = (client: PoolClient) => {
          deadline.noteCommit()
          return send(client, { text: 'COMMIT' })
        }
        return (await whenTaken(sendCommit)).command
      },
      /** Whether COMMIT was sent over a connection that was then lost. */
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
      // The pool would drop those that still wait for a connection.
      await Promise.allSettled(running)
      await pool.end()
    },
  }
  return database
}

/** SQL with PostgreSQL's `$1, $2, …` in place of each `?` outside quotes and line comments. */
export function numberPlaceholders(sql: string): string {
  let count = 0
  return sql.replace(/'[^']*'|"[^"]*"|--[^\n]*|\?/g, (found) => {
    if (found !== '?') return found
    count += 1
    return `$${count}`
  })
}

/** Names each statement, so that a connection parses and plans it once; bounded, as servers keep the names. */
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

/** Has all that is asked until the caller waits leave in one write: each of them wakes the server. */
function gatherWrites({ connection: { stream } }: PoolClient): void {
  stream.cork()
  nextTick(() => stream.uncork())
}

/** What is asked before there is a connection. */
interface Waiting {
  ask(client: PoolClient): Promise<QueryResult>
  resolve(answer: QueryResult): void
  reject(error: unknown): void
}

interface Deadline {
  /** Has the connection cut when the time is up. */
  watch(client: PoolClient): void
  passed(): boolean
  /** Says that COMMIT is being sent: from then on nobody knows what an answer that is missing would say. */
  noteCommit(): void
  hasCommitted(): boolean
}

/** Runs `work`, and rejects as unavailable when it has not ended after `limitMs`. */
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
  // What every connection has is near enough.
  if (limitMs >= STATEMENT_LIMIT_MS && limitMs <= DEFAULT_LIMIT_MS) return 'BEGIN'
  return `BEGIN; SET LOCAL statement_timeout = ${Math.ceil(limitMs)}`
}

/** Queries for one transaction, in their order, refused once it is over: they would run inside another's. */
function lendQueries(ask: (sql: string, values: readonly Value[]) => Promise<QueryResult>): {
  queries: Queries
  /** What the first query that failed did so with; nobody may have waited for it. */
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

/** BIGINT, and the NUMERIC that sums of it are, would come as text to keep digits that no number here has. */
function readType(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 || oid === NUMERIC) return Number
  return pg.types.getTypeParser(oid, format)
}

/** The SQLSTATE that the server answered with, or '' when the error is not the server's. */
function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : ''
}

/** Connection lost, resources (disk, connections) used up, shutdown, time-out, i/o error; read-only, lock not had, deadlock. */
function isPassing(error: unknown): boolean {
  return /^(08|53|57|58|25006|25P03|55P03|40001|40P01)/.test(sqlState(error))
}

/** Wrong role or password, a database that is not there, no permission: no second try helps. */
function needsPerson(error: unknown): error is pg.DatabaseError {
  return /^(28|3D000|42501)/.test(sqlState(error))
}

function refusedByServer(error: pg.DatabaseError): Error {
  return unusable(
    `PostgreSQL refuses: ${error.message}. Make the role and the database with the rights to create tables, or correct DATABASE_URL.`,
    error,
  )
}

/** Whether the server has closed the connection, or another node's migration has outdated its prepared statements. */
function endsConnection(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  return /^(08|57P|25P03|26000)/.test(sqlState(error)) || error.routine === 'RevalidateCachedQuery'
}
