import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite, openSqliteToRead } from './sqlite.ts'

/**
 * Opens `sqlite:./file.db`, `sqlite::memory:`, `postgres://…` or `postgresql://…`. Creates a missing
 * SQLite file and its folder; connects to PostgreSQL at the first query. Throws on any other url without
 * repeating it, because a url may contain a password. `noteDamage` is called for every statement that
 * finds a SQLite file damaged.
 */
export function openDatabase(
  url: string,
  noteDamage: (says: string) => void = () => {},
): Promise<Database> {
  if (isPostgres(url)) return openPostgres(url)
  return openSqlite(pathOf(url), noteDamage)
}

/**
 * Opens a database that exists, and changes nothing in it: whatever would write rejects. A server that uses the
 * database beside it goes on. Throws as `openDatabase` does.
 */
export function openDatabaseToRead(url: string): Promise<Database> {
  return isPostgres(url) ? openPostgres(url, { isReadOnly: true }) : openSqliteToRead(pathOf(url))
}

function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:/.test(url)
}

function pathOf(url: string): string {
  const path = sqlitePath(url)
  if (path !== null) return path
  throw new Error(
    'A database url reads sqlite:./path/to/file.db, sqlite::memory: or postgres://user:password@host/name.',
  )
}

/** Extracts the path from a SQLite url, which may be `:memory:`; null for any other url. */
export function sqlitePath(url: string): string | null {
  return /^sqlite:(?:\/\/)?(.+)$/s.exec(url)?.[1] ?? null
}
