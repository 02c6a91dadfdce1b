import type { Database } from './database.ts'

/** The SQL type of a column. */
export type ColumnType = 'TEXT' | 'BIGINT' | 'DOUBLE PRECISION'

/** Column names with their SQL types, in order. */
export type Columns = Readonly<Record<string, ColumnType>>

/**
 * Builds a FROM item named `rows` that reads a JSON list of objects from one placeholder, so that one
 * statement text serves any number of rows. Values must be well-formed text without NUL.
 */
export function jsonRows(kind: Database['kind'], columns: Columns): string {
  const names = Object.keys(columns)
  if (kind === 'sqlite') {
    const fields = names.map((name) => `value ->> '${name}' AS ${name}`).join(', ')
    return `(SELECT ${fields} FROM json_each(?)) AS rows`
  }
  const types = names.map((name) => `${name} ${columns[name]}`).join(', ')
  return `json_to_recordset(CAST(? AS JSON)) AS rows(${types})`
}

/** A row with these columns. */
export type Row<C extends Columns> = { [Name in keyof C]: string | number | null }
