import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'
import { type AddressSettings, addressBucket } from './address.ts'
import type { Metrics } from './metrics.ts'

/** Stands for the status of an answer whose caller went away before all of it was sent. */
const callerGone = 499

/**
 * Counts and logs each answer when it has ended, given its request when that has come. Good answers are
 * many and metrics count them; a refusal is what an operator looks for, and whose request it was. No
 * other line names an address.
 */
export function createAnswerLog(metrics: Metrics, log: Logger, addresses: AddressSettings) {
  return (request: FastifyRequest, { raw }: FastifyReply): void => {
    const startedAt = performance.now()
    // A socket that is closed no longer says whose it was.
    const { id: request_id, method, ip } = request
    // Fastify's hooks miss a caller that goes away when its request has been read.
    raw.on('close', () => {
      const route = request.routeOptions.url ?? 'unknown'
      const status = raw.writableFinished ? raw.statusCode : callerGone
      const ms = performance.now() - startedAt
      metrics.countRequest(method, route, status, ms / 1000)
      const line = { request_id, method, route, status, ms }
      if (status < 400 || status === callerGone) log.debug(line, 'answered')
      else if (status >= 500) log.info(line, 'answered')
      else log.info({ ...line, address: addressBucket(addresses, request.raw, ip) }, 'answered')
    })
  }
}

/** Has Fastify log streams that break off, and nothing else. */
export function createLogController(log: Logger): LogController {
  return Object.assign(new LogController({ disableRequestLogging: true }), {
    streamError(err: Error, { id: request_id }: FastifyRequest) {
      log.info({ err, request_id }, 'an answer broke off')
    },
  })
}
