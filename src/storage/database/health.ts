import type { Database } from './database.ts'

/** Reads the version of the schema, 0 if there is no schema. */
export async function readSchemaVersion(db: Database): Promise<number> {
  const table = await db.get<{ found: number }>(
    db.kind === 'postgres'
      ? "SELECT COUNT(to_regclass('migrations')) AS found"
      : "SELECT COUNT(*) AS found FROM sqlite_master WHERE name = 'migrations'",
  )
  if (table?.found !== 1) return 0
  const row = await db.get<{ version: number | null }>(
    'SELECT MAX(version) AS version FROM migrations',
  )
  return row?.version ?? 0
}

/** When a server last proved that it can write, milliseconds since 1970, or null when none has. */
export async function readHeartbeat(db: Database): Promise<number | null> {
  const row = await db.get<{ at: number }>('SELECT at FROM heartbeat WHERE id = 1')
  return row?.at ?? null
}

/** Reads the clock of the database server, in milliseconds since 1970; null on SQLite. */
export async function readClock(db: Database): Promise<number | null> {
  if (db.kind === 'sqlite') return null
  const row = await db.get<{ now: number }>(
    'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now',
  )
  return row?.now ?? null
}
