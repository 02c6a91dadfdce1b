import { createHmac } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { buildConnector, Client } from 'undici'
import {
  type Destination,
  isAddress,
  isAllowedName,
  mayConnect,
  readDestination,
  readWebhookUrl,
  type WebhookAllowance,
} from '../core/alerts/public-url.ts'
import { askNameServers, askSystem, type Resolve, withDeadline } from './resolver.ts'
import { createPlaces, type Share } from './slots.ts'
import { createSlowAccounts } from './slow-accounts.ts'

/** The result of one request to a webhook. */
export interface WebhookAnswer {
  /** Status of the answer, redirects included; 0 without an answer. */
  status: number
  /** Why there was no answer, at most 200 characters and without an address; null if there was one. */
  error: string | null
  /** The wait that the receiver asks for, at least 0; null if it names none. */
  retryAfterMs: number | null
  /** Whether the receiver answered 410 (gone). */
  gone: boolean
  /** Milliseconds from the name lookup to the headers of the answer. */
  latencyMs: number
  /** Bytes read of the answer's body, at most 64 KiB. */
  bytes: number
}

/** A request to a webhook. */
export interface WebhookRequest {
  url: string
  /** The sending account. */
  account: string
  /** JSON, at most `maxWebhookBodyBytes`. */
  body: string
  headers?: Readonly<Record<string, string>>
  /** Aborts the attempt. */
  signal?: AbortSignal
}

/** Sends requests to webhooks. */
export interface Webhooks {
  /** Makes one attempt; returns null if no slot is free, and the caller tries again later. */
  sendNow(request: WebhookRequest): Promise<WebhookAnswer | null>
  /** Waits for a slot, without a time limit, and makes one attempt. */
  send(request: WebhookRequest): Promise<WebhookAnswer>
  /**
   * Makes one test attempt. Accounts can start tests at any time, so tests have their own slots, few for
   * each account. A test that gets no slot within half a second ends unsent, so that tests do not delay
   * events.
   */
  sendTest(request: WebhookRequest): Promise<WebhookAnswer>
  /** Aborts all attempts in flight; their callers get a result that says so. */
  close(): Promise<void>
}

/** The dependencies of the sender. */
export interface WebhookParts {
  allow: WebhookAllowance
  /** Replaces the name servers. */
  resolve?: Resolve | undefined
  /** Milliseconds since 1970, to read `Retry-After` dates. */
  now(): number
}

/** Largest request body, in bytes. */
export const maxWebhookBodyBytes = 20 * 1024

const deadlineMs = 5_000
/**
 * Concurrent requests: of all accounts, and of accounts that were slow lately, whose hanging receivers and
 * names must leave slots for the others.
 */
const mostEvents = { ofAll: 16, ofSlow: 8 }
const mostTests = { ofAll: 16, ofSlow: 4 }
const mostPerHost = 3
const mostTestsPerAccount = 3
const patienceMs = 500
const maxAnswerHeaderBytes = 16 * 1024
const maxAnswerBytes = 64 * 1024
const answerBodyMs = 500

const notValid = 'no valid webhook configured'
const notAllowed = 'destination address is not allowed'
const tooMany = 'too many requests are under way; try again'

/**
 * Creates a sender that connects only to public or exempt addresses. It resolves the name once, refuses it
 * if any address is not public, and connects only to the checked addresses.
 */
export function createWebhooks({ allow, resolve, now }: WebhookParts): Webhooks {
  const resolvePublic = withDeadline(resolve ?? askNameServers())
  // Names that the operator exempts may exist only in the hosts file.
  const resolveAllowed = withDeadline(resolve ?? askSystem)
  const events = createPlaces()
  const tests = createPlaces()
  const slow = createSlowAccounts(now)
  const closing = new AbortController()

  /** Sends a request from the slot that `enter` takes; null if it gets none. */
  async function sendFrom(request: WebhookRequest, enter: Enter): Promise<WebhookAnswer | null> {
    const destination = readDestination(request.url.trim())
    if (destination === null || readWebhookUrl(request.url, allow) === null) {
      return noAnswer(notValid, 0)
    }
    if (Buffer.byteLength(request.body) > maxWebhookBodyBytes) {
      return noAnswer(`request body over ${maxWebhookBodyBytes / 1024} KiB`, 0)
    }
    const signals = [closing.signal, ...(request.signal === undefined ? [] : [request.signal])]
    const broken = AbortSignal.any(signals)
    const release = await enter(destination.host, broken)
    if (broken.aborted) {
      release?.()
      return noAnswer(wordsOfAbort(broken), 0)
    }
    if (release === null) return null
    const answer = await attempt(destination, request, broken).finally(release)
    slow.note(request.account, answer.latencyMs)
    return answer
  }

  async function sendInTurn(request: WebhookRequest, enter: Enter): Promise<WebhookAnswer> {
    return (await sendFrom(request, enter)) ?? noAnswer(tooMany, 0)
  }

  /** The common group comes last, so that a request waiting for its own group takes no common slot. */
  function sharesOf(account: string, host: string, most: typeof mostEvents): Share[] {
    return [
      { name: `host ${host}`, most: mostPerHost },
      ...(slow.has(account) ? [{ name: 'slow accounts', most: most.ofSlow }] : []),
      { name: 'all', most: most.ofAll },
    ]
  }

  async function attempt(
    destination: Destination,
    request: WebhookRequest,
    broken: AbortSignal,
  ): Promise<WebhookAnswer> {
    const began = performance.now()
    const latency = () => Math.round(performance.now() - began)
    const cut = new AbortController()
    const signal = AbortSignal.any([broken, cut.signal])
    const deadline = setTimeout(() => cut.abort(`timeout after ${deadlineMs / 1000} s`), deadlineMs)
    try {
      const addresses = await addressesOf(destination, signal)
      if (!addresses.every((address) => mayReach(destination, address))) {
        return noAnswer(notAllowed, latency())
      }
      const client = clientOf(destination, addresses, signal, () => cut.abort(notAllowed))
      const { statusCode, headers, body } = await client.request({
        method: 'POST',
        path: destination.url.pathname + destination.url.search,
        headers: headersOf(destination, request),
        body: request.body,
        signal,
      })
      clearTimeout(deadline)
      return {
        status: statusCode,
        error: null,
        retryAfterMs: readRetryAfter(headers['retry-after'], now()),
        gone: statusCode === 410,
        latencyMs: latency(),
        bytes: await readUpTo(maxAnswerBytes, body),
      }
    } catch (error) {
      return noAnswer(signal.aborted ? wordsOfAbort(signal) : wordsOf(error), latency())
    } finally {
      clearTimeout(deadline)
      // Close every connection of this attempt; none serves a second one.
      cut.abort()
    }
  }

  /** A literal address is never resolved, so check it here. */
  async function addressesOf(
    destination: Destination,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { host } = destination
    if (isAddress(host)) return [host]
    const resolveName = isAllowedName(destination, allow) ? resolveAllowed : resolvePublic
    return resolveName(host, signal)
  }

  function mayReach(destination: Destination, address: string): boolean {
    return isAllowedName(destination, allow) || mayConnect(address, destination.port, allow)
  }

  /** Creates a client for one request that connects only to these addresses. */
  function clientOf(
    destination: Destination,
    addresses: readonly string[],
    signal: AbortSignal,
    refuse: () => void,
  ): Client {
    const connect = buildConnector({
      lookup: answering(addresses),
      signal,
      allowH2: false,
      maxCachedSessions: 0,
      rejectUnauthorized: true,
      timeout: deadlineMs,
      ...(isAddress(destination.host) ? {} : { servername: destination.host }),
    })
    return new Client(destination.url.origin, {
      pipelining: 0,
      maxHeaderSize: maxAnswerHeaderBytes,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, done) =>
        connect(options, (...[error, socket]) => {
          if (error !== null) return done(error, null)
          if (mayReach(destination, socket.remoteAddress ?? '')) return done(null, socket)
          refuse()
          done(new Error(notAllowed), null)
        }),
    })
  }

  return {
    sendNow: (request) =>
      sendFrom(request, (host) => events.takeNow(sharesOf(request.account, host, mostEvents))),
    send: (request) =>
      sendInTurn(request, (host, broken) =>
        events.take(sharesOf(request.account, host, mostEvents), broken),
      ),
    sendTest: (request) =>
      sendInTurn(request, (host, broken) => {
        const { account } = request
        const own = { name: `account ${account}`, most: mostTestsPerAccount }
        const waiting = AbortSignal.any([broken, AbortSignal.timeout(patienceMs)])
        return tests.take([own, ...sharesOf(account, host, mostTests)], waiting)
      }),
    async close() {
      closing.abort()
    },
  }
}

/** Takes a slot for a request to a host; returns its release, or null if there is none. */
type Enter = (host: string, broken: AbortSignal) => Promise<Leave | null> | Leave | null
type Leave = () => void

/**
 * Headers with which a receiver verifies the sender (Standard Webhooks 1.0). During a change of secrets
 * there are two signatures, and either is valid. A secret is `whsec_` and base64.
 */
export function signatureHeaders(given: {
  id: string
  timestampS: number
  body: string
  secrets: readonly string[]
}): Record<string, string> {
  const { id, timestampS, body, secrets } = given
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signatures.join(' '),
  }
}

function noAnswer(error: string, latencyMs: number): WebhookAnswer {
  return { status: 0, error, retryAfterMs: null, gone: false, latencyMs, bytes: 0 }
}

function headersOf({ url }: Destination, { headers }: WebhookRequest): Record<string, string> {
  const { username, password } = url
  const credentials = [username, password].map(decodeURIComponent).join(':')
  return {
    ...(credentials === ':'
      ? {}
      : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    ...headers,
    'content-type': 'application/json',
    'user-agent': 'svc-alerts/1',
  }
}

/** Returns the checked addresses instead of resolving again. */
function answering(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, { all }, done) => {
    const [first = { address: '', family: 0 }] = answers
    if (all) done(null, answers)
    else done(null, first.address, first.family)
  }
}

/** Parses a `Retry-After` (RFC 9110: seconds, or a date) into the wait in milliseconds, or null. */
export function readRetryAfter(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== 'string') return null
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = /^[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

/** Reads a body for at most 500 ms and returns its size; errors are ignored. */
async function readUpTo(max: number, body: AsyncIterable<Buffer> & { destroy(): void }) {
  const timer = setTimeout(() => body.destroy(), answerBodyMs)
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes = Math.min(max, bytes + chunk.length)
      if (bytes === max) break
    }
  } catch {
    // The status is the answer; keep the size that was read before the body broke off.
  }
  clearTimeout(timer)
  return bytes
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  ENOTFOUND: 'host name not found',
  ENODATA: 'host name not found',
  ETIMEOUT: 'host name lookup timed out',
  UND_ERR_SOCKET: 'connection closed before an answer',
  UND_ERR_HEADERS_OVERFLOW: `answer headers over ${maxAnswerHeaderBytes / 1024} KiB`,
}

/** Our own words for an error of a request, because those of the system contain addresses. */
export function wordsOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  if (name === 'HTTPParserError') return 'answer is not HTTP'
  const word = String(code ?? name)
  return words[word] ?? `request failed (${word})`.slice(0, 200)
}

function wordsOfAbort({ reason }: AbortSignal): string {
  return typeof reason === 'string' ? reason : 'attempt broken off'
}
