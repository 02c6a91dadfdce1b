import { createHash } from 'node:crypto'

/** The sizes of the network, as `network.py` names them. */
export interface Sizes {
  /** Numbers in a row, a multiple of 16 and of `heads`. */
  width: number
  /** Layers in which a text reads only itself. */
  layers: number
  /** The layer after which a goal also goes through the layers in which it reads the errand. */
  branch: number
  heads: number
  /** Numbers between the two matrices of a layer. */
  inner: number
  /** Numbers in the layer before the score. */
  hidden: number
  /** Added to the attention of a goal to the errand. */
  crossBias: number
  /** The most tokens of a text, with its first and last. */
  errandTokens: number
  goalTokens: number
}

/** The weights of the encoder, as `export.py` writes them. */
export interface Weights extends Sizes {
  /** The first twelve digits of the file's hash. */
  version: string
  vocabulary: readonly string[]
  /** The byte offset of each tensor in `data`. */
  places: Readonly<Record<string, number>>
  /** Whether they were trained to read earlier goals; absent in files from before this ability. */
  readsBefore?: boolean
  data: Uint8Array
}

const magic = 'PLUMBENC'
const hashEnd = magic.length + 32
const alignment = 64

/** Reads a file of weights. Throws an error with the reason if it is no such file or damaged. */
export function readWeights(file: Uint8Array): Weights {
  if (Buffer.from(file.subarray(0, magic.length)).toString('latin1') !== magic)
    throw new Error('it is not a file of weights')
  const hash = Buffer.from(file.subarray(magic.length, hashEnd)).toString('hex')
  const body = file.subarray(hashEnd)
  if (createHash('sha256').update(body).digest('hex') !== hash)
    throw new Error('it is damaged: its content does not have the hash that it names')
  const length = new DataView(body.buffer, body.byteOffset).getUint32(0, true)
  const header = JSON.parse(Buffer.from(body.subarray(4, 4 + length)).toString('utf8'))
  const start = Math.ceil((hashEnd + 4 + length) / alignment) * alignment
  return { ...header, version: hash.slice(0, 12), data: file.subarray(start) }
}
