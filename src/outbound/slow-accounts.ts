/** The accounts whose webhooks were slow lately, on this node. */
export interface SlowAccounts {
  /** Notes how long an attempt of the account took. */
  note(account: string, latencyMs: number): void
  /** Whether an attempt of the account was slow in the last ten minutes. */
  has(account: string): boolean
}

const slowMs = 1_000
const rememberedMs = 600_000
/** Of more, the ones that were slow longest ago are forgotten. */
const maxRemembered = 10_000

/**
 * Remembers accounts and not addresses, because an account can change its address before each event, and
 * for a time and not until the next quick attempt, because an account can have a quick address too.
 */
export function createSlowAccounts(now: () => number): SlowAccounts {
  /** Milliseconds since 1970 of the last slow attempt, the oldest first. */
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
