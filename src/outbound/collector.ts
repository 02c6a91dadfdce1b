import { request } from 'undici'
import { refusedIn } from '../core/telemetry/result-request.ts'
import { readAtMost } from './model-answer.ts'
import { readRetryAfter, wordsOf } from './webhook.ts'

/** A collector of OpenTelemetry. */
export interface CollectorSettings {
  /** The address that log records are posted to. */
  url: string
  /** Headers with credentials; they stand in no log and no error. */
  headers: Readonly<Record<string, string>>
}

/** The result of one export. */
export interface CollectorAnswer {
  /** Status of the answer, redirects included; 0 without an answer. */
  status: number
  /** Why there was no answer, without an address; null if there was one. */
  error: string | null
  /** The wait that the collector asks for, in milliseconds; null if it names none. */
  retryAfterMs: number | null
  /** Records that it has refused although it has taken the request. */
  refused: number
}

/** Exports log records. Never throws. */
export interface Collector {
  /** Posts the body of an export request, JSON. */
  post(body: string): Promise<CollectorAnswer>
}

/** Shorter than the time that a stopping process leaves its jobs, so that every attempt ends and is recorded. */
const limitMs = 5_000
const mostAnswerBytes = 64 * 1024

/**
 * Creates an exporter to the operator's own collector. Unlike the address of a webhook, this one comes from the
 * operator's settings and from no caller; so it may be a private address without TLS. Redirects are not followed.
 */
export function createCollector({ url, headers }: CollectorSettings, now: () => number): Collector {
  return {
    async post(body) {
      try {
        const answer = await request(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'plumbline' },
          body,
          signal: AbortSignal.timeout(limitMs),
        })
        const retryAfterMs = readRetryAfter(answer.headers['retry-after'], now())
        const { statusCode: status } = answer
        // The status stands, even if the rest of the answer does not come.
        const text = await readAtMost(answer.body, mostAnswerBytes).catch(() => '')
        const refused = status === 200 ? refusedIn(text) : 0
        return { status, error: null, retryAfterMs, refused }
      } catch (error) {
        const isLate = error instanceof Error && error.name === 'TimeoutError'
        const words = isLate ? `timeout after ${limitMs / 1000} s` : wordsOf(error)
        return { status: 0, error: words, retryAfterMs: null, refused: 0 }
      }
    },
  }
}
