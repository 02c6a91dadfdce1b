import type { Store } from '../storage/store.ts'

/** Waiting for people to decide, for all callers of this node together. */
export interface Decisions {
  /**
   * Resolves when the escalation is decided, on any node, or is gone; after `waitMs`; when the caller
   * is `gone`; when the node stops; and at once when the account already waits too often.
   */
  wait(account: string, escId: string, waitMs: number, gone: AbortSignal): Promise<void>
  /** Ends every wait; those to come end at once. */
  close(): void
}

/** How often one account may wait on one node at the same time. */
export const maxWaitsOfAccount = 50

const lookEveryMs = 250

interface Wait {
  account: string
  escId: string
  /** Milliseconds since 1970. */
  until: number
  /** A clock that is set back must not make a wait longer than so many looks. */
  looksLeft: number
  end(): void
}

/**
 * While anybody waits, one statement each 250 ms asks for all of them: a wait costs no connection, no
 * transaction and next to no query of its own, however long it is.
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
      // Whoever waits asks again at the end, and is told then if the database is still away.
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
