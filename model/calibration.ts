import { baseRate } from '../src/core/detector/contract/constants.ts'

/** A scored pair and its weight. */
export interface Scored {
  score: number
  drift: boolean
  weight: number
}

const bins = 40

/**
 * Computes the probability of drift by score, where one step in ten is drift: bins of equally many pairs,
 * joined until the probability rises from each to the next (pool adjacent violators).
 */
export function calibrate(scored: readonly Scored[]): [from: number, probability: number][] {
  const sorted = scored.toSorted((a, b) => a.score - b.score)
  const all = count(sorted)
  const pools: { from: number; drift: number; same: number }[] = []
  for (let bin = 0; bin < bins; bin++) {
    const members = sorted.slice(
      Math.floor((bin * sorted.length) / bins),
      Math.floor(((bin + 1) * sorted.length) / bins),
    )
    const from = members[0]?.score
    if (from === undefined) continue
    const { drift, same } = count(members)
    pools.push({ from, drift: drift / all.drift, same: same / all.same })
    for (;;) {
      const last = pools.at(-1)
      const before = pools.at(-2)
      if (last === undefined || before === undefined) break
      if (probabilityIn(before) < probabilityIn(last)) break
      pools.pop()
      before.drift += last.drift
      before.same += last.same
    }
  }
  const rows = pools.map((pool): [from: number, probability: number] => [
    Math.round(pool.from * 1024) / 1024,
    // No number of pairs can prove a probability of 0.
    Math.max(0.001, Math.round(probabilityIn(pool) * 1000) / 1000),
  ])
  return rows.filter(([, probability], at) => probability !== rows[at - 1]?.[1])
}

function probabilityIn({ drift, same }: { drift: number; same: number }): number {
  return (baseRate * drift) / (baseRate * drift + (1 - baseRate) * same)
}

function count(members: readonly Scored[]): { drift: number; same: number } {
  const sums = { drift: 0, same: 0 }
  for (const { drift, weight } of members) sums[drift ? 'drift' : 'same'] += weight
  return sums
}
