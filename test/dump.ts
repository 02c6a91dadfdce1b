import type { Database } from '../src/storage/database/database.ts'

/** Every row of every table, by the name of the table. */
export async function dumpTables(db: Database): Promise<Record<string, unknown[]>> {
  const tables = await db.all<{ name: string }>(
    db.kind === 'sqlite'
      ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
      : 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  )
  const rows: Record<string, unknown[]> = {}
  for (const { name } of tables) rows[name] = await db.all(`SELECT * FROM ${name}`)
  return rows
}
