import { bytesOfBase64 } from '../../base64.ts'
import { meaningModel } from './weights.js'

/** The model of the pair score: a row for each word, and the weights of the features. */
export interface Model extends Header {
  /** The hash of each row's word. */
  hashes: Int32Array
  /** Open-addressed by hash: the row plus one, 0 where the place is free. */
  places: Int32Array
  /** Rarity of each word, in sixteenths. */
  rarities: Uint8Array
  /** How much a match of each word matters, in sixteenths. */
  weights: Uint8Array
  /** Log-odds that each word adds where it finds no match, in sixteenths. */
  unmatched: Int8Array
  /** Log-odds that each word adds where it finds a match, in sixteenths. */
  matched: Int8Array
  /** 1 for words of English and of the trade, 0 for words of other languages and other strings. */
  known: Uint8Array
  /** `dims` numbers a row; only their direction counts. */
  vectors: Int8Array
}

/** The header of a model file. */
export interface Header {
  /** The version of the training; it changes whenever a score may. */
  version: string
  dims: number
  words: number
  unknown: { rarity: number; weight: number }
  /** Log-odds of drift = bias + Σ coefficient · feature, in the order of the features. */
  bias: number
  features: string[]
  coefficients: number[]
  /** The probability of drift from each log-odds upwards, ascending in both. */
  calibration: [from: number, probability: number][]
}

let decoded: Model | undefined

/** The model in the package, decoded on first use. */
export function packagedModel(): Model {
  decoded ??= decodeModel(bytesOfBase64(meaningModel))
  return decoded
}

/**
 * Reads a model file: the length of the JSON header in four bytes, least significant first, the ASCII
 * header, the columns of the rows one after another, and the vectors.
 */
export function decodeModel(bytes: Uint8Array): Model {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 4 + view.getUint32(0, true)
  const header = JSON.parse(String.fromCharCode(...bytes.subarray(4, at))) as Header
  const { words, dims } = header
  const hashes = new Int32Array(words)
  for (let row = 0; row < words; row++) hashes[row] = view.getInt32(at + 4 * row, true)
  at += 4 * words
  const take = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  return {
    ...header,
    hashes,
    places: placesOf(hashes),
    rarities: take(words),
    weights: take(words),
    unmatched: signed(take(words)),
    matched: signed(take(words)),
    known: take(words),
    vectors: signed(take(words * dims)),
  }
}

/** The row of the word with this hash, or -1. */
export function rowOf({ places, hashes }: Model, hash: number): number {
  const mask = places.length - 1
  for (let place = hash & mask; ; place = (place + 1) & mask) {
    const row = (places[place] ?? 0) - 1
    if (row < 0 || hashes[row] === hash) return row
  }
}

function placesOf(hashes: Int32Array): Int32Array {
  let size = 1024
  while (size < 2 * hashes.length) size *= 2
  const places = new Int32Array(size)
  for (let row = 0; row < hashes.length; row++) {
    let place = (hashes[row] ?? 0) & (size - 1)
    while (places[place] !== 0) place = (place + 1) & (size - 1)
    places[place] = row + 1
  }
  return places
}

function signed(bytes: Uint8Array): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
