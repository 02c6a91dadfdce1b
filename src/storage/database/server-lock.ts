import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { unusable } from './database.ts'
import { BUSY, resultCode } from './sqlite.ts'

/**
 * Makes this process the one server of a SQLite file until it calls what is answered, or ends in
 * whatever way: the operating system drops the lock with the process. Commands take no such lock and
 * work beside the server. Throws a sentence while another server has the file.
 */
export function lockForServer(path: string): () => void {
  // The same file for every name of the database; it holds nothing and stays.
  const file = `${realpathSync(path)}-server`
  // Only when it is missing: to close a file gives up the locks that this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    // No journal appears beside it.
    lock.exec('PRAGMA journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (resultCode(error) !== BUSY) throw error
    throw unusable(
      `A server already runs on ${path}, and a SQLite file has one server. Stop that one, or give this one another DATABASE_URL.`,
    )
  }
  return () => lock.close()
}
