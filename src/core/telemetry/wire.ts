/**
 * Reads protocol buffers (https://protobuf.dev/programming-guides/encoding/) of the OpenTelemetry protocol 1.x into the
 * shape that its JSON has, as far as spans and log records need it. Field numbers are those of opentelemetry-proto.
 */

import type { Status } from './status.ts'

type Kind = 'text' | 'hex' | 'time' | 'number' | 'double' | 'bool' | 'integer' | Message

interface Message {
  [field: number]: readonly [name: string, kind: Kind, isList?: true]
}

const anyValue: Message = {
  1: ['stringValue', 'text'],
  2: ['boolValue', 'bool'],
  3: ['intValue', 'integer'],
  4: ['doubleValue', 'double'],
}
const keyValue: Message = { 1: ['key', 'text'], 2: ['value', anyValue] }
anyValue[5] = ['arrayValue', { 1: ['values', anyValue, true] }]
anyValue[6] = ['kvlistValue', { 1: ['values', keyValue, true] }]

const resource: Message = { 1: ['attributes', keyValue, true] }
const scope: Message = { 1: ['name', 'text'], 2: ['version', 'text'] }

const span: Message = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'text'],
  7: ['startTimeUnixNano', 'time'],
  8: ['endTimeUnixNano', 'time'],
  9: ['attributes', keyValue, true],
  11: [
    'events',
    { 1: ['timeUnixNano', 'time'], 2: ['name', 'text'], 3: ['attributes', keyValue, true] },
    true,
  ],
  15: ['status', { 2: ['message', 'text'], 3: ['code', 'number'] }],
}
const logRecord: Message = {
  1: ['timeUnixNano', 'time'],
  5: ['body', anyValue],
  6: ['attributes', keyValue, true],
  9: ['traceId', 'hex'],
  10: ['spanId', 'hex'],
  11: ['observedTimeUnixNano', 'time'],
  12: ['eventName', 'text'],
}

/** The bodies of the two requests. */
const requests = {
  traces: {
    1: [
      'resourceSpans',
      {
        1: ['resource', resource],
        2: ['scopeSpans', { 1: ['scope', scope], 2: ['spans', span, true] }, true],
      },
      true,
    ],
  },
  logs: {
    1: [
      'resourceLogs',
      {
        1: ['resource', resource],
        2: ['scopeLogs', { 1: ['scope', scope], 2: ['logRecords', logRecord, true] }, true],
      },
      true,
    ],
  },
} as const satisfies Record<string, Message>

/** The kinds of telemetry that are read. */
export type TelemetryKind = keyof typeof requests

/** The messages that are records: one that cannot be read is null in its list, and the others are read. */
const records: ReadonlySet<Kind> = new Set([span, logRecord])
/** Messages nest no deeper than this; deeper ones are left out. */
const deepest = 24
const decoder = new TextDecoder()

/** The body of an answer to either request: field 1 is `partialSuccess` with a count (1) and a message (2). */
export function partialSuccessWire(rejected: number, errorMessage: string): Uint8Array {
  const counted = numberAndText(rejected, errorMessage)
  return Uint8Array.from([10, ...varintOf(counted.length), ...counted])
}

/** The body of a refusal: a status with its code (1) and message (2). */
export function statusWire({ code, message }: Status): Uint8Array {
  return Uint8Array.from(numberAndText(code, message))
}

function numberAndText(number: number, text: string): number[] {
  const bytes = new TextEncoder().encode(text)
  return [8, ...varintOf(number), 18, ...varintOf(bytes.length), ...bytes]
}

function varintOf(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varintOf(Math.floor(value / 0x80))]
}

/** Reads the body of a request; null if the bytes are no such message. */
export function readWire(kind: TelemetryKind, bytes: Uint8Array): Record<string, unknown> | null {
  try {
    return messageIn(bytes, requests[kind], deepest)
  } catch {
    return null
  }
}

function messageIn(bytes: Uint8Array, message: Message, left: number): Record<string, unknown> {
  const read: Record<string, unknown> = {}
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0

  function varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = view.getUint8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new RangeError('a number without an end')
  }

  while (at < bytes.length) {
    const tag = Number(varint())
    const known = message[tag >>> 3]
    let value: unknown
    switch (tag & 7) {
      case 0: {
        const number = varint()
        value = known?.[1] === 'bool' ? number !== 0n : Number(BigInt.asIntN(64, number))
        break
      }
      case 1: {
        const kind = known?.[1]
        value = kind === 'double' ? view.getFloat64(at, true) : String(view.getBigUint64(at, true))
        at += 8
        break
      }
      case 2: {
        const length = Number(varint())
        if (length > bytes.length - at) throw new RangeError('a field longer than its message')
        const part = bytes.subarray(at, at + length)
        at += length
        value = known === undefined ? undefined : contentOf(part, known[1], left)
        break
      }
      case 5:
        view.getUint32(at)
        at += 4
        break
      default:
        throw new RangeError('a kind of field that is not used')
    }
    if (known === undefined || value === undefined) continue
    const [name, , isList] = known
    if (isList === true) {
      const list = (read[name] as unknown[] | undefined) ?? []
      list.push(value)
      read[name] = list
    } else read[name] = value
  }
  return read
}

function contentOf(part: Uint8Array, kind: Kind, left: number): unknown {
  if (kind === 'text') return decoder.decode(part)
  if (kind === 'hex') return [...part].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  if (typeof kind !== 'object' || left === 0) return undefined
  if (!records.has(kind)) return messageIn(part, kind, left - 1)
  try {
    return messageIn(part, kind, left - 1)
  } catch {
    return null
  }
}
