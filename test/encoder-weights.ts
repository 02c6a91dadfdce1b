import { createHash } from 'node:crypto'
import type { Sizes } from '../src/encoder/weights.ts'

/** A matrix of bytes with a scale for each row, and a bias. */
export interface Linear {
  bytes: Int8Array
  scales: Float32Array
  bias: Float32Array
  inputs: number
  outputs: number
}

/** A layer of the small network. */
export interface SmallLayer {
  qkv: Linear
  out: Linear
  up: Linear
  down: Linear
  norm1: Float32Array[]
  norm2: Float32Array[]
}

/** A small encoder with weights by chance, for tests without the shipped file. */
export interface SmallEncoder {
  sizes: Sizes
  vocabulary: string[]
  words: Linear
  positions: Float32Array
  roles: Float32Array
  norm: Float32Array[]
  layers: SmallLayer[]
  cross: SmallLayer[]
  hidden: { weight: Float32Array; bias: Float32Array }
  score: { weight: Float32Array; bias: Float32Array }
  near: { weight: Float32Array; bias: Float32Array }
  effect: { weight: Float32Array; bias: Float32Array }
}

const sizes: Sizes = {
  width: 32,
  layers: 4,
  branch: 2,
  heads: 2,
  inner: 64,
  hidden: 16,
  crossBias: -1,
  errandTokens: 24,
  goalTokens: 12,
}
const vocabulary =
  '[PAD] [UNK] [CLS] [SEP] fix the login bug write a poem about autumn leaves run test ##s . , 7'.split(
    ' ',
  )

/** Makes the small encoder; the same seed gives the same weights. */
export function smallEncoder(seed = 1): SmallEncoder {
  const { width, layers, branch, inner, hidden } = sizes
  let state = seed
  const chance = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
  const floats = (count: number, size: number, centre = 0) =>
    Float32Array.from({ length: count }, () => centre + size * chance())
  const linear = (inputs: number, outputs: number): Linear => ({
    bytes: Int8Array.from({ length: inputs * outputs }, () => Math.round(127 * chance())),
    scales: floats(outputs, 0.0005, 0.0025),
    bias: floats(outputs, 0.1),
    inputs,
    outputs,
  })
  const norm = () => [floats(width, 0.2, 1), floats(width, 0.2)]
  const layer = (): SmallLayer => ({
    qkv: linear(width, 3 * width),
    out: linear(width, width),
    up: linear(width, inner),
    down: linear(inner, width),
    norm1: norm(),
    norm2: norm(),
  })
  const head = (inputs: number, outputs: number) => ({
    weight: floats(inputs * outputs, 0.3),
    bias: floats(outputs, 0.3),
  })
  return {
    sizes,
    vocabulary: [...vocabulary],
    words: linear(width, vocabulary.length),
    positions: floats(sizes.errandTokens * width, 0.1),
    roles: floats(3 * width, 0.1),
    norm: norm(),
    layers: Array.from({ length: layers }, layer),
    cross: Array.from({ length: layers - branch }, layer),
    hidden: head(4 * width, hidden),
    score: head(hidden, 1),
    near: head(2, 1),
    effect: head(2 * width, 4),
  }
}

/** Writes the file of an encoder, as `export.py` does; `wrong` names tensors that it looks for elsewhere. */
export function weightsFile(encoder: SmallEncoder, wrong: Record<string, number> = {}): Buffer {
  const places: Record<string, number> = {}
  const parts: Buffer[] = []
  let end = 0
  const add = (name: string, ...arrays: (Float32Array | Int8Array)[]) => {
    places[name] = end
    const content = Buffer.concat(arrays.map((array) => Buffer.from(array.buffer)))
    const padded = Buffer.concat([content, Buffer.alloc(-content.length & 63)])
    parts.push(padded)
    end += padded.length
  }
  add('words', encoder.words.bytes)
  add('wordScales', encoder.words.scales)
  add('positions', encoder.positions)
  add('roles', encoder.roles)
  add('norm', ...encoder.norm)
  for (const kind of ['layers', 'cross'] as const) {
    for (const [place, layer] of encoder[kind].entries()) {
      for (const name of ['qkv', 'out', 'up', 'down'] as const) {
        const { scales, bias } = layer[name]
        add(`${kind}.${place}.${name}`, scales, sumsOf(layer[name]), bias, tilesOf(layer[name]))
      }
      for (const name of ['norm1', 'norm2'] as const)
        add(`${kind}.${place}.${name}`, ...layer[name])
    }
  }
  for (const name of ['hidden', 'score', 'near', 'effect'] as const) {
    add(name, encoder[name].weight)
    add(`${name}.bias`, encoder[name].bias)
  }
  const header = Buffer.from(
    JSON.stringify({
      ...encoder.sizes,
      vocabulary: encoder.vocabulary,
      places: { ...places, ...wrong },
      readsBefore: true,
    }),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(header.length)
  const padding = Buffer.alloc(-(8 + 32 + 4 + header.length) & 63)
  const body = Buffer.concat([length, header, padding, ...parts])
  return Buffer.concat([Buffer.from('PLUMBENC'), createHash('sha256').update(body).digest(), body])
}

function sumsOf({ bytes, scales, inputs }: Linear): Float32Array {
  return scales.map(
    (scale, row) =>
      scale * bytes.subarray(row * inputs, (row + 1) * inputs).reduce((sum, byte) => sum + byte, 0),
  )
}

/** The bytes in tiles of eight outputs, four inputs of each output side by side. */
function tilesOf({ bytes, inputs, outputs }: Linear): Int8Array {
  const tiles: number[] = []
  for (let first = 0; first < outputs; first += 8)
    for (let input = 0; input < inputs; input += 4)
      for (let output = first; output < first + 8; output++)
        for (let at = 0; at < 4; at++) tiles.push(bytes[output * inputs + input + at]!)
  return Int8Array.from(tiles)
}
