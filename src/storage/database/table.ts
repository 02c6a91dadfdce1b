import { arrayRows, columnArrays } from './column-arrays.ts'
import { type Database, notAwaited, type Queries } from './database.ts'
import type { Columns, Row } from './rows.ts'

/**
 * Reads and writes many rows of one table at once. PostgreSQL gets one statement for all rows, because
 * each statement costs a round trip. SQLite gets one statement for each row, because reading values out of
 * JSON costs it more than a statement.
 */
export interface Table<C extends Columns, K extends string> {
  /** Finds the rows with these keys, in no order. */
  find(tx: Queries, keys: readonly Key<C, K>[]): Promise<Row<C>[]>
  /**
   * Locks the rows with these keys until the transaction ends, and returns them. PostgreSQL first inserts
   * the missing ones, because another transaction could insert them meanwhile. SQLite, which has one
   * writer, leaves them missing. Every caller must pass the rows in the same order, otherwise two
   * transactions can deadlock.
   */
  lock(tx: Queries, rows: readonly Row<C>[]): Promise<Row<C>[]>
  /**
   * As `lock`, for rows that the caller may have cached. Only the rows of `missing` are inserted.
   * `writtenIn[i]` is the id of the transaction that had last written `rows[i]` when the caller cached it.
   */
  lockCached(
    tx: Queries,
    rows: readonly Row<C>[],
    missing: readonly Row<C>[],
    writtenIn: readonly (number | undefined)[],
  ): Promise<Locked<C, K>[]>
  /** Inserts rows. A transaction need not await it; see `notAwaited`. */
  insert(tx: Queries, rows: readonly Row<C>[]): Promise<unknown>
  /** Inserts the rows whose key does not exist yet, and returns their keys. */
  insertMissing(tx: Queries, rows: readonly Row<C>[]): Promise<Key<C, K>[]>
  /**
   * Inserts rows or updates those whose key exists, as the `merge` of the table says. A transaction need
   * not await it.
   */
  upsert(tx: Queries, rows: readonly Row<C>[]): Promise<unknown>
}

/**
 * A locked row, or null if the cached copy is current; `locked_in` is the id of the PostgreSQL transaction
 * that locks it, undefined on SQLite.
 */
export type Locked<C extends Columns, K extends string> = Key<C, K> & {
  row: Row<C> | null
  locked_in?: number
}

type Key<C extends Columns, K extends string> = Pick<Row<C>, K & keyof C>

/**
 * Creates a table with these columns and this primary key. `merge` is the SET clause of `upsert`; by
 * default every column is replaced.
 */
export function createTable<C extends Columns, K extends keyof C & string>(
  kind: Database['kind'],
  name: string,
  key: readonly K[],
  columns: C,
  merge = replaceAll(key, columns),
): Table<C, K> {
  return (kind === 'sqlite' ? rowByRow : allAtOnce)(name, key, columns, merge)
}

function replaceAll(key: readonly string[], columns: Columns): string {
  return Object.keys(columns)
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')
}

function rowByRow<C extends Columns, K extends keyof C & string>(
  name: string,
  key: readonly K[],
  columns: C,
  merge: string,
): Table<C, K> {
  const names = Object.keys(columns)
  const insertInto = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  const onConflict = `ON CONFLICT (${key.join(', ')}) DO`
  const select = `SELECT ${names.join(', ')} FROM ${name} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`
  const valuesOf = (row: Row<C>) => names.map((column) => row[column] ?? null)

  function each(tx: Queries, sql: string, rows: readonly Row<C>[]): Promise<number[]> {
    return Promise.all(rows.map((row) => tx.run(sql, ...valuesOf(row))))
  }

  async function find(tx: Queries, keys: readonly Key<C, K>[]): Promise<Row<C>[]> {
    const rows = await Promise.all(
      keys.map((row) => tx.get<Row<C>>(select, ...key.map((column) => row[column] ?? null))),
    )
    return rows.filter((row) => row !== undefined)
  }

  return {
    find,
    lock: find,
    lockCached: async (tx, rows) => (await find(tx, rows)).map((row) => ({ ...row, row })),
    insert: (tx, rows) => notAwaited(each(tx, insertInto, rows)),
    async insertMissing(tx, rows) {
      const changed = await each(tx, `${insertInto} ${onConflict} NOTHING`, rows)
      return rows.filter((_, place) => changed[place] === 1)
    },
    upsert: (tx, rows) =>
      notAwaited(each(tx, `${insertInto} ${onConflict} UPDATE SET ${merge}`, rows)),
  }
}

/** Transaction ids as `xmin` numbers them, to compare with the row's last writer. */
const writtenIn = 'CAST(CAST(xmin AS TEXT) AS BIGINT)'
const lockedIn = 'txid_current() & 4294967295'

function allAtOnce<C extends Columns, K extends keyof C & string>(
  name: string,
  key: readonly K[],
  columns: C,
  merge: string,
): Table<C, K> {
  const names = Object.keys(columns).join(', ')
  const insertInto = `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${arrayRows(columns)} WHERE true`
  const onConflict = `ON CONFLICT (${key.join(', ')}) DO`
  const keyColumns = Object.fromEntries(key.map((column) => [column, columns[column]])) as Columns
  const same = key.map((column) => `${name}.${column} = rows.${column}`).join(' AND ')
  // A lateral join looks up each key through the index; a plain join can scan a whole small table.
  const lookUp = (selected: string, lockClause: string) =>
    `SELECT found.* FROM ${arrayRows(keyColumns)}
     CROSS JOIN LATERAL (SELECT ${selected} FROM ${name} WHERE ${same} ${lockClause}) AS found`
  const write = (tx: Queries, sql: string, rows: readonly Row<C>[]) =>
    notAwaited(rows.length === 0 ? Promise.resolve(0) : tx.run(sql, ...columnArrays(columns, rows)))
  const select = lookUp(names, 'OFFSET 0')
  const lockRows = lookUp(names, `FOR UPDATE OF ${name}`)
  const cachedColumns = { ...keyColumns, written_in: 'BIGINT' } as const
  const pairs = Object.keys(columns).map((column) => `'${column}', ${name}.${column}`)
  const lockCachedRows = `SELECT found.* FROM ${arrayRows(cachedColumns)}
    CROSS JOIN LATERAL (
      SELECT ${key.join(', ')}, ${lockedIn} AS locked_in,
        CASE WHEN ${writtenIn} = rows.written_in THEN NULL ELSE json_build_object(${pairs.join(', ')}) END AS row
      FROM ${name} WHERE ${same} FOR UPDATE OF ${name}
    ) AS found`

  return {
    find: (tx, keys) => tx.all<Row<C>>(select, ...columnArrays(keyColumns, keys)),
    lock(tx, rows) {
      write(tx, `${insertInto} ${onConflict} NOTHING`, rows)
      return tx.all<Row<C>>(lockRows, ...columnArrays(keyColumns, rows))
    },
    lockCached(tx, rows, missing, writtenIn) {
      write(tx, `${insertInto} ${onConflict} NOTHING`, missing)
      const keys = rows.map((row, place) => ({ ...row, written_in: writtenIn[place] ?? null }))
      return tx.all<Locked<C, K>>(lockCachedRows, ...columnArrays(cachedColumns, keys))
    },
    insert: (tx, rows) => write(tx, insertInto, rows),
    insertMissing: (tx, rows) =>
      tx.all<Key<C, K>>(
        `${insertInto} ${onConflict} NOTHING RETURNING ${key.join(', ')}`,
        ...columnArrays(columns, rows),
      ),
    upsert: (tx, rows) => write(tx, `${insertInto} ${onConflict} UPDATE SET ${merge}`, rows),
  }
}
