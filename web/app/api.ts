import { createClient, type ServiceError } from '../../src/surfaces/client/client.ts'
import { askToSignIn, type Session, session } from './session.ts'

/** The client of this page: its session cookie signs it in, and each change carries the session's token. */
export const api = createClient({
  baseUrl: location.origin,
  fetch: async (input, init) => {
    const headers = new Headers(init?.headers)
    const token = session.value?.csrf
    if (token !== undefined) headers.set('x-plumbline-csrf', token)
    const answer = await fetch(input, { ...init, headers, credentials: 'same-origin' })
    // The session ended while the page was open.
    const isInside = location.pathname.startsWith('/app')
    if (answer.status === 401 && isInside && session.value?.signed_in === true) askToSignIn()
    return answer
  },
  retries: 1,
})

/** Reads who is signed in. */
export async function readSession(): Promise<Session> {
  session.value = await api.session({})
  return session.value
}

/** What went wrong, for a person: what the service says, or that it did not answer. */
export interface Fault {
  says: string
  word: string
  status: number
  requestId: string | null
}

/** Reads a rejection of the client. */
export function faultOf(error: unknown): Fault {
  const { status = 0, word = 'unreadable', detail = '', requestId = null } = error as ServiceError
  const silent = 'The server did not answer.'
  return {
    says: status === 0 ? silent : detail || `The server answered ${status}.`,
    word,
    status,
    requestId,
  }
}
