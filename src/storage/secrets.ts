import type { Queries } from './database/database.ts'

/** Secrets of the installation, the same on all nodes. */
export interface Secrets {
  /** The secret of this name; `fresh` becomes it where there is none yet. */
  take(name: string, fresh: string): Promise<string>
}

/** The secrets in a database or one of its transactions. */
export function createSecrets(db: Queries): Secrets {
  return {
    async take(name, fresh) {
      await db.run(
        'INSERT INTO secrets (name, secret) VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
        name,
        fresh,
      )
      const row = await db.get<{ secret: string }>(
        'SELECT secret FROM secrets WHERE name = ?',
        name,
      )
      return row?.secret ?? fresh
    },
  }
}
