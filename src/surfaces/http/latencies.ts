/** How long answers took, by route. */
export interface Latencies {
  observe(route: string, seconds: number): void
  /** A histogram in the Prometheus text exposition. */
  text(): string
}

/** Upper bounds in seconds, each included. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 5]

/**
 * Latencies of one process under a metric's name. Plain numbers, because a histogram of the metrics
 * library looks its series up by their labels each time.
 */
export function createLatencies(name: string, help: string): Latencies {
  const series = new Map<string, { counts: number[]; sum: number }>()

  function linesOf(route: string, { counts, sum }: { counts: number[]; sum: number }): string[] {
    let total = 0
    const buckets = counts.map((count, place) => {
      total += count
      return `${name}_bucket{le="${bounds[place] ?? '+Inf'}",route="${route}"} ${total}`
    })
    return [
      ...buckets,
      `${name}_sum{route="${route}"} ${sum}`,
      `${name}_count{route="${route}"} ${total}`,
    ]
  }

  return {
    observe(route, seconds) {
      let known = series.get(route)
      if (known === undefined) {
        known = { counts: new Array(bounds.length + 1).fill(0), sum: 0 }
        series.set(route, known)
      }
      const place = bounds.findIndex((bound) => seconds <= bound)
      const bucket = place < 0 ? bounds.length : place
      known.counts[bucket] = (known.counts[bucket] ?? 0) + 1
      known.sum += seconds
    },
    text() {
      const lines = [...series].flatMap(([route, counted]) => linesOf(route, counted))
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n')
    },
  }
}
