import { type Fields, fieldsOf, listOf, textOf } from '../hosts/fields.ts'
import { sessionOf } from './conversation.ts'
import { type Reported, reportedIn } from './reported.ts'

/** A log record or a span, with its attributes as plain values. */
export interface TelemetryRecord {
  /** The name of the event of a log record, or of the span. */
  name: string
  /** The instrumentation that made it. */
  scope: string
  attributes: Fields
  /** What it says in attributes of our own. */
  reported: Reported
  /** Milliseconds since 1970; for a span its beginning. */
  at: number | undefined
  /** Milliseconds since 1970 of the end of a span. */
  ended: number | undefined
  traceId: string
  spanId: string
  parentSpanId: string
  /** Whether a span ended with an error. */
  hasFailed: boolean
}

/** The records of a request. */
export interface ReadRecords {
  records: TelemetryRecord[]
  /** For each record that cannot be read, where it stands and what is wrong with it. */
  faults: string[]
}

/** The span of a record, as the protocol spells ids; null without one. */
export function spanOf({ traceId, spanId }: Pick<TelemetryRecord, 'traceId' | 'spanId'>) {
  const isSpan = /^[\da-f]{32}$/i.test(traceId) && /^[\da-f]{16}$/i.test(spanId)
  return isSpan ? { traceId, spanId } : null
}

/** Most values of one list or object in an attribute, and its depth. */
const mostValues = 200
const deepest = 8
/** Most attributes of a record: OpenInference writes a conversation as several for each message. */
const mostAttributes = 10_000

/**
 * Reads the log records of a request in the shape of the protocol's JSON, in their order. Null if the body is no such
 * request.
 */
export function logsIn(body: unknown): ReadRecords | null {
  return recordsIn(body, ['resourceLogs', 'scopeLogs', 'logRecords'], (record, common, faults) => {
    const { traceId, reported } = common
    if (traceId !== '' && !isId(traceId)) faults.push(`traceId: ${idWanted(32)}`)
    if (reported.report !== null && traceId === '' && sessionOf(common) === '') {
      faults.push(
        'gen_ai.conversation.id: send it, or a traceId; without them the run is not known',
      )
    }
    const { timeUnixNano, observedTimeUnixNano, eventName, body: own } = record
    return {
      ...common,
      name: textOf(eventName, common.attributes['event.name'], plainOf(own, deepest)),
      at:
        timeOf('timeUnixNano', timeUnixNano, faults) ??
        timeOf('observedTimeUnixNano', observedTimeUnixNano, faults),
      ended: undefined,
      hasFailed: false,
    }
  })
}

/** Reads the spans of a request, as `logsIn` reads log records. */
export function spansIn(body: unknown): ReadRecords | null {
  return recordsIn(body, ['resourceSpans', 'scopeSpans', 'spans'], (span, common, faults) => {
    const { traceId, spanId, parentSpanId, attributes } = common
    if (!isId(traceId)) faults.push(`traceId: ${idWanted(32)}`)
    if (!isId(spanId)) faults.push(`spanId: ${idWanted(16)}`)
    if (parentSpanId !== '' && !isId(parentSpanId)) faults.push(`parentSpanId: ${idWanted(16)}`)
    const { code } = fieldsOf(span.status)
    return {
      ...common,
      name: textOf(span.name),
      at: timeOf('startTimeUnixNano', span.startTimeUnixNano, faults),
      ended: timeOf('endTimeUnixNano', span.endTimeUnixNano, faults),
      hasFailed:
        code === 2 || code === 'STATUS_CODE_ERROR' || attributes['error.type'] !== undefined,
    }
  })
}

type Common = Pick<
  TelemetryRecord,
  'scope' | 'attributes' | 'reported' | 'traceId' | 'spanId' | 'parentSpanId'
>

function recordsIn(
  body: unknown,
  [ofResources, ofScopes, ofRecords]: readonly [string, string, string],
  read: (record: Fields, common: Common, faults: string[]) => TelemetryRecord,
): ReadRecords | null {
  if (!isMessage(body)) return null
  const resources = body[ofResources] ?? []
  if (!Array.isArray(resources)) return null
  const records: TelemetryRecord[] = []
  const faults: string[] = []
  /** The entries of a list in a message, each with its place; what is no such list is one fault. */
  const entriesOf = (message: unknown, name: string, place: string) => {
    const list = isMessage(message) ? (message[name] ?? []) : null
    if (Array.isArray(list)) {
      return list.map((entry: unknown, nth) => ({ entry, place: `${place}.${name}[${nth}]` }))
    }
    faults.push(`${place}: send an object with a list of ${name}`)
    return []
  }
  for (const [nth, resource] of resources.entries()) {
    for (const scoped of entriesOf(resource, ofScopes, `${ofResources}[${nth}]`)) {
      for (const { entry, place } of entriesOf(scoped.entry, ofRecords, scoped.place)) {
        const own: string[] = []
        const { scope } = fieldsOf(scoped.entry)
        const record = isMessage(entry) ? read(entry, commonOf(entry, scope, own), own) : null
        if (record !== null && own.length === 0) records.push(record)
        else faults.push(`${place}: ${own.length === 0 ? 'it cannot be read' : own.join('; ')}`)
      }
    }
  }
  return { records, faults }
}

function isMessage(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function commonOf(record: Fields, scope: unknown, faults: string[]): Common {
  const { attributes: list = [] } = record
  if (list !== null && !Array.isArray(list)) faults.push('attributes: send a list of key and value')
  const attributes = attributesOf(list)
  return {
    scope: textOf(fieldsOf(scope).name),
    attributes,
    reported: reportedIn(attributes, faults),
    traceId: idOf('traceId', record, faults),
    spanId: idOf('spanId', record, faults),
    parentSpanId: idOf('parentSpanId', record, faults),
  }
}

function idOf(name: string, record: Fields, faults: string[]): string {
  const id = record[name] ?? ''
  if (typeof id === 'string') return id.trim()
  faults.push(`${name}: send a text`)
  return ''
}

/** An id as a text of the protocol, or as some exporters write it. */
function isId(text: string): boolean {
  return /^[\w+/=-]{1,64}$/.test(text)
}

function idWanted(digits: number): string {
  return `send ${digits} hexadecimal digits`
}

function attributesOf(list: unknown): Fields {
  const entries = listOf(list)
    .slice(0, mostAttributes)
    .flatMap((each): [string, unknown][] => {
      const { key, value } = fieldsOf(each)
      return typeof key === 'string' ? [[key, plainOf(value, deepest)]] : []
    })
  return Object.fromEntries(entries)
}

function plainOf(value: unknown, left: number): unknown {
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = fieldsOf(value)
  if (stringValue !== undefined) return stringValue
  if (boolValue !== undefined) return boolValue
  if (intValue !== undefined) return Number(intValue)
  if (doubleValue !== undefined) return doubleValue
  if (left === 0) return null
  if (arrayValue !== undefined) {
    return listOf(fieldsOf(arrayValue).values)
      .slice(0, mostValues)
      .map((each) => plainOf(each, left - 1))
  }
  if (kvlistValue === undefined) return null
  const entries = listOf(fieldsOf(kvlistValue).values).slice(0, mostValues)
  return Object.fromEntries(
    entries.map((each) => {
      const { key, value: own } = fieldsOf(each)
      return [String(key), plainOf(own, left - 1)]
    }),
  )
}

/** A time in nanoseconds, as a text or a number, in milliseconds; undefined for none and for 0. */
function timeOf(name: string, nanos: unknown, faults: string[]): number | undefined {
  if (nanos === undefined || nanos === null) return undefined
  const text = typeof nanos === 'number' ? String(nanos) : nanos
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) {
    faults.push(`${name}: send nanoseconds since 1970 as a whole number in a text`)
    return undefined
  }
  return text.length < 13 ? undefined : Number(text.slice(0, -6))
}
