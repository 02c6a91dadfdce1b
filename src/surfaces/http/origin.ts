import type { FastifyRequest } from 'fastify'
import { type AddressSettings, isProxy } from './address.ts'

/** Whether an origin is that of this server: of the host that the request names, or of a base address. */
export function isOwnOrigin(
  origin: string,
  host: string | undefined,
  baseUrls: readonly string[],
): boolean {
  if (!URL.canParse(origin)) return false
  const named = new URL(origin)
  return named.host === host || baseUrls.some((baseUrl) => new URL(baseUrl).origin === named.origin)
}

/**
 * Whether the browser has reached this server over HTTPS: under the host of an `https://` base address, or as
 * the proxy in front of this server says.
 */
export function isOverHttps(
  { headers, ip }: Pick<FastifyRequest, 'headers' | 'ip'>,
  addresses: AddressSettings,
  baseUrls: readonly string[],
): boolean {
  const isBase = baseUrls.some((baseUrl) => {
    const { protocol, host } = new URL(baseUrl)
    return protocol === 'https:' && host === headers.host
  })
  return isBase || (headers['x-forwarded-proto'] === 'https' && isProxy(addresses, ip))
}
