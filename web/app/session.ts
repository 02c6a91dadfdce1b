import { signal } from '@preact/signals'
import type { Client } from '../../src/surfaces/client/client.ts'

/** Who is signed in. */
export type Session = Awaited<ReturnType<Client['session']>>

/** The session of this page; null until it is read. */
export const session = signal<Session | null>(null)

/** Leads to the page that signs in, which leads back here. It loads anew, so that nothing of the account stays. */
export function askToSignIn(): void {
  location.assign(`/signin?to=${encodeURIComponent(location.pathname + location.search)}`)
}
