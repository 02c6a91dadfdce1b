/** The accounts with slow webhook attempts on this node. */
export interface SlowAccounts {
  /** Records the duration of an attempt of the account. */
  note(account: string, latencyMs: number): void
  /** Whether an attempt of the account was slow in the last ten minutes. */
  has(account: string): boolean
}

const slowMs = 1_000
const rememberedMs = 600_000
/** Beyond this number, the least recent ones are dropped. */
const maxRemembered = 10_000

/**
 * Tracks accounts instead of addresses, because an account can change its address before each event. An
 * account stays slow for a fixed time, because it can also have a fast address.
 */
export function createSlowAccounts(now: () => number): SlowAccounts {
  /** Time of the last slow attempt of each account, milliseconds since 1970, oldest first. */
  const slowAt = new Map<string, number>()
  return {
    note(account, latencyMs) {
      if (latencyMs <= slowMs) return
      slowAt.delete(account)
      slowAt.set(account, now())
      for (const oldest of slowAt.keys()) {
        if (slowAt.size <= maxRemembered) break
        slowAt.delete(oldest)
      }
    },
    has(account) {
      const at = slowAt.get(account)
      return at !== undefined && now() - at < rememberedMs
    },
  }
}
