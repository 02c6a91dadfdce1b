import { nothingObserved, type Observed, readObserved } from '../core/hosts/observed.ts'
import type { Queries } from './database/database.ts'

/** What is known of the sessions of hosts. The run of a session has the same key. */
export interface HostSessions {
  /** Reads a session without locking it. */
  find(account: string, runId: string, now: number): Promise<Observed>
  /** Reads a session and locks it until the transaction ends. */
  lock(account: string, runId: string, now: number): Promise<Observed>
  /** Stores a session that is locked, until `expires`, milliseconds since 1970. */
  save(account: string, runId: string, observed: Observed, expires: number): Promise<void>
  /** Deletes a session. */
  forget(account: string, runId: string): Promise<void>
  /** Deletes at most `limit` expired sessions and returns their number. */
  expire(now: number, limit: number): Promise<number>
}

interface Row {
  state: string
  expires: number
}

/** Creates the sessions on a database or a transaction. */
export function createHostSessions(db: Queries): HostSessions {
  const observedIn = (row: Row | undefined, now: number) =>
    row === undefined || row.expires <= now ? nothingObserved : readObserved(row.state)
  return {
    async find(account, runId, now) {
      const row = await db.get<Row>(
        'SELECT state, expires FROM host_sessions WHERE account = ? AND run_id = ?',
        account,
        runId,
      )
      return observedIn(row, now)
    },
    async lock(account, runId, now) {
      // Insert a missing row, so that two first events wait for each other.
      const row = await db.get<Row>(
        `INSERT INTO host_sessions (account, run_id, state, expires) VALUES (?, ?, '', ?)
         ON CONFLICT (account, run_id) DO UPDATE SET run_id = excluded.run_id
         RETURNING state, expires`,
        account,
        runId,
        now,
      )
      return observedIn(row, now)
    },
    async save(account, runId, observed, expires) {
      await db.run(
        'UPDATE host_sessions SET state = ?, expires = ? WHERE account = ? AND run_id = ?',
        JSON.stringify(observed),
        expires,
        account,
        runId,
      )
    },
    async forget(account, runId) {
      await db.run('DELETE FROM host_sessions WHERE account = ? AND run_id = ?', account, runId)
    },
    expire: (now, limit) =>
      db.run(
        `DELETE FROM host_sessions WHERE expires <= ? AND (account, run_id) IN (
           SELECT account, run_id FROM host_sessions WHERE expires <= ? LIMIT ?
         )`,
        now,
        now,
        limit,
      ),
  }
}
