import type { Fault } from '../runs/field-reader.ts'
import { parseJson } from '../text.ts'
import { readRows } from './csv.ts'

/** Lines of one window: the fewest, the most, and how many when the caller does not say. */
export const windowRange = { min: 5, max: 1000, fallback: 20 } as const

/** A body of `POST /v1/data`, ready to be measured. */
export interface Corpus {
  lines: Lines
  /** Lines of one window. */
  window: number
}

/** Yields the lines of a corpus; returns an error, or null. */
export type Lines = Iterator<string, string | null>

/** The query parameters for a body that is not JSON. */
export interface CorpusParameters {
  readonly window?: string
  readonly column?: string
  readonly field?: string
}

/**
 * Reads a corpus in the form of its content type: `text/plain` by lines, `text/csv` by the rows of
 * `column`, `application/x-ndjson` by the `field` of each line, and anything else as JSON with `text`,
 * `lines` or `documents`. Errors inside the content are returned by its lines.
 */
export function readCorpus(
  body: string,
  contentType: string,
  parameters: CorpusParameters,
): Corpus | Fault {
  const linesIn = linesByType.get(contentType)
  if (linesIn === undefined) return readJsonCorpus(parseJson(body))
  const { window } = parameters
  return withWindow(
    () => linesIn(body, parameters),
    window === undefined || !/^\d{1,9}$/.test(window) ? window : Number(window),
  )
}

const linesByType = new Map<string, (body: string, parameters: CorpusParameters) => Lines>([
  ['text/plain', (body) => linesOf([body])],
  ['text/csv', (body, { column }) => (column === undefined ? rowsOf(body) : cellsOf(body, column))],
  ['application/x-ndjson', (body, { field }) => stringsOf(body, field)],
])

function readJsonCorpus(body: unknown): Corpus | Fault {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { fault: 'body: send a JSON object with text, lines or documents' }
  }
  const { text, lines, documents, window } = body as Record<string, unknown>
  const given = Object.entries({ text, lines, documents }).filter(([, value]) => value != null)
  const [name, value] = given[0] ?? []
  if (name === undefined || given.length > 1) {
    return { fault: `body: send one of text, lines and documents, not ${given.length}` }
  }
  if (name === 'text') {
    if (typeof value !== 'string') return { fault: 'text: send a text' }
    return withWindow(() => linesOf([value]), window)
  }
  if (!Array.isArray(value)) return { fault: `${name}: send a list of texts` }
  const wrong = value.findIndex((each) => typeof each !== 'string')
  if (wrong >= 0) return { fault: `${name}.${wrong}: send a text` }
  return withWindow(() => (name === 'lines' ? entriesOf(value) : linesOf(value)), window)
}

function withWindow(linesIn: () => Lines, window: unknown): Corpus | Fault {
  const { min, max, fallback } = windowRange
  const size = window ?? fallback
  if (typeof size !== 'number' || !Number.isInteger(size) || size < min || size > max) {
    return { fault: `window: send a whole number of lines from ${min} to ${max}` }
  }
  return { lines: linesIn(), window: size }
}

function* entriesOf(lines: readonly string[]): Generator<string, null> {
  yield* lines
  return null
}

/** The lines of texts, one text after another; CR before LF does no harm where words are read. */
function* linesOf(texts: readonly string[]): Generator<string, null> {
  for (const text of texts) {
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at)
      yield text.slice(at, end < 0 ? text.length : end)
      at = end < 0 ? text.length : end + 1
    }
  }
  return null
}

function* rowsOf(body: string): Generator<string, string | null> {
  const rows = readRows(body)
  let row = rows.next()
  for (; !row.done; row = rows.next()) yield row.value.join(' ')
  return row.value
}

/** The first row holds the column names. */
function* cellsOf(body: string, column: string): Generator<string, string | null> {
  const rows = readRows(body)
  let row = rows.next()
  if (row.done) return row.value
  const names = row.value.map((name) => name.trim())
  const place = names.indexOf(column)
  if (place < 0) {
    return `column: send one that the first row names: ${names.join(', ').slice(0, 200)}`
  }
  for (row = rows.next(); !row.done; row = rows.next()) yield row.value[place] ?? ''
  return row.value
}

// Parsing one line blocks the event loop.
const maxJsonLength = 1_000_000

/** Yields the text of each JSON line: that of `field`, or every string in it at any depth. */
function* stringsOf(body: string, field: string | undefined): Generator<string, string | null> {
  let number = 0
  for (const line of linesOf([body])) {
    if (line.length > maxJsonLength) {
      return `line ${number}: send at most ${maxJsonLength} characters on a line`
    }
    const value = line.trim() === '' ? null : parseJson(line)
    if (value === undefined) return `line ${number}: send a JSON value on each line`
    yield field === undefined ? textIn(value) : textOf(value, field)
    number += 1
  }
  return null
}

function textOf(value: unknown, field: string): string {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return ''
  const text = (value as Record<string, unknown>)[field]
  return typeof text === 'string' ? text : ''
}

// An explicit list instead of recursion, because deep nesting would overflow the stack.
function textIn(value: unknown): string {
  const found: string[] = []
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string') found.push(next)
    else if (typeof next === 'object' && next !== null) {
      for (const each of Object.values(next).reverse()) left.push(each)
    }
  }
  return found.join(' ')
}
