import { parseJson } from '../../core/text.ts'

/** One request as it goes over the wire. */
export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path from `/v1` on, with its parameters. */
  path: string
  /** Whether the request carries the key. A POST with the key also carries an idempotency key. */
  keyed: boolean
  body?: string
}

/** The owner of a request in the background. Such a request is repeated until it gets an answer. */
export interface Background {
  /** Called after each failed attempt that will be repeated. */
  failed(error: ServiceError): void
  /** Called before each wait with the function that ends the wait early. */
  waits(wake: () => void): void
}

/** The ways to send a request. Each rejects with a ServiceError, or with the reason of the signal. */
export interface Calls {
  /** Sends a request and returns the JSON object of a 2xx answer. */
  send(request: Request, options: CallOptions, background?: Background): Promise<unknown>
  /** Sends a request and yields the parsed lines of a 2xx answer as they arrive. */
  lines(request: Request, options: CallOptions): AsyncGenerator<unknown>
  /** Sends a request and yields the blocks of a stream of events, which empty lines end, as they arrive. */
  blocks(request: Request, options: CallOptions): AsyncGenerator<string>
}

/** The statuses of failures that may pass; 0 is no answer. */
export const passingStatuses: readonly number[] = [0, 429, 502, 503, 504]
const firstBackoffMs = 250
const longestBackoffMs = 10_000
const longestRetryAfterMs = 30_000
const maxTimerMs = 2 ** 31 - 1

/**
 * Creates the only part that calls `fetch`. It knows addresses, headers, timeouts, retries and the meaning
 * of an answer.
 */
export function createCalls({
  baseUrl,
  key,
  fetch = globalThis.fetch,
  timeoutMs: defaultTimeoutMs = 10_000,
  retries: defaultRetries = 2,
}: ClientOptions): Calls {
  const base = readBaseUrl(baseUrl)
  const authorization = key ? { authorization: `Bearer ${readKey(key)}` } : {}

  async function open(
    { method, path, body }: Request,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    const response = await fetch(base + path, {
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
    })
    if (response.ok) return response
    const text = await response.text()
    throw refusalFrom(response, parseJson(text) ?? text)
  }

  /** Repeats an attempt until it succeeds, fails for good, or has failed too often. */
  async function repeated<Result>(
    request: Request,
    { signal, timeoutMs = defaultTimeoutMs, retries = defaultRetries, idempotencyKey }: CallOptions,
    background: Background | undefined,
    attempt: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const { method, keyed, body } = request
    const isPost = method === 'POST'
    const headers = {
      ...(keyed ? authorization : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(keyed && isPost ? { 'idempotency-key': idempotencyKey ?? newId() } : {}),
    }
    const mayRepeat = ['GET', 'PUT'].includes(method) || 'idempotency-key' in headers
    for (let failures = 0; ; failures++) {
      try {
        return await within(timeoutMs, signal, background !== undefined, async (stopped) =>
          attempt(await open(request, headers, stopped)),
        )
      } catch (error) {
        if (!isOwnError(error) || !mayRepeat) throw error
        const waitMs = backoffAfter(error, failures)
        if (waitMs === null || (background === undefined && failures >= retries)) throw error
        background?.failed(error)
        await pause(waitMs, signal, background)
      }
    }
  }

  /** Yields the parts of an answer as they arrive, without the empty ones. */
  async function* parts(request: Request, options: CallOptions, separator: string) {
    const { signal, timeoutMs = defaultTimeoutMs } = options
    const response = await repeated(request, options, undefined, async (opened) => opened)
    const reader = response.body?.getReader()
    if (reader === undefined) return
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for (let ended = false; !ended; ) {
        const { done, value } = await within(timeoutMs, signal, false, () => reader.read())
        ended = done
        rest += decoder.decode(value, { stream: !done })
        const found = rest.split(separator)
        rest = done ? '' : (found.pop() ?? '')
        for (const part of found) if (part !== '') yield { response, part }
      }
    } finally {
      reader.cancel().catch(() => {})
    }
  }

  return {
    send: (request, options, background) =>
      repeated(request, options, background, async (response) => {
        const text = await response.text()
        const body = parseJson(text)
        if (typeof body === 'object' && body !== null) return body
        throw unreadable(response, text)
      }),
    async *lines(request, options) {
      for await (const { response, part } of parts(request, options, '\n')) {
        const read = parseJson(part)
        if (read === undefined) throw unreadable(response, part)
        yield read
      }
    },
    async *blocks(request, options) {
      for await (const { response, part } of parts(request, options, '\n\n')) {
        const type = response.headers.get('content-type') ?? ''
        if (!type.startsWith('text/event-stream')) throw unreadable(response, part)
        yield part
      }
    },
  }
}

/** Builds the error that every method rejects with. */
export function serviceError(
  word: string,
  detail: string,
  more: Partial<
    Pick<ServiceError, 'status' | 'requestId' | 'retryAfterMs' | 'body' | 'cause'>
  > = {},
): ServiceError {
  return Object.assign(new Error(detail === '' ? word : `${word}: ${detail}`), {
    name: 'ServiceError' as const,
    status: 0,
    word,
    detail,
    requestId: null,
    retryAfterMs: null,
    body: null,
    ...more,
  })
}

/** Whether `serviceError` built an error. */
export function isOwnError(error: unknown): error is ServiceError {
  return error instanceof Error && error.name === 'ServiceError'
}

/** Creates a unique id. A page that came over plain HTTP has no `crypto.randomUUID`. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Starts a timer and returns the function that cancels it. A timer that nobody awaits does not keep a Node
 * process alive. A time longer than the longest timer never ends.
 */
export function after(ms: number, isAwaited: boolean, act: () => void): () => void {
  if (ms > maxTimerMs) return () => {}
  const timer: { unref?(): void } | number = setTimeout(act, ms)
  if (!isAwaited && typeof timer === 'object') timer.unref?.()
  return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0])
}

function readBaseUrl(baseUrl: string): string {
  if (!/^https?:\/\/[^/]/i.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError(`baseUrl: send http://host:port or https://host, not ${baseUrl}`)
  }
  return baseUrl.replace(/\/+$/, '')
}

/** The error does not repeat the key, because errors end up in logs. */
function readKey(key: string): string {
  const trimmed = key.trim()
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new TypeError('key: has characters that no key has')
  return trimmed
}

function refusalFrom({ status, headers }: Response, body: unknown): ServiceError {
  const { error, detail } = (typeof body === 'object' ? (body ?? {}) : {}) as {
    error?: unknown
    detail?: unknown
  }
  const retryAfter = /^\d+$/.exec(headers.get('retry-after') ?? '')?.[0]
  return serviceError(
    typeof error === 'string' ? error : 'unknown',
    typeof detail === 'string' ? detail : '',
    {
      status,
      requestId: headers.get('x-request-id'),
      retryAfterMs: retryAfter === undefined ? null : Number(retryAfter) * 1000,
      body,
    },
  )
}

function unreadable({ status, headers }: Response, text: string): ServiceError {
  return serviceError('unreadable', 'The answer is not from this service, or was cut off.', {
    status,
    requestId: headers.get('x-request-id'),
    body: text,
  })
}

/** Milliseconds to wait before the next attempt, or null if another attempt would not help. */
function backoffAfter({ status, retryAfterMs }: ServiceError, failures: number): number | null {
  if (!passingStatuses.includes(status)) return null
  if (retryAfterMs !== null && retryAfterMs > longestRetryAfterMs) return null
  // Full jitter: requests that failed together do not come back together.
  const backoffMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** failures)
  return (retryAfterMs ?? 0) + chance() * backoffMs
}

/** A number in [0, 1). */
function chance(): number {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1))
  return number / 2 ** 32
}

/** Limits the work to `ms`, and ends it with the signal, even if the work ignores both. */
function within<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  isBackground: boolean,
  work: (stopped: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController()
    const end = () => {
      cancelTimer()
      signal?.removeEventListener('abort', abort)
    }
    const stop = (reason: unknown) => {
      end()
      reject(reason)
      controller.abort(reason)
    }
    const abort = () => stop(signal?.reason)
    const cancelTimer = after(ms, !isBackground, () =>
      stop(serviceError('timeout', `There was no answer within ${ms} ms.`)),
    )
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, { once: true })
    work(controller.signal)
      .catch((cause) => {
        if (isOwnError(cause)) throw cause
        throw serviceError('unreachable', 'The connection failed.', { cause })
      })
      .then(resolve, reject)
      .finally(end)
  })
}

/** Waits, and rejects with the reason of the signal if the signal comes first. */
export function pause(
  ms: number,
  signal: AbortSignal | undefined,
  background: Background | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      cancelTimer()
      signal?.removeEventListener('abort', abort)
    }
    const wake = () => {
      end()
      resolve()
    }
    const abort = () => {
      end()
      reject(signal?.reason)
    }
    const cancelTimer = after(ms, background === undefined, wake)
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, { once: true })
    background?.waits(wake)
  })
}

/**
 * The address of the service, the key of the calls, and their timeouts and retries.
 *
 * @example
 * ```ts
 * import { createClient } from 'plumbline/client'
 *
 * const client = createClient({
 *   baseUrl: 'http://127.0.0.1:8787',
 *   key: process.env.PLUMBLINE_KEY,
 *   timeoutMs: 30_000,
 *   retries: 5,
 * })
 * console.log((await client.me()).tier) // → enterprise
 * ```
 */
export interface ClientOptions {
  /** `http://host:port`, with or without a trailing slash. */
  baseUrl: string
  /** The key of an account. Methods such as `check`, `tiers` and `grammar` need none. */
  key?: string | undefined
  /** The `fetch` to use. The default is that of the platform. */
  fetch?: typeof fetch | undefined
  /** Milliseconds to wait for one answer. The default is 10,000. */
  timeoutMs?: number | undefined
  /**
   * How often to repeat a request after a failure that may pass: no connection, 429, 502, 503 or 504. The
   * client repeats only requests that cannot take effect twice: GETs, and POSTs with the key, which carry
   * an idempotency key. The default is 2.
   */
  retries?: number | undefined
}

/**
 * Options of one call.
 *
 * @example
 * ```ts
 * import { createClient } from 'plumbline/client'
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', key: process.env.PLUMBLINE_KEY })
 *
 * const step = { run_id: 'first', goal: 'fix the login page' }
 * const options = { idempotencyKey: 'job 17, step 1', signal: AbortSignal.timeout(60_000) }
 * await client.drift(step, options)
 *
 * // A second worker repeats the job, and the service answers as before.
 * console.log((await client.drift(step, options)).step) // → 1
 * ```
 */
export interface CallOptions extends Pick<ClientOptions, 'timeoutMs' | 'retries'> {
  /** Ends the call, which then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Your own idempotency key for a POST with the key. Set it if another process may repeat the call. */
  idempotencyKey?: string | undefined
}

/**
 * The reason why a request was refused or has no answer.
 *
 * @example
 * ```ts
 * import { createClient, isServiceError, type ServiceError } from 'plumbline/client'
 *
 * const tell = ({ status, word, requestId }: ServiceError) =>
 *   status === 0 ? `no answer: ${word}` : `refused: ${word}, request ${requestId}`
 *
 * const client = createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 })
 * try {
 *   await client.tiers()
 * } catch (error) {
 *   if (isServiceError(error)) console.log(tell(error)) // → no answer: unreachable
 * }
 * ```
 */
export interface ServiceError extends Error {
  name: 'ServiceError'
  /** The HTTP status; 0 if there was no answer. */
  status: number
  /**
   * The stable word of the refusal. The client adds words of its own: `unreachable`, `timeout`,
   * `unreadable` (the answer is not from the service), `dropped`, `closed` and `unsent` (the step cannot be
   * JSON).
   */
  word: string
  /** The detail of the answer, such as the correction of a field; '' if the answer has none. */
  detail: string
  /** The service's id of the request; null if there was no answer. */
  requestId: string | null
  /** Milliseconds that the service asks the client to wait; null if it does not say. */
  retryAfterMs: number | null
  /** The body of the answer, parsed if it is JSON. */
  body: unknown
}
