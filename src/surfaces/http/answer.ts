import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { Operation } from '../../operations/gate/declaration.ts'

/**
 * Milliseconds that a reader may take no bytes of an answer before its connection is closed. It can be twice as
 * long, because Node compares the waiting bytes only when the time ends for the second time.
 */
const longestStallMs = 15_000
/** Bytes that the kernel buffers even for a reader that takes none, so that this process holds none of them. */
const fitsBuffers = 65_536

/** The content type of JSON. */
export const jsonType = 'application/json; charset=utf-8'

/**
 * Answers with texts as they come, lines of JSON or events. If the first line fails, the caller gets an error; a later failure
 * breaks the answer off. The iterator is closed in every case.
 */
export function sendLines(
  reply: FastifyReply,
  lines: AsyncIterable<string>,
  type: Operation['streams'] = 'application/x-ndjson',
  // An idle stream of events has a comment every 15 seconds, and its connection is no stalled one before that.
  stallMs = type === 'text/event-stream' ? 2 * longestStallMs : longestStallMs,
): FastifyReply {
  const stream = Readable.from(lines)
  // Begin to read, because an iterator that has not begun is not closed when the caller goes away.
  stream.read(0)
  limitStall(reply, stallMs)
  // A proxy that gathers an answer would hold events back.
  if (type === 'text/event-stream') reply.header('x-accel-buffering', 'no')
  return reply.type(type).send(stream)
}

/** Creates the hook that every answer passes before it is sent. */
export function createOnSend(isStopping: () => boolean): onSendHookHandler {
  return (request, reply, payload, done) => {
    // Ask this late, so that a request in flight does not keep its connection either.
    if (isStopping()) reply.header('connection', 'close')
    if (reply.statusCode === 200 && hasSent(request, reply)) {
      reply.code(304).removeHeader('content-type')
      // For HEAD, Fastify removes the body after it has measured its length.
      return done(null, request.method === 'HEAD' ? payload : null)
    }
    if (isWhole(payload) && Buffer.byteLength(payload) > fitsBuffers) {
      limitStall(reply, longestStallMs)
    }
    done()
  }
}

/** Whether the caller already holds the version that the etag of the answer names. Few answers have one. */
function hasSent({ headers }: FastifyRequest, reply: FastifyReply): boolean {
  const held = headers['if-none-match']
  const etag = reply.getHeader('etag')
  if (etag === undefined || held === undefined) return false
  return held.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
}

function isWhole(payload: unknown): payload is string | Buffer {
  return typeof payload === 'string' || Buffer.isBuffer(payload)
}

/** Closes the connection of a reader that takes no bytes for this long. */
function limitStall({ request, raw }: FastifyReply, ms: number): void {
  // A request of `inject` has no connection.
  if (request.socket instanceof Socket) raw.setTimeout(ms)
}
