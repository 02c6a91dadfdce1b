/** How often sessions are run to be compared, at least and at most. */
export interface Rounds {
  least: number
  most: number
}

/** The shortest of some sessions, and the longest share of the shortest healthy one. */
export interface Pace {
  /** The shortest healthy session, in milliseconds. */
  healthyMs: number
  /** The shortest of each of the others as a share of that. */
  ratios: Record<string, number>
  rounds: number
}

/**
 * Compares how long sessions take with a healthy one, in rounds that run each kind once. The shortest of each kind counts:
 * what other programs do on the machine makes some sessions long, and hooks that wait make all of them long. Kinds that
 * seem slower than `limit` are run again, with the healthy one.
 */
export async function comparePace(
  healthy: () => Promise<number>,
  others: Readonly<Record<string, () => Promise<number>>>,
  limit: number,
  { least, most }: Rounds,
): Promise<Pace> {
  let healthyMs = Number.POSITIVE_INFINITY
  const shortest = new Map<string, number>()
  const ratioOf = (name: string) => (shortest.get(name) ?? Number.POSITIVE_INFINITY) / healthyMs
  const isSlow = (name: string) => !(ratioOf(name) <= limit)
  const names = Object.keys(others)
  let rounds = 0
  while (rounds < least || (rounds < most && names.some(isSlow))) {
    const again = names.filter((name) => rounds < least || isSlow(name))
    healthyMs = Math.min(healthyMs, await healthy())
    for (const name of again) {
      const ms = (await others[name]?.()) ?? Number.POSITIVE_INFINITY
      shortest.set(name, Math.min(shortest.get(name) ?? ms, ms))
    }
    rounds++
  }
  return {
    healthyMs,
    ratios: Object.fromEntries(names.map((name) => [name, ratioOf(name)])),
    rounds,
  }
}
