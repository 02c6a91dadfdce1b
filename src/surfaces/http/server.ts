import {
  createServer as createNodeServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Answering, ambiguityOf, type Route, refusalFor, undecodable } from './route.ts'

/** A server over routes. */
export interface HttpServer {
  /** Resolves to where it listens, `http://host:port`; port 0 takes a free one. */
  listen(address: { host: string; port: number }): Promise<string>
  /** Takes no more connections, and resolves when the requests in flight are answered. */
  close(): Promise<void>
  /** Ends every connection, whatever is under way on it. */
  cutOff(): void
}

/** Sends the answer of a route. */
export type Answer = (request: IncomingMessage, response: ServerResponse, route: Answering) => void

const serverOptions = {
  /** Whole request received, headers received, idle connection kept; milliseconds. */
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1000,
  /** Node would answer a request without one by itself, without a word. */
  requireHostHeader: false,
}
const maxHeaders = 100

/**
 * A server that is not yet listening. Fastify listens, finds the route and closes; the route sends its
 * answer by itself. `headers` are those of an answer to bytes that are no request.
 */
export function createServer(
  routes: readonly Route[],
  answer: Answer,
  headers: () => Readonly<Record<string, string>>,
): HttpServer {
  const takeOver = (route: (request: IncomingMessage) => Answering) => {
    return (request: FastifyRequest, reply: FastifyReply): void => {
      reply.hijack()
      answer(request.raw, reply.raw, route(request.raw))
    }
  }
  const app = Fastify({
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => '',
    serverFactory(handOn) {
      const server = createNodeServer(serverOptions, (request, response) => {
        // Before the router, which reads a request with two readings in one way.
        const ambiguity = ambiguityOf(request)
        if (ambiguity === null) handOn(request, response)
        else answer(request, response, ambiguity)
      })
      server.maxHeadersCount = maxHeaders
      // Node would answer an expectation that it does not know by itself, without a word.
      server.on('checkExpectation', (...both) => server.emit('request', ...both))
      // Node would ask for the body at once; who reads it asks, once the request is admitted.
      server.on('checkContinue', (...both) => server.emit('request', ...both))
      return server
    },
    clientErrorHandler: (error, socket) => answerUnparsed(error, socket, headers()),
    frameworkErrors: (_error, request: FastifyRequest, reply: FastifyReply) =>
      takeOver(() => undecodable)(request, reply),
  })
  closeSilentConnections(app)
  for (const route of routes) {
    const { method, path } = route
    app.route({ method, url: path, onRequest: takeOver(() => route), handler: takenOver })
  }
  const refuse = takeOver(refusalFor(routes))
  app.all('*', { onRequest: refuse }, takenOver)
  app.setNotFoundHandler(refuse)

  return {
    listen: async (address) => linkable(await app.listen(address)),
    close: () => app.close(),
    cutOff: () => app.server.closeAllConnections(),
  }
}

/** The address as a link; Fastify has one for 0.0.0.0, and `[::]` leads nowhere as well. */
function linkable(url: string): string {
  return url.replace('//[::]', '//[::1]')
}

function takenOver(): never {
  throw new Error('a request that was taken over came back')
}

/** Node waits for a connection that never sent a byte as for a request; nothing is owed to it. */
function closeSilentConnections(app: FastifyInstance): void {
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

/** Answers bytes that are no request, on the bare socket, and closes it. */
function answerUnparsed(
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
