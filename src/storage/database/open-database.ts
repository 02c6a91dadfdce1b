import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

/**
 * Opens `sqlite:./file.db`, `sqlite::memory:`, `postgres://…` or `postgresql://…`. A SQLite file and
 * its folder are made when missing; PostgreSQL is first spoken to by the first query. Throws on any
 * other url, without repeating it, because a url may hold a password. `noteDamage` hears of every
 * statement that finds a SQLite file damaged.
 */
export function openDatabase(
  url: string,
  noteDamage: (says: string) => void = () => {},
): Promise<Database> {
  const scheme = /^[a-z]+(?=:)/.exec(url)?.[0]
  if (scheme === 'postgres' || scheme === 'postgresql') return openPostgres(url)
  const path = sqlitePath(url)
  if (path !== null) return openSqlite(path, noteDamage)
  throw new Error(
    'A database url reads sqlite:./path/to/file.db, sqlite::memory: or postgres://user:password@host/name.',
  )
}

/** The path in the url of an embedded database, which may be `:memory:`; null in any other url. */
export function sqlitePath(url: string): string | null {
  return /^sqlite:(?:\/\/)?(.+)$/s.exec(url)?.[1] ?? null
}
