import { wellFormed } from '../text.ts'

/** Longest webhook address, in UTF-16 code units. */
const maxUrlLength = 4000

/** The operator's exemptions from the rule that a webhook is https on a public host. */
export interface WebhookAllowance {
  /** Host names, lower case and without a trailing dot. */
  readonly names: readonly { readonly name: string; readonly port: number | null }[]
  readonly networks: readonly (Network & { readonly port: number | null })[]
}

/** A network: addresses with the same first `bits`; `bytes` are 4 or 16. */
interface Network {
  readonly bytes: readonly number[]
  readonly bits: number
}

/** No exemption at all. */
export const nothingAllowed: WebhookAllowance = { names: [], networks: [] }

/** The target of a webhook address, without resolving it. */
export interface Destination {
  readonly url: URL
  /** A host name, lower case and without a trailing dot, or an address without brackets. */
  readonly host: string
  readonly port: number
}

/**
 * Returns the trimmed address if it is https on a public host or exempt, otherwise null. The check is
 * syntactic; resolved addresses are checked at delivery. Never throws.
 */
export function readWebhookUrl(value: unknown, allow: WebhookAllowance): string | null {
  const url = wellFormed(textOf(value)).trim()
  const destination = readDestination(url)
  return destination !== null && mayBeWebhook(destination, allow) ? url : null
}

/** The target of an address, or null if it is not an http or https address. */
export function readDestination(text: string): Destination | null {
  if (text.length > maxUrlLength || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
  const host = hostOf(url)
  const port = url.port === '' ? defaultPort(url) : Number(url.port)
  return { url, host, port }
}

/** Whether the name of a webhook is exempt, with every address it resolves to. */
export function isAllowedName({ host, port }: Destination, allow: WebhookAllowance): boolean {
  return allow.names.some((each) => each.name === host && (each.port ?? port) === port)
}

/** Whether a webhook on this port may be at this literal address: a public or an exempt one. */
export function mayConnect(address: string, port: number, allow: WebhookAllowance): boolean {
  const bytes = readAddress(address)
  if (bytes === null) return false
  return isPublic(bytes) || isExempt(bytes, port, allow)
}

/** Whether it is a literal IPv4 or IPv6 address that is routed on the public internet. */
export function isPublicAddress(address: string): boolean {
  const bytes = readAddress(address)
  return bytes !== null && isPublic(bytes)
}

/** Whether it is an address rather than a name; without brackets. */
export function isAddress(host: string): boolean {
  return readAddress(host) !== null
}

/**
 * Parses a comma-separated list of exemptions: `host`, `host:port` (a name or an address) or a network
 * such as `10.0.0.0/8`. Addresses in an exempt network may use http, and names may resolve to them.
 */
export function readWebhookAllowance(
  list: string,
): WebhookAllowance | { faults: readonly string[] } {
  const entries = list.split(',').map((part) => part.trim())
  const read = entries.map(readAllowed)
  const faults = entries.filter((_, place) => read[place] === null)
  if (faults.length > 0) return { faults }
  return {
    names: read.flatMap((each) => (each !== null && 'name' in each ? [each] : [])),
    networks: read.flatMap((each) => (each !== null && 'bytes' in each ? [each] : [])),
  }
}

/** Coerces a value to text. Objects name no host, and their own `toString` may throw. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  const parts = Array.isArray(value) ? value : [value]
  return parts.some((part) => typeof part === 'object') ? '' : parts.map(String).join(',')
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function defaultPort({ protocol }: URL): number {
  return protocol === 'https:' ? 443 : 80
}

function mayBeWebhook(destination: Destination, allow: WebhookAllowance): boolean {
  const { url, host, port } = destination
  if (isAllowedName(destination, allow)) return true
  const bytes = readAddress(host)
  if (bytes !== null && isExempt(bytes, port, allow)) return true
  if (url.protocol !== 'https:') return false
  return bytes === null ? isPublicName(host) : isPublic(bytes)
}

const privateEndings = ['localhost', 'internal', 'local']

function isPublicName(name: string): boolean {
  const labels = name.split('.')
  if (labels.length < 2 || labels.includes('')) return false
  return !privateEndings.includes(labels.at(-1) ?? '')
}

function isExempt(bytes: readonly number[], port: number, { networks }: WebhookAllowance): boolean {
  const plain = withoutMapping(bytes)
  return networks.some((each) => (each.port ?? port) === port && isWithin(plain, each))
}

/**
 * Addresses outside the public internet, from IANA's special-purpose registries. Only ranges where
 * something can answer are listed, so the documentation ranges are not.
 */
const privateNetworks: readonly Network[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2002::/16',
  '2620:4f:8000::/48',
].flatMap((text) => readNetwork(text) ?? [])

/**
 * The routed part of IPv6. Loopback, unique local, link-local, multicast and translated addresses are
 * outside it.
 */
const globalUnicast: Network = { bytes: [0x20, ...Array(15).fill(0)], bits: 3 }

function isPublic(bytes: readonly number[]): boolean {
  const plain = withoutMapping(bytes)
  if (plain.length === 16 && !isWithin(plain, globalUnicast)) return false
  return !privateNetworks.some((network) => isWithin(plain, network))
}

const mappedPrefix: Network = { bytes: [...Array(10).fill(0), 255, 255, 0, 0, 0, 0], bits: 96 }

/** Unwraps the IPv4 address of an IPv4-mapped IPv6 address; returns other addresses unchanged. */
function withoutMapping(bytes: readonly number[]): readonly number[] {
  return isWithin(bytes, mappedPrefix) ? bytes.slice(12) : bytes
}

function isWithin(bytes: readonly number[], network: Network): boolean {
  if (bytes.length !== network.bytes.length) return false
  return network.bytes.every((byte, place) => {
    const bits = Math.min(8, Math.max(0, network.bits - 8 * place))
    const mask = (0xff00 >> bits) & 0xff
    return (byte & mask) === ((bytes[place] ?? 0) & mask)
  })
}

function readAllowed(
  entry: string,
): WebhookAllowance['names'][number] | WebhookAllowance['networks'][number] | null {
  const network = readNetwork(entry) ?? wholeAddress(readAddress(entry.replace(/^\[(.*)\]$/, '$1')))
  if (network !== null) return { ...network, port: null }
  // Allows only a host and a port, no other part of a url.
  if (!/^[^/?#@\\\s]+$/.test(entry) || !URL.canParse(`http://${entry}`)) return null
  const url = new URL(`http://${entry}`)
  const [, givenPort] = /:(\d+)$/.exec(entry) ?? []
  const port = givenPort === undefined ? null : Number(givenPort)
  const host = hostOf(url)
  const address = wholeAddress(readAddress(host))
  if (address !== null) return { ...address, port }
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) ? { name: host, port } : null
}

function wholeAddress(bytes: readonly number[] | null): Network | null {
  return bytes === null ? null : { bytes, bits: 8 * bytes.length }
}

function readNetwork(text: string): Network | null {
  const [address = '', length = '', ...more] = text.split('/')
  const bytes = readAddress(address)
  if (bytes === null || !/^\d{1,3}$/.test(length) || more.length > 0) return null
  const bits = Number(length)
  return bits <= 8 * bytes.length ? { bytes, bits } : null
}

/** The bytes of a literal address, or null. An IPv6 address with a zone is link-local, so it is rejected. */
function readAddress(text: string): readonly number[] | null {
  return text.includes(':') ? readIPv6(text) : readIPv4(text)
}

function readIPv4(text: string): readonly number[] | null {
  const parts = text.split('.')
  // No leading zeros, because some parsers read them as octal.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return null
  const bytes = parts.map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes : null
}

function readIPv6(text: string): readonly number[] | null {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return null
  const start = readGroups(head, tail === undefined)
  const end = readGroups(tail ?? '', true)
  if (start === null || end === null) return null
  const gap = 16 - start.length - end.length
  if (tail === undefined ? gap !== 0 : gap < 2) return null
  return [...start, ...Array<number>(gap).fill(0), ...end]
}

/** Groups of two bytes between single colons; the last of an address may be an IPv4 address. */
function readGroups(text: string, endsAddress: boolean): readonly number[] | null {
  if (text === '') return []
  const groups = text.split(':')
  const bytes: number[] = []
  for (const [place, group] of groups.entries()) {
    const dotted = endsAddress && place === groups.length - 1 ? readIPv4(group) : null
    if (dotted === null && !/^[0-9a-f]{1,4}$/i.test(group)) return null
    const value = Number.parseInt(group, 16)
    bytes.push(...(dotted ?? [value >> 8, value & 0xff]))
  }
  return bytes
}
