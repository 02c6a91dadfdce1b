import { signal } from '@preact/signals'

/** Who is signed in, as `GET /v1/session` says it. */
export interface Session {
  signed_in: boolean
  account?: string
  tier?: string
  email?: string | null
  /** Goes with each change in `x-plumbline-csrf`. */
  csrf?: string
  sign_in: { provider: boolean; name: string | null }
  upgrade: boolean
}

/** The session of this page; null until it is read. */
export const session = signal<Session | null>(null)

/** Reads who is signed in. */
export async function readSession(): Promise<Session> {
  const response = await fetch('/v1/session', { credentials: 'same-origin' })
  if (!response.ok) throw new Error(`The server answered ${response.status}.`)
  session.value = (await response.json()) as Session
  return session.value
}
