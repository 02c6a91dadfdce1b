import { type KernelBuild, loadKernel } from './kernel.ts'
import { product, roundTo64th } from './likeness.ts'
import { createTokens } from './tokens.ts'
import type { Weights } from './weights.ts'

/** What the network keeps of an errand: all that a goal reads of it. */
export interface ReadErrand {
  count: number
  /** Rows of key and value, for each layer in which a goal reads the errand. */
  keysAndValues: readonly Float32Array[]
  /** A row of length 1 for each token. */
  tokens: Float32Array
  /** The meaning of the whole text, of length 1. */
  meaning: Float32Array
}

/** What the network keeps of a goal before it reads an errand. */
export interface ReadGoal {
  count: number
  /** The rows with which the goal starts to read an errand. */
  rows: Float32Array
  tokens: Float32Array
  meaning: Float32Array
}

/** What the network keeps of a goal that it has read beside an errand. */
export interface ReadBeside {
  /** Log-odds that the goal serves the errand, rounded to 1/64. */
  serves: number
  /**
   * Log-odds, rounded to 1/64, of each effect that the goal has on the errand if it is a message of the user; null if the
   * weights do not know.
   */
  effects: readonly number[] | null
  count: number
  /** Rows of key and value, for each layer in which a later goal reads this one. */
  keysAndValues: readonly Float32Array[]
}

/** The encoder: a small transformer, computed in this thread. The same texts give the same numbers everywhere. */
export interface Network {
  version: string
  /** Whether the weights were trained to read earlier goals. */
  readsBefore: boolean
  /** Whether the weights were trained to read messages of users. */
  readsMessages: boolean
  readErrand(text: string): ReadErrand
  readGoal(text: string): ReadGoal
  /** Reads a goal beside an errand, and beside up to `mostBefore` earlier goals that it has read so. */
  readBeside(errand: ReadErrand, goal: ReadGoal, before?: readonly ReadBeside[]): ReadBeside
}

/** The most earlier goals that a goal reads. */
export const mostBefore = 4

const roles = { errand: 0, goal: 2 }
/** What a message of the user can do, in the order of `userEffects`. */
const effectCount = 4
const floatBytes = 4

/** Creates the network from its weights. It holds one copy of them in memory. Throws if they do not fit their sizes. */
export function createNetwork(weights: Weights, build?: KernelBuild): Network {
  const { width, layers, branch, heads, inner, hidden, crossBias, places, data, version } = weights
  const { errandTokens, goalTokens } = weights
  const maxTokens = Math.max(errandTokens, goalTokens)
  const maxOtherTokens = errandTokens + mostBefore * goalTokens
  const rowBytes = width * floatBytes
  const tokensOf = createTokens(weights.vocabulary)
  const crossLayers = layers - branch
  if (width % (16 * heads) !== 0 || inner % 16 !== 0 || Math.min(errandTokens, goalTokens) < 3)
    throw new Error('its sizes do not fit together')

  const sizes = {
    rows: maxTokens * rowBytes,
    qkv: 3 * maxTokens * rowBytes,
    attended: maxTokens * rowBytes,
    inner: maxTokens * inner * floatBytes,
    scratch: maxTokens * (Math.max(inner, width) + 8) + 64,
    attention: (maxTokens + maxOtherTokens + 16) * (4 + (2 * width) / heads) * floatBytes,
    other: 2 * maxOtherTokens * rowBytes,
    compared: 4 * rowBytes,
    effects: effectCount * floatBytes,
    hidden: hidden * floatBytes,
  }
  const total = Object.values(sizes).reduce((sum, size) => sum + aligned(size), data.byteLength)
  const { kernel, memory, start } = loadKernel(total, build)
  new Uint8Array(memory, start, data.byteLength).set(data)
  const at = layOut(sizes, aligned(start + data.byteLength))
  const view = new DataView(memory)

  /** Where a tensor of so many bytes begins. The kernel relies on it that the tensor lies in the data. */
  function placeOf(name: string, bytes: number): number {
    const place = places[name]
    if (place === undefined) throw new Error(`it lacks ${name}`)
    if (!(place >= 0 && place + bytes <= data.byteLength))
      throw new Error(`its ${name} lies outside of its data`)
    return start + place
  }

  function layerAt(name: string): Layer {
    const norm = (which: string): [number, number] => {
      const place = placeOf(`${name}.${which}`, 2 * rowBytes)
      return [place, place + rowBytes]
    }
    const linear = (which: string, inputs: number, outputs: number) =>
      placeOf(`${name}.${which}`, outputs * (3 * floatBytes + inputs))
    return {
      qkv: linear('qkv', width, 3 * width),
      out: linear('out', width, width),
      up: linear('up', width, inner),
      down: linear('down', inner, width),
      norm1: norm('norm1'),
      norm2: norm('norm2'),
    }
  }

  /** Where a matrix of float32 begins, and its bias. */
  function headAt(name: string, inputs: number, outputs: number) {
    return {
      weight: placeOf(name, inputs * outputs * floatBytes),
      bias: placeOf(`${name}.bias`, outputs * floatBytes),
    }
  }

  const own = Array.from({ length: layers }, (_, place) => layerAt(`layers.${place}`))
  const cross = Array.from({ length: crossLayers }, (_, place) => layerAt(`cross.${place}`))
  const words = placeOf('words', weights.vocabulary.length * width)
  const wordScales = placeOf('wordScales', weights.vocabulary.length * floatBytes)
  const positions = placeOf('positions', maxTokens * rowBytes)
  const roleRows = placeOf('roles', 3 * rowBytes)
  const norm = placeOf('norm', 2 * rowBytes)
  const hiddenHead = headAt('hidden', 4 * width, hidden)
  const scoreHead = headAt('score', hidden, 1)
  const nearHead = headAt('near', 2, 1)
  const head = {
    score: floatsAt(scoreHead.weight, hidden),
    near: floatsAt(nearHead.weight, 2),
    bias: (floatsAt(scoreHead.bias, 1)[0] ?? 0) + (floatsAt(nearHead.bias, 1)[0] ?? 0),
  }

  const effect = places.effect === undefined ? null : headAt('effect', 2 * width, effectCount)

  function floatsAt(place: number, count: number): Float32Array {
    return new Float32Array(memory, place, count)
  }

  function copyOf(place: number, count: number): Float32Array {
    return floatsAt(place, count).slice()
  }

  /** Writes the first rows of a text at `at.rows` and returns their number. */
  function embed(text: string, limit: number, role: number): number {
    const tokens = tokensOf(text, limit)
    for (const [place, token] of tokens.entries()) {
      const scale = view.getFloat32(wordScales + token * floatBytes, true)
      kernel.embed(
        at.rows + place * rowBytes,
        words + token * width,
        scale,
        positions + place * rowBytes,
        roleRows + role * rowBytes,
        width,
      )
    }
    floatsAt(at.attended, tokens.length * width).fill(0)
    kernel.add_and_normalise(at.rows, at.attended, norm, norm + rowBytes, tokens.length, width)
    return tokens.length
  }

  /** Puts the rows at `at.rows` through a layer, in which they read themselves. */
  function pass(layer: Layer, count: number): void {
    project(layer, count)
    mix(layer, count, 0)
  }

  /** Writes query, key and value of each row at `at.rows` to `at.qkv`. */
  function project(layer: Layer, count: number): void {
    kernel.multiply_rows(at.qkv, at.rows, count, layer.qkv, width, 3 * width, at.scratch)
  }

  /** The rest of a layer, after `project`; the rows read themselves and those at `at.other`. */
  function mix(layer: Layer, count: number, otherCount: number): void {
    const { attended, qkv, other, attention } = at
    kernel.attend(attended, qkv, count, other, otherCount, crossBias, width, heads, attention)
    // What the queries, keys and values held is read, so their place takes the sums.
    kernel.multiply_rows(at.qkv, at.attended, count, layer.out, width, width, at.scratch)
    kernel.add_and_normalise(at.rows, at.qkv, ...layer.norm1, count, width)
    kernel.multiply_rows(at.inner, at.rows, count, layer.up, width, inner, at.scratch)
    kernel.gelu(at.inner, count * inner)
    kernel.multiply_rows(at.qkv, at.inner, count, layer.down, inner, width, at.scratch)
    kernel.add_and_normalise(at.rows, at.qkv, ...layer.norm2, count, width)
  }

  /** Key and value of each row, after `project`. */
  function copyKeysAndValues(count: number): Float32Array {
    const rows = new Float32Array(count * 2 * width)
    for (let row = 0; row < count; row++)
      rows.set(floatsAt(at.qkv + (3 * row + 1) * rowBytes, 2 * width), row * 2 * width)
    return rows
  }

  /** The rows at `at.rows` after the layers from `branch` on, at length 1, and their mean at length 1. */
  function finish(count: number): { tokens: Float32Array; meaning: Float32Array } {
    for (const layer of own.slice(branch)) pass(layer, count)
    kernel.mean(at.compared, at.rows, count, width)
    kernel.unit(at.compared, at.compared, 1, width)
    kernel.unit(at.rows, at.rows, count, width)
    return { tokens: copyOf(at.rows, count * width), meaning: copyOf(at.compared, width) }
  }

  /** Puts a text through the layers up to the branch and returns a copy of its rows there. */
  function readToBranch(text: string, limit: number, role: number) {
    const count = embed(text, limit, role)
    for (const layer of own.slice(0, branch)) pass(layer, count)
    return { count, rows: copyOf(at.rows, count * width) }
  }

  /** Writes what the score reads of both texts: how alike their meanings are, and what the goal has read. */
  function compare(errand: ReadErrand, goal: ReadGoal): void {
    const scale = Math.sqrt(width)
    const product = floatsAt(at.compared, width)
    const difference = floatsAt(at.compared + rowBytes, width)
    for (let place = 0; place < width; place++) {
      const a = goal.meaning[place] ?? 0
      const b = errand.meaning[place] ?? 0
      product[place] = a * b * width
      difference[place] = Math.abs(a - b) * scale
    }
    kernel.mean(at.compared + 2 * rowBytes, at.rows, goal.count, width)
    floatsAt(at.compared + 3 * rowBytes, width).set(floatsAt(at.rows, width))
  }

  /** The log-odds of each effect, of what `compare` wrote. */
  function effectsOf(): number[] | null {
    if (effect === null) return null
    const read = at.compared + 2 * rowBytes
    kernel.multiply(at.effects, effect.weight, effect.bias, read, 2 * width, effectCount)
    return [...floatsAt(at.effects, effectCount)].map(roundTo64th)
  }

  return {
    version,
    readsBefore: weights.readsBefore ?? false,
    readsMessages: effect !== null,
    readErrand(text) {
      const { count, rows } = readToBranch(text, errandTokens, roles.errand)
      const finished = finish(count)
      floatsAt(at.rows, rows.length).set(rows)
      const read = cross.map((layer, place) => {
        project(layer, count)
        const kept = copyKeysAndValues(count)
        if (place < crossLayers - 1) mix(layer, count, 0)
        return kept
      })
      return { count, keysAndValues: read, ...finished }
    },
    readGoal(text) {
      const { count, rows } = readToBranch(text, goalTokens, roles.goal)
      return { count, rows, ...finish(count) }
    },
    readBeside(errand, goal, before = []) {
      const others = [errand, ...before.slice(-mostBefore)]
      const otherCount = others.reduce((sum, { count }) => sum + count, 0)
      floatsAt(at.rows, goal.rows.length).set(goal.rows)
      const keysAndValues = cross.map((layer, place) => {
        let end = at.other
        for (const { keysAndValues } of others) {
          const rows = keysAndValues[place] ?? new Float32Array()
          floatsAt(end, rows.length).set(rows)
          end += rows.byteLength
        }
        project(layer, goal.count)
        const kept = copyKeysAndValues(goal.count)
        mix(layer, goal.count, otherCount)
        return kept
      })
      compare(errand, goal)
      const { weight, bias } = hiddenHead
      kernel.multiply(at.hidden, weight, bias, at.compared, 4 * width, hidden)
      kernel.tanh(at.hidden, hidden)
      const units = floatsAt(at.hidden, hidden)
      let score = head.bias
      for (const [place, weight] of head.score.entries()) score += weight * (units[place] ?? 0)
      floatsAt(at.other, errand.tokens.length).set(errand.tokens)
      floatsAt(at.qkv, goal.tokens.length).set(goal.tokens)
      const closest = kernel.closest(at.qkv, goal.count, at.other, errand.count, width)
      const [ofMeaning = 0, ofTokens = 0] = head.near
      score += ofMeaning * product(errand.meaning, goal.meaning) + ofTokens * closest
      return { serves: roundTo64th(score), effects: effectsOf(), count: goal.count, keysAndValues }
    },
  }
}

/** Pointers to the weights of a layer; a norm has a weight and a bias. */
interface Layer {
  qkv: number
  out: number
  up: number
  down: number
  norm1: [number, number]
  norm2: [number, number]
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 64) * 64
}

/** The places of parts of the given sizes, one after another from `start` on. */
function layOut<Name extends string>(
  sizes: Record<Name, number>,
  start: number,
): Record<Name, number> {
  const places = {} as Record<Name, number>
  for (const name of Object.keys(sizes) as Name[]) {
    places[name] = start
    start += aligned(sizes[name])
  }
  return places
}
