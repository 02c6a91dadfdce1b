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
