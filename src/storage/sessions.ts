import { maxSessions, sessionEnd } from '../core/accounts/session.ts'
import type { Account } from './accounts.ts'
import type { Database, Queries } from './database/database.ts'
import { jsonRows } from './database/rows.ts'

/** A session of a browser. Its token is stored as a hash; times are milliseconds since 1970. */
export interface SessionRow {
  hash: string
  account: string
  /** The key that made it, with which it ends; null for one that no key made. */
  key_id: string | null
  created: number
  expires: number
}

/** The sessions of browsers. */
export interface Sessions {
  /** Adds a session, and ends the oldest ones of an account that has too many. */
  add(session: SessionRow): Promise<void>
  /**
   * Finds the account of a session and notes its use; null if the session is unknown, over or expired, or its
   * key is. No node caches it, so that an ended session is refused at once.
   */
  use(hash: string, now: number): Promise<Account | null>
  /** Ends a session, and returns whether there was one. */
  end(hash: string): Promise<boolean>
  /** Lets a session that ends with the key `from` end with the key `to`. */
  moveTo(hash: string, from: string, to: string): Promise<void>
  /** Stores the last use of each session that this node has seen. */
  saveUse(): Promise<void>
  /** Deletes at most `limit` expired sessions and returns their number. */
  expire(now: number, limit: number): Promise<number>
}

/** The uses of sessions that this node has not stored yet: when each session ends, by its hash. */
export type SessionMemory = Map<string, number>

/** Creates the sessions on a database or a transaction. */
export function createSessions(
  db: Queries,
  kind: Database['kind'],
  memory: SessionMemory,
): Sessions {
  return {
    async add({ hash, account, key_id, created, expires }) {
      await db.run(
        'INSERT INTO sessions (hash, account, key_id, created, expires) VALUES (?, ?, ?, ?, ?)',
        hash,
        account,
        key_id,
        created,
        expires,
      )
      await db.run(
        `DELETE FROM sessions WHERE account = ? AND hash <> ? AND hash NOT IN (
           SELECT hash FROM sessions WHERE account = ? ORDER BY created DESC, hash LIMIT ?
         )`,
        account,
        hash,
        account,
        maxSessions,
      )
    },
    async use(hash, now) {
      const row = await db.get<Account & { created: number; expires: number }>(
        `SELECT accounts.id, accounts.tier, accounts.email, sessions.created, sessions.expires
         FROM sessions JOIN accounts ON accounts.id = sessions.account
         WHERE sessions.hash = ? AND (sessions.key_id IS NULL OR EXISTS (
           SELECT 1 FROM keys
           WHERE keys.id = sessions.key_id AND (keys.expires IS NULL OR keys.expires > ?)
         ))`,
        hash,
        now,
      )
      if (row === undefined) return null
      const { id, tier, email, created, expires } = row
      if (Math.max(expires, memory.get(hash) ?? 0) <= now) return null
      memory.set(hash, sessionEnd(created, now))
      return { id, tier, email }
    },
    async end(hash) {
      memory.delete(hash)
      return (await db.run('DELETE FROM sessions WHERE hash = ?', hash)) > 0
    },
    async moveTo(hash, from, to) {
      await db.run('UPDATE sessions SET key_id = ? WHERE hash = ? AND key_id = ?', to, hash, from)
    },
    async saveUse() {
      const used = [...memory]
      if (used.length === 0) return
      await db.run(
        `UPDATE sessions SET expires = rows.expires
         FROM ${jsonRows(kind, { hash: 'TEXT', expires: 'BIGINT' })}
         WHERE sessions.hash = rows.hash AND sessions.expires < rows.expires`,
        JSON.stringify(used.map(([hash, expires]) => ({ hash, expires }))),
      )
      for (const [hash, expires] of used) if (memory.get(hash) === expires) memory.delete(hash)
    },
    expire: (now, limit) =>
      db.run(
        `DELETE FROM sessions WHERE hash IN (
           SELECT hash FROM sessions WHERE expires <= ? ORDER BY expires LIMIT ?
         )`,
        now,
        limit,
      ),
  }
}
