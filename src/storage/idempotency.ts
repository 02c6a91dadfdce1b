import { dayMs } from '../core/time.ts'
import type { Queries } from './database.ts'

/** A request that is to be worked once. */
export interface Claim {
  account: string
  scope: string
  key: string
  bodyHash: string
  /** Milliseconds since 1970. */
  at: number
}

/** What an earlier request with the same key was answered. */
export interface Kept {
  bodyHash: string
  status: number
  answer: string
}

/** Answers that were given to requests with an idempotency key. */
export interface Idempotency {
  /**
   * Takes the key for this request and answers null, or answers what an earlier one was given in the
   * last 24 hours. Waits while another transaction holds the key.
   */
  claim(claim: Claim): Promise<Kept | null>
  /** Keeps the answer of a claimed request. */
  keep(claim: Claim, status: number, answer: string): Promise<void>
  /** Forgets at most `limit` answers older than 24 hours; answers how many. */
  expire(now: number, limit: number): Promise<number>
}

const keptForMs = dayMs

/** Idempotency records in one transaction. */
export function createIdempotency(db: Queries): Idempotency {
  return {
    async claim({ account, scope, key, bodyHash, at }) {
      const claimed = await db.run(
        `INSERT INTO idempotency (account, scope, key, body_hash, at, status, answer)
         VALUES (?, ?, ?, ?, ?, 0, '')
         ON CONFLICT (account, scope, key) DO UPDATE
         SET body_hash = excluded.body_hash, at = excluded.at, status = 0, answer = ''
         WHERE idempotency.at <= excluded.at - ${keptForMs}`,
        account,
        scope,
        key,
        bodyHash,
        at,
      )
      if (claimed > 0) return null
      const row = await db.get<{ body_hash: string; status: number; answer: string }>(
        'SELECT body_hash, status, answer FROM idempotency WHERE account = ? AND scope = ? AND key = ?',
        account,
        scope,
        key,
      )
      if (row === undefined) throw new Error('an idempotency record vanished while it was held')
      return { bodyHash: row.body_hash, status: row.status, answer: row.answer }
    },
    async keep({ account, scope, key }, status, answer) {
      await db.run(
        'UPDATE idempotency SET status = ?, answer = ? WHERE account = ? AND scope = ? AND key = ?',
        status,
        answer,
        account,
        scope,
        key,
      )
    },
    expire: (now, limit) =>
      db.run(
        // The age is asked twice: PostgreSQL looks again at a row that it had to wait for, and only
        // so sees that the key was claimed anew.
        `DELETE FROM idempotency WHERE at <= ? AND (account, scope, key) IN (
           SELECT account, scope, key FROM idempotency WHERE at <= ? ORDER BY at LIMIT ?
         )`,
        now - keptForMs,
        now - keptForMs,
        limit,
      ),
  }
}
