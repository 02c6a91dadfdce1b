/** A logistic regression: log-odds = bias + Σ coefficient · feature. */
export interface Regression {
  bias: number
  coefficients: Float64Array
}

const ridge = 2
const iterations = 8
const tiny = 1e-6

/**
 * Fits a ridge-regularised logistic regression on standardised features by Newton's method. `rows`
 * holds `count` features for each label, which are 1 for drift and 0 for the same errand.
 */
export function fitRegression(
  rows: Float64Array,
  count: number,
  labels: Uint8Array,
  weights: Float64Array,
): Regression {
  const { mean, deviation } = spread(rows, count, labels.length)
  const size = count + 1
  const solution = new Float64Array(size)
  const row = new Float64Array(size).fill(1)
  for (let iteration = 0; iteration < iterations; iteration++) {
    const hessian = new Float64Array(size * size)
    const gradient = new Float64Array(size)
    for (let item = 0; item < labels.length; item++) {
      let sum = solution[count]!
      for (let k = 0; k < count; k++) {
        row[k] = (rows[item * count + k]! - mean[k]!) / deviation[k]!
        sum += solution[k]! * row[k]!
      }
      const probability = 1 / (1 + Math.exp(-sum))
      const error = weights[item]! * (probability - labels[item]!)
      const curvature = weights[item]! * probability * (1 - probability) + 1e-9
      for (let a = 0; a < size; a++) {
        gradient[a]! += error * row[a]!
        const scaled = curvature * row[a]!
        for (let b = 0; b <= a; b++) hessian[a * size + b]! += scaled * row[b]!
      }
    }
    for (let a = 0; a < size; a++) {
      for (let b = a + 1; b < size; b++) hessian[a * size + b] = hessian[b * size + a]!
      if (a === count) continue
      hessian[a * size + a]! += ridge
      gradient[a]! += ridge * solution[a]!
    }
    const step = solve(hessian, gradient)
    for (let a = 0; a < size; a++) solution[a]! -= step[a]!
    if (step.every((value) => Math.abs(value) < tiny)) break
  }
  const coefficients = new Float64Array(count)
  let bias = solution[count]!
  for (let k = 0; k < count; k++) {
    coefficients[k] = solution[k]! / deviation[k]!
    bias -= coefficients[k]! * mean[k]!
  }
  return { bias, coefficients }
}

/** Computes the log-odds of one row of `rows`. */
export function predict({ bias, coefficients }: Regression, rows: Float64Array, item: number) {
  const count = coefficients.length
  let sum = bias
  for (let k = 0; k < count; k++) sum += coefficients[k]! * rows[item * count + k]!
  return sum
}

function spread(rows: Float64Array, count: number, items: number) {
  const mean = new Float64Array(count)
  const deviation = new Float64Array(count)
  for (let item = 0; item < items; item++) {
    for (let k = 0; k < count; k++) mean[k]! += rows[item * count + k]! / items
  }
  for (let item = 0; item < items; item++) {
    for (let k = 0; k < count; k++) {
      deviation[k]! += (rows[item * count + k]! - mean[k]!) ** 2 / items
    }
  }
  for (let k = 0; k < count; k++) deviation[k] = Math.sqrt(deviation[k]!) + tiny
  return { mean, deviation }
}

/** Solves a linear system by Gaussian elimination with row exchanges. Overwrites both arguments. */
function solve(matrix: Float64Array, right: Float64Array): Float64Array {
  const size = right.length
  for (let i = 0; i < size; i++) {
    let pivot = i
    for (let r = i + 1; r < size; r++) {
      if (Math.abs(matrix[r * size + i]!) > Math.abs(matrix[pivot * size + i]!)) pivot = r
    }
    for (let c = 0; c < size; c++) {
      const held = matrix[i * size + c]!
      matrix[i * size + c] = matrix[pivot * size + c]!
      matrix[pivot * size + c] = held
    }
    const held = right[i]!
    right[i] = right[pivot]!
    right[pivot] = held
    for (let r = i + 1; r < size; r++) {
      const factor = matrix[r * size + i]! / matrix[i * size + i]!
      if (factor === 0) continue
      for (let c = i; c < size; c++) matrix[r * size + c]! -= factor * matrix[i * size + c]!
      right[r]! -= factor * right[i]!
    }
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let c = i + 1; c < size; c++) right[i]! -= matrix[i * size + c]! * right[c]!
    right[i]! /= matrix[i * size + i]!
  }
  return right
}
