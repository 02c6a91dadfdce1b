import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { Refusal } from '../../operations/gate/refusal.ts'
import { isUnavailable, mayBeStored } from '../../storage/database/database.ts'

const retryAfterSeconds = 2

/** Creates the handler of thrown errors: a refusal is sent as it is, and any other error is a fault of the server. */
export function createErrorHandler(log: Logger) {
  return (error: unknown, { id: request_id }: FastifyRequest, reply: FastifyReply): void => {
    if (error instanceof Refusal) {
      reply.code(error.status).headers(error.headers).send(error.body)
    } else if (isUnavailable(error)) {
      log.warn({ err: error, request_id }, 'the database is unavailable')
      reply
        .code(503)
        .header('retry-after', String(retryAfterSeconds))
        .send({
          error: 'unavailable',
          detail: unavailableDetail(error),
          retry_after_s: retryAfterSeconds,
        })
    } else {
      log.error({ err: error, request_id }, 'a request failed')
      reply.code(500).send({
        error: 'internal',
        detail: 'This is a fault of the server. Its log names this request id.',
        request_id,
      })
    }
  }
}

/** The detail of a 503: whether the request may have changed anything. */
function unavailableDetail(error: unknown): string {
  if (!mayBeStored(error)) {
    return 'The database cannot be reached or written right now. Nothing was stored; try again.'
  }
  return 'The database did not confirm this request in time. It may or may not have been stored. Repeat it with the same idempotency key (or step_id) and the server stores it once. Without a key, read first whether it was stored.'
}

/** Refuses a path that is not percent-encoded UTF-8. */
export const undecodable = new Refusal(400, 'bad_request', {
  detail: 'The path cannot be decoded; send it percent-encoded in UTF-8.',
})

/** Refuses a path that no route has. */
export const missing = new Refusal(404, 'not_found', {
  detail: 'There is no such route; see /v1/openapi.json.',
})

/** The methods of routes, in the order in which a refusal lists them. */
const routeMethods = ['DELETE', 'GET', 'HEAD', 'POST', 'PUT']

/** Refuses a request without a route: 405 if its path has a route of another method, otherwise 404. */
export function refuseUnrouted(app: FastifyInstance, { url }: FastifyRequest): never {
  const methods = routeMethods.filter((method) => app.findRoute({ method, url }) !== null)
  if (methods.length === 0) throw missing
  const allow = methods.join(', ')
  throw new Refusal(405, 'method_not_allowed', { detail: `Send ${allow}.` }, { allow })
}
