import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Verdict } from '../../core/detector/detect.ts'
import type { JobCount } from '../../storage/database/jobs.ts'

/** The metrics of a process for its operator. */
export interface Metrics {
  /** One answered request; `route` is a known path or `unknown`. */
  countRequest(method: string, route: string, status: number, seconds: number): void
  /** One judged step; `stored` tells steps of runs from those that were only checked. */
  countVerdict(verdict: Verdict, stored: boolean): void
  /** One commit of steps to the store. */
  countCommit(steps: number): void
  /** Adds gauges that ask the queues each time the metrics are read. */
  watch(queues: Queues): void
  /** The Prometheus text exposition of everything counted. */
  text(): Promise<string>
  readonly contentType: string
}

/** The queues of a process and of its store. */
export interface Queues {
  /** Steps that have arrived and are not stored yet. */
  waitingSteps(): number
  /** Rejects while the database is unavailable; the metrics then leave the jobs out. */
  jobs(): Promise<JobCount[]>
}

/** Creates the metrics of one process: requests and their latency, and those of the runtime. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'plumbline_' })
  const registers = [registry]
  const requests = new Counter({
    name: 'plumbline_requests_total',
    help: 'Answered requests by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const verdicts = new Counter({
    name: 'plumbline_verdicts_total',
    help: 'Judged steps by detector, reason and whether they drift. Stored steps are steps of runs.',
    labelNames: ['detector', 'reason', 'drifting', 'stored'],
    registers,
  })
  const latencies = new Histogram({
    name: 'plumbline_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 5],
    registers,
  })
  const commits = new Histogram({
    name: 'plumbline_commit_steps',
    help: 'Steps that one commit stored.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  })
  return {
    countRequest(method, route, status, seconds) {
      requests.inc({ method, route, status })
      latencies.observe({ route }, seconds)
    },
    countVerdict({ detector, reason, drifting }, stored) {
      verdicts.inc({ detector, reason, drifting: String(drifting), stored: String(stored) })
    },
    countCommit(steps) {
      commits.observe(steps)
    },
    watch(queues) {
      addQueueGauges(registry, queues)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

function addQueueGauges(registry: Registry, queues: Queues): void {
  new Gauge({
    name: 'plumbline_waiting_steps',
    help: 'Steps received but not stored yet.',
    registers: [registry],
    collect() {
      this.set(queues.waitingSteps())
    },
  })
  new Gauge({
    name: 'plumbline_jobs',
    help: 'Jobs by kind and state, on all nodes together.',
    labelNames: ['kind', 'state'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const { kind, due, later, held, gave_up } of await queues.jobs().catch(() => [])) {
        for (const [state, count] of Object.entries({ due, later, held, gave_up })) {
          this.set({ kind, state }, count)
        }
      }
    },
  })
}
