import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { operations } from '../src/operations/all.ts'
import { createHttp } from '../src/surfaces/http/http.ts'
import { createMetrics } from '../src/surfaces/http/metrics.ts'
import type { App } from './harness.ts'

/** The HTTP surface over the service of a test, which listens nowhere. */
export function surfaceOf({ running: { service } }: App): FastifyInstance {
  let requests = 0
  return createHttp({
    service,
    operations,
    tools: [],
    version: '0.0.0',
    addresses: { clientAddressHeader: null, trustedProxies: null },
    metrics: createMetrics(),
    servesMetrics: true,
    web: null,
    log: pino({ level: 'silent' }),
    baseUrls: () => ['https://plumbline.example'],
    newRequestId: () => `req_${++requests}`,
    assertWritable: async () => {},
    isStopping: () => false,
  })
}
