import type { HostEvent } from '../core/hosts/host-event.ts'
import type { Observed } from '../core/hosts/observed.ts'
import { keyOf } from '../core/text.ts'
import { isUnavailable } from '../storage/database/database.ts'

/** The acts of one session of a host that are answered and not stored yet. */
export interface WaitingSession {
  /** Oldest first. */
  readonly events: readonly HostEvent[]
  /** What was stored of the session, and what is known of it after the acts. */
  readonly stored: Observed
  readonly known: Observed
}

/** Acts that open no step. They are stored together soon after their answers, so that none of them waits for a disk. */
export interface WaitingActs {
  /** The acts of a session that wait; null if none does. */
  of(account: string, runId: string): WaitingSession | null
  /**
   * Keeps acts until `store` has stored them, within `storeWithinMs` while the database is available. Returns whether
   * there was room; acts that find none have to be stored by the caller.
   */
  keep(
    account: string,
    runId: string,
    session: WaitingSession,
    store: (session: WaitingSession) => Promise<void>,
  ): boolean
  /** Forgets the acts that a caller has stored. */
  forget(account: string, runId: string, events: readonly HostEvent[]): void
  /** Resolves when what waits now is stored, or could not be. */
  flush(): Promise<void>
  /** Stores what waits, and reports what the database does not take; later acts find no room. */
  close(): Promise<void>
}

/** The longest time between the answer to an act and its storing, in milliseconds; a process that is killed loses it. */
const storeWithinMs = 50
/** The pause after which acts are stored again that the database did not take, in milliseconds. */
const retryMs = 1_000
/** Most acts of a session, and sessions, that wait: a session must still know all of its acts by their marks. */
const mostActs = 64
const mostSessions = 2_000

interface Waiting {
  session: WaitingSession
  store(session: WaitingSession): Promise<void>
}

/** Who hears of acts that are not stored. */
export interface WaitingActsWorld {
  /** Storing acts threw an error other than that the database is away. */
  failed(error: unknown): void
  /** So many acts were lost, because the database was away until the process closed. */
  lost(acts: number): void
}

/** Creates the waiting acts of a process. */
export function createWaitingActs({ failed, lost }: WaitingActsWorld): WaitingActs {
  const sessions = new Map<string, Waiting>()
  let timer: NodeJS.Timeout | null = null
  let storing = Promise.resolve()
  let closed = false

  function plan(ms: number): void {
    if (sessions.size === 0 || closed) return
    timer ??= setTimeout(() => {
      timer = null
      void flush()
    }, ms)
  }

  /** Stores what waits, after what is being stored. */
  async function flush(): Promise<void> {
    const before = storing
    storing = storeAll(before)
    await storing
  }

  async function storeAll(before: Promise<void>): Promise<void> {
    await before
    const stored = await Promise.all([...sessions].map(([key, each]) => storeOne(key, each)))
    plan(stored.includes(false) ? retryMs : storeWithinMs)
  }

  /** Stores the acts of a session; false if the database takes none now. */
  async function storeOne(key: string, { session, store }: Waiting): Promise<boolean> {
    try {
      await store(session)
    } catch (error) {
      if (isUnavailable(error)) return false
      failed(error)
    }
    remove(key, session.events)
    return true
  }

  function remove(key: string, events: readonly HostEvent[]): void {
    const waiting = sessions.get(key)
    if (waiting === undefined) return
    const left = waiting.session.events.filter((event) => !events.includes(event))
    if (left.length === 0) sessions.delete(key)
    else waiting.session = { ...waiting.session, events: left }
  }

  return {
    of: (account, runId) => sessions.get(keyOf(account, runId))?.session ?? null,
    keep(account, runId, session, store) {
      const key = keyOf(account, runId)
      const hasRoom = sessions.has(key) || sessions.size < mostSessions
      if (closed || !hasRoom || session.events.length > mostActs) return false
      sessions.set(key, { session, store })
      plan(storeWithinMs)
      return true
    },
    forget: (account, runId, events) => remove(keyOf(account, runId), events),
    flush,
    async close() {
      closed = true
      if (timer !== null) clearTimeout(timer)
      await flush()
      const acts = [...sessions.values()].flatMap(({ session }) => session.events).length
      if (acts > 0) lost(acts)
    },
  }
}
