import { minuteMs } from '../../core/time.ts'
import type { Service } from '../gate/context.ts'
import type { Browser } from '../gate/declaration.ts'
import { addSession } from './session.ts'

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

/** Signs a browser in by a link, and returns whether the link was good. A fault leaves the link as it was. */
export async function followLocalLink(
  service: Service,
  browser: Browser,
  token: string,
): Promise<boolean> {
  const { hash, now } = service
  const session = await service.store.tx(async (store) => {
    const linked = await store.signInLinks.take(hash(token), now())
    if (linked === null || (await store.accounts.find(linked)) === null) return null
    return addSession({ ...service, store }, browser, linked, null)
  })
  if (session === null) return false
  browser.keepSession(session)
  return true
}
