/** Where everything drawn at random begins, so that the same data gives the same bytes. */
export const seed = 20_240_229

/** Chance as mulberry32 makes it: numbers from 0 up to 1, the same for the same seed. */
export function createRandom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws as many items as there are, with repeats: `times` says how often each was drawn. */
export function drawAnew(times: Uint32Array, random: () => number): void {
  times.fill(0)
  for (let draw = 0; draw < times.length; draw++) {
    const item = Math.floor(random() * times.length)
    times[item] = (times[item] ?? 0) + 1
  }
}

/** The ends of the middle 95 % of what was drawn (percentile interval); null when nothing was. */
export function middleOf(drawn: readonly number[]): { low: number; high: number } | null {
  const sorted = Float64Array.from(drawn).sort()
  const outside = Math.floor(0.025 * sorted.length)
  const low = sorted[outside]
  const high = sorted[sorted.length - 1 - outside]
  return low === undefined || high === undefined ? null : { low, high }
}
