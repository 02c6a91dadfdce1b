import { Agent, type IncomingHttpHeaders, request } from 'node:http'

/** The result of a request: a complete answer, or the reason for its absence. */
export type Outcome = Answer | NoAnswer

/** Why there was no answer, and the time at which the kernel had the whole request; null if it never had. */
export interface NoAnswer {
  readonly failure: string
  readonly sentMs: number | null
}

/** A complete answer. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

const answerLimitMs = 20_000

/** Sends one request with a body over an agent's connection. Never rejects. */
export function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<Outcome> {
  return ask(url, { method: 'POST', headers, agent }, body)
}

/** Sends one GET over a connection of its own. Never rejects. */
export function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return ask(url, { method: 'GET', headers, agent: new Agent({ keepAlive: false }) }, '')
}

function ask(
  url: string,
  options: { method: string; headers: Readonly<Record<string, string>>; agent: Agent },
  body: string,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const headers = { ...options.headers, ...length }
    const sent = request(url, { ...options, headers, timeout: answerLimitMs }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      )
      answer.on('error', fail)
    })
    let sentMs: number | null = null
    function fail(error: NodeJS.ErrnoException): void {
      resolve({ failure: error.code ?? error.message, sentMs })
    }
    sent.on('finish', () => {
      sentMs = performance.now()
    })
    sent.on('error', fail)
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${answerLimitMs} ms`)))
    sent.end(body)
  })
}
