import { promises as dns, lookup } from 'node:dns'
import { promisify } from 'node:util'

/** Resolves a host name to its addresses, IPv4 first; rejects if there are none, or on abort. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

const timeoutMs = 2_000

/** Limits each DNS query to 2 s. */
export function withDeadline(ask: Resolve): Resolve {
  return async (name, signal) => {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(tooLate()), timeoutMs)
    try {
      return await orAborted(AbortSignal.any([signal, late.signal]), (either) => ask(name, either))
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * Queries name servers directly: those of the system, or the given ones (`address:port`). The lookup of
 * the system resolves two names at a time and has no time limit, so the slow name server of one caller
 * would delay every other.
 */
export function askNameServers(servers?: readonly string[]): Resolve {
  return async (name, signal) => {
    // One resolver for each lookup, because cancelling ends all queries of a resolver.
    const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 1 })
    if (servers !== undefined) resolver.setServers(servers)
    signal.addEventListener('abort', () => resolver.cancel(), { once: true })
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    const failed = answers.find((each) => each.status === 'rejected')
    if (addresses.length === 0 && failed !== undefined) throw failed.reason
    return addresses
  }
}

const lookupAll = promisify(lookup)

/** Uses the lookup of the system, which also knows the hosts file and search domains. */
export const askSystem: Resolve = async (name) => {
  const answers = await lookupAll(name, { all: true, order: 'ipv4first' })
  return answers.map(({ address }) => address)
}

function orAborted<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work(signal).then(resolve, reject)
  })
}

function tooLate(): Error {
  return Object.assign(new Error('The name was not resolved in time.'), { code: 'ETIMEOUT' })
}
