const sweeps = 30
const settled = 1e-16

/**
 * Computes the `count` directions in which rows of `dims` numbers vary most, strongest first: the
 * eigenvectors of their moments, by Jacobi's method.
 */
export function principalDirections(rows: Float64Array, dims: number, count: number): Float64Array {
  const moments = momentsOf(rows, dims)
  const vectors = new Float64Array(dims * dims)
  for (let i = 0; i < dims; i++) vectors[i * dims + i] = 1
  for (let sweep = 0; sweep < sweeps && offDiagonal(moments, dims) > settled; sweep++) {
    for (let p = 0; p < dims; p++) {
      for (let q = p + 1; q < dims; q++) rotate(moments, vectors, dims, p, q)
    }
  }
  const order = Array.from({ length: dims }, (_, i) => i)
  order.sort((a, b) => moments[b * dims + b]! - moments[a * dims + a]! || a - b)
  const directions = new Float64Array(count * dims)
  for (let k = 0; k < count; k++) {
    for (let d = 0; d < dims; d++) directions[k * dims + d] = vectors[d * dims + order[k]!]!
  }
  return directions
}

function momentsOf(rows: Float64Array, dims: number): Float64Array {
  const moments = new Float64Array(dims * dims)
  const count = rows.length / dims
  for (let row = 0; row < count; row++) {
    for (let a = 0; a < dims; a++) {
      const value = rows[row * dims + a]! / count
      for (let b = 0; b < dims; b++) moments[a * dims + b]! += value * rows[row * dims + b]!
    }
  }
  return moments
}

function offDiagonal(matrix: Float64Array, dims: number): number {
  let sum = 0
  for (let p = 0; p < dims; p++) {
    for (let q = p + 1; q < dims; q++) sum += matrix[p * dims + q]! ** 2
  }
  return sum
}

function rotate(matrix: Float64Array, vectors: Float64Array, dims: number, p: number, q: number) {
  const between = matrix[p * dims + q]!
  if (between === 0) return
  const ratio = (matrix[q * dims + q]! - matrix[p * dims + p]!) / (2 * between)
  const tangent = (ratio < 0 ? -1 : 1) / (Math.abs(ratio) + Math.sqrt(ratio * ratio + 1))
  const cosine = 1 / Math.sqrt(tangent * tangent + 1)
  const sine = tangent * cosine
  const turn = (values: Float64Array, one: number, other: number) => {
    const x = values[one]!
    const y = values[other]!
    values[one] = cosine * x - sine * y
    values[other] = sine * x + cosine * y
  }
  for (let k = 0; k < dims; k++) turn(matrix, k * dims + p, k * dims + q)
  for (let k = 0; k < dims; k++) turn(matrix, p * dims + k, q * dims + k)
  for (let k = 0; k < dims; k++) turn(vectors, k * dims + p, k * dims + q)
}
