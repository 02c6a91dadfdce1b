import { type BlockList, isIP, SocketAddress } from 'node:net'

/** How the caller's address is found. */
export interface AddressSettings {
  /** Header that names it, lower case; null takes the socket's. */
  readonly clientAddressHeader: string | null
  /** Peers whose header counts; null trusts every peer. */
  readonly trustedProxies: BlockList | null
}

/** The one bucket of all callers that nothing tells apart. */
const unknown = 'unknown'

const longestBucket = 64

/**
 * The bucket a caller counts in: an IP address in its canonical form, or the header's value as sent
 * (its first 64 characters), or `unknown`.
 */
export function addressBucket(
  { clientAddressHeader, trustedProxies }: AddressSettings,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  peer: string | undefined,
): string {
  if (clientAddressHeader === null) return canonical(peer ?? unknown)
  if (trustedProxies !== null && !isTrusted(trustedProxies, peer)) return unknown
  const sent = headers[clientAddressHeader]
  const value = (Array.isArray(sent) ? sent.join(', ') : (sent ?? '')).trim()
  return value === '' ? unknown : canonical(value)
}

function isTrusted(proxies: BlockList, peer: string | undefined): boolean {
  const address = canonical(peer ?? '')
  const version = isIP(address)
  return version !== 0 && proxies.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

function canonical(value: string): string {
  if (!value.includes(':') || isIP(value) !== 6) return value.slice(0, longestBucket)
  const [zoneless = value] = value.split('%')
  const { address } = new SocketAddress({ address: zoneless, family: 'ipv6' })
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address
}
