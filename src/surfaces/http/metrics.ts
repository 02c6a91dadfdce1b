import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Verdict } from '../../core/detector/detect.ts'
import type { JobCount } from '../../storage/database/jobs.ts'
import { createLatencies } from './latencies.ts'

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
  const countRequest = addCounter(registry, {
    name: 'plumbline_requests_total',
    help: 'Answered requests by method, route and status.',
    labelNames: ['method', 'route', 'status'],
  })
  const countVerdict = addCounter(registry, {
    name: 'plumbline_verdicts_total',
    help: 'Judged steps by detector, reason and whether they drift. Stored steps are steps of runs.',
    labelNames: ['detector', 'reason', 'drifting', 'stored'],
  })
  const latencies = createLatencies(
    'plumbline_request_duration_seconds',
    'Time from the first byte of a request to the end of its answer.',
  )
  const commits = new Histogram({
    name: 'plumbline_commit_steps',
    help: 'Steps that one commit stored.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [registry],
  })
  return {
    countVerdict({ detector, reason, drifting }, stored) {
      countVerdict([detector, reason, drifting, stored])
    },
    countCommit(steps) {
      commits.observe(steps)
    },
    watch(queues) {
      addQueueGauges(registry, queues)
    },
    countRequest(method, route, status, seconds) {
      countRequest([method, route, status])
      latencies.observe(route, seconds)
    },
    text: async () => `${await registry.metrics()}\n${latencies.text()}`,
    contentType: registry.contentType,
  }
}

type Label = string | number | boolean

/** How often something was counted under the labels that lead here, and what goes on with one more. */
interface Series {
  count: number
  readonly more: Map<Label, Series>
}

/**
 * A counter of one more for labels in the order of their names. It keeps plain numbers until it is
 * read: finding a series of the library by its labels costs as much as judging a step, and putting
 * them together as one key a good part of it.
 */
function addCounter(
  registry: Registry,
  described: { name: string; help: string; labelNames: readonly string[] },
): (labels: readonly Label[]) => void {
  const all: Series = { count: 0, more: new Map() }

  function* seriesIn({ count, more }: Series, labels: readonly Label[] = []): Generator<Counted> {
    if (count > 0) yield { labels, count }
    for (const [label, series] of more) yield* seriesIn(series, [...labels, label])
  }

  new Counter({
    ...described,
    registers: [registry],
    collect() {
      this.reset()
      for (const { labels, count } of seriesIn(all)) {
        const named = described.labelNames.map((name, place) => [name, String(labels[place])])
        this.inc(Object.fromEntries(named), count)
      }
    },
  })
  return (labels) => {
    let series = all
    for (const label of labels) {
      let next = series.more.get(label)
      if (next === undefined) {
        next = { count: 0, more: new Map() }
        series.more.set(label, next)
      }
      series = next
    }
    series.count += 1
  }
}

interface Counted {
  labels: readonly Label[]
  count: number
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
