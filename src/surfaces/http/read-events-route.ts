import type { FastifyInstance } from 'fastify'
import { toldToPerson } from '../../core/hosts/host-answer.ts'
import type { Service } from '../../operations/gate/context.ts'
import { reportReadEvents } from '../../operations/hosts/report-read-events.ts'
import type { AddressSettings } from './address.ts'
import { jsonType } from './answer.ts'
import { readCall } from './call.ts'
import { type DescribedRoute, errorBody } from './openapi.ts'

/** The parts of the route. */
export interface ReadEventsRouteParts {
  service: Service
  addresses: AddressSettings
}

const path = '/v1/hooks/plain'

const answer = {
  type: 'object',
  required: ['ok', 'told', 'remind', 'holds'],
  properties: {
    ok: { type: 'boolean', description: 'Whether the line is an event.' },
    told: {
      type: ['string', 'null'],
      description: 'What the agent, or the person, is to be told; null if nothing.',
    },
    remind: {
      type: 'boolean',
      description: 'Whether the errand is told again after a compaction.',
    },
    holds: {
      type: 'boolean',
      description: 'Whether a command that cannot be undone is to be held now.',
    },
  },
}

/** The route as the description shows it. */
export const readEventsRouteDescribed: DescribedRoute = {
  method: 'post',
  path,
  operationId: 'hooks.report-read',
  tag: 'detector',
  summary: 'Report events that were read out of the forms of hosts elsewhere.',
  description:
    'plumbline relay and plumbline watch --server send them. A line is one event, of any session of any host. Steps that it opens are durable before the answer, and each counts as one write. An event of one id counts once, so a batch can be sent again.',
  access: 'keyed',
  parameters: [
    {
      name: toldToPerson.name,
      in: 'query',
      required: false,
      description:
        'person if a person reads the answers, as of plumbline watch --server: told then says it once when an agent leaves its errand, and hooks tell the agent all the same.',
      schema: { type: 'string', enum: [toldToPerson.value] },
    },
  ],
  body: { required: true, content: { 'application/x-ndjson': { schema: { type: 'string' } } } },
  answers: {
    200: {
      description: 'Taken. Each line has its answer, in the order of the lines.',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['answers'],
            properties: { answers: { type: 'array', items: answer } },
          },
        },
      },
    },
    400: { description: 'The body has no line, or more than 1,000.', content: errorBody },
    401: { description: 'The request has no key, or no valid one.', content: errorBody },
    413: { description: 'The body is larger than 4 MiB.', content: errorBody },
    429: { description: 'The daily limit is used up.', content: errorBody },
  },
}

/** Serves the events of relays. A fault is answered as on any other route, because a relay, unlike a host, can wait. */
export async function readEventsRoute(
  app: FastifyInstance,
  { service, addresses }: ReadEventsRouteParts,
): Promise<void> {
  app.post(path, async (request, reply) => {
    const call = readCall(request, reply, addresses, 'keyed')
    try {
      const isPerson = call.query[toldToPerson.name] === toldToPerson.value
      const answers = await reportReadEvents(service, call, isPerson ? 'person' : 'agent')
      return reply.type(jsonType).send(JSON.stringify({ answers }))
    } finally {
      reply.headers(call.headers)
    }
  })
}
