import pg from 'pg'

/** The PostgreSQL server that the benches use. */
export const databaseUrl =
  process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/test?connect_timeout=2'

/** Connects to that server; null if there is none. */
export async function adminOf(): Promise<pg.Client | null> {
  const admin = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2000 })
  return admin.connect().then(
    () => admin,
    () => null,
  )
}
