import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import {
  commitUnknown,
  type Database,
  DEFAULT_LIMIT_MS,
  type Queries,
  storable,
  unavailable,
  unusable,
  type Value,
} from './database.ts'

const MAX_BATCH = 256
/** Longest queue of transactions; further ones are refused at once, because they would time out. */
const MAX_WAITING = 10_000
const MAX_STATEMENTS = 500
const LOCK_RETRY_MS = 5
const OPEN_LIMIT_MS = 1_000
const WRITER_SETTINGS = [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  // A log of 16 MiB before each checkpoint: busy runs change the same pages many times.
  'PRAGMA wal_autocheckpoint = 4000',
  'PRAGMA cache_size = -32000',
  // FAST would keep whole pages of deleted text in the file.
  'PRAGMA secure_delete = ON',
  // Waiting inside SQLite would block the event loop; a timer retries BEGIN instead.
  'PRAGMA busy_timeout = 0',
]

/**
 * Opens a SQLite file, creating it and its folder if missing, or `:memory:`. All transactions of one turn
 * of the event loop share one commit, and so one fsync. `noteDamage` is called for every statement that
 * finds the file damaged.
 */
export async function openSqlite(
  path: string,
  noteDamage: (says: string) => void,
): Promise<Database> {
  const inMemory = path === ':memory:'
  if (!inMemory) {
    mkdirSync(dirname(resolve(path)), { recursive: true, mode: 0o700 })
    makePrivateFile(path)
  }
  const writer = connectSqlite(path, 'write', noteDamage)
  // A separate connection reads only committed rows. An in-memory database has one connection, so its
  // reads wait for the current batch.
  const reader = inMemory ? writer : connectSqlite(path, 'read', noteDamage)

  let queue: Job[] = []
  let batch: Promise<void> | null = null
  let draining: Promise<void> | null = null
  let closed = false

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await new Promise(setImmediate)
      batch = commitBatch()
      await batch
      batch = null
    }
    draining = null
  }

  async function commitBatch(): Promise<void> {
    refuseLate(null)
    const jobs = queue.splice(0, MAX_BATCH)
    if (jobs.length === 0) return
    try {
      writer.run('BEGIN IMMEDIATE')
    } catch (error) {
      if (isCausedBy(error, BUSY)) return waitForLock(jobs, error)
      for (const job of jobs) job.reject(error)
      return writer.recover()
    }
    const overstay = watchTurn()
    const answers: (() => void)[] = []
    let tried = 0
    try {
      for (const job of jobs) {
        tried += 1
        answers.push(await attempt(job, jobs.length > 1, overstay.failed))
        if (overstay.over()) break
      }
      commit()
      for (const answer of answers) answer()
    } catch (error) {
      for (const job of jobs.slice(0, tried)) job.reject(error)
      writer.rollBack()
    } finally {
      overstay.clear()
      queue = [...jobs.slice(tried), ...queue]
      writer.recover()
    }
  }

  function commit(): void {
    try {
      writer.run('COMMIT')
    } catch (error) {
      // The commit was written but not confirmed by fsync, so it may reappear when the file is reopened.
      throw isCausedBy(error, IOERR) ? commitUnknown(error) : error
    }
  }

  /**
   * A savepoint isolates the rollback of one job from the others. It makes SQLite copy each page before
   * the first change, so a batch of one job uses none and fails with its transaction.
   */
  async function attempt(
    job: Job,
    apart: boolean,
    overstayed: Promise<never>,
  ): Promise<() => void> {
    if (apart) writer.run('SAVEPOINT job')
    const loan = lendQueries(writer)
    try {
      const result = await Promise.race([job.work(loan.queries), overstayed])
      const failure = loan.failure()
      if (failure !== null) throw failure.error
      writer.assertSound()
      if (apart) writer.run('RELEASE job')
      return () => job.resolve(result)
    } catch (error) {
      writer.assertSound()
      const first = loan.failure() ?? { error }
      if (!apart) throw first.error
      writer.run('ROLLBACK TO job')
      writer.run('RELEASE job')
      return () => job.reject(first.error)
    } finally {
      loan.end()
    }
  }

  async function waitForLock(jobs: readonly Job[], error: unknown): Promise<void> {
    queue = [...jobs, ...queue]
    refuseLate(error)
    await new Promise((next) => setTimeout(next, LOCK_RETRY_MS))
  }

  /**
   * Refuses the queued jobs whose time limit has passed; `lock` is the error of the lock that delayed
   * them, or null.
   */
  function refuseLate(lock: unknown): void {
    const now = performance.now()
    const isLate = ({ until }: Job) => until <= now
    if (!queue.some(isLate)) return
    const error = lock ?? unavailable('its turn did not come in time')
    for (const job of queue.filter(isLate)) job.reject(error)
    queue = queue.filter((job) => !isLate(job))
  }

  async function read<T>(ask: (connection: Connection) => T): Promise<T> {
    if (closed) throw unavailable('it is closed')
    while (inMemory && batch !== null) await batch
    try {
      return ask(reader)
    } finally {
      if (reader !== writer) reader.recover()
    }
  }

  const database: Database = {
    kind: 'sqlite',
    all: (sql, ...values) => read((connection) => connection.all(sql, values)),
    get: (sql, ...values) => read((connection) => connection.get(sql, values)),
    run: (sql, ...values) => database.tx((tx) => tx.run(sql, ...values)),
    tx: (work, { limitMs = DEFAULT_LIMIT_MS } = {}) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(unavailable('it is closed'))
        if (queue.length >= MAX_WAITING) return reject(unavailable('too many transactions wait'))
        const until = performance.now() + limitMs
        queue.push({ work, resolve: resolve as Job['resolve'], reject, until })
        draining ??= drain()
      }),
    async scrub() {
      while (batch !== null) await batch
      if (!closed && !inMemory) writer.all('PRAGMA wal_checkpoint(TRUNCATE)', [])
    },
    async close() {
      closed = true
      await draining
      // Close the writer last: the last connection to close truncates the write-ahead log.
      reader.close()
      writer.close()
    },
  }
  return database
}

/** Opens a SQLite file that exists, and changes nothing in it: whatever would write rejects. */
export async function openSqliteToRead(path: string): Promise<Database> {
  const reader = connectSqlite(path, 'read', () => {})
  const refuse = async () => {
    throw new Error('This database is open for reading only.')
  }
  return {
    kind: 'sqlite',
    all: async (sql, ...values) => reader.all(sql, values),
    get: async (sql, ...values) => reader.get(sql, values),
    run: refuse,
    tx: refuse,
    close: async () => reader.close(),
  }
}

/** Creates a file that only its owner can read; SQLite gives its log the same mode. */
function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch {
    // The file exists, or SQLite will report the error.
  }
}

interface Job {
  readonly work: (tx: Queries) => Promise<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  /** Time limit for starting it, by `performance.now`. */
  readonly until: number
}

/**
 * Detects a batch that does not end within one turn of the event loop, which means that a job awaits
 * something other than its queries.
 */
function watchTurn(): { failed: Promise<never>; over(): boolean; clear(): void } {
  let over = false
  let fail: (error: Error) => void = () => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  const timer = setImmediate(() => {
    over = true
    fail(new Error('A transaction may await nothing but its own queries.'))
  })
  return { failed, over: () => over, clear: () => clearImmediate(timer) }
}

/**
 * Creates the queries of one transaction. They reject after the transaction ends, because they would run
 * inside another one.
 */
function lendQueries(connection: Connection): {
  queries: Queries
  /** The error of the first failing query, which the caller may not have awaited. */
  failure(): { error: unknown } | null
  end(): void
} {
  let over = false
  let failure: { error: unknown } | null = null

  function ask<T>(query: () => T): Promise<T> {
    if (over) return Promise.reject(new Error('This transaction is over.'))
    try {
      return Promise.resolve(query())
    } catch (error) {
      failure ??= { error }
      const failed = Promise.reject(error)
      failed.catch(() => {})
      return failed
    }
  }

  return {
    queries: {
      all: <Row>(sql: string, ...values: Value[]) => ask(() => connection.all<Row>(sql, values)),
      get: <Row>(sql: string, ...values: Value[]) => ask(() => connection.get<Row>(sql, values)),
      run: (sql, ...values) => ask(() => connection.run(sql, values)),
      changes: connection.changes,
    },
    failure: () => failure,
    end() {
      over = true
    },
  }
}

interface Connection {
  all<Row>(sql: string, values: readonly Value[]): Row[]
  get<Row>(sql: string, values: readonly Value[]): Row | undefined
  run(sql: string, values?: readonly Value[]): number
  /** As `Queries.changes`. */
  changes(tables: readonly string[]): number
  /** Throws if the transaction can no longer commit. */
  assertSound(): void
  /** Rolls the transaction back in any state; never throws. */
  rollBack(): void
  /** Closes the connection after a file error; the next query reopens it. */
  recover(): void
  close(): void
}

function connectSqlite(
  path: string,
  mode: 'read' | 'write',
  noteDamage: (says: string) => void,
): Connection {
  const statements = new Map<string, Prepared>()
  const changes = new Map<string, number>()
  let handle: DatabaseSync | null = null
  let failure: unknown = null
  let damaged = false

  function open(): DatabaseSync {
    const end = performance.now() + OPEN_LIMIT_MS
    for (;;) {
      try {
        return openOnce()
      } catch (error) {
        // When several processes create a file at once, SQLite may fail instead of waiting.
        if (resultCode(error) !== BUSY || performance.now() > end) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_RETRY_MS)
      }
    }
  }

  function openOnce(): DatabaseSync {
    const opened = new DatabaseSync(path, { timeout: OPEN_LIMIT_MS, readOnly: mode === 'read' })
    try {
      for (const setting of mode === 'write' ? WRITER_SETTINGS : []) opened.exec(setting)
      return opened
    } catch (error) {
      // Without this, failed attempts would use up all file descriptors before garbage collection.
      opened.close()
      throw error
    }
  }

  function prepare(sql: string): Prepared {
    handle ??= open()
    const known = statements.get(sql)
    if (known !== undefined) return known
    const prepared = { statement: handle.prepare(sql), table: changedTable(sql) }
    const [oldest] = statements.keys()
    if (statements.size >= MAX_STATEMENTS && oldest !== undefined) statements.delete(oldest)
    statements.set(sql, prepared)
    return prepared
  }

  function ask<T>(sql: string, use: (statement: StatementSync) => T): T {
    try {
      const { statement, table } = prepare(sql)
      if (table !== null) changes.set(table, (changes.get(table) ?? 0) + 1)
      return use(statement)
    } catch (error) {
      const code = resultCode(error)
      // Only a wrong statement writes through the reading connection.
      if (mode === 'read' && code === READONLY) throw error
      failure = error
      if (DAMAGE.has(code)) {
        if (code === CORRUPT) noteDamage(error instanceof Error ? error.message : String(error))
        throw damagedFile(path, error)
      }
      damaged ||= path !== ':memory:' && FILE_FAILURES.has(code)
      if (code === CANTOPEN) throw cannotOpen(path, error)
      throw UNAVAILABLE.has(code) ? unavailable(error) : error
    }
  }

  function close(): void {
    const old = handle
    handle = null
    damaged = false
    statements.clear()
    old?.close()
  }

  const connection: Connection = {
    all: <Row>(sql: string, values: readonly Value[]) =>
      ask(sql, (statement) => statement.all(...values.map(bind)).map((row) => ({ ...row }) as Row)),
    get: <Row>(sql: string, values: readonly Value[]) =>
      ask(sql, (statement) => {
        const row = statement.get(...values.map(bind))
        return row === undefined ? undefined : ({ ...row } as Row)
      }),
    run: (sql, values = []) =>
      ask(sql, (statement) => Number(statement.run(...values.map(bind)).changes)),
    changes: (tables) => tables.reduce((sum, table) => sum + (changes.get(table) ?? 0), 0),
    assertSound() {
      // On a full disk SQLite may roll back the whole transaction by itself.
      if (damaged || handle?.isTransaction !== true) throw unavailable(failure)
    },
    rollBack() {
      try {
        if (handle?.isTransaction === true) connection.run('ROLLBACK')
      } catch {
        damaged = true
      }
    },
    recover() {
      // After a failed fsync the content of the disk is unknown, and a later success proves nothing. A
      // file opened while the disk was read-only stays read-only.
      if (damaged) close()
    },
    close,
  }
  ask('PRAGMA user_version', (statement) => statement.get())
  return connection
}

interface Prepared {
  readonly statement: StatementSync
  /** The table that the statement changes, or null. */
  readonly table: string | null
}

function changedTable(sql: string): string | null {
  return /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)/.exec(sql)?.[1] ?? null
}

/** SQLite binds numbers as REAL unless they are bigints, and would turn them into text such as `3.0`. */
function bind(value: Value): string | number | bigint | Uint8Array | null {
  if (typeof value === 'string') return storable(value)
  return Number.isSafeInteger(value) ? BigInt(value as number) : value
}

/** Result code: another connection has locked the file. */
export const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOT_A_DATABASE = 26
const UNAVAILABLE: ReadonlySet<number> = new Set([BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN])
/** Result codes for a damaged file and for a file that is not a database. */
export const DAMAGE: ReadonlySet<number> = new Set([CORRUPT, NOT_A_DATABASE])
const FILE_FAILURES: ReadonlySet<number> = new Set([READONLY, IOERR, CANTOPEN])

function damagedFile(path: string, cause: unknown): Error {
  return unusable(
    `${path} is damaged or no SQLite database. plumbline doctor tells more; plumbline restore FILE --force brings a backup back, and DATABASE_URL may name another file.`,
    cause,
  )
}

function cannotOpen(path: string, cause: unknown): Error {
  const error = unavailable(cause)
  error.message += ` (${path}); the file and its folder must be there for this user to read and write`
  return error
}

/** Extracts the primary result code of SQLite, the low byte of the extended code; 0 for any other error. */
export function resultCode(error: unknown): number {
  if (!(error instanceof Error) || !('errcode' in error)) return 0
  return typeof error.errcode === 'number' ? error.errcode & 0xff : 0
}

function isCausedBy(error: unknown, code: number): boolean {
  return error instanceof Error && resultCode(error.cause) === code
}
