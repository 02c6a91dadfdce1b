/**
 * A column value. Booleans are stored as 1 or 0, structured content as JSON text. Only PostgreSQL takes
 * bytes: a parameter in its binary form.
 */
export type Value = string | number | null | Uint8Array

/**
 * Statements in the SQL that SQLite and PostgreSQL share, with `?` for each value. Name the columns,
 * because `SELECT *` breaks on PostgreSQL while another node migrates. Use few different texts, because
 * each is prepared once and cached. Text is stored as `storable` returns it.
 */
export interface Queries {
  /** Reads all rows in the order of the statement. Outside a transaction the statement must not write. */
  all<Row>(sql: string, ...values: Value[]): Promise<Row[]>
  /** Reads the first row, or undefined if there is none. Outside a transaction the statement must not write. */
  get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined>
  /** Runs a statement and returns how many rows an INSERT, UPDATE or DELETE changed. */
  run(sql: string, ...values: Value[]): Promise<number>
  /**
   * Only in a transaction on SQLite: counts the statements of this process that can change one of these
   * tables. Two equal counts mean that no such statement ran in between.
   */
  changes?(tables: readonly string[]): number
}

/** How long a transaction may take. */
export interface TxOptions {
  /**
   * Milliseconds until the transaction fails as unavailable; 3,500 by default. The time includes waiting
   * in the queue and for locks.
   */
  readonly limitMs?: number
}

/**
 * A SQLite or PostgreSQL database. While it is unavailable, every method rejects with an error that
 * `isUnavailable` recognises.
 */
export interface Database extends Queries {
  /** Tells which SQL to use where the two databases need different statements. */
  readonly kind: 'sqlite' | 'postgres'
  /**
   * Runs `work` as one transaction and resolves when it is durable. If `work` throws or a statement fails,
   * the transaction rolls back. `work` must await only queries of its own `tx`, because on SQLite all
   * queued transactions share one commit. It may send several queries before the first returns: they run
   * in the order sent. The transaction fails with its first failing statement.
   */
  tx<T>(work: (tx: Queries) => Promise<T>, options?: TxOptions): Promise<T>
  /**
   * On SQLite: empties the write-ahead log, which removes deleted text from the file unless another
   * connection is reading. On PostgreSQL, VACUUM does this.
   */
  scrub?(): Promise<void>
  /** Finishes the queued work and closes the connections; later calls reject as unavailable. */
  close(): Promise<void>
}

/** Marks a query of a transaction as deliberately not awaited. Its failure still fails the transaction. */
export function notAwaited<T>(query: Promise<T>): Promise<T> {
  query.catch(() => {})
  return query
}

/**
 * The default time limit of a transaction or a read, in milliseconds. Counting a call may take another
 * second before it, so that a request is answered within 5 s.
 */
export const DEFAULT_LIMIT_MS = 3_500

/** Creates an error for a database that is temporarily unavailable; the message includes the cause. */
export function unavailable(cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const error = new Error(`The database is not available: ${reason}`, { cause })
  return Object.assign(error, { code: UNAVAILABLE })
}

/**
 * Whether the database was unreachable, full, read-only or busy for too long. The caller may retry; it is
 * not a bug.
 */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNAVAILABLE
}

/**
 * As `unavailable`, for a transaction whose COMMIT was sent and not confirmed: its changes may or may not
 * be durable.
 */
export function commitUnknown(cause: unknown): Error {
  const error = isUnavailable(cause) ? (cause as Error) : unavailable(cause)
  return Object.assign(error, { commit: 'unknown' })
}

/** Whether the failed transaction may have been committed. */
export function mayBeStored(error: unknown): boolean {
  return isUnavailable(error) && 'commit' in (error as Error)
}

/** Creates an error that only an operator can fix; the message says how. */
export function unusable(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: UNUSABLE })
}

/** Whether only an operator can make the database usable. */
export function isUnusable(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === UNUSABLE
}

/** Whether the transaction failed because it was the victim of a deadlock or a serialisation failure. */
export function lostDeadlock(error: unknown): boolean {
  if (!isUnavailable(error)) return false
  const { cause } = error as Error
  return cause instanceof Error && 'code' in cause && deadlocks.has(cause.code)
}

/** SQLSTATE codes of a serialisation failure and a deadlock. */
const deadlocks: ReadonlySet<unknown> = new Set(['40001', '40P01'])

const UNAVAILABLE = 'database_unavailable'
const UNUSABLE = 'database_unusable'

/** Makes text storable in both databases: U+0000 and lone surrogates become U+FFFD. */
export function storable(text: string): string {
  const whole = text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}
