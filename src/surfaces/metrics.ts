import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** What a process counts for whoever runs it. */
export interface Metrics {
  /** One answered request; `route` is a known path or `unknown`. */
  countRequest(method: string, route: string, status: number, seconds: number): void
  /** The Prometheus text exposition of everything counted. */
  text(): Promise<string>
  readonly contentType: string
}

/** Metrics of one process: requests and their latency, beside the runtime's own. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'plumbline_' })
  const requests = new Counter({
    name: 'plumbline_requests_total',
    help: 'Answered requests by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'plumbline_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 5],
    registers: [registry],
  })
  return {
    countRequest(method, route, status, seconds) {
      requests.inc({ method, route, status })
      durations.observe({ route }, seconds)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
