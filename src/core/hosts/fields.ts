import { cutTo, fnv1a, fnvPrime, maxTextLength, wellFormed } from '../text.ts'

/** A JSON object whose fields are not known. */
export type Fields = Readonly<Record<string, unknown>>

/** The value as an object; an empty one if it is none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {}
}

/** The value as an object, also if it arrives as JSON in a text. */
export function parsedFields(value: unknown): Fields {
  if (typeof value !== 'string') return fieldsOf(value)
  try {
    return fieldsOf(JSON.parse(value))
  } catch {
    return {}
  }
}

/** The value as a list; an empty one if it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The first of the values that is a text with content, trimmed and well-formed, at most 4,000 characters. */
export function textOf(...values: readonly unknown[]): string {
  for (const value of values) {
    if (typeof value !== 'string') continue
    const text = wellFormed(cutTo(value.trim(), maxTextLength))
    if (text !== '') return text
  }
  return ''
}

/** The value as a number of at least 0. */
export function amountOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** A time in milliseconds since 1970, from a number or an ISO text. */
export function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value
  return amountOf(time)
}

/** A field if it is known, to spread into an object. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined | '',
): { [name in Name]?: Value } {
  return value === undefined || value === '' ? {} : ({ [name]: value } as { [name in Name]: Value })
}

/** Sixteen hexadecimal digits, equal for equal texts. Not for secrets: short texts can be guessed. */
export function digestOf(text: string): string {
  // The second hash is that of the text behind its length and before a mark; in one pass, because texts may be long.
  let one = fnv1a('')
  let other = fnv1a(`${text.length}:`)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    one = Math.imul(one ^ code, fnvPrime)
    other = Math.imul(other ^ code, fnvPrime)
  }
  return hex(one) + hex(Math.imul(other ^ 1, fnvPrime))
}

/** The digest of a JSON value; the order of fields does not count, and what lies deeper than `deepest` neither. */
export function digestOfValue(value: unknown): string {
  return digestOf(JSON.stringify(sorted(value, deepest)) ?? '')
}

const deepest = 16

function sorted(value: unknown, left: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (left === 0) return null
  if (Array.isArray(value)) return value.map((each) => sorted(each, left - 1))
  const fields = value as Fields
  const names = Object.keys(fields).sort()
  return Object.fromEntries(names.map((name) => [name, sorted(fields[name], left - 1)]))
}

const byteHex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hex(hash: number): string {
  return `${byteHex[hash >>> 24]}${byteHex[(hash >>> 16) & 255]}${byteHex[(hash >>> 8) & 255]}${byteHex[hash & 255]}`
}
