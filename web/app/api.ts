import { createClient, type ServiceError } from '../../src/surfaces/client/client.ts'
import { session } from './session.ts'

/** The client of this page: its session cookie signs it in, and each change carries the session's token. */
export const api = createClient({
  baseUrl: location.origin,
  fetch: (input, init) => {
    const headers = new Headers(init?.headers)
    const token = session.value?.csrf
    if (token !== undefined) headers.set('x-plumbline-csrf', token)
    return fetch(input, { ...init, headers, credentials: 'same-origin' })
  },
  retries: 1,
})

/** Sends a request that the client has no method for, and returns its JSON; rejects as the client does. */
export async function send<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const token = session.value?.csrf
  const response = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { 'x-plumbline-csrf': token }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer as Answer
  throw Object.assign(new Error(answer.error ?? `${response.status}`), {
    name: 'ServiceError',
    status: response.status,
    word: String(answer.error ?? 'unreadable'),
    detail: String(answer.detail ?? ''),
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: null,
    body: answer,
  } satisfies Omit<ServiceError, 'message'>)
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
