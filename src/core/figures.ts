/** The number with two decimals, as texts have it. */
export function two(number: number): string {
  return number.toFixed(2)
}

/** The number rounded to two decimals. */
export function rounded(number: number): number {
  return Number(two(number))
}

/** The sum of the numbers, added in their order. */
export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

/** The mean of the numbers; 0 without any. */
export function meanOf(numbers: readonly number[]): number {
  return sumOf(numbers) / Math.max(1, numbers.length)
}

/** A share with its Wilson interval, 95 %; all 0–1. */
export interface Share {
  value: number
  low: number
  high: number
}

/**
 * The share `count / of` with the Wilson score interval at 95 % (Wilson 1927, "Probable inference, the law of
 * succession, and statistical inference"); null of nothing.
 */
export function shareOf(count: number, of: number): Share | null {
  if (of === 0) return null
  const z = 1.959964
  const value = count / of
  const spread = z * Math.sqrt((value * (1 - value)) / of + (z * z) / (4 * of * of))
  const centre = value + (z * z) / (2 * of)
  const scale = 1 + (z * z) / of
  return {
    value,
    low: count === 0 ? 0 : (centre - spread) / scale,
    high: count === of ? 1 : (centre + spread) / scale,
  }
}
