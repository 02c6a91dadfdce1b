/** How alike two texts are in meaning: 1 is the same, −1 the opposite direction. Rounded to 1/64. */
export function likeness(a: Float32Array, b: Float32Array): number {
  return Math.max(-1, Math.min(1, roundTo64th(product(a, b))))
}

/** The sum of the products of two lists of numbers. */
export function product(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let place = 0; place < a.length; place++) sum += (a[place] ?? 0) * (b[place] ?? 0)
  return sum
}

/** Rounds to 1/64, so that the last digits of an engine cannot change what is decided. */
export function roundTo64th(number: number): number {
  // Adding 0 turns −0 into 0.
  return Math.round(number * 64) / 64 + 0
}
