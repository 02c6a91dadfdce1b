import { promises as dns, lookup } from 'node:dns'
import { promisify } from 'node:util'

/** The addresses of a host name, IPv4 first; rejects when there are none, or when aborted. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>

const timeoutMs = 2_000

/** Gives each question up after 2 s, whatever the one who is asked does. */
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
 * Asks the name servers itself, those of the system unless given (`address:port`). The system's own
 * lookup takes two names at a time and as long as it likes, so one caller's hanging name server would
 * hold up everybody.
 */
export function askNameServers(servers?: readonly string[]): Resolve {
  return async (name, signal) => {
    // One each: cancelling ends all questions of a resolver.
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

/** Asks the system, which also knows the names of its hosts file and search domains. */
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
