const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The bytes of a base64 text whose length is a multiple of four characters. */
export function bytesOfBase64(text: string): Uint8Array {
  const values = new Uint8Array(128)
  for (let value = 0; value < 64; value++) values[alphabet.charCodeAt(value)] = value
  const bytes = new Uint8Array((text.length / 4) * 3)
  const valueAt = (at: number) => values[text.charCodeAt(at)] as number
  for (let from = 0, to = 0; from < text.length; from += 4, to += 3) {
    const first = valueAt(from)
    const second = valueAt(from + 1)
    const third = valueAt(from + 2)
    bytes[to] = (first << 2) | (second >> 4)
    bytes[to + 1] = (second << 4) | (third >> 2)
    bytes[to + 2] = (third << 6) | valueAt(from + 3)
  }
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return bytes.subarray(0, bytes.length - padding)
}
