import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { z } from 'zod'
import { admin, type Operation, type Service } from '../operations/operation.ts'
import { Refusal } from '../operations/refusal.ts'
import { isUnavailable } from '../storage/database.ts'
import type { AddressSettings } from './address.ts'
import { readCall } from './call.ts'
import type { Metrics } from './metrics.ts'
import { type DescribedRoute, describe } from './openapi.ts'
import { homePage, migrationPage } from './pages.ts'
import { endSpan, inSpan } from './tracing.ts'

/** What the HTTP surface is made from. */
export interface HttpParts {
  service: Service
  operations: readonly Operation[]
  addresses: AddressSettings
  metrics: Metrics
  /** Whether `/metrics` is served here or on a port of its own. */
  servesMetrics: boolean
  log: Logger
  /** Base addresses, the main one first, without a trailing slash; known once the server listens. */
  baseUrls(): readonly string[]
  newRequestId(): string
  /** Rejects while the database cannot be written. */
  assertWritable(): Promise<void>
  /** Whether the process is on its way out: not ready, and connections are not kept. */
  isStopping(): boolean
}

const timeouts = {
  /** Whole request received, headers received, idle connection kept; milliseconds. */
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 72_000,
}

const retryAfterSeconds = 2

/** The HTTP server over the operations, not yet listening. */
export function createHttp(given: HttpParts): FastifyInstance {
  const parts = { ...given, operations: [...given.operations, ...adminDescription(given)] }
  const { service, operations, metrics, log } = parts
  const commonHeaders = createCommonHeaders(parts)
  const app = Fastify({
    genReqId: parts.newRequestId,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: timeouts.requestTimeout,
    keepAliveTimeout: timeouts.keepAliveTimeout,
    http: { headersTimeout: timeouts.headersTimeout, connectionsCheckingInterval: 1000 },
    routerOptions: { maxParamLength: 1000 },
    clientErrorHandler: (error, socket) =>
      answerUnparsed(error, socket, {
        ...commonHeaders(),
        'x-request-id': parts.newRequestId(),
      }),
    frameworkErrors: (_error, request: FastifyRequest, reply: FastifyReply) => {
      setCommonHeaders(request, reply)
      reply.code(400).send({
        error: 'bad_request',
        detail: 'The path cannot be decoded; send it percent-encoded in UTF-8.',
      })
    },
  })
  app.server.maxHeadersCount = 100
  closeSilentConnections(app)
  // Node would answer an expectation that it does not know by itself, without a word.
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  )

  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
    reply.headers(commonHeaders())
    reply.header('x-request-id', request.id)
  }

  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply)
    // Bodies are read raw: a content type that is unreadable, or missing, must not be refused here.
    request.raw.headers['content-type'] = 'application/octet-stream'
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    // Asked at the end, so that a request in flight does not keep its connection either.
    if (parts.isStopping()) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    metrics.countRequest(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
    // Good answers are many and metrics count them; a refusal is what an operator looks for.
    const level = reply.statusCode < 400 ? 'debug' : 'info'
    if (log.isLevelEnabled(level)) {
      const { id, method } = request
      const { statusCode: status, elapsedTime: ms } = reply
      log[level]({ request_id: id, method, route, status, ms }, 'answered')
    }
    done()
  })

  for (const operation of operations) {
    app.route({
      method: operation.http.method,
      url: operation.http.path,
      handler: (request, reply) =>
        inSpan(
          {
            method: request.method,
            route: operation.http.path,
            operation: operation.name,
            requestId: request.id,
            headers: request.headers,
          },
          async (span) => {
            if (span.isRecording()) reply.raw.once('close', () => endSpan(span, reply.statusCode))
            const call = readCall(request, parts.addresses, operation.access)
            try {
              const { status, body, json } = await operation.answer(service, call)
              reply.code(status).headers(call.headers)
              if (isStream(body))
                return reply.type('application/x-ndjson').send(Readable.from(body))
              if (json === undefined) return body
              return reply.type('application/json; charset=utf-8').send(json)
            } catch (error) {
              reply.headers(call.headers)
              throw error
            }
          },
        ),
    })
  }

  addPlainRoutes(app, parts)

  const methodsOf = new Map<string, Set<string>>()
  for (const { path, method } of routesOf(parts)) {
    const methods = methodsOf.get(path) ?? new Set()
    methodsOf.set(path, methods.add(method))
    if (method === 'GET') methods.add('HEAD')
  }
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const methods = methodsOf.get(path)
    if (methods === undefined) {
      return reply
        .code(404)
        .send({ error: 'not_found', detail: 'There is no such route; see /v1/openapi.json.' })
    }
    const allow = [...methods].sort().join(', ')
    return reply
      .code(405)
      .header('allow', allow)
      .send({ error: 'method_not_allowed', detail: `Send ${allow}.` })
  })

  app.setErrorHandler((error, request, reply) => {
    if (error instanceof Refusal) {
      return reply.code(error.status).headers(error.headers).send(error.body)
    }
    if (isUnavailable(error)) {
      log.warn({ err: error, request_id: request.id }, 'the database is unavailable')
      return reply.code(503).header('retry-after', String(retryAfterSeconds)).send({
        error: 'unavailable',
        detail:
          'The database cannot be reached or written right now. Nothing was stored; try again.',
        retry_after_s: retryAfterSeconds,
      })
    }
    log.error({ err: error, request_id: request.id }, 'a request failed')
    return reply.code(500).send({
      error: 'internal',
      detail: 'This is a fault of the server. Its log names this request id.',
      request_id: request.id,
    })
  })
  return app
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

function isStream(body: unknown): body is AsyncIterable<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/** The description served at `/v1/openapi.json`, for a service at `baseUrls`. */
export function describeHttp(
  operations: readonly Operation[],
  baseUrls: readonly string[],
): Record<string, unknown> {
  return describe('public', operations, describedRoutes, baseUrls)
}

/** The description of the administrative routes is one of them, and there is none without them. */
function adminDescription({ operations, baseUrls }: HttpParts): Operation[] {
  if (!operations.some(({ access }) => access === 'admin')) return []
  const read = admin({
    name: 'admin.openapi',
    group: 'admin',
    summary: 'This description, as OpenAPI 3.1.',
    http: { method: 'GET', path: '/v1/admin/openapi.json' },
    input: z.object({}),
    output: z.record(z.string(), z.unknown()),
  })(async () => describe('admin', [...operations, read], [], baseUrls()))
  return [read]
}

/** The headers of every answer, made anew only when the address becomes known. */
function createCommonHeaders({ baseUrls }: HttpParts): () => Readonly<Record<string, string>> {
  let madeFor: string | undefined
  let headers: Readonly<Record<string, string>> = {}
  return () => {
    const [baseUrl = ''] = baseUrls()
    if (baseUrl !== madeFor) {
      madeFor = baseUrl
      headers = {
        deprecation: 'true',
        link: `<${baseUrl}/docs/migration>; rel="deprecation"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      }
    }
    return headers
  }
}

const describedRoutes: readonly DescribedRoute[] = [
  {
    method: 'get',
    path: '/v1/openapi.json',
    operationId: 'openapi.read',
    tag: 'account',
    summary: 'This description, as OpenAPI 3.1.',
    answers: {
      200: {
        description: 'The description.',
        content: { 'application/json': { schema: { type: 'object' } } },
      },
    },
  },
]

const plainPaths = ['/', '/docs/migration', '/healthz', '/readyz', '/metrics', '/v1/openapi.json']

function routesOf({ operations, servesMetrics }: HttpParts): { path: string; method: string }[] {
  return [
    ...operations.map(({ http }) => http),
    ...plainPaths
      .filter((path) => servesMetrics || path !== '/metrics')
      .map((path) => ({ path, method: 'GET' })),
  ]
}

function addPlainRoutes(app: FastifyInstance, parts: HttpParts): void {
  const { operations, metrics } = parts
  const html = (reply: FastifyReply, text: string) =>
    reply.type('text/html; charset=utf-8').send(text)

  app.get('/', (_request, reply) => html(reply, homePage(parts.baseUrls()[0] ?? '')))
  app.get('/docs/migration', (_request, reply) =>
    html(reply, migrationPage(parts.baseUrls()[0] ?? '')),
  )
  app.get('/v1/openapi.json', async () => describeHttp(operations, parts.baseUrls()))
  app.get('/healthz', async () => ({ status: 'alive' }))
  app.get('/readyz', async (_request, reply) => {
    if (parts.isStopping()) return reply.code(503).send({ status: 'stopping' })
    await parts.assertWritable()
    return { status: 'ready' }
  })
  if (parts.servesMetrics) addMetricsRoute(app, metrics)
}

/** A server of its own for `/metrics` alone. */
export function createMetricsHttp(metrics: Metrics): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  addMetricsRoute(app, metrics)
  return app
}

function addMetricsRoute(app: FastifyInstance, metrics: Metrics): void {
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  )
}

const unparsedAnswers: Record<string, { status: string; word: string; detail: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    word: 'bad_request',
    detail: 'The headers are more than 100 or larger than 16 KiB; send fewer.',
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
  headers: Record<string, string>,
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
