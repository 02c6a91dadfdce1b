/** The seed of all random draws, so that the same data gives the same bytes. */
export const seed = 20_240_229

/** Random numbers in [0, 1) by mulberry32; the same seed gives the same numbers. */
export function createRandom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws as many items as there are, with replacement; `times` counts the draws of each. */
export function drawAnew(times: Uint32Array, random: () => number): void {
  times.fill(0)
  for (let draw = 0; draw < times.length; draw++) {
    const item = Math.floor(random() * times.length)
    times[item] = (times[item] ?? 0) + 1
  }
}

/** The bounds of the middle 95 % of the draws (percentile interval); null without draws. */
export function middleOf(drawn: readonly number[]): { low: number; high: number } | null {
  const sorted = Float64Array.from(drawn).sort()
  const outside = Math.floor(0.025 * sorted.length)
  const low = sorted[outside]
  const high = sorted[sorted.length - 1 - outside]
  return low === undefined || high === undefined ? null : { low, high }
}
