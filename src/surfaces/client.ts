import type { check } from '../operations/check.ts'
import type { Operation } from '../operations/operation.ts'

/** Where the service is and how long to wait for it. */
export interface ClientOptions {
  /** `http://host:port`, with or without a trailing slash. */
  baseUrl: string
  /** Milliseconds to wait for one answer; 10,000 unless given. */
  timeoutMs?: number
  /** The fetch to use; the platform's unless given. */
  fetch?: typeof fetch
}

/** Options of one call. */
export interface CallOptions {
  signal?: AbortSignal
}

/** The service as an object. Every method rejects with a ServiceError when the answer is a refusal. */
export interface Client {
  /** Judges two goals, or a sequence of steps, without a key and without storing them. */
  check(body: Sent<typeof check>, options?: CallOptions): Promise<Output<typeof check>>
}

/** A refusal of the service: `status` is the HTTP status, `word` the stable word of its body. */
export interface ServiceError extends Error {
  name: 'ServiceError'
  status: number
  word: string
  body: unknown
}

type Sent<O> = O extends Operation<infer _Input, infer _Output, infer S> ? S : never
type Output<O> = O extends Operation<infer _Input, infer Answer, infer _Sent> ? Answer : never

/** A client of one service. It needs nothing but `fetch`, so it runs in Node, browsers and at the edge. */
export function createClient({
  baseUrl,
  timeoutMs = 10_000,
  fetch = globalThis.fetch,
}: ClientOptions): Client {
  const base = baseUrl.replace(/\/+$/, '')

  async function post<Answer>(path: string, body: unknown, options: CallOptions): Promise<Answer> {
    const timeout = AbortSignal.timeout(timeoutMs)
    const response = await fetch(base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]),
    })
    const answer = await response.json()
    if (!response.ok) throw serviceError(response.status, answer)
    return answer as Answer
  }

  return {
    check: (body, options = {}) => post('/v1/check', body, options),
  }
}

function serviceError(status: number, body: unknown): ServiceError {
  const { error = 'unknown', detail = '' } = (body ?? {}) as { error?: string; detail?: string }
  return Object.assign(new Error(detail === '' ? error : `${error}: ${detail}`), {
    name: 'ServiceError' as const,
    status,
    word: error,
    body,
  })
}
