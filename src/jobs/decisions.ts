import type { Store } from '../storage/store.ts'

/** Waits for decisions on escalations, shared by all callers of this node. */
export interface Decisions {
  /**
   * Resolves when the escalation is decided on any node or deleted, after `waitMs`, when `gone` aborts,
   * when the node stops, or at once if the account already has too many waits.
   */
  wait(account: string, escId: string, waitMs: number, gone: AbortSignal): Promise<void>
  /** Ends every wait; later waits end at once. */
  close(): void
}

/** Most concurrent waits of one account on one node. */
export const maxWaitsOfAccount = 50

const lookEveryMs = 250

interface Wait {
  account: string
  escId: string
  /** Milliseconds since 1970. */
  until: number
  /** A limit on the number of queries, because a clock that is set back must not prolong a wait. */
  looksLeft: number
  end(): void
}

/**
 * While there are waits, one query every 250 ms serves all of them: a wait holds no connection and no
 * transaction, whatever its length.
 */
export function createDecisions(store: Store, now: () => number): Decisions {
  const waits = new Set<Wait>()
  let timer: NodeJS.Timeout | null = null
  let closed = false

  function plan(): void {
    if (timer === null && waits.size > 0) timer = setTimeout(() => void look(), lookEveryMs)
  }

  async function look(): Promise<void> {
    endWhere(({ until, looksLeft }) => now() >= until || looksLeft <= 0)
    const asked = [...waits]
    try {
      const ids = asked.map(({ escId }) => escId)
      const settled = new Set(await store.escalations.settledAmong([...new Set(ids)]))
      endWhere(({ escId }) => settled.has(escId))
    } catch {
      // Every caller reads the escalation again after its wait, and gets the error then if the database is
      // still unavailable.
    }
    for (const wait of asked) wait.looksLeft -= 1
    timer = null
    plan()
  }

  function endWhere(isOver: (wait: Wait) => boolean): void {
    for (const wait of waits) if (isOver(wait)) wait.end()
  }

  return {
    wait: (account, escId, waitMs, gone) =>
      new Promise((resolve) => {
        const others = [...waits].filter((wait) => wait.account === account).length
        if (closed || gone.aborted || others >= maxWaitsOfAccount) return resolve()
        const wait: Wait = {
          account,
          escId,
          until: now() + waitMs,
          looksLeft: Math.ceil(waitMs / lookEveryMs),
          end() {
            waits.delete(wait)
            gone.removeEventListener('abort', wait.end)
            resolve()
          },
        }
        waits.add(wait)
        gone.addEventListener('abort', wait.end)
        plan()
      }),
    close() {
      closed = true
      endWhere(() => true)
      if (timer !== null) clearTimeout(timer)
      timer = null
    },
  }
}
