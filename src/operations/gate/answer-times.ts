import type { HostName } from '../../core/hosts/host-event.ts'

/** How long hooks of a host waited for their newest answers, in milliseconds. */
export interface Answered {
  host: HostName
  answers: number
  p50_ms: number
  p99_ms: number
  /** When the newest one was given, milliseconds since 1970. */
  last: number
}

/** How long the hooks of accounts waited on this node since it started. */
export interface AnswerTimes {
  /** Takes an answer that was given at `now`, milliseconds since 1970. */
  took(account: string, host: HostName, ms: number, now: number): void
  of(account: string): Answered[]
}

/** Most times of a host that are kept of an account, and most accounts: the ones that reported last. */
export const mostTimes = 500
const mostAccounts = 1_000

interface Times {
  times: number[]
  last: number
}

/** Creates the times of a node. */
export function createAnswerTimes(): AnswerTimes {
  const accounts = new Map<string, Map<HostName, Times>>()
  return {
    took(account, host, ms, now) {
      const hosts = accounts.get(account) ?? new Map<HostName, Times>()
      const times = hosts.get(host)?.times ?? []
      times.push(ms)
      if (times.length > mostTimes) times.shift()
      hosts.set(host, { times, last: now })
      accounts.delete(account)
      accounts.set(account, hosts)
      for (const oldest of accounts.keys()) {
        if (accounts.size <= mostAccounts) break
        accounts.delete(oldest)
      }
    },
    of: (account) =>
      [...(accounts.get(account) ?? [])].map(([host, { times, last }]) => {
        const sorted = times.toSorted((one, other) => one - other)
        const at = (share: number) =>
          Math.round(10 * (sorted[Math.floor(share * (sorted.length - 1))] ?? 0)) / 10
        return { host, answers: times.length, p50_ms: at(0.5), p99_ms: at(0.99), last }
      }),
  }
}
