import { createTokens } from '../src/encoder/tokens.ts'
import type { Linear, SmallEncoder, SmallLayer } from './encoder-weights.ts'

type Row = number[]

/**
 * The log-odds of an encoder and the cosine of both meanings, computed as `network.py` does: errand, earlier goals and
 * goal as one sequence with a mask, in exact arithmetic as far as a double goes.
 */
export function referenceScore(
  encoder: SmallEncoder,
  errand: string,
  goal: string,
  before: readonly string[] = [],
): { serves: number; alike: number; effects: number[] } {
  const { sizes, layers, cross, words, positions, roles } = encoder
  const { width, branch } = sizes
  const tokens = createTokens(encoder.vocabulary)
  const blocks = [
    tokens(errand, sizes.errandTokens),
    ...[...before, goal].map((text) => tokens(text, sizes.goalTokens)),
  ]
  const errandCount = blocks[0]!.length
  const goalFrom = blocks.slice(0, -1).flat().length
  const blockOf = blocks.flatMap((block, which) => block.map(() => which))
  const first = blocks.flatMap((block, which) =>
    block.map((token, place) => {
      const role = which === 0 ? 0 : 2
      const row = Array.from(
        { length: width },
        (_, at) =>
          words.bytes[token * width + at]! * words.scales[token]! +
          positions[place * width + at]! +
          roles[role * width + at]!,
      )
      return normalise(row, encoder.norm)
    }),
  )
  const own = (query: number, key: number) =>
    blockOf[query] === blockOf[key] ? 0 : Number.NEGATIVE_INFINITY
  // All read the errand, and the goal reads the earlier goals too.
  const crossing = (query: number, key: number) =>
    blockOf[query] !== blockOf[key] &&
    (query >= goalFrom || (query >= errandCount && key < errandCount))
      ? sizes.crossBias
      : own(query, key)
  const through = (rows: Row[], some: SmallLayer[], mask: typeof own) =>
    some.reduce((sum, layer) => pass(sum, layer, mask, sizes.heads), rows)
  const branched = through(first, layers.slice(0, branch), own)
  const read = through(branched, cross, crossing).slice(goalFrom)
  const alone = through(branched, layers.slice(branch), own)
  const a = unit(mean(alone.slice(goalFrom)))
  const b = unit(mean(alone.slice(0, errandCount)))
  const scale = Math.sqrt(width)
  const compared = [
    ...a.map((x, at) => scale * x * b[at]! * scale),
    ...a.map((x, at) => scale * Math.abs(x - b[at]!)),
    ...mean(read),
    ...read[0]!,
  ]
  const hidden = Array.from(encoder.hidden.bias, (bias, row) =>
    Math.tanh(bias + dot([...encoder.hidden.weight.subarray(row * compared.length)], compared)),
  )
  const closest = alone
    .slice(goalFrom)
    .map((row) =>
      Math.max(...alone.slice(0, errandCount).map((other) => dot(unit(row), unit(other)))),
    )
  const near = [dot(a, b), closest.reduce((sum, x) => sum + x, 0) / closest.length]
  const serves =
    dot(hidden, [...encoder.score.weight]) +
    encoder.score.bias[0]! +
    dot(near, [...encoder.near.weight]) +
    encoder.near.bias[0]!
  const effects = Array.from(
    encoder.effect.bias,
    (bias, row) =>
      bias + dot([...encoder.effect.weight.subarray(row * 2 * width)], compared.slice(2 * width)),
  )
  return { serves, alike: dot(a, b), effects }
}

function pass(
  rows: Row[],
  layer: SmallLayer,
  mask: (query: number, key: number) => number,
  heads: number,
): Row[] {
  const width = rows[0]!.length
  const size = width / heads
  const qkv = rows.map((row) => multiply(layer.qkv, row))
  return rows.map((row, query) => {
    const attended: Row = []
    for (let head = 0; head < heads; head++) {
      const part = (at: number, from: number) =>
        qkv[at]!.slice(from * width + head * size, from * width + (head + 1) * size)
      const weights = rows.map((_, key) =>
        Math.exp(dot(part(query, 0), part(key, 1)) / Math.sqrt(size) + mask(query, key)),
      )
      const sum = weights.reduce((total, weight) => total + weight, 0)
      for (let at = 0; at < size; at++)
        attended.push(weights.reduce((total, w, key) => total + (w / sum) * part(key, 2)[at]!, 0))
    }
    const after = normalise(add(row, multiply(layer.out, attended)), layer.norm1)
    const inner = multiply(layer.up, after).map((x) => x * normalShare(x))
    return normalise(add(after, multiply(layer.down, inner)), layer.norm2)
  })
}

/** The share of the normal distribution below x, by Simpson's rule. */
function normalShare(x: number): number {
  const steps = 80
  const density = (at: number) => Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI)
  let sum = density(0) + density(x)
  for (let at = 1; at < steps; at++) sum += (at % 2 === 0 ? 2 : 4) * density((x * at) / steps)
  return 0.5 + (sum * x) / steps / 3
}

function multiply({ bytes, scales, bias, inputs }: Linear, row: Row): Row {
  return Array.from(
    bias,
    (start, output) =>
      start +
      scales[output]! * row.reduce((sum, x, at) => sum + x * bytes[output * inputs + at]!, 0),
  )
}

function normalise(row: Row, [weight, bias]: Float32Array[]): Row {
  const average = row.reduce((sum, x) => sum + x, 0) / row.length
  const centred = row.map((x) => x - average)
  const deviation = Math.sqrt(dot(centred, centred) / row.length + 1e-12)
  return centred.map((x, at) => (x / deviation) * weight![at]! + bias![at]!)
}

function mean(rows: Row[]): Row {
  return rows[0]!.map((_, at) => rows.reduce((sum, row) => sum + row[at]!, 0) / rows.length)
}

function unit(row: Row): Row {
  const length = Math.sqrt(dot(row, row))
  return row.map((x) => x / length)
}

function add(a: Row, b: Row): Row {
  return a.map((x, at) => x + b[at]!)
}

function dot(a: Row, b: Row): number {
  return b.reduce((sum, x, at) => sum + x * a[at]!, 0)
}
