import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, textOf } from '../../core/hosts/fields.ts'
import type { HookMode } from '../../core/hosts/hook-settings.ts'
import { probeEvent } from '../../core/hosts/unknown-events.ts'
import { parseJson } from '../../core/text.ts'

const answerLimitMs = 3000
/** Where an event of no effect goes. */
export const probePath = `/v1/hooks/claude-code/${probeEvent}`

/** What was found out and done at the server. */
export interface Prepared {
  /** The key for the file that hooks read. */
  key: string
  notes: string[]
}

/** What is wanted of the server. */
export interface Wanted {
  url: string
  /** The key that the user has given. */
  key: string
  /** The key of an earlier time for the same server; null without one. */
  before: string | null
  /** What the user will know the new key by. */
  label: string
  mode: HookMode | null
}

/**
 * Makes a key that may only report events, so that the file on the user's machine opens nothing else, and sets how hooks
 * are answered. A key of an earlier time that still works is kept. If the server does not answer, the given key is used.
 */
export async function prepareServer({ url, key, before, label, mode }: Wanted): Promise<Prepared> {
  const notes: string[] = []
  if (mode !== null) {
    const changed = await asked(url, key, 'POST', '/v1/hooks', { mode })
    notes.push(
      changed.status === 200
        ? `Hooks are answered in the mode ${mode}.`
        : `The mode was not set to ${mode}: ${changed.says}.`,
    )
  }
  if (before !== null && before !== key) {
    const probed = await asked(url, before, 'POST', probePath, {})
    if (probed.status === 200 && probed.note === null) return { key: before, notes }
  }
  const made = await asked(url, key, 'POST', '/v1/me/keys', { scope: 'hooks', label })
  if (made.status === 201) {
    notes.push(`Made key ${textOf(made.body.id)}, which may only report events.`)
    return { key: textOf(made.body.key), notes }
  }
  // A key of the scope hooks makes no other, and is one already.
  if (made.status !== 403) {
    notes.push(`No key of its own was made (${made.says}); the one you gave is used.`)
  }
  return { key, notes }
}

/** The key that an earlier time has left for the same server; null without one. */
export function keyIn(folder: string, url: string): string | null {
  const [conf, address] = ['curl.conf', 'url'].map((name) => join(folder, name))
  if (conf === undefined || address === undefined || !existsSync(conf) || !existsSync(address))
    return null
  if (readFileSync(address, 'utf8').trim() !== url) return null
  return /^header = "authorization: Bearer (\S+)"$/m.exec(readFileSync(conf, 'utf8'))?.[1] ?? null
}

export interface Asked {
  /** 0 if the server did not answer. */
  status: number
  body: ReturnType<typeof fieldsOf>
  note: string | null
  says: string
}

/** Asks the server once, for at most three seconds. */
export async function asked(
  url: string,
  key: string,
  method: string,
  path: string,
  sent?: object,
): Promise<Asked> {
  try {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      signal: AbortSignal.timeout(answerLimitMs),
    })
    const body = fieldsOf(parseJson(await answer.text()))
    const word = textOf(body.error)
    const says = `the server answered ${answer.status}${word === '' ? '' : ` ${word}`}`
    return { status: answer.status, body, note: answer.headers.get('x-plumbline-note'), says }
  } catch {
    return { status: 0, body: {}, note: null, says: 'the server did not answer' }
  }
}
