import {
  createServer as createNodeServer,
  type IncomingMessage,
  type Server,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const serverOptions = {
  /** Milliseconds for the whole request, for its headers, and for an idle connection. */
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1000,
  /** Otherwise Node answers a request without this header itself, without an error body. */
  requireHostHeader: false,
}
const maxHeaders = 100

/**
 * Node's server under Fastify, not yet listening. Fastify's own would be two for `localhost`, the second
 * without what is set here.
 */
export function createServer(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createNodeServer({ ...serverOptions, ServerResponse: OneWriteResponse }, listener)
  server.maxHeadersCount = maxHeaders
  // Otherwise Node answers an unknown expectation itself, without an error body.
  server.on('checkExpectation', listener)
  // Otherwise Node asks for the body at once. `readText` asks for it after the request is admitted.
  server.on('checkContinue', listener)
  return server
}

/** The largest body in bytes that is sent as text. Copying a larger one would cost more than it saves. */
const longestText = 65_536

/**
 * Sends bytes as a text of as many characters, since Node writes a text together with the headers, but
 * bytes apart from them, which takes the processor longer.
 */
class OneWriteResponse extends ServerResponse {
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    const isShort = Buffer.isBuffer(chunk) && chunk.length <= longestText
    const sent = isShort ? chunk.toString('latin1') : chunk
    const as = isShort ? 'latin1' : encoding
    return super.end(sent, as as BufferEncoding, done as () => void)
  }
}

/** Listens, and resolves to the address as a link, `http://host:port`; port 0 takes a free one. */
export async function listenAt(
  app: FastifyInstance,
  address: { host: string; port: number },
): Promise<string> {
  const url = await app.listen(address)
  // Fastify replaces 0.0.0.0 in the link. `[::]` is no usable address either.
  return url.replace('//[::]', '//[::1]')
}

/** Closes connections that never sent a byte. Node would wait for them as for a request in flight. */
export function closeSilentConnections(app: FastifyInstance): void {
  const open = new Set<Socket>()
  app.server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  app.addHook('preClose', (done) => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    done()
  })
}

const unparsedAnswers: Record<string, { status: string; word: string; detail: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    word: 'bad_request',
    detail: 'There are more than 100 headers, or more than 16 KiB of them; send fewer.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    word: 'bad_request',
    detail:
      'The request did not arrive in time; send its headers within 10 seconds and all of it within 15.',
  },
}

/** Answers bytes that are no HTTP request on the raw socket, and closes it. */
export function answerUnparsed(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, word, detail } = unparsedAnswers[error.code ?? ''] ?? {
    status: '400 Bad Request',
    word: 'bad_request',
    detail: 'This is not a valid HTTP request.',
  }
  const body = JSON.stringify({ error: word, detail })
  const lines = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
