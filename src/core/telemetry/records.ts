import { type Fields, fieldsOf, listOf, textOf } from '../hosts/fields.ts'

/** A log record or a span, with its attributes as plain values. */
export interface TelemetryRecord {
  /** The name of the event of a log record, or of the span. */
  name: string
  /** The instrumentation that made it. */
  scope: string
  attributes: Fields
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

/** The span of a record, as the protocol spells ids; null without one. */
export function spanOf({ traceId, spanId }: Pick<TelemetryRecord, 'traceId' | 'spanId'>) {
  const isSpan = /^[\da-f]{32}$/i.test(traceId) && /^[\da-f]{16}$/i.test(spanId)
  return isSpan ? { traceId, spanId } : null
}

/** Most values of one list of attributes, and its depth. */
const mostValues = 200
const deepest = 8

/** The log records of a request in the shape of the protocol's JSON, in their order. */
export function logsIn(body: unknown): TelemetryRecord[] {
  return listOf(fieldsOf(body).resourceLogs).flatMap((resource) =>
    listOf(fieldsOf(resource).scopeLogs).flatMap((scoped) => {
      const { scope, logRecords } = fieldsOf(scoped)
      return listOf(logRecords).map((each) => {
        const record = fieldsOf(each)
        const attributes = attributesOf(record.attributes)
        return {
          ...commonOf(record, scope, attributes),
          name: textOf(record.eventName, attributes['event.name'], plainOf(record.body, deepest)),
          at: timeOf(record.timeUnixNano) ?? timeOf(record.observedTimeUnixNano),
          ended: undefined,
          hasFailed: false,
        }
      })
    }),
  )
}

/** The spans of a request in the shape of the protocol's JSON, in their order. */
export function spansIn(body: unknown): TelemetryRecord[] {
  return listOf(fieldsOf(body).resourceSpans).flatMap((resource) =>
    listOf(fieldsOf(resource).scopeSpans).flatMap((scoped) => {
      const { scope, spans: own } = fieldsOf(scoped)
      return listOf(own).map((each) => {
        const span = fieldsOf(each)
        const attributes = attributesOf(span.attributes)
        const { code } = fieldsOf(span.status)
        return {
          ...commonOf(span, scope, attributes),
          name: textOf(span.name),
          at: timeOf(span.startTimeUnixNano),
          ended: timeOf(span.endTimeUnixNano),
          hasFailed:
            code === 2 || code === 'STATUS_CODE_ERROR' || attributes['error.type'] !== undefined,
        }
      })
    }),
  )
}

function commonOf(record: Fields, scope: unknown, attributes: Fields) {
  return {
    scope: textOf(fieldsOf(scope).name),
    attributes,
    traceId: textOf(record.traceId),
    spanId: textOf(record.spanId),
    parentSpanId: textOf(record.parentSpanId),
  }
}

function attributesOf(list: unknown): Fields {
  const entries = listOf(list)
    .slice(0, mostValues)
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
function timeOf(nanos: unknown): number | undefined {
  const text = typeof nanos === 'number' ? String(nanos) : nanos
  if (typeof text !== 'string' || !/^\d{13,20}$/.test(text)) return undefined
  return Number(text.slice(0, -6))
}
