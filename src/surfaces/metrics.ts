import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Verdict } from '../core/detector/detect.ts'
import type { JobCount } from '../storage/jobs.ts'

/** What a process counts for whoever runs it. */
export interface Metrics {
  /** One answered request; `route` is a known path or `unknown`. */
  countRequest(method: string, route: string, status: number, seconds: number): void
  /** One judged step; `stored` tells steps of runs from those that were only checked. */
  countVerdict(verdict: Verdict, stored: boolean): void
  /** One commit of steps to the store. */
  countCommit(steps: number): void
  /** What is asked for when the metrics are read. */
  watch(queues: Queues): void
  /** The Prometheus text exposition of everything counted. */
  text(): Promise<string>
  readonly contentType: string
}

/** What waits in a process and in its store. */
export interface Queues {
  /** Steps that have come in and are not stored yet. */
  waitingSteps(): number
  /** Rejects while the store is away; the jobs are left out then. */
  jobs(): Promise<JobCount[]>
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
  const verdicts = new Counter({
    name: 'plumbline_verdicts_total',
    help: 'Judged steps by detector, reason and whether they drift; stored ones are steps of runs.',
    labelNames: ['detector', 'reason', 'drifting', 'stored'],
    registers: [registry],
  })
  const commits = new Histogram({
    name: 'plumbline_commit_steps',
    help: 'Steps that one commit stored.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [registry],
  })
  const seriesOf = remembered<Counter.Internal>()
  const latencyOf = remembered<Histogram.Internal<'route'>>()
  return {
    countVerdict({ detector, reason, drifting }, stored) {
      const labels = { detector, reason, drifting: String(drifting), stored: String(stored) }
      seriesOf(`${detector} ${reason} ${drifting} ${stored}`, () => verdicts.labels(labels)).inc()
    },
    countCommit(steps) {
      commits.observe(steps)
    },
    watch(queues) {
      addQueueGauges(registry, queues)
    },
    countRequest(method, route, status, seconds) {
      seriesOf(`${method} ${route} ${status}`, () =>
        requests.labels({ method, route, status }),
      ).inc()
      latencyOf(route, () => durations.labels({ route })).observe(seconds)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

/** Finding a series by its labels costs as much as judging a step, so each is found once. */
function remembered<Series>(): (key: string, find: () => Series) => Series {
  const known = new Map<string, Series>()
  return (key, find) => {
    const series = known.get(key)
    if (series !== undefined) return series
    const found = find()
    known.set(key, found)
    return found
  }
}

function addQueueGauges(registry: Registry, queues: Queues): void {
  new Gauge({
    name: 'plumbline_waiting_steps',
    help: 'Steps that have come in and are not stored yet.',
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
