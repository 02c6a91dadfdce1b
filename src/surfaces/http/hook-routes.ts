import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { emptyAnswer } from '../../core/hosts/host-answer.ts'
import { type HostName, hostNames } from '../../core/hosts/host-event.ts'
import type { Service } from '../../operations/gate/context.ts'
import { Refusal } from '../../operations/gate/refusal.ts'
import { hostNamed, reportEvents } from '../../operations/hosts/report-events.ts'
import type { AddressSettings } from './address.ts'
import { jsonType } from './answer.ts'
import { readCall } from './call.ts'

/** The parts of the routes. */
export interface HookRoutesParts {
  service: Service
  addresses: AddressSettings
  /** Reports a fault that no caller has caused. */
  onHookFault(error: unknown, host: HostName): void
}

/** The header that says what was wrong with an event. */
const note = 'x-plumbline-note'

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
    return JSON.stringify(await reportEvents(service, call, host, event))
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
