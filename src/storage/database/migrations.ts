import type { Database, Queries } from './database.ts'
import { type Migration, migrations } from './schema.ts'

/** The schema version that this code needs: the number of migrations. */
export const latestVersion = migrations.length

const LIMIT_MS = 600_000

/**
 * Migrates the database to the latest version. If several nodes call it at once, one migrates and the
 * others wait for up to ten minutes. An interrupted migration continues where it stopped. Throws if the
 * database is newer than the code. Tests pass their own `list`.
 */
export async function migrate(
  db: Database,
  list: readonly Migration[] = migrations,
): Promise<void> {
  await inTurn(db, async (tx) => {
    await tx.run(portable('CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY)', db))
    const version = await readVersion(tx)
    if (version <= list.length) return
    throw new Error(
      `The database is at version ${version} and this program knows ${list.length}: a newer release has migrated it. Start that release or a later one.`,
    )
  })
  for (const [before, statements] of list.entries()) {
    await inTurn(db, async (tx) => {
      if ((await readVersion(tx)) !== before) return
      for (const statement of statements) {
        const own = typeof statement === 'string' ? portable(statement, db) : statement[db.kind]
        if (own !== undefined) await tx.run(own)
      }
      await tx.run('INSERT INTO migrations (version) VALUES (?)', before + 1)
    })
  }
}

/** Runs a transaction that only one node runs at a time. */
export function inTurn<T>(db: Database, work: (tx: Queries) => Promise<T>): Promise<T> {
  return db.tx(
    async (tx) => {
      if (db.kind === 'postgres') {
        await tx.all(
          "SELECT pg_advisory_xact_lock(hashtext('plumbline'), hashtext(current_schema()))",
        )
      }
      return work(tx)
    },
    { limitMs: LIMIT_MS },
  )
}

async function readVersion(tx: Queries): Promise<number> {
  const row = await tx.get<{ version: number }>(
    'SELECT COALESCE(MAX(version), 0) AS version FROM migrations',
  )
  return row?.version ?? 0
}

/**
 * Adapts DDL to the database. STRICT makes SQLite reject values of the wrong type, as PostgreSQL does, but
 * allows fewer type names. On PostgreSQL, collation "C" sorts text by its bytes, as SQLite does.
 */
function portable(statement: string, { kind }: Database): string {
  if (kind === 'postgres') {
    return definesColumns.test(statement)
      ? statement.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
      : statement
  }
  const sql = statement
    .replaceAll(/\bBIGINT\b/g, 'INTEGER')
    .replaceAll(/\bDOUBLE PRECISION\b/g, 'REAL')
  return /^\s*CREATE TABLE\b/.test(sql) ? `${sql} STRICT` : sql
}

const definesColumns = /^\s*(CREATE|ALTER) TABLE\b/
