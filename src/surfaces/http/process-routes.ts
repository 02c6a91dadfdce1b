import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'
import { shareWork } from './shared-work.ts'

/** Between two writes of /readyz or two readings of /metrics, which anybody may ask for. */
const sharedPauseMs = 250

/** What health is told from. */
export interface HealthParts {
  /** Rejects while the database cannot be written. */
  assertWritable(): Promise<void>
  /** Whether the process is on its way out. */
  isStopping(): boolean
}

/** Serves `/healthz` and `/readyz`. */
export async function healthRoutes(app: FastifyInstance, parts: HealthParts): Promise<void> {
  const { isStopping } = parts
  const assertWritable = shareWork(parts.assertWritable, sharedPauseMs)
  app.get('/healthz', () => ({ status: 'alive' }))
  app.get('/readyz', async (_request, reply) => {
    if (!isStopping()) await assertWritable()
    // Asked again, since the process may have been told to stop meanwhile.
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
