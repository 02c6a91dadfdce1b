import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'
import { type AddressSettings, addressBucket } from './address.ts'
import type { Metrics } from './metrics.ts'

/** The status that the log and the metrics give an answer whose caller went away before all of it was sent. */
const callerGone = 499

/**
 * Creates the function that is called with each request, and that counts and logs its answer when it ends.
 * Good answers are many, so they stand in the metrics and only in the debug log. The operator looks for
 * refusals and their callers, so only the line of a refusal names an address.
 */
export function createAnswerLog(metrics: Metrics, log: Logger, addresses: AddressSettings) {
  return (request: FastifyRequest, { raw }: FastifyReply): void => {
    const startedAt = performance.now()
    // Read the address now, because a closed socket no longer has it.
    const { id: request_id, method, ip } = request
    // Fastify's hooks miss a caller that goes away after its request was read.
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

/** Makes Fastify log the streams that break off, and nothing else. */
export function createLogController(log: Logger): LogController {
  return Object.assign(new LogController({ disableRequestLogging: true }), {
    streamError(err: Error, { id: request_id }: FastifyRequest) {
      log.info({ err, request_id }, 'an answer broke off')
    },
  })
}
