/** The middle of the values, or the mean of the two in the middle; NaN without any. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle - 1)]! + sorted[Math.floor(middle)]!) / 2
}

/** A percentile, from 0 to 100, of values in any order; 0 of none. */
export function percentile(values: ArrayLike<number>, percent: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0
}
