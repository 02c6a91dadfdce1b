const prefix = 'pl_live_'
const secretLength = 43
const checksumLength = 6

/** What a key may do: everything, or only report the events of hooks. */
export const keyScopes = ['full', 'hooks'] as const

export type KeyScope = (typeof keyScopes)[number]

/** The base62 digits in order: digits, upper case, lower case. */
export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Spells a key: `pl_live_`, 43 base62 characters from at least 256 random bits, `_`, and six base62
 * characters of the CRC-32 of everything before the last underscore. With the public checksum, a typo is
 * refused without a lookup and secret scanners match exactly. `random` holds a number of 0–61 for each
 * character.
 */
export function spellKey(random: readonly number[]): string {
  if (random.length !== secretLength) throw new Error(`a key needs ${secretLength} characters`)
  const body = prefix + random.map((digit) => base62.charAt(digit)).join('')
  return `${body}_${checksumOf(body)}`
}

/** Number of random characters that `spellKey` needs. */
export const keyRandomLength = secretLength

/** Whether a text has the form of a key and its checksum is right. */
export function isSpelledKey(text: string): boolean {
  if (!pattern.test(text)) return false
  const end = text.length - checksumLength - 1
  return text.slice(end + 1) === checksumOf(text.slice(0, end))
}

/** The part of a key that is shown later: it identifies the key and cannot be used. */
export function keyPrefix(key: string): string {
  return key.slice(0, prefix.length + 6)
}

const pattern = new RegExp(`^${prefix}[0-9A-Za-z]{${secretLength}}_[0-9A-Za-z]{${checksumLength}}$`)

function checksumOf(body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let place = 0; place < checksumLength; place++) {
    digits = base62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** CRC-32 (IEEE 802.3, reflected, polynomial 0xEDB88320) of an ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let at = 0; at < text.length; at++) {
    crc ^= text.charCodeAt(at)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}
