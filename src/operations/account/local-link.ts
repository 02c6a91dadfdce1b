import { minuteMs } from '../../core/time.ts'
import type { Service } from '../gate/context.ts'
import type { Browser } from '../gate/declaration.ts'
import { startSession } from './session.ts'

/** The path of the link that signs the person at this machine in. */
export const localPath = '/auth/local'

const linkMs = 15 * minuteMs

/** Makes a link that signs the person at this machine in to an account once, for 15 minutes. */
export async function makeLocalLink(
  { store, hash, newToken, now }: Service,
  account: string,
  serverUrl: string,
): Promise<{ url: string; expires: number }> {
  const token = newToken()
  const expires = now() + linkMs
  await store.signInLinks.add({ hash: hash(token), account, expires })
  return { url: `${serverUrl}${localPath}?token=${token}`, expires }
}

/** Signs a browser in by a link, and returns whether the link was good. */
export async function followLocalLink(
  service: Service,
  browser: Browser,
  token: string,
): Promise<boolean> {
  const { store, hash, now } = service
  const account = await store.tx(async ({ accounts, signInLinks }) => {
    const linked = await signInLinks.take(hash(token), now())
    return linked === null ? null : accounts.find(linked)
  })
  if (account === null) return false
  await startSession(service, browser, account.id, null)
  return true
}
