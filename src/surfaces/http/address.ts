import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, SocketAddress } from 'node:net'
import { unknownAddress } from '../../core/address.ts'

/** The settings by which the address of a caller is found. */
export interface AddressSettings {
  /** Header that names it, lower case; null takes the socket's. */
  readonly clientAddressHeader: string | null
  /** Peers whose header counts; null trusts those that can be a proxy of this server's own network. */
  readonly trustedProxies: BlockList | null
}

const longestBucket = 64

/**
 * The bucket a caller counts in: an IP address in its canonical form, or the header's value as sent
 * (its first 64 characters), or `unknown` when no header names an address. The header counts only
 * from a proxy; any other peer that sends it is the address of its socket. Each proxy appends the
 * peer it saw to a list, so the rightmost address that is no proxy is the last one that a caller
 * cannot have made up.
 */
export function addressBucket(
  { clientAddressHeader, trustedProxies }: AddressSettings,
  request: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
  peerAddress: string | undefined,
): string {
  const peer = canonical(peerAddress ?? unknownAddress)
  if (clientAddressHeader === null) return peer
  const sent = String(request.headers[clientAddressHeader] ?? '').trim()
  if (sent === '') return unknownAddress
  if (!isProxy({ trustedProxies }, peer)) return peer
  return isList(clientAddressHeader, sent, request)
    ? callerIn(sent, trustedProxies)
    : canonical(sent)
}

/** Whether a peer is a proxy whose headers count. */
export function isProxy(
  { trustedProxies }: Pick<AddressSettings, 'trustedProxies'>,
  peerAddress: string,
): boolean {
  return isAmong(trustedProxies ?? ownNetwork, canonical(peerAddress))
}

/** Whether an address is a loopback, private or link-local one. */
export function isOwnNetwork(address: string): boolean {
  return isAmong(ownNetwork, canonical(address))
}

/** Whether an address is a loopback address. */
export function isLoopback(address: string): boolean {
  return isAmong(loopback, canonical(address))
}

const loopback = blocks(['127.0.0.0/8', '::1/128'])
const ownNetwork = blocks([
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'],
  ...['::1/128', 'fc00::/7', 'fe80::/10'],
])

function blocks(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** Splits a header into its list. Node joins several lines of one header by commas. */
function isList(
  header: string,
  sent: string,
  { headersDistinct }: Pick<IncomingMessage, 'headersDistinct'>,
): boolean {
  if (header === 'x-forwarded-for') return true
  return sent.includes(',') && (headersDistinct[header]?.length ?? 0) > 1
}

/**
 * The rightmost address that is no trusted proxy, or the first of the list when all of them are. Where
 * no proxy is named it is the rightmost: another caller of a private network is no proxy.
 */
function callerIn(list: string, proxies: BlockList | null): string {
  const addresses = list.split(',').map((entry) => canonical(entry.trim()))
  const isNamed = (address: string) => proxies !== null && isAmong(proxies, address)
  const caller = addresses.findLast((address) => !isNamed(address)) ?? addresses[0] ?? ''
  return isIP(caller) === 0 ? unknownAddress : caller
}

function isAmong(proxies: BlockList, address: string): boolean {
  const version = isIP(address)
  return version !== 0 && proxies.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

/** Returns one spelling for each IP address, also for IPv4 inside IPv6. Other texts are cut. */
function canonical(value: string): string {
  if (!value.includes(':') || isIP(value) !== 6) return value.slice(0, longestBucket)
  const [zoneless = value] = value.split('%')
  const { address } = new SocketAddress({ address: zoneless, family: 'ipv6' })
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address
}
