import type { Queries } from './database/database.ts'

/** A link that signs the person at this machine in once. Its token is stored as a hash. */
export interface SignInLink {
  hash: string
  account: string
  /** Milliseconds since 1970. */
  expires: number
}

/** The links that sign the person at this machine in. */
export interface SignInLinks {
  add(link: SignInLink): Promise<void>
  /**
   * Uses a link up and returns its account; null if it is unknown, used or expired. Call it in a transaction: of
   * two callers one gets the account.
   */
  take(hash: string, now: number): Promise<string | null>
  /** Deletes at most `limit` expired links and returns their number. */
  expire(now: number, limit: number): Promise<number>
}

/** Creates the links on a database or a transaction. */
export function createSignInLinks(db: Queries): SignInLinks {
  return {
    async add({ hash, account, expires }) {
      await db.run(
        'INSERT INTO sign_in_links (hash, account, expires) VALUES (?, ?, ?)',
        hash,
        account,
        expires,
      )
    },
    async take(hash, now) {
      const [taken] = await db.all<{ account: string; expires: number }>(
        'DELETE FROM sign_in_links WHERE hash = ? RETURNING account, expires',
        hash,
      )
      return taken === undefined || taken.expires <= now ? null : taken.account
    },
    expire: (now, limit) =>
      db.run(
        `DELETE FROM sign_in_links WHERE hash IN (
           SELECT hash FROM sign_in_links WHERE expires <= ? ORDER BY expires LIMIT ?
         )`,
        now,
        limit,
      ),
  }
}
