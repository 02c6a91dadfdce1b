import type { Database } from './database.ts'

/** The type of a column that rows are written to. */
export type ColumnType = 'TEXT' | 'BIGINT' | 'DOUBLE PRECISION'

/** Columns with their types, in order. */
export type Columns = Readonly<Record<string, ColumnType>>

/**
 * A FROM item named `rows` that reads one JSON list of objects from a placeholder, so that any
 * number of rows is one statement with one text. Values must be well-formed text without NUL.
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

/** A row of these columns. */
export type Row<C extends Columns> = { [Name in keyof C]: string | number | null }

/** One key for several values; no value holds the separator, which no text can after it was read. */
export function keyOf(...values: string[]): string {
  return values.join('\0')
}
