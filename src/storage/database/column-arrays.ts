import type { Columns, ColumnType } from './rows.ts'

/**
 * Builds a FROM item named `rows` for PostgreSQL with one placeholder for each column, which
 * `columnArrays` fills. PostgreSQL reads it several times faster than JSON.
 */
export function arrayRows(columns: Columns): string {
  const arrays = Object.values(columns).map((type) => `CAST(? AS ${type}[])`)
  return `unnest(${arrays.join(', ')}) AS rows(${Object.keys(columns).join(', ')})`
}

/** Encodes rows as one binary PostgreSQL array for each column; text must not contain NUL. */
export function columnArrays(
  columns: Columns,
  rows: readonly Readonly<Record<string, string | number | null>>[],
): Uint8Array[] {
  return Object.entries(columns).map(([name, type]) => {
    const values = rows.map((row) => row[name] ?? null)
    return type === 'TEXT' ? textArray(values) : numberArray(type, values)
  })
}

/** PostgreSQL OIDs of the element types. */
const elementTypes = { TEXT: 25, BIGINT: 20, 'DOUBLE PRECISION': 701 } as const

const headBytes = 20
const lengthBytes = 4
const numberBytes = 8
const noLength = -1

type Values = readonly (string | number | null)[]

function textArray(values: Values): Buffer {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  const most = values.reduce<number>((sum, value) => sum + 3 * String(value ?? '').length, 0)
  const array = arrayFor('TEXT', values, most)
  let at = headBytes
  for (const value of values) {
    const bytes = value === null ? noLength : array.write(String(value), at + lengthBytes)
    array.writeInt32BE(bytes, at)
    at += lengthBytes + Math.max(0, bytes)
  }
  return array.subarray(0, at)
}

function numberArray(type: 'BIGINT' | 'DOUBLE PRECISION', values: Values): Buffer {
  const array = arrayFor(type, values, numberBytes * values.length)
  let at = headBytes
  for (const value of values) {
    at = array.writeInt32BE(value === null ? noLength : numberBytes, at)
    if (value === null) continue
    if (type === 'BIGINT') writeBigint(array, Number(value), at)
    else array.writeDoubleBE(Number(value), at)
    at += numberBytes
  }
  return array.subarray(0, at)
}

function writeBigint(array: Buffer, value: number, at: number): void {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no BIGINT`)
  const high = Math.floor(value / 2 ** 32)
  array.writeInt32BE(high, at)
  array.writeUInt32BE(value - high * 2 ** 32, at + 4)
}

/** Allocates a one-dimensional array, writes its header and leaves room for the elements. */
function arrayFor(type: ColumnType, values: Values, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(headBytes + lengthBytes * values.length + bytes)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(values.includes(null) ? 1 : 0, 4)
  array.writeInt32BE(elementTypes[type], 8)
  array.writeInt32BE(values.length, 12)
  array.writeInt32BE(1, 16)
  return array
}
