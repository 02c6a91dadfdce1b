import type { TestContext } from 'node:test'
import type { PrivacyLevel } from '../src/core/hosts/privacy.ts'
import type { Clock } from '../src/surfaces/relay/clock.ts'
import { type Relay, startRelay } from '../src/surfaces/relay/relay.ts'
import type { RelaySettings } from '../src/surfaces/relay/settings.ts'
import { freshFolder } from './spawned.ts'

/** A clock that stands still until it is moved, and what it has to do then. */
export interface ManualClock extends Clock {
  /** Moves it ahead and does what is due, in its order. */
  advance(ms: number): void
}

/** A clock for one test. It stands at noon of the day at which the services under test stand. */
export function manualClock(): ManualClock {
  let now = Date.UTC(2026, 0, 15, 12)
  const due = new Map<object, { at: number; work: () => void }>()
  return {
    now: () => now,
    random: () => 0.5,
    later(ms, work) {
      const id = {}
      due.set(id, { at: now + ms, work })
      return () => void due.delete(id)
    },
    advance(ms) {
      now += ms
      // What that work plans in turn is due later.
      const ripe = [...due].filter(([, { at }]) => at <= now).sort(([, a], [, b]) => a.at - b.at)
      for (const [id, { work }] of ripe) {
        if (due.delete(id)) work()
      }
    },
  }
}

/** A relay under test with what it has said. */
export interface RelayUnderTest {
  relay: Relay
  clock: ManualClock
  folder: string
  log: string[]
  /** Changes its settings, as a command does while it runs. */
  set(change: Partial<RelaySettings>): void
  /** Deletes its settings, or brings them back. */
  unset(isGone: boolean): void
  /** Sends an event as a host does, and returns the answer. */
  hook(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: unknown; note: string | null }>
}

/** The key that hosts send in these tests. */
export const localKey = 'local-key'

/** Starts a relay in this process and ends it after the test. */
export async function relayTo(
  t: TestContext,
  server: { url: string; key: string },
  more: { level?: PrivacyLevel; folder?: string; clock?: ManualClock; maxBytes?: number } = {},
): Promise<RelayUnderTest> {
  const { level = 'words', folder = freshFolder(t), clock = manualClock(), maxBytes } = more
  const log: string[] = []
  let settings: RelaySettings = { ...server, level, port: 0, localKey, hashKey: 'hash-key' }
  let isUnset = false
  const relay = await startRelay({
    settings: () => (isUnset ? null : settings),
    folder,
    clock,
    log: (line) => void log.push(line),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  })
  t.after(() => relay.stop().catch(() => {}))
  return {
    relay,
    clock,
    folder,
    log,
    set(change) {
      settings = { ...settings, ...change }
    },
    unset(isGone) {
      isUnset = isGone
    },
    async hook(path, body, headers = {}) {
      const answer = await fetch(`${relay.url}/v1/hooks/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${localKey}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
      const note = answer.headers.get('x-plumbline-note')
      return { status: answer.status, body: await answer.json(), note }
    },
  }
}
