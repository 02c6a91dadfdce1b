import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { unusable } from './database.ts'
import { BUSY, resultCode } from './sqlite.ts'

/**
 * Makes this process the only server of a SQLite file until the returned function is called or the process
 * ends; the operating system then drops the lock. Commands take no such lock and can run while the server
 * runs. Throws if another server uses the file.
 */
export function lockForServer(path: string): () => void {
  // The real path gives every name of the database the same lock file. The file stays empty and is never
  // deleted.
  const file = `${realpathSync(path)}-server`
  // Create the file only if it is missing: closing a file drops this process's locks on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    // This mode creates no journal file.
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
