/**
 * What a column holds; a yes or no is stored as 1 or 0, structured content as JSON text. Bytes are for
 * PostgreSQL alone: a parameter in its binary form.
 */
export type Value = string | number | null | Uint8Array

/**
 * Statements in the SQL that SQLite and PostgreSQL share, with `?` where a value goes.
 * Name the columns (`SELECT *` breaks on PostgreSQL while another node migrates) and use few
 * different texts: each is prepared once and kept. Text is stored as `storable` returns it.
 */
export interface Queries {
  /** All rows, in the order of the statement. Outside a transaction the statement may only read. */
  all<Row>(sql: string, ...values: Value[]): Promise<Row[]>
  /** The first row, or undefined when there is none. Outside a transaction it may only read. */
  get<Row>(sql: string, ...values: Value[]): Promise<Row | undefined>
  /** Runs a statement for its effect; answers how many rows an INSERT, UPDATE or DELETE changed. */
  run(sql: string, ...values: Value[]): Promise<number>
  /**
   * In a transaction on SQLite: how many statements that can change one of these tables this process
   * has run. They run one after the other, so two equal numbers say that none has run in between.
   */
  changes?(tables: readonly string[]): number
}

/** How long a transaction may take. */
export interface TxOptions {
  /** Milliseconds until it is given up as unavailable, waiting for its turn and for locks included; 3,500 unless given. */
  readonly limitMs?: number
}

/** A database of either kind; every method rejects with an error that `isUnavailable` knows while it is away. */
export interface Database extends Queries {
  /** For the few statements that the two databases cannot share. */
  readonly kind: 'sqlite' | 'postgres'
  /**
   * Runs `work` as one transaction and resolves when it is durable; when `work` throws or a statement
   * fails, nothing of it remains. `work` awaits nothing but the queries of its own `tx`, because SQLite
   * holds one commit open for all transactions of a moment. It may ask several before the first is
   * answered: they run in the order asked, and need not be waited for where nothing depends on what
   * they answer. The transaction fails with the error of the first that failed.
   */
  tx<T>(work: (tx: Queries) => Promise<T>, options?: TxOptions): Promise<T>
  /**
   * On SQLite: empties the log of writes, after which the file holds no text that was deleted before,
   * unless another connection reads at the moment. On PostgreSQL its own VACUUM does that.
   */
  scrub?(): Promise<void>
  /** Finishes what was asked for, then lets go; later calls reject as unavailable. */
  close(): Promise<void>
}

/** What was asked in a transaction, which fails when this does: whoever need not know leaves it at that. */
export function leave<T>(asked: Promise<T>): Promise<T> {
  asked.catch(() => {})
  return asked
}

/**
 * The time a transaction or a read gets unless its caller says otherwise, in milliseconds. With the
 * second that counting a call may take before, a request is answered within 5 s.
 */
export const DEFAULT_LIMIT_MS = 3_500

/** An error that says the database cannot do this now but may soon; the cause's words are part of its message. */
export function unavailable(cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const error = new Error(`The database is not available: ${reason}`, { cause })
  return Object.assign(error, { code: UNAVAILABLE })
}

/** Whether the database was away, full, read-only or busy too long: worth another try later, and no bug. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNAVAILABLE
}

/**
 * As `unavailable`, of a transaction whose COMMIT was sent and not confirmed: its changes may be durable
 * or not, and nobody can tell until the database answers again.
 */
export function commitUnknown(cause: unknown): Error {
  const error = isUnavailable(cause) ? (cause as Error) : unavailable(cause)
  return Object.assign(error, { commit: 'unknown' })
}

/** Whether what failed may have been stored all the same. */
export function mayBeStored(error: unknown): boolean {
  return isUnavailable(error) && 'commit' in (error as Error)
}

/** An error that a person must mend before the database can be used; the message tells them how. */
export function unusable(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: UNUSABLE })
}

/** Whether only a person can make the database usable. */
export function isUnusable(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === UNUSABLE
}

/** Whether it is unavailable only because two transactions waited for each other, and this one gave way. */
export function gaveWay(error: unknown): boolean {
  if (!isUnavailable(error)) return false
  const { cause } = error as Error
  return cause instanceof Error && 'code' in cause && deadlocks.has(cause.code)
}

/** PostgreSQL's states for a serialisation failure and a deadlock. */
const deadlocks: ReadonlySet<unknown> = new Set(['40001', '40P01'])

const UNAVAILABLE = 'database_unavailable'
const UNUSABLE = 'database_unusable'

/** Text as both databases hold it: U+0000 and lone surrogates become U+FFFD. */
export function storable(text: string): string {
  const whole = text.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}
