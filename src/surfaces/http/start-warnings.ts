import { isIP } from 'node:net'
import { type AddressSettings, isLoopback, isOwnNetwork } from './address.ts'

/** The settings that a public server should not leave at their defaults. */
interface ListenSettings extends AddressSettings {
  readonly host: string
  readonly metricsPort: number | null
  /** null while mail is off. */
  readonly mail: object | null
  /** null without an identity provider. */
  readonly identity: object | null
  readonly baseUrl: string | null
}

/** The warnings for the operator of a server that listens at `url`, one text each. */
export function startWarnings(
  {
    host,
    clientAddressHeader,
    trustedProxies,
    metricsPort,
    mail,
    identity,
    baseUrl,
  }: ListenSettings,
  url: string,
): string[] {
  const warnings: string[] = []
  const believesAnybody = clientAddressHeader !== null && trustedProxies === null
  if (believesAnybody && !isHostAmong(host, isOwnNetwork)) {
    const metrics =
      metricsPort === null
        ? ' Everybody can read /metrics too; PLUMBLINE_METRICS_PORT moves it to a port of its own.'
        : ''
    warnings.push(
      `HOST is ${host}, which other machines can reach, and PLUMBLINE_TRUSTED_PROXIES is not set. Callers on this machine and on private networks can name any address in ${clientAddressHeader}, and all callers without that header share one daily limit. Set PLUMBLINE_TRUSTED_PROXIES to the addresses of your proxies, or PLUMBLINE_CLIENT_ADDRESS=socket where there is no proxy.${metrics}`,
    )
  }
  if (mail !== null && baseUrl === null && !isHostAmong(host, isLoopback)) {
    warnings.push(
      `Links in mails lead to ${url}, because PLUMBLINE_BASE_URL is not set. Set it to the address at which readers of the mails reach this server.`,
    )
  }
  if (identity !== null && baseUrl === null && !isHostAmong(host, isLoopback)) {
    warnings.push(
      `The identity provider leads people back to ${url}, because PLUMBLINE_BASE_URL is not set. Set it to the address at which browsers reach this server, and register its /auth/callback at the provider.`,
    )
  }
  return warnings
}

/** Whether a host is `localhost` or an address that `isAmong` accepts. Other names are not resolved and do not count. */
function isHostAmong(host: string, isAmong: (address: string) => boolean): boolean {
  return isIP(host) === 0 ? host === 'localhost' : isAmong(host)
}
