import { nothingSuspended, type Suspension } from '../core/runs/suspension.ts'
import { parseJson } from '../core/text.ts'
import type { Queries } from './database/database.ts'

/** What the tools keep about a task besides its run. */
export interface ToolSessions {
  /** Whether anything is put aside for the task, or may be. */
  has(account: string, runId: string, now: number): Promise<boolean>
  /** In a transaction: what the task has put aside, held until the transaction ends. */
  hold(account: string, runId: string, now: number): Promise<Suspension>
  /** Keeps it until `expires`, milliseconds since 1970. */
  save(account: string, runId: string, suspension: Suspension, expires: number): Promise<void>
  /** Forgets what the task has put aside. */
  forget(account: string, runId: string): Promise<void>
  /** Forgets at most `limit` that have expired; answers how many. */
  expire(now: number, limit: number): Promise<number>
}

/** The tool sessions in a database or one of its transactions. */
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
    async hold(account, runId, now) {
      // One that is missing is made, so that two first calls follow one another.
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
