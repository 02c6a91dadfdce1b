import { parseJson } from '../../core/text.ts'

/** One request as it goes over the wire. */
export interface Request {
  method: 'GET' | 'POST' | 'DELETE'
  /** With its parameters, from `/v1` on. */
  path: string
  /** Whether it carries the key and, as a POST, an idempotency key. */
  keyed: boolean
  body?: string
}

/** Who sees to a request that nobody waits for: it is tried until it gets an answer. */
export interface Background {
  /** Told of each attempt that failed and will be repeated. */
  failed(error: ServiceError): void
  /** Given, before each wait, the function that ends it early. */
  waits(wake: () => void): void
}

/** Ways to ask the service. All of them reject with a ServiceError, or with the reason of the signal. */
export interface Calls {
  /** Asks and answers the parsed JSON object of a 2xx. */
  send(request: Request, options: CallOptions, background?: Background): Promise<unknown>
  /** Asks and answers the parsed lines of a 2xx as they arrive. */
  lines(request: Request, options: CallOptions): AsyncGenerator<unknown>
}

const passingStatuses = [0, 429, 502, 503, 504]
const firstBackoffMs = 250
const longestBackoffMs = 10_000
const longestRetryAfterMs = 30_000
const maxTimerMs = 2 ** 31 - 1

/** The one place that knows `fetch`: addresses, headers, timeouts, retries and what an answer means. */
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
    throw refusalOf(response, parseJson(text) ?? text)
  }

  /** Attempts until one succeeds, or fails in a way that would not pass, or too often. */
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
    const mayRepeat = method === 'GET' || 'idempotency-key' in headers
    for (let failures = 0; ; failures++) {
      try {
        return await within(timeoutMs, signal, background !== undefined, async (stopped) =>
          attempt(await open(request, headers, stopped)),
        )
      } catch (error) {
        if (!isOwnError(error) || !mayRepeat) throw error
        const waitMs = waitAfter(error, failures)
        if (waitMs === null || (background === undefined && failures >= retries)) throw error
        background?.failed(error)
        await pause(waitMs, signal, background)
      }
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
          const lines = rest.split('\n')
          rest = done ? '' : (lines.pop() ?? '')
          for (const line of lines.filter((text) => text !== '')) {
            const read = parseJson(line)
            if (read === undefined) throw unreadable(response, line)
            yield read
          }
        }
      } finally {
        reader.cancel().catch(() => {})
      }
    },
  }
}

/** An error as every method rejects with it. */
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

/** Whether an error is one of `serviceError`. */
export function isOwnError(error: unknown): error is ServiceError {
  return error instanceof Error && error.name === 'ServiceError'
}

/** An id nobody else has. Not `crypto.randomUUID`, which a page that came over plain HTTP lacks. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * A timer that ends by itself. One that nobody waits for lets a Node process go; one longer than
 * timers can be never fires. Answers the way to take it back.
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

/** Refused without being echoed: an error ends up in logs. */
function readKey(key: string): string {
  const trimmed = key.trim()
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw new TypeError('key: has characters that no key has')
  return trimmed
}

function refusalOf({ status, headers }: Response, body: unknown): ServiceError {
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

/** Milliseconds to wait before the next attempt, or null when another would not help. */
function waitAfter({ status, retryAfterMs }: ServiceError, failures: number): number | null {
  if (!passingStatuses.includes(status)) return null
  if (retryAfterMs !== null && retryAfterMs > longestRetryAfterMs) return null
  // Full jitter: what failed together does not come back together.
  const backoffMs = Math.min(longestBackoffMs, firstBackoffMs * 2 ** failures)
  return (retryAfterMs ?? 0) + chance() * backoffMs
}

/** A number in [0, 1). */
function chance(): number {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1))
  return number / 2 ** 32
}

/** Works at most `ms`, and no longer than the signal lets it, even when the work heeds neither. */
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

/** Waits; rejects with the signal's reason when that comes first. */
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
 * Where the service is, whose calls these are, and how patient they are.
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
  /** A key; needed for everything but `check` and `tiers`. */
  key?: string | undefined
  /** The fetch to use; the platform's unless given. */
  fetch?: typeof fetch | undefined
  /** Milliseconds to wait for one answer; 10,000 unless given. */
  timeoutMs?: number | undefined
  /**
   * How often to try again what failed for a while: connections, 429, 502, 503, 504. Only what cannot
   * happen twice is repeated: GETs, and keyed POSTs, which carry an idempotency key. 2 unless given.
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
  /** Ends the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Of a keyed POST: one of your own, where the call may be repeated by another process. */
  idempotencyKey?: string | undefined
}

/**
 * Why there is no answer, or not the one hoped for.
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
  /** The HTTP status; 0 when there was no answer. */
  status: number
  /**
   * The stable word of the refusal. Of this client: `unreachable`, `timeout`, `unreadable` (what
   * answered is not the service), `dropped`, `closed`, `unsent` (a step that is not JSON).
   */
  word: string
  /** What to send instead; '' when the answer does not say. */
  detail: string
  /** The service's name for the request; null when there was no answer. */
  requestId: string | null
  /** Milliseconds the service asks to be left alone for; null when it does not say. */
  retryAfterMs: number | null
  /** The body as it came, parsed when it was JSON. */
  body: unknown
}
