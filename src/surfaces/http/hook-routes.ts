import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { neverAttended } from '../../core/hosts/attended.ts'
import { emptyAnswer } from '../../core/hosts/host-answer.ts'
import { type HostName, hostNames } from '../../core/hosts/host-event.ts'
import type { Service } from '../../operations/gate/context.ts'
import { Refusal } from '../../operations/gate/refusal.ts'
import { hostNamed, reportEvents } from '../../operations/hosts/report-events.ts'
import type { AddressSettings } from './address.ts'
import { jsonType } from './answer.ts'
import { readCall } from './call.ts'
import type { DescribedRoute } from './openapi.ts'

/** The parts of the routes. */
export interface HookRoutesParts {
  service: Service
  addresses: AddressSettings
  /** Reports a fault that no caller has caused. */
  onHookFault(error: unknown, host: HostName): void
}

/** The header that says what was wrong with an event. */
const note = 'x-plumbline-note'

const hostParameter = {
  name: 'host',
  in: 'path',
  required: true,
  description: 'The host whose event this is.',
  schema: { type: 'string', enum: hostNames },
}
const eventParameter = {
  name: 'event',
  in: 'path',
  required: true,
  description: 'The name of the event, for the hosts whose bodies do not hold it.',
  schema: { type: 'string' },
}

const attendedParameter = {
  name: neverAttended.name,
  in: 'query',
  required: false,
  description: 'never if nobody can speak in the session, as the host tells its hooks.',
  schema: { type: 'string', enum: [neverAttended.value] },
}

/** The routes as the description shows them. */
export const hookRoutesDescribed: readonly DescribedRoute[] = [
  describedAt('/v1/hooks/{host}', 'hooks.report', [hostParameter, attendedParameter]),
  describedAt('/v1/hooks/{host}/{event}', 'hooks.report-named', [
    hostParameter,
    eventParameter,
    attendedParameter,
  ]),
]

function describedAt(
  path: string,
  operationId: string,
  parameters: readonly Record<string, unknown>[],
): DescribedRoute {
  return {
    method: 'post',
    path,
    operationId,
    tag: 'detector',
    summary: 'Report an event of the hooks of a host, as the host sends it.',
    description:
      'The server reads the event, and logs the steps that it opens; those are durable before the answer. An event counts once, by the host’s own id. A step counts as one write, other events as none. Several events can come as lines of JSON.',
    access: 'keyed',
    parameters,
    body: {
      required: true,
      content: {
        'application/json': { schema: { description: 'The event of the host.' } },
        'application/x-ndjson': { schema: { type: 'string' } },
      },
    },
    answers: {
      200: {
        description: 'Always: a hook never stops an agent. The host accepts this object.',
        headers: {
          [note]: {
            description: 'What was wrong; absent if nothing was.',
            schema: { type: 'string' },
          },
        },
        content: { 'application/json': { schema: { type: 'object' } } },
      },
    },
  }
}

/**
 * Serves the hooks of hosts. A hook must never stop an agent, so the answer is always 200 and a JSON object that the
 * host accepts; what was wrong stands in a header.
 */
export async function hookRoutes(app: FastifyInstance, parts: HookRoutesParts): Promise<void> {
  for (const url of ['/v1/hooks/:host', '/v1/hooks/:host/:event']) {
    app.post(url, (request, reply) => answerHook(parts, request, reply))
  }
}

async function answerHook(
  { service, addresses, onHookFault }: HookRoutesParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const { host: name = '', event = '' } = request.params as { host?: string; event?: string }
  const call = readCall(request, reply, addresses, 'keyed')
  reply.type(jsonType)
  const host = hostNamed(name)
  if (host === null) {
    reply.header(note, `unknown host; send one of ${hostNames.join(', ')}`)
    return '{}'
  }
  try {
    const { [neverAttended.name]: attended } = request.query as Record<string, unknown>
    const isUnattended = attended === neverAttended.value
    return JSON.stringify(await reportEvents(service, call, host, event, isUnattended))
  } catch (error) {
    const isRefusal = error instanceof Refusal
    if (!isRefusal) onHookFault(error, host)
    reply.header(note, isRefusal ? noteOf(error) : 'internal; the event is not stored')
    return JSON.stringify(emptyAnswer(host, event))
  } finally {
    reply.headers(call.headers)
  }
}

/** The word of a refusal and its detail, as a header can hold them. */
function noteOf(refusal: Refusal): string {
  const { detail } = refusal.fields
  const told = typeof detail === 'string' ? `; ${detail}` : ''
  return `${refusal.word}${told}`.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 300)
}
