import type { Database, Queries } from './database.ts'
import { type Migration, migrations } from './schema.ts'

/** The version of the schema that this code works with: how many migrations there are. */
export const latestVersion = migrations.length

const LIMIT_MS = 600_000

/**
 * Brings the database to the latest version. Several nodes may call it at once: one works, the
 * others wait, for up to ten minutes. An interrupted run goes on where it stopped. Throws on a
 * database that is newer than the code. `list` is there for tests.
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
        if (typeof statement === 'string') await tx.run(portable(statement, db))
        else if (db.kind === 'postgres') await tx.run(statement.postgres)
      }
      await tx.run('INSERT INTO migrations (version) VALUES (?)', before + 1)
    })
  }
}

/** A transaction that of all nodes only one runs at a time; on SQLite every transaction is one. */
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
 * STRICT has SQLite refuse what does not fit a column, as PostgreSQL does; it knows fewer names of types.
 * Text has the collation "C" on PostgreSQL, so that it sorts by its bytes on every cluster, as on SQLite.
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
