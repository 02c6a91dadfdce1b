import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { plumbline, startServer, startWithKey } from '../bench/server.ts'
import { shippedWeights } from '../src/encoder/encoder.ts'

/** The Plumbline of this checkout, and what it says to whom has the key. */
export interface Ours {
  readonly url: string
  readonly key: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of the server, whose shapes its own tests check
  get(path: string): Promise<any>
  /** Resolves when no step waits for the encoder any more. */
  judged(): Promise<void>
  /** Kills it, as a crash does. */
  kill(): Promise<void>
  /** Starts it again, at the same address and with what it has stored. */
  startAgain(): Promise<void>
  stop(): Promise<void>
}

/** Starts Plumbline on a database of its own, which is removed at the end of the process. */
export async function startOurs(): Promise<Ours> {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-hosts-server-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const database = 'sqlite:./plumbline.db'
  const weights = { PLUMBLINE_ENCODER: fileURLToPath(shippedWeights) }
  const { server: first, key } = await startWithKey(database, folder, weights)
  const { url } = first
  let server = first
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  // Alarms open incidents only where they are sent to somebody. This name leads nowhere.
  const settings = JSON.stringify({ url: 'https://alarms.invalid/', incidents: true })
  const set = await fetch(`${url}/v1/alerts`, { method: 'POST', headers, body: settings })
  if (!set.ok) throw new Error(`/v1/alerts: ${set.status} ${await set.text()}`)
  return {
    url,
    key,
    async get(path) {
      const answer = await fetch(url + path, { headers })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    },
    async judged() {
      const waits = /^plumbline_jobs\{[^}]*kind="unread",state="(due|later|held)"\} [1-9]/m
      while (waits.test(await (await fetch(`${url}/metrics`, { headers })).text())) {
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    async kill() {
      process.kill(server.pid, 'SIGKILL')
      await server.stop()
    },
    async startAgain() {
      const own = { PORT: new URL(url).port, DATABASE_URL: database, LOG_LEVEL: 'warn' }
      server = await startServer(plumbline, folder, { ...own, ...weights })
    },
    stop: () => server.stop(),
  }
}

/** Servers that are no help, by what is wrong with them. */
export const useless = {
  gone: goneServer,
  'hung (3 s)': () => uselessServer(3_000, 'application/json', '{}'),
  'talking nonsense': () =>
    uselessServer(0, 'text/html', '<html>{"decision":"block","continue":false}</html>'),
} as const

export type Useless = keyof typeof useless

/** An address at which nobody listens. */
async function goneServer(): Promise<string> {
  const http = createHttp()
  const url = await listening(http)
  http.close()
  await once(http, 'close')
  return url
}

/** A server that answers each request so late, with such a text. It ends with the process. */
async function uselessServer(lateMs: number, type: string, text: string): Promise<string> {
  const http = createHttp((request, response) => {
    request.resume()
    const late = setTimeout(
      () => response.writeHead(200, { 'content-type': type }).end(text),
      lateMs,
    )
    response.on('close', () => clearTimeout(late))
  })
  return listening(http)
}

async function listening(http: ReturnType<typeof createHttp>): Promise<string> {
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}
