import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { plumbline, type Server } from './server.ts'

/** The goal of a run, and a goal that has nothing to do with it. */
export const errand = 'fix the login form'
export const astray = 'redesign the billing database'

/** An account, and the server that sends its events. */
export interface Account {
  server: Server
  key: string
}

/** Sets the webhook of the account. */
export async function setWebhook(account: Account, url: string): Promise<void> {
  await post(account, '/v1/alerts', { url })
}

/** Sends a request as the account. Throws if the answer is a refusal. */
export async function post({ server, key }: Account, path: string, body: object): Promise<void> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
}

/** Creates an account without limits and returns its key. */
export async function createKey(folder: string, env: Record<string, string>): Promise<string> {
  const args = [plumbline[0]!, 'keys', 'create', '--tier', 'enterprise', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
  return JSON.parse(stdout).key
}
