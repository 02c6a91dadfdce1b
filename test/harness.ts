import type { TestContext } from 'node:test'
import { readConfig } from '../src/config.ts'
import type { TierName } from '../src/core/accounts/tiers.ts'
import { createAccount } from '../src/operations/account/accounts.ts'
import { type Running, realWorld, startService, type World } from '../src/service.ts'

/** A running service under test, listening on a free loopback port. */
export interface App {
  readonly url: string
  readonly running: Running
  /** Log lines so far, parsed. */
  readonly log: Record<string, unknown>[]
  /** Milliseconds the clock of the service has been moved ahead by. */
  advance(ms: number): void
  request(method: string, path: string, options?: Sent): Promise<Answer>
  /** `POST path` with a JSON body. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  /** A new account with a key, as the operator makes it; of tier `enterprise` unless named. */
  newAccount(tier?: TierName): Promise<Holder>
}

/** The holder of a key. */
export interface Holder {
  /** `acct_…` */
  account: string
  key: string
  keyId: string
  /** The header that sends the key. */
  headers: { authorization: string }
}

interface Sent {
  body?: string | Uint8Array
  headers?: Record<string, string>
}

/** An answer read whole. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
}

/** The settings that a test may change; all others are as a user would have them. */
export interface Setup extends Partial<World> {
  env?: Record<string, string>
  /** Whether the clock stands at the time of now, which a browser knows, and not at noon of the fixed day. */
  beginsNow?: boolean
}

/** The setting for a test about the published rules: their detector, `overlap`, judges. */
export const published = { PLUMBLINE_DETECTOR: 'overlap' }

const startOfDay = Date.UTC(2026, 0, 15)

/**
 * Starts a service for one test and stops it after. Its clock stands at noon of a fixed day until
 * moved; every answer is checked against its operation's schema.
 */
export async function start(
  t: TestContext,
  { env = {}, beginsNow = false, ...world }: Setup = {},
): Promise<App> {
  const log: Record<string, unknown>[] = []
  let now = beginsNow ? Date.now() : startOfDay + 12 * 3_600_000
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: 'sqlite::memory:',
    LOG_LEVEL: 'debug',
    PLUMBLINE_ENCODER: 'off',
    ...env,
  })
  if ('faults' in config) throw new Error(config.faults.join('; '))
  const running = await startService(config, {
    ...realWorld,
    now: () => now,
    keepsOwnTime: true,
    webFolder: null,
    checkAnswers: true,
    log: { write: (line) => void log.push(JSON.parse(line)) },
    ...world,
  })
  t.after(() => running.stop())

  async function request(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const response = await fetch(running.url + path, { method, ...(sent as RequestInit) })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parsed(text) }
  }
  return {
    url: running.url,
    running,
    log,
    advance: (ms) => {
      now += ms
    },
    request,
    post: (path, body, headers = {}) =>
      request('POST', path, { body: JSON.stringify(body), headers }),
    get: (path, headers = {}) => request('GET', path, { headers }),
    async newAccount(tier = 'enterprise') {
      const { account, key } = await createAccount(running.service, tier, null)
      const headers = { authorization: `Bearer ${key.key}` }
      return { account: account.id, key: key.key, keyId: key.id, headers }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
