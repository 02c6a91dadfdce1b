import { fieldsOf, listOf, textOf } from '../../core/hosts/fields.ts'
import { toldToPerson } from '../../core/hosts/host-answer.ts'
import { parseJson } from '../../core/text.ts'
import type { Clock } from './clock.ts'

/** The server that a relay reports to. */
export interface RemoteServer {
  /** Without a slash at its end. */
  url: string
  key: string
  /** Whether a person, and not the agent, reads what is told. */
  tellsPerson?: boolean
}

/** What the server answers to one event. */
export interface RemoteAnswer {
  told: string | null
  remind: boolean
  holds: boolean
}

/** How a batch ended. `isRefused`: the server will not take it, however often it is sent. */
export type Sent =
  | { answers: RemoteAnswer[] }
  | { says: string; isRefused: boolean; retryAfterMs: number | null }

const longestAnswer = 4 * 1024 * 1024

/** How a call ends before its answer: after so many milliseconds, or when the relay ends. */
export interface Limits {
  clock: Clock
  limitMs: number
  stopped: AbortSignal
}

/**
 * Sends lines to the server, and waits at most `limitMs` for its whole answer. Never throws: whatever a server does is an
 * outcome. It follows no redirect, which would hand the key to another server.
 */
export async function sendLines(
  { url, key, tellsPerson }: RemoteServer,
  lines: readonly string[],
  { clock, limitMs, stopped }: Limits,
): Promise<Sent> {
  const controller = new AbortController()
  const disarm = clock.later(limitMs, () => controller.abort())
  try {
    const query = tellsPerson === true ? `?${toldToPerson.name}=${toldToPerson.value}` : ''
    const answer = await fetch(`${url}/v1/hooks/plain${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
      body: `${lines.join('\n')}\n`,
      redirect: 'error',
      signal: AbortSignal.any([controller.signal, stopped]),
    })
    const body = fieldsOf(parseJson(await shortText(answer)))
    if (answer.status !== 200) return failed(answer, textOf(body.error))
    const { answers } = body
    if (!Array.isArray(answers) || answers.length !== lines.length) {
      return { says: 'its answer is not that of Plumbline', isRefused: false, retryAfterMs: null }
    }
    return { answers: listOf(answers).map(answerIn) }
  } catch {
    const says = controller.signal.aborted ? 'no answer in time' : 'no connection'
    return { says, isRefused: false, retryAfterMs: null }
  } finally {
    disarm()
  }
}

function failed({ status, headers }: Response, word: string): Sent {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return {
    says: `status ${status}${/^[a-z_]{1,40}$/.test(word) ? ` ${word}` : ''}`,
    isRefused: status === 400 || status === 413,
    retryAfterMs: seconds > 0 ? seconds * 1000 : null,
  }
}

async function shortText(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true })
    if (text.length > longestAnswer) throw new Error('the answer is too long')
  }
  return text
}

function answerIn(value: unknown): RemoteAnswer {
  const { told, remind, holds } = fieldsOf(value)
  const fact = textOf(told)
  return { told: fact === '' ? null : fact, remind: remind !== false, holds: holds === true }
}
