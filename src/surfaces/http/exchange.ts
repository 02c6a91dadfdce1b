import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { bytesOf } from '../../operations/gate/bytes.ts'

/** One request, and its answer under way. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** Headers of the answer so far; content type and length come with what is sent. */
  readonly headers: Record<string, string>
  /** Whether the process is on its way out, so that the connection is not kept. */
  isStopping(): boolean
}

/**
 * How long a reader may take nothing of an answer before its connection is closed: this or twice as long,
 * because Node notes at the first end of the time what waits, and compares at the second.
 */
const longestStallMs = 15_000
/** Bytes that the kernel takes whether or not they are read, so that nothing is held for them here. */
const fitsBuffers = 65_536

/** The content type of JSON. */
export const jsonType = 'application/json; charset=utf-8'

/** Answers with a text of this content type. */
export function sendText(exchange: Exchange, status: number, type: string, text: string): void {
  sendBytes(exchange, status, type, bytesOf(text))
}

/** Answers with bytes, one character each, of this content type. */
export function sendBytes(exchange: Exchange, status: number, type: string, bytes: string): void {
  const { headers } = exchange
  if (status === 200 && hasSent(exchange)) return void begin(exchange, 304).end()
  headers['content-type'] = type
  headers['content-length'] = String(bytes.length)
  const response = begin(exchange, status)
  if (bytes.length > fitsBuffers) response.setTimeout(longestStallMs)
  response.end(bytes, 'latin1')
}

/** Whether the caller says that it holds what the answer's etag names; only a few answers have one. */
function hasSent({ headers, request }: Exchange): boolean {
  const held = request.headers['if-none-match']
  if (headers.etag === undefined || held === undefined) return false
  return held.split(',').some((tag) => ['*', headers.etag].includes(tag.trim().replace(/^W\//, '')))
}

/** Answers with a value as JSON. Throws, and sends nothing, when it has none. */
export function sendJson(exchange: Exchange, status: number, value: unknown): void {
  sendText(exchange, status, jsonType, JSON.stringify(value))
}

/**
 * Answers with lines of JSON as they come. Rejects, and sends nothing, when the first of them fails; a
 * reader that takes nothing for twice `stallMs` is cut off. However it ends, the lines are ended too.
 */
export async function sendLines(
  exchange: Exchange,
  status: number,
  lines: AsyncIterable<string>,
  stallMs = longestStallMs,
): Promise<void> {
  const iterator = lines[Symbol.asyncIterator]()
  try {
    const first = await iterator.next()
    async function* all() {
      if (!first.done) yield first.value
      yield* { [Symbol.asyncIterator]: () => iterator }
    }
    exchange.headers['content-type'] = 'application/x-ndjson'
    await pipeline(all(), begin(exchange, status).setTimeout(stallMs))
  } finally {
    // A stream that is closed before it has begun to read would leave them open.
    await iterator.return?.()
  }
}

/**
 * Answers with what a handler of web requests answered, under our headers where it says nothing.
 * Events are sent as they come, anything else whole.
 */
export async function sendResponse(exchange: Exchange, answer: Response): Promise<void> {
  const { status, headers, body } = answer
  Object.assign(exchange.headers, Object.fromEntries(headers))
  if (body !== null && headers.get('content-type') === 'text/event-stream') {
    await pipeline(body, begin(exchange, status))
    return
  }
  const text = await answer.text()
  exchange.headers['content-length'] = String(Buffer.byteLength(text))
  begin(exchange, status).end(text)
}

function begin({ headers, response, isStopping }: Exchange, status: number): ServerResponse {
  // Asked at the end, so that a request in flight does not keep its connection either.
  if (isStopping()) headers.connection = 'close'
  return response.writeHead(status, headers)
}
