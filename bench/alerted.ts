import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { plumbline, type Server } from './server.ts'

/** What a run is about, and what is none of it. */
export const errand = 'fix the login form'
export const astray = 'redesign the billing database'

/** An account, and the server that has its events sent. */
export interface Account {
  server: Server
  key: string
}

/** Has the events of an account sent to this address. */
export async function setWebhook(account: Account, url: string): Promise<void> {
  await post(account, '/v1/alerts', { url })
}

/** Asks as the account; throws when the answer is none that was hoped for. */
export async function post({ server, key }: Account, path: string, body: object): Promise<void> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
}

/** The key of a new account that nothing limits. */
export async function createKey(folder: string, env: Record<string, string>): Promise<string> {
  const args = [plumbline[0]!, 'keys', 'create', '--tier', 'enterprise', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
  return JSON.parse(stdout).key
}
