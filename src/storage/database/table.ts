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
   * Locks the rows with these keys until the transaction ends, and returns them. Every caller must pass the
   * keys in the same order, otherwise two transactions can deadlock. On PostgreSQL another transaction may
   * insert a row that is missing; to lock it, insert it first. SQLite has one writer.
   */
  lock(tx: Queries, keys: readonly Key<C, K>[]): Promise<Row<C>[]>
  /** Inserts rows. A transaction need not await it; see `notAwaited`. */
  insert(tx: Queries, rows: readonly Row<C>[]): Promise<unknown>
  /**
   * Inserts the rows whose key does not exist yet, and returns their keys. An existing row that is `stale`
   * counts as missing and is updated as `merge` says.
   */
  insertMissing(tx: Queries, rows: readonly Row<C>[]): Promise<Key<C, K>[]>
  /**
   * Inserts rows or updates those whose key exists, as the `merge` of the table says. A transaction need
   * not await it.
   */
  upsert(tx: Queries, rows: readonly Row<C>[]): Promise<unknown>
  /** Replaces the rows that exist. A transaction need not await it. */
  update(tx: Queries, rows: readonly Row<C>[]): Promise<unknown>
}

/** How a table treats existing rows; both are SQL over the columns of the row and of `excluded`. */
export interface OnConflict {
  /** The SET clause of `upsert` and `insertMissing`; replaces every column by default. */
  readonly merge?: string
  /** The condition of a row that `insertMissing` updates; by default it updates none. */
  readonly stale?: string
}

type Key<C extends Columns, K extends string> = Pick<Row<C>, K & keyof C>

/** Creates a table with these columns and this primary key. */
export function createTable<C extends Columns, K extends keyof C & string>(
  kind: Database['kind'],
  name: string,
  key: readonly K[],
  columns: C,
  { merge = replacing(key, columns, 'excluded'), stale }: OnConflict = {},
): Table<C, K> {
  const onConflict = `ON CONFLICT (${key.join(', ')}) DO`
  return (kind === 'sqlite' ? rowByRow : allAtOnce)(name, key, columns, {
    merge: `${onConflict} UPDATE SET ${merge}`,
    mergeStale:
      stale === undefined
        ? `${onConflict} NOTHING`
        : `${onConflict} UPDATE SET ${merge} WHERE ${stale}`,
  })
}

/** The clauses of an insert that merges an existing row, or only a stale one. */
interface Clauses {
  merge: string
  mergeStale: string
}

/** Sets each column that is not of the key to its value in `source`. */
function replacing(key: readonly string[], columns: Columns, source: string): string {
  return Object.keys(columns)
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = ${source}.${column}`)
    .join(', ')
}

function rowByRow<C extends Columns, K extends keyof C & string>(
  name: string,
  key: readonly K[],
  columns: C,
  { merge, mergeStale }: Clauses,
): Table<C, K> {
  const names = Object.keys(columns)
  const insertInto = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  const isKey = key.map((column) => `${column} = ?`).join(' AND ')
  const select = `SELECT ${names.join(', ')} FROM ${name} WHERE ${isKey}`
  // A numbered placeholder can stand anywhere, so the values keep the order of the columns.
  const numbered = names.map((column, place) => `${column} = ?${place + 1}`)
  const isUpdated = (column: string) => !key.some((part) => part === column)
  const update = `UPDATE ${name} SET ${numbered.filter((_, place) => isUpdated(names[place] ?? '')).join(', ')}
    WHERE ${numbered.filter((_, place) => !isUpdated(names[place] ?? '')).join(' AND ')}`
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
    insert: (tx, rows) => notAwaited(each(tx, insertInto, rows)),
    async insertMissing(tx, rows) {
      const changed = await each(tx, `${insertInto} ${mergeStale}`, rows)
      return rows.filter((_, place) => changed[place] === 1)
    },
    upsert: (tx, rows) => notAwaited(each(tx, `${insertInto} ${merge}`, rows)),
    update: (tx, rows) => notAwaited(each(tx, update, rows)),
  }
}

function allAtOnce<C extends Columns, K extends keyof C & string>(
  name: string,
  key: readonly K[],
  columns: C,
  { merge, mergeStale }: Clauses,
): Table<C, K> {
  const names = Object.keys(columns).join(', ')
  const insertInto = `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${arrayRows(columns)} WHERE true`
  const keyColumns = Object.fromEntries(key.map((column) => [column, columns[column]])) as Columns
  const same = key.map((column) => `${name}.${column} = rows.${column}`).join(' AND ')
  // An update of a stale row could not tell its column from that of the inserted one.
  const returned = key.map((column) => `${name}.${column}`).join(', ')
  // A lateral join looks up each key through the index; a plain join can scan a whole small table.
  const lookUp = (selected: string, lockClause: string) =>
    `SELECT found.* FROM ${arrayRows(keyColumns)}
     CROSS JOIN LATERAL (SELECT ${selected} FROM ${name} WHERE ${same} ${lockClause}) AS found`
  const write = (tx: Queries, sql: string, rows: readonly Row<C>[]) =>
    notAwaited(rows.length === 0 ? Promise.resolve(0) : tx.run(sql, ...columnArrays(columns, rows)))
  const select = lookUp(names, 'OFFSET 0')
  const lockRows = lookUp(names, `FOR UPDATE OF ${name}`)
  const update = `UPDATE ${name} SET ${replacing(key, columns, 'rows')} FROM ${arrayRows(columns)} WHERE ${same}`
  const read = async <Found>(
    tx: Queries,
    sql: string,
    values: readonly Key<C, K>[],
    of: Columns,
  ) => (values.length === 0 ? [] : tx.all<Found>(sql, ...columnArrays(of, values)))

  return {
    find: (tx, keys) => read<Row<C>>(tx, select, keys, keyColumns),
    lock: (tx, keys) => read<Row<C>>(tx, lockRows, keys, keyColumns),
    insert: (tx, rows) => write(tx, insertInto, rows),
    insertMissing: (tx, rows) => {
      const sql = `${insertInto} ${mergeStale} RETURNING ${returned}`
      return read<Key<C, K>>(tx, sql, rows, columns)
    },
    upsert: (tx, rows) => write(tx, `${insertInto} ${merge}`, rows),
    update: (tx, rows) => write(tx, update, rows),
  }
}
