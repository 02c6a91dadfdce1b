import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { z } from 'zod'
import { bytesOf } from '../../operations/gate/bytes.ts'
import type { Service } from '../../operations/gate/context.ts'
import type { Operation } from '../../operations/gate/declaration.ts'
import { admin } from '../../operations/gate/operation.ts'
import { Refusal } from '../../operations/gate/refusal.ts'
import type { Tool } from '../../operations/gate/tool.ts'
import { isUnavailable, mayBeStored } from '../../storage/database/database.ts'
import type { McpExtension } from '../mcp/server.ts'
import { type AddressSettings, addressBucket } from './address.ts'
import { readCall } from './call.ts'
import { type Exchange, jsonType, sendBytes, sendJson, sendLines, sendText } from './exchange.ts'
import { mailRoutes } from './mail-pages.ts'
import { mcpRoutes } from './mcp-route.ts'
import type { Metrics } from './metrics.ts'
import { type DescribedRoute, describe } from './openapi.ts'
import { homePage, migrationPage, sendPage } from './pages.ts'
import type { Answering, Route } from './route.ts'
import { createServer, type HttpServer } from './server.ts'
import { shareWork } from './shared-work.ts'
import { inSpan } from './tracing.ts'

/** What the HTTP surface is made from. */
export interface HttpParts {
  service: Service
  operations: readonly Operation[]
  tools: readonly Tool[]
  /** What the tool endpoint serves beside our own; see `McpParts`. */
  extendTools?: McpExtension | undefined
  /** Of this program. */
  version: string
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

const retryAfterSeconds = 2
/** Between two writes of /readyz or two readings of /metrics, which anybody may ask for. */
const sharedPauseMs = 250

/** The HTTP server over the operations, not yet listening. */
export function createHttp(given: HttpParts): HttpServer {
  const parts = { ...given, operations: [...given.operations, ...adminDescription(given)] }
  const routes = parts.operations.map((operation) => operationRoute(operation, parts))
  return serve([...routes, ...plainRoutes(parts)], parts)
}

/** A server of its own for `/metrics` alone. */
export function createMetricsHttp(parts: HttpParts): HttpServer {
  return serve([metricsRoute(parts)], parts)
}

function serve(routes: readonly Route[], parts: HttpParts): HttpServer {
  const { newRequestId, isStopping, log } = parts
  const headersOf = createHeaders(parts)
  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    route: Answering,
  ): Promise<void> {
    const startedAt = performance.now()
    const requestId = newRequestId()
    const headers = headersOf(requestId)
    const exchange = { request, response, requestId, headers, isStopping }
    // A socket that is closed no longer says whose it was.
    const peer = request.socket.remoteAddress
    response.on('close', () => noteAnswer(parts, exchange, route.path, startedAt, peer))
    try {
      await route.answer(exchange)
    } catch (error) {
      answerFault(parts, exchange, error)
    }
  }
  return createServer(
    routes,
    (request, response, route) => {
      // An answer that cannot be sent must not end the process.
      answer(request, response, route).catch((error) => {
        log.error({ err: error }, 'an answer could not be sent')
        response.destroy()
      })
    },
    () => headersOf(newRequestId()),
  )
}

function operationRoute(operation: Operation, { service, addresses }: HttpParts): Route {
  const { http, name, access } = operation
  return {
    ...http,
    answer: (exchange) =>
      inSpan(exchange, http.path, name, async () => {
        const call = readCall(exchange, addresses, access)
        const { status, body, json } = await operation.answer(service, call)
        if (isStream(body)) return sendLines(exchange, status, body)
        if (json !== undefined) sendText(exchange, status, jsonType, json)
        else if (operation.write === undefined) sendJson(exchange, status, body)
        else sendBytes(exchange, status, jsonType, operation.write(body))
      }),
  }
}

/** Stands for the status of an answer whose caller went away before all of it was sent. */
const callerGone = 499

/**
 * Good answers are many and metrics count them; a refusal is what an operator looks for, and whose
 * request it was. No other line names an address.
 */
function noteAnswer(
  { metrics, log, addresses }: HttpParts,
  { request, response, requestId }: Exchange,
  route: string,
  startedAt: number,
  peer: string | undefined,
): void {
  const { method = '' } = request
  const status = response.writableFinished ? response.statusCode : callerGone
  const ms = performance.now() - startedAt
  metrics.countRequest(method, route, status, ms / 1000)
  const line = { request_id: requestId, method, route, status, ms }
  if (status < 400 || status === callerGone) log.debug(line, 'answered')
  else if (status >= 500) log.info(line, 'answered')
  else log.info({ ...line, address: addressBucket(addresses, request, peer) }, 'answered')
}

function answerFault({ log }: HttpParts, exchange: Exchange, error: unknown): void {
  const { response, requestId, headers } = exchange
  if (response.headersSent) {
    log.info({ err: error, request_id: requestId }, 'an answer broke off')
    response.destroy()
  } else if (error instanceof Refusal) {
    Object.assign(headers, error.headers)
    sendJson(exchange, error.status, error.body)
  } else if (isUnavailable(error)) {
    log.warn({ err: error, request_id: requestId }, 'the database is unavailable')
    headers['retry-after'] = String(retryAfterSeconds)
    sendJson(exchange, 503, {
      error: 'unavailable',
      detail: unavailableDetail(error),
      retry_after_s: retryAfterSeconds,
    })
  } else {
    log.error({ err: error, request_id: requestId }, 'a request failed')
    sendJson(exchange, 500, {
      error: 'internal',
      detail: 'This is a fault of the server. Its log names this request id.',
      request_id: requestId,
    })
  }
}

/** What a caller is told when the database was away: whether the request can have changed anything. */
function unavailableDetail(error: unknown): string {
  if (!mayBeStored(error)) {
    return 'The database cannot be reached or written right now. Nothing was stored; try again.'
  }
  return 'The database did not confirm this request in time. It may or may not have been stored. Repeat it with the same idempotency key (or step_id) and the server stores it once. Without a key, read first whether it was stored.'
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

/** A description as it is sent: its JSON, the same as `bytesOf` gives it, and what names this state of it. */
interface SentDescription {
  json: string
  bytes: string
  etag: string
}

/** A description that is put into words once for each list of base addresses, which costs much more than sending it. */
function rememberDescription(
  { service, baseUrls }: Pick<HttpParts, 'service' | 'baseUrls'>,
  describeAt: (baseUrls: readonly string[]) => Record<string, unknown>,
): () => SentDescription {
  let madeFor = ''
  let made: SentDescription | null = null
  return () => {
    const urls = baseUrls().join(' ')
    if (made === null || urls !== madeFor) {
      const json = JSON.stringify(describeAt(baseUrls()))
      made = { json, bytes: bytesOf(json), etag: `"${service.hash(json)}"` }
      madeFor = urls
    }
    return made
  }
}

/** Adds `/v1/admin/openapi.json`, only if administrative routes are served. */
function adminDescription(parts: HttpParts): Operation[] {
  const { operations } = parts
  if (!operations.some(({ access }) => access === 'admin')) return []
  const read = admin({
    name: 'admin.openapi',
    group: 'admin',
    summary: 'This description, as OpenAPI 3.1.',
    http: { method: 'GET', path: '/v1/admin/openapi.json' },
    input: z.object({}),
    output: z.record(z.string(), z.unknown()),
  })(async () => ({}))
  const description = rememberDescription(parts, (urls) =>
    describe('admin', [...operations, read], [], urls),
  )
  return [
    {
      ...read,
      async answer(service, call) {
        const answer = await read.answer(service, call)
        const { json, etag } = description()
        call.headers.etag = etag
        return { ...answer, json }
      },
    },
  ]
}

/** The headers of every answer; the link is made anew only when the address becomes known. */
function createHeaders({ baseUrls }: HttpParts): (requestId: string) => Record<string, string> {
  let madeFor: string | undefined
  let link = ''
  return (requestId) => {
    const [baseUrl = ''] = baseUrls()
    if (baseUrl !== madeFor) {
      madeFor = baseUrl
      link = `<${baseUrl}/docs/migration>; rel="deprecation"`
    }
    return {
      deprecation: 'true',
      link,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-request-id': requestId,
    }
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
      304: {
        description: 'The etag in if-none-match is that of the current description.',
      },
    },
  },
]

/** The routes that are no operation. */
function plainRoutes(parts: HttpParts): Route[] {
  const { operations, servesMetrics, baseUrls, isStopping } = parts
  const description = rememberDescription(parts, (urls) => describeHttp(operations, urls))
  const assertWritable = shareWork(parts.assertWritable, sharedPauseMs)
  const get = (path: string, answer: Route['answer']): Route => ({ method: 'GET', path, answer })
  return [
    get('/', (exchange) => sendPage(exchange, 200, homePage(baseUrls()[0] ?? ''))),
    get('/docs/migration', (exchange) =>
      sendPage(exchange, 200, migrationPage(baseUrls()[0] ?? '')),
    ),
    get('/v1/openapi.json', (exchange) => {
      const { bytes, etag } = description()
      exchange.headers.etag = etag
      sendBytes(exchange, 200, jsonType, bytes)
    }),
    get('/healthz', (exchange) => sendJson(exchange, 200, { status: 'alive' })),
    get('/readyz', async (exchange) => {
      if (!isStopping()) await assertWritable()
      // Asked again, since the process may have been told to stop meanwhile.
      if (isStopping()) return sendJson(exchange, 503, { status: 'stopping' })
      sendJson(exchange, 200, { status: 'ready' })
    }),
    ...mailRoutes(parts.service),
    ...(servesMetrics ? [metricsRoute(parts)] : []),
    ...mcpRoutes({
      ...parts,
      extension: parts.extendTools,
      onFault: (error, tool) => parts.log.error({ err: error, tool }, 'a tool failed'),
    }),
  ]
}

function metricsRoute({ metrics }: HttpParts): Route {
  const text = shareWork(metrics.text, sharedPauseMs)
  return {
    method: 'GET',
    path: '/metrics',
    answer: async (exchange) => sendText(exchange, 200, metrics.contentType, await text()),
  }
}
