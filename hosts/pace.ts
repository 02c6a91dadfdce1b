/** How often sessions are run to be compared, at least and at most. */
export interface Rounds {
  least: number
  most: number
}

/** How long sessions took. */
export interface Pace {
  /** The shortest healthy session, in milliseconds. */
  healthyMs: number
  /** How long each of the others took, as a share of a healthy one. */
  ratios: Record<string, number>
  rounds: number
}

/**
 * Compares how long sessions take with a healthy one, in rounds that run each kind once. What other programs do on the
 * machine makes some sessions long, and hooks that wait make all of them long. So the shortest of a kind is compared with
 * the shortest healthy one, or, where that was a lucky one, the median of the rounds counts: whichever is less. Kinds that
 * seem slower than `limit` are run again, with the healthy one.
 */
export async function comparePace(
  healthy: () => Promise<number>,
  others: Readonly<Record<string, () => Promise<number>>>,
  limit: number,
  { least, most }: Rounds,
): Promise<Pace> {
  let healthyMs = Number.POSITIVE_INFINITY
  const taken = new Map<string, { ms: number; share: number }[]>()
  const ratioOf = (name: string) => {
    const all = taken.get(name) ?? []
    const shortest = Math.min(...all.map(({ ms }) => ms)) / healthyMs
    const shares = all.map(({ share }) => share).sort((one, other) => one - other)
    // Of an even number the greater one in the middle.
    const median = shares[Math.floor(shares.length / 2)] ?? Number.POSITIVE_INFINITY
    return Math.min(shortest, median)
  }
  const isSlow = (name: string) => ratioOf(name) > limit
  const names = Object.keys(others)
  let rounds = 0
  while (rounds < least || (rounds < most && names.some(isSlow))) {
    const again = names.filter((name) => rounds < least || isSlow(name))
    const now = await healthy()
    healthyMs = Math.min(healthyMs, now)
    for (const name of again) {
      const ms = (await others[name]?.()) ?? Number.POSITIVE_INFINITY
      taken.set(name, [...(taken.get(name) ?? []), { ms, share: ms / now }])
    }
    rounds++
  }
  return {
    healthyMs,
    ratios: Object.fromEntries(names.map((name) => [name, ratioOf(name)])),
    rounds,
  }
}
