import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'
import { shareWork } from './shared-work.ts'

/** The pause between two writes of /readyz or two reads of /metrics, because anybody may ask for them. */
const sharedPauseMs = 250

/** The parts of the health routes. */
export interface HealthParts {
  /** Rejects while the database takes no writes. */
  assertWritable(): Promise<void>
  /** Whether the process is stopping. */
  isStopping(): boolean
}

/** Serves `/healthz` and `/readyz`. */
export async function healthRoutes(app: FastifyInstance, parts: HealthParts): Promise<void> {
  const { isStopping } = parts
  const assertWritable = shareWork(parts.assertWritable, sharedPauseMs)
  app.get('/healthz', () => ({ status: 'alive' }))
  app.get('/readyz', async (_request, reply) => {
    if (!isStopping()) await assertWritable()
    // Ask again, because the process may have begun to stop meanwhile.
    if (!isStopping()) return { status: 'ready' }
    reply.code(503)
    return { status: 'stopping' }
  })
}

/** Serves `/metrics`. */
export async function metricsRoute(
  app: FastifyInstance,
  { metrics }: { metrics: Metrics },
): Promise<void> {
  const text = shareWork(metrics.text, sharedPauseMs)
  app.get('/metrics', (_request, reply) => {
    reply.type(metrics.contentType)
    return text()
  })
}
