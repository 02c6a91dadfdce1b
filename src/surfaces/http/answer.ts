import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'

/**
 * How long a reader may take nothing of an answer before its connection is closed: this or twice as long,
 * because Node notes at the first end of the time what waits, and compares at the second.
 */
const longestStallMs = 15_000
/** Bytes that the kernel takes whether or not they are read, so that nothing is held for them here. */
const fitsBuffers = 65_536

/** The content type of JSON. */
export const jsonType = 'application/json; charset=utf-8'

/**
 * Answers with lines of JSON as they come. When the first of them fails, that is a fault like any other;
 * later the answer breaks off. However it ends, the lines are ended too.
 */
export function sendLines(
  reply: FastifyReply,
  lines: AsyncIterable<string>,
  stallMs = longestStallMs,
): FastifyReply {
  const stream = Readable.from(lines)
  // Lines that have not begun when the caller goes away would not be ended.
  stream.read(0)
  limitStall(reply, stallMs)
  return reply.type('application/x-ndjson').send(stream)
}

/** The hook through which every answer goes before it is sent. */
export function createOnSend(isStopping: () => boolean): onSendHookHandler {
  return (request, reply, payload, done) => {
    // Asked at the end, so that a request in flight does not keep its connection either.
    if (isStopping()) reply.header('connection', 'close')
    if (reply.statusCode === 200 && hasSent(request, reply)) {
      reply.code(304).removeHeader('content-type')
      // Fastify takes away what HEAD does not send, once it has measured it.
      return done(null, request.method === 'HEAD' ? payload : null)
    }
    if (isWhole(payload) && Buffer.byteLength(payload) > fitsBuffers) {
      limitStall(reply, longestStallMs)
    }
    done()
  }
}

/** Whether the caller says that it holds what the answer's etag names; only a few answers have one. */
function hasSent({ headers }: FastifyRequest, reply: FastifyReply): boolean {
  const held = headers['if-none-match']
  const etag = reply.getHeader('etag')
  if (etag === undefined || held === undefined) return false
  return held.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}

function isWhole(payload: unknown): payload is string | Buffer {
  return typeof payload === 'string' || Buffer.isBuffer(payload)
}

/** Has Node close the connection of a reader that takes nothing. */
function limitStall({ request, raw }: FastifyReply, ms: number): void {
  // What `inject` answers to has no connection.
  if (request.socket instanceof Socket) raw.setTimeout(ms)
}
