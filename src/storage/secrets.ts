import type { Queries } from './database/database.ts'

/** Secrets of the installation, the same on all nodes. */
export interface Secrets {
  /** Reads the secret of this name, or stores `fresh` as the secret if there is none. */
  take(name: string, fresh: string): Promise<string>
}

/** Creates the secrets on a database or a transaction. */
export function createSecrets(db: Queries): Secrets {
  async function find(name: string): Promise<string | null> {
    const row = await db.get<{ secret: string }>('SELECT secret FROM secrets WHERE name = ?', name)
    return row?.secret ?? null
  }

  return {
    async take(name, fresh) {
      const before = await find(name)
      if (before !== null) return before
      await db.run(
        'INSERT INTO secrets (name, secret) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
        name,
        fresh,
      )
      return (await find(name)) ?? fresh
    },
  }
}
