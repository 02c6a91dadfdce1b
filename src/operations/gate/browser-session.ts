import type { Account } from '../../storage/accounts.ts'
import type { Service } from './context.ts'
import type { Browser } from './declaration.ts'
import { Refusal } from './refusal.ts'

/** The account of a session, and the hash by which the session is stored. */
export interface AdmittedBrowser {
  account: Account
  session: string
}

/**
 * Finds the account of a browser by the cookie of its session; null without a cookie. Refuses a session that
 * has ended (401), and a change that the browser's own page may not have asked for (403).
 */
export async function admitBrowser(
  service: Service,
  method: string,
  browser: Browser | undefined,
): Promise<AdmittedBrowser | null> {
  if (browser === undefined || browser.session === null) return null
  const admitted = await findSession(service, browser)
  if (admitted === null) {
    throw new Refusal(401, 'no_key', { detail: 'Your session has ended. Sign in again.' })
  }
  if (method !== 'GET' && method !== 'HEAD') refuseForged(service, browser)
  return admitted
}

/** Finds the account of a browser's session; null if the session has ended. */
export async function findSession(
  { store, hash, now }: Service,
  { session }: Browser,
): Promise<AdmittedBrowser | null> {
  if (session === null) return null
  const stored = hash(session)
  const account = await store.sessions.use(stored, now())
  return account === null ? null : { account, session: stored }
}

/** The token that a page of this server sends with its changes. Only the holder of the session can know it. */
export function csrfOf({ hash }: Pick<Service, 'hash'>, session: string): string {
  return hash(`csrf ${session}`)
}

/** Refuses a request that a page of another origin may have made the browser send (403). */
export function refuseForged({ hash }: Service, { session, csrf, sender }: Browser): void {
  if (sender === 'another page') {
    throw forged('The request comes from a page of another origin.')
  }
  // Comparing hashes takes a time that says nothing about the token.
  if (session !== null && hash(csrf ?? '') !== hash(csrfOf({ hash }, session))) {
    throw forged(
      'Send the csrf of GET /v1/session as the header x-plumbline-csrf with each change, or a key in place of the cookie.',
    )
  }
}

function forged(detail: string): Refusal {
  return new Refusal(403, 'csrf', { detail })
}
