import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Service } from '../../operations/gate/context.ts'
import type { Operation } from '../../operations/gate/declaration.ts'
import { admin } from '../../operations/gate/operation.ts'
import { jsonType } from './answer.ts'
import { hookRoutesDescribed } from './hook-routes.ts'
import { type DescribedRoute, describe } from './openapi.ts'
import { paymentRouteDescribed } from './payment-routes.ts'
import { readEventsRouteDescribed } from './read-events-route.ts'
import { telemetryRoutesDescribed } from './telemetry-routes.ts'

/** The parts of the descriptions. */
export interface DescriptionParts {
  service: Service
  operations: readonly Operation[]
  /** Base addresses, the main one first. */
  baseUrls(): readonly string[]
}

/** Serves the public description at `/v1/openapi.json`. */
export async function descriptionRoute(
  app: FastifyInstance,
  parts: DescriptionParts,
): Promise<void> {
  const description = rememberDescription(parts, (urls) => describeHttp(parts.operations, urls))
  app.get('/v1/openapi.json', (_request, reply) => {
    const { bytes, etag } = description()
    return reply.header('etag', etag).type(jsonType).send(bytes)
  })
}

/** Creates the description that `/v1/openapi.json` serves for a service at `baseUrls`. */
export function describeHttp(
  operations: readonly Operation[],
  baseUrls: readonly string[],
): Record<string, unknown> {
  return describe('public', operations, describedRoutes, baseUrls)
}

const describedRoutes: readonly DescribedRoute[] = [
  ...hookRoutesDescribed,
  readEventsRouteDescribed,
  ...telemetryRoutesDescribed,
  paymentRouteDescribed,
  {
    method: 'get',
    path: '/v1/openapi.json',
    operationId: 'openapi.read',
    tag: 'account',
    summary: 'This description, as OpenAPI 3.1.',
    access: 'open',
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

/** The operation of `/v1/admin/openapi.json`, if administrative routes are served. */
export function adminDescription(parts: DescriptionParts): Operation[] {
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

/** A description as it is sent: its JSON, its bytes and its etag. */
interface SentDescription {
  json: string
  bytes: Buffer
  etag: string
}

/** Caches a description for each list of base addresses, because building it costs much more than sending it. */
function rememberDescription(
  { service, baseUrls }: DescriptionParts,
  describeAt: (baseUrls: readonly string[]) => Record<string, unknown>,
): () => SentDescription {
  let madeFor = ''
  let made: SentDescription | null = null
  return () => {
    const urls = baseUrls().join(' ')
    if (made === null || urls !== madeFor) {
      const json = JSON.stringify(describeAt(baseUrls()))
      made = { json, bytes: Buffer.from(json), etag: `"${service.hash(json)}"` }
      madeFor = urls
    }
    return made
  }
}
