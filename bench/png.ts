import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')
const mostColours = 256

/** Writes a picture of a screen (8 bits a channel, not interlaced) with a palette of at most 256 colours. */
export function withPalette(png: Buffer): Buffer {
  const { width, height, channels, rows } = readPixels(png)
  const colours = new Map<number, number>()
  const wanted = new Uint32Array(width * height)
  for (let at = 0; at < wanted.length; at++) {
    const from = at * channels
    const colour = (rows[from]! << 16) | (rows[from + 1]! << 8) | rows[from + 2]!
    wanted[at] = colour
    colours.set(colour, (colours.get(colour) ?? 0) + 1)
  }
  const palette = choosePalette(colours)
  const placeOf = new Map<number, number>()
  const packed = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = wanted[y * width + x]!
      let place = placeOf.get(colour)
      if (place === undefined) {
        place = nearest(palette, colour)
        placeOf.set(colour, place)
      }
      packed[y * (width + 1) + 1 + x] = place
    }
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  const bytes = Buffer.from(
    palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]),
  )
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', bytes),
    chunk('IDAT', deflateSync(packed, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The colours of most pixels, none nearer to another than can be seen; so the ink of text keeps its shades. */
function choosePalette(colours: ReadonlyMap<number, number>): number[] {
  const byUse = [...colours].sort(([, a], [, b]) => b - a).map(([colour]) => colour)
  if (byUse.length <= mostColours) return byUse
  let apart = 4
  for (;;) {
    const chosen: number[] = []
    for (const colour of byUse) {
      if (chosen.every((each) => distance(each, colour) >= apart)) chosen.push(colour)
      if (chosen.length > mostColours) break
    }
    if (chosen.length <= mostColours) return chosen
    apart *= 1.25
  }
}

function nearest(palette: readonly number[], colour: number): number {
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (const [place, each] of palette.entries()) {
    const far = distance(each, colour)
    if (far < least) [best, least] = [place, far]
  }
  return best
}

function distance(a: number, b: number): number {
  const red = (a >> 16) - (b >> 16)
  const green = ((a >> 8) & 255) - ((b >> 8) & 255)
  const blue = (a & 255) - (b & 255)
  return Math.sqrt(2 * red * red + 4 * green * green + 3 * blue * blue)
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const whole = Buffer.alloc(named.length + 8)
  whole.writeUInt32BE(data.length, 0)
  named.copy(whole, 4)
  whole.writeUInt32BE(crc32(named), named.length + 4)
  return whole
}

interface Pixels {
  width: number
  height: number
  channels: number
  rows: Uint8Array
}

function readPixels(png: Buffer): Pixels {
  let at = signature.length
  let [width, height, channels] = [0, 0, 3]
  const data: Buffer[] = []
  while (at < png.length) {
    const length = png.readUInt32BE(at)
    const name = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + length)
    if (name === 'IHDR') {
      width = body.readUInt32BE(0)
      height = body.readUInt32BE(4)
      channels = body[9] === 6 ? 4 : 3
      if (body[8] !== 8 || ![2, 6].includes(body[9]!) || body[12] !== 0)
        throw new Error('a picture that is not 8 bits a channel, or is interlaced')
    }
    if (name === 'IDAT') data.push(body)
    at += length + 12
  }
  return {
    width,
    height,
    channels,
    rows: unfiltered(inflateSync(Buffer.concat(data)), width * channels, height, channels),
  }
}

/** Undoes the filters of the rows, https://www.w3.org/TR/png-3/#9Filters. */
function unfiltered(
  bytes: Uint8Array,
  stride: number,
  height: number,
  channels: number,
): Uint8Array {
  const rows = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = bytes[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < channels ? 0 : rows[at - channels]!
      const up = y === 0 ? 0 : rows[at - stride]!
      const upLeft = x < channels || y === 0 ? 0 : rows[at - stride - channels]!
      const guess =
        filter === 1
          ? left
          : filter === 2
            ? up
            : filter === 3
              ? (left + up) >> 1
              : filter === 4
                ? paeth(left, up, upLeft)
                : 0
      rows[at] = bytes[y * (stride + 1) + 1 + x]! + guess
    }
  }
  return rows
}

function paeth(left: number, up: number, upLeft: number): number {
  const guess = left + up - upLeft
  const [toLeft, toUp, toUpLeft] = [
    Math.abs(guess - left),
    Math.abs(guess - up),
    Math.abs(guess - upLeft),
  ]
  if (toLeft <= toUp && toLeft <= toUpLeft) return left
  return toUp <= toUpLeft ? up : upLeft
}
