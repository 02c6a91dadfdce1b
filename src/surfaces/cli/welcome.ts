import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { FirstAccount } from '../../operations/account/accounts.ts'
import { sqlitePath } from '../../storage/database/open-database.ts'

/** The facts that decide where the first key is shown. */
export interface Welcome {
  /** The address of the server. */
  readonly url: string
  readonly databaseUrl: string
  /** Whether a person watches standard output. */
  readonly isTerminal: boolean
  /** The command that calls `plumbline` where the server was started. */
  readonly command: string
}

/**
 * Returns the text about the browser that a server prints at its start. `link` signs the person at this machine in
 * once, within minutes and from this machine, so that it may stand where a key may not; null leaves it out.
 */
export function browserNotice(link: string | null, { command }: Pick<Welcome, 'command'>): string {
  if (link === null) return ''
  return `\nOpen this in a browser on this machine, once and within 15 minutes; it signs you in:\n\n  ${link}\n\nAnother such link: ${command} signin\n`
}

/**
 * Returns the text about keys that a server prints at its start. A key goes to a terminal or to a file,
 * never into a log.
 */
export function keysNotice(first: FirstAccount | null, welcome: Welcome): string {
  const { url, command } = welcome
  const another = `${command} keys create --tier enterprise`
  if (first === null) return `\nAnother key: ${another}\n`
  const { account, key, isGiven } = first
  const made = `\nThere was no account yet, so the server made one (${account.id}, tier ${account.tier}).`
  if (isGiven) return `${made} Its key is the value of PLUMBLINE_BOOTSTRAP_KEY.\n`
  if (isShown(welcome)) {
    return `${made} Its key, shown this once:\n\n  ${key.key}\n${linesToTry(url, `'authorization: Bearer ${key.key}'`)}`
  }
  const file = firstKeyFile(welcome.databaseUrl)
  try {
    writeSecret(file, `${key.key}\n`)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `${made} Its key could not be written (${why}) and is lost. Another key: ${another}\n`
  }
  return `${made} Its key is in ${file}, which nobody else may read.\n${linesToTry(url, `"authorization: Bearer $(cat '${file}')"`)}`
}

/** The key of a database in memory ends with the process, and no command can create another. */
function isShown({ isTerminal, databaseUrl }: Welcome): boolean {
  return isTerminal || sqlitePath(databaseUrl) === ':memory:'
}

/** The folder of the SQLite file, or of its default. */
function firstKeyFile(databaseUrl: string): string {
  return resolve(join(dirname(sqlitePath(databaseUrl) ?? 'data/plumbline.db'), 'first-key'))
}

/** Writes a new file, so that the mode or a link of an older one does not count. */
function writeSecret(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  rmSync(file, { force: true })
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
}

function linesToTry(url: string, header: string): string {
  return `
With the key, a run remembers its ground, and /v1/me shows the usage of the account:
  curl -s ${url}/v1/drift -H ${header} -d '{"run_id":"first","goal":"add rate limiting to the login endpoint"}'
  curl -s ${url}/v1/me -H ${header}
`
}
