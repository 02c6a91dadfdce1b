import { arrayRows, columnArrays } from './column-arrays.ts'
import { type Database, leave, type Queries } from './database.ts'
import type { Columns, Row } from './rows.ts'

/**
 * Many rows of one table at once, in the way that is fastest on each database: PostgreSQL gets one
 * statement for all of them, because each costs a way there and back; SQLite gets one for each,
 * because taking values out of JSON would cost it more than running it.
 */
export interface Table<C extends Columns, K extends string> {
  /** The rows that have one of the keys, in no order. */
  find(tx: Queries, keys: readonly Key<C, K>[]): Promise<Row<C>[]>
  /**
   * The rows with the keys of these, held until the transaction ends. Those that are missing are added
   * first where others could add them meanwhile; on SQLite, which has one writer, they stay missing.
   * Give them in one order everywhere, lest two transactions hold what the other waits for.
   */
  hold(tx: Queries, rows: readonly Row<C>[]): Promise<Row<C>[]>
  /**
   * As `hold`, where only those of `missing` can be missing, and where `writtenIn` tells for each of the
   * rows, in their order, which transaction had written it last when it was read.
   */
  holdRemembered(
    tx: Queries,
    rows: readonly Row<C>[],
    missing: readonly Row<C>[],
    writtenIn: readonly (number | undefined)[],
  ): Promise<Held<C, K>[]>
  /** Adds rows. In a transaction nobody need wait for it; see `leave`. */
  add(tx: Queries, rows: readonly Row<C>[]): Promise<unknown>
  /** Adds those whose key is not there, and answers their keys. */
  addMissing(tx: Queries, rows: readonly Row<C>[]): Promise<Key<C, K>[]>
  /**
   * Adds those whose key is not there, and merges the others: replaced unless the table says otherwise.
   * In a transaction nobody need wait for it either.
   */
  put(tx: Queries, rows: readonly Row<C>[]): Promise<unknown>
}

/**
 * A row that is held, null where nobody has written it since; and the number of the PostgreSQL
 * transaction that holds it, undefined on SQLite.
 */
export type Held<C extends Columns, K extends string> = Key<C, K> & {
  row: Row<C> | null
  held_in?: number
}

type Key<C extends Columns, K extends string> = Pick<Row<C>, K & keyof C>

/** A table of these columns with this primary key; `merge` is what `put` sets in a row that is there. */
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
  const insert = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  const onConflict = `ON CONFLICT (${key.join(', ')}) DO`
  const select = `SELECT ${names.join(', ')} FROM ${name} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`
  const valuesOf = (row: Row<C>) => names.map((column) => row[column] ?? null)

  function each(tx: Queries, sql: string, rows: readonly Row<C>[]): Promise<number[]> {
    return Promise.all(rows.map((row) => tx.run(sql, ...valuesOf(row))))
  }

  async function find(tx: Queries, keys: readonly Key<C, K>[]): Promise<Row<C>[]> {
    const rows = await Promise.all(
      keys.map((each) => tx.get<Row<C>>(select, ...key.map((column) => each[column] ?? null))),
    )
    return rows.filter((row) => row !== undefined)
  }

  return {
    find,
    hold: find,
    holdRemembered: async (tx, rows) => (await find(tx, rows)).map((row) => ({ ...row, row })),
    add: (tx, rows) => leave(each(tx, insert, rows)),
    async addMissing(tx, rows) {
      const changed = await each(tx, `${insert} ${onConflict} NOTHING`, rows)
      return rows.filter((_, place) => changed[place] === 1)
    },
    put: (tx, rows) => leave(each(tx, `${insert} ${onConflict} UPDATE SET ${merge}`, rows)),
  }
}

/** Transactions as `xmin` numbers them, so that a row tells who wrote it. */
const writtenIn = 'CAST(CAST(xmin AS TEXT) AS BIGINT)'
const heldIn = 'txid_current() & 4294967295'

function allAtOnce<C extends Columns, K extends keyof C & string>(
  name: string,
  key: readonly K[],
  columns: C,
  merge: string,
): Table<C, K> {
  const names = Object.keys(columns).join(', ')
  const insert = `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${arrayRows(columns)} WHERE true`
  const onConflict = `ON CONFLICT (${key.join(', ')}) DO`
  const keyColumns = Object.fromEntries(key.map((column) => [column, columns[column]])) as Columns
  const same = key.map((column) => `${name}.${column} = rows.${column}`).join(' AND ')
  // Looked up one by one in the order of the keys: joined, a small table would be read whole.
  const lookUp = (selected: string, locked: string) =>
    `SELECT found.* FROM ${arrayRows(keyColumns)}
     CROSS JOIN LATERAL (SELECT ${selected} FROM ${name} WHERE ${same} ${locked}) AS found`
  const write = (tx: Queries, sql: string, rows: readonly Row<C>[]) =>
    leave(rows.length === 0 ? Promise.resolve(0) : tx.run(sql, ...columnArrays(columns, rows)))
  const select = lookUp(names, 'OFFSET 0')
  const hold = lookUp(names, `FOR UPDATE OF ${name}`)
  const heldColumns = { ...keyColumns, written_in: 'BIGINT' } as const
  const pairs = Object.keys(columns).map((column) => `'${column}', ${name}.${column}`)
  const holdRemembered = `SELECT found.* FROM ${arrayRows(heldColumns)}
    CROSS JOIN LATERAL (
      SELECT ${key.join(', ')}, ${heldIn} AS held_in,
        CASE WHEN ${writtenIn} = rows.written_in THEN NULL ELSE json_build_object(${pairs.join(', ')}) END AS row
      FROM ${name} WHERE ${same} FOR UPDATE OF ${name}
    ) AS found`

  return {
    find: (tx, keys) => tx.all<Row<C>>(select, ...columnArrays(keyColumns, keys)),
    hold(tx, rows) {
      write(tx, `${insert} ${onConflict} NOTHING`, rows)
      return tx.all<Row<C>>(hold, ...columnArrays(keyColumns, rows))
    },
    holdRemembered(tx, rows, missing, writtenIn) {
      write(tx, `${insert} ${onConflict} NOTHING`, missing)
      const keys = rows.map((row, place) => ({ ...row, written_in: writtenIn[place] ?? null }))
      return tx.all<Held<C, K>>(holdRemembered, ...columnArrays(heldColumns, keys))
    },
    add: (tx, rows) => write(tx, insert, rows),
    addMissing: (tx, rows) =>
      tx.all<Key<C, K>>(
        `${insert} ${onConflict} NOTHING RETURNING ${key.join(', ')}`,
        ...columnArrays(columns, rows),
      ),
    put: (tx, rows) => write(tx, `${insert} ${onConflict} UPDATE SET ${merge}`, rows),
  }
}
