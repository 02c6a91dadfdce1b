import Fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { McpParts } from '../mcp/server.ts'
import type { AddressSettings } from './address.ts'
import { ambiguityOf } from './ambiguity.ts'
import { createOnSend } from './answer.ts'
import { createAnswerLog, createLogController } from './answer-log.ts'
import { parametersOf } from './call.ts'
import { adminDescription, type DescriptionParts, descriptionRoute } from './description.ts'
import { createErrorHandler, missing, refuseUnrouted, undecodable } from './faults.ts'
import { hookRoutes } from './hook-routes.ts'
import { mailPages } from './mail-pages.ts'
import { mcpRoute } from './mcp-route.ts'
import type { Metrics } from './metrics.ts'
import { operationRoutes } from './operation-routes.ts'
import { pages } from './pages.ts'
import { paymentRoutes } from './payment-routes.ts'
import { type HealthParts, healthRoutes, metricsRoute } from './process-routes.ts'
import { readEventsRoute } from './read-events-route.ts'
import { answerUnparsed, closeSilentConnections, createServer } from './server.ts'
import { signInRoutes } from './sign-in-routes.ts'
import { telemetryRoutes } from './telemetry-routes.ts'
import { type WebFiles, webFiles } from './web-files.ts'

/** The parts of the HTTP surface. */
export interface HttpParts extends DescriptionParts, HealthParts, Omit<McpParts, 'onFault'> {
  addresses: AddressSettings
  metrics: Metrics
  /** Whether `/metrics` is served here or on a port of its own. */
  servesMetrics: boolean
  /** The built pages; null if they are not built. */
  web: WebFiles | null
  log: Logger
  newRequestId(): string
}

/** Creates the HTTP surface, which does not listen yet: one Fastify with a plugin for each kind of route. */
export function createHttp(parts: HttpParts): FastifyInstance {
  const { operations, servesMetrics, web, log } = parts
  const app = createApp(parts)
  app.register(operationRoutes, {
    ...parts,
    operations: [...operations, ...adminDescription(parts)],
  })
  app.register(descriptionRoute, parts)
  app.register(pages, parts)
  if (web !== null) app.register(webFiles, { web })
  app.register(mailPages, parts)
  app.register(signInRoutes, parts)
  app.register(paymentRoutes, parts)
  app.register(healthRoutes, parts)
  if (servesMetrics) app.register(metricsRoute, parts)
  app.register(hookRoutes, {
    ...parts,
    onHookFault: (error: unknown, host: string) => log.error({ err: error, host }, 'a hook failed'),
  })
  app.register(readEventsRoute, parts)
  app.register(telemetryRoutes, parts)
  app.register(mcpRoute, {
    ...parts,
    onFault: (error: unknown, tool: string) => log.error({ err: error, tool }, 'a tool failed'),
  })
  return app
}

/** Creates a separate server for `/metrics`. */
export function createMetricsHttp(parts: HttpParts): FastifyInstance {
  const app = createApp(parts)
  app.register(metricsRoute, parts)
  return app
}

/** Creates a Fastify without routes, with the hooks and handlers of every request. */
function createApp(parts: HttpParts): FastifyInstance {
  const { metrics, log, addresses, newRequestId, isStopping, baseUrls } = parts
  const headersOf = createHeaders(baseUrls)
  const logAnswer = createAnswerLog(metrics, log, addresses)
  const answerError = createErrorHandler(log)
  const app = Fastify({
    serverFactory: createServer,
    genReqId: newRequestId,
    logController: createLogController(log),
    routerOptions: { querystringParser: parametersOf },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: (error, socket) => answerUnparsed(error, socket, headersOf(newRequestId())),
    // Fastify calls this for a path that it cannot decode. No hook runs for it.
    frameworkErrors(_error, request, reply) {
      logAnswer(request, reply)
      reply.headers(headersOf(request.id))
      answerError(ambiguityOf(request.raw) ?? undecodable, request, reply)
    },
  })
  leaveBodiesUnread(app)
  closeSilentConnections(app)
  app.addHook('onRequest', (request, reply, done) => {
    logAnswer(request, reply)
    reply.headers(headersOf(request.id))
    // The router accepts any first character of a path as its slash.
    const unrouted = request.url.startsWith('*') ? missing : undefined
    done(ambiguityOf(request.raw) ?? unrouted)
  })
  app.addHook('onSend', createOnSend(isStopping))
  app.setErrorHandler(answerError)
  app.setNotFoundHandler((request) => refuseUnrouted(app, request))
  return app
}

/**
 * The gate counts a call before its body is read, and reads bodies of any content type; so Fastify, which
 * would read a body first and refuse types that it cannot take apart, is told that no method has one.
 */
function leaveBodiesUnread(app: FastifyInstance): void {
  for (const method of app.supportedMethods) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  }
}

/** Creates the function for the headers of every answer. It builds the link again only if the base address changes. */
function createHeaders(
  baseUrls: () => readonly string[],
): (requestId: string) => Record<string, string> {
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
