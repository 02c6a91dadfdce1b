// Formats numbers with two decimals for verdicts. `toFixed` computes every digit, which is slow for six
// numbers in each verdict.

const most = 1000
const written = Array.from({ length: most + 1 }, (_, hundredths) => (hundredths / 100).toFixed(2))
// How near to the middle between two hundredths a number may be before `toFixed` must round it.
const clear = 0.499_999

/** The number with two decimals, as `toFixed(2)` writes it. */
export function two(number: number): string {
  if (number < 0) return `-${two(-number)}`
  const scaled = number * 100
  const hundredths = Math.round(scaled)
  return hundredths <= most && Math.abs(scaled - hundredths) < clear
    ? (written[hundredths] as string)
    : number.toFixed(2)
}

/** The number rounded to two decimals, as `toFixed(2)` rounds it. */
export function rounded(number: number): number {
  const scaled = number * 100
  const hundredths = Math.round(scaled)
  return number > 0 && hundredths <= most && Math.abs(scaled - hundredths) < clear
    ? hundredths / 100
    : Number(number.toFixed(2))
}
