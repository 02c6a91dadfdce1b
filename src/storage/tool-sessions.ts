import { nothingSuspended, type Suspension } from '../core/runs/suspended-grounds.ts'
import { parseJson } from '../core/text.ts'
import type { Queries } from './database/database.ts'

/** The data that the tools keep about a task, besides its run. */
export interface ToolSessions {
  /** Whether the task has, or may have, stored data. */
  has(account: string, runId: string, now: number): Promise<boolean>
  /** Reads the data of the task and locks it until the transaction ends. */
  lock(account: string, runId: string, now: number): Promise<Suspension>
  /** Stores the data until `expires`, milliseconds since 1970. */
  save(account: string, runId: string, suspension: Suspension, expires: number): Promise<void>
  /** Deletes the data of the task. */
  forget(account: string, runId: string): Promise<void>
  /** Deletes at most `limit` expired sessions and returns their number. */
  expire(now: number, limit: number): Promise<number>
}

/** Creates the tool sessions on a database or a transaction. */
export function createToolSessions(db: Queries): ToolSessions {
  return {
    async has(account, runId, now) {
      const row = await db.get(
        'SELECT 1 AS found FROM tool_sessions WHERE account = ? AND run_id = ? AND expires > ?',
        account,
        runId,
        now,
      )
      return row !== undefined
    },
    async lock(account, runId, now) {
      // Insert a missing row, so that two first calls wait for each other.
      const row = await db.get<{ state: string; expires: number }>(
        `INSERT INTO tool_sessions (account, run_id, state, expires) VALUES (?, ?, ?, ?)
         ON CONFLICT (account, run_id) DO UPDATE SET run_id = excluded.run_id
         RETURNING state, expires`,
        account,
        runId,
        JSON.stringify(nothingSuspended),
        now,
      )
      if (row === undefined || row.expires <= now) return nothingSuspended
      return (parseJson(row.state) as Suspension | undefined) ?? nothingSuspended
    },
    async save(account, runId, suspension, expires) {
      await db.run(
        'UPDATE tool_sessions SET state = ?, expires = ? WHERE account = ? AND run_id = ?',
        JSON.stringify(suspension),
        expires,
        account,
        runId,
      )
    },
    async forget(account, runId) {
      await db.run('DELETE FROM tool_sessions WHERE account = ? AND run_id = ?', account, runId)
    },
    expire: (now, limit) =>
      db.run(
        `DELETE FROM tool_sessions WHERE expires <= ? AND (account, run_id) IN (
           SELECT account, run_id FROM tool_sessions WHERE expires <= ? LIMIT ?
         )`,
        now,
        now,
        limit,
      ),
  }
}
