import { parseJson } from '../core/text.ts'
import type { Queries } from './database/database.ts'

/** What is kept beside a run: one state for each, until it expires. */
export interface RunStates<State> {
  /** Reads a state without locking it; null if there is none. */
  find(account: string, runId: string, now: number): Promise<State | null>
  /** Reads a state, a fresh one if there is none, and locks it until the transaction ends. */
  lock(account: string, runId: string, now: number): Promise<State>
  /** Stores a state that is locked, until `expires`, milliseconds since 1970. */
  save(account: string, runId: string, state: State, expires: number): Promise<void>
  /** Deletes a state. */
  forget(account: string, runId: string): Promise<void>
  /** Deletes at most `limit` expired states and returns their number. */
  expire(now: number, limit: number): Promise<number>
}

interface Row {
  state: string
  expires: number
}

/** Creates the states of one table on a database or a transaction; `fresh` is the state of a run that has none. */
export function createRunStates<State>(
  db: Queries,
  table: 'tool_sessions' | 'host_sessions',
  fresh: State,
): RunStates<State> {
  const stateIn = (row: Row | undefined, now: number): State | null =>
    row === undefined || row.expires <= now
      ? null
      : // An earlier release stored less.
        { ...fresh, ...(parseJson(row.state) as State | undefined) }
  return {
    async find(account, runId, now) {
      const row = await db.get<Row>(
        `SELECT state, expires FROM ${table} WHERE account = ? AND run_id = ?`,
        account,
        runId,
      )
      return stateIn(row, now)
    },
    async lock(account, runId, now) {
      // Insert a missing row, so that two first calls wait for each other.
      const row = await db.get<Row>(
        `INSERT INTO ${table} (account, run_id, state, expires) VALUES (?, ?, ?, ?)
         ON CONFLICT (account, run_id) DO UPDATE SET run_id = excluded.run_id
         RETURNING state, expires`,
        account,
        runId,
        JSON.stringify(fresh),
        now,
      )
      return stateIn(row, now) ?? fresh
    },
    async save(account, runId, state, expires) {
      await db.run(
        `UPDATE ${table} SET state = ?, expires = ? WHERE account = ? AND run_id = ?`,
        JSON.stringify(state),
        expires,
        account,
        runId,
      )
    },
    async forget(account, runId) {
      await db.run(`DELETE FROM ${table} WHERE account = ? AND run_id = ?`, account, runId)
    },
    expire: (now, limit) =>
      db.run(
        `DELETE FROM ${table} WHERE expires <= ? AND (account, run_id) IN (
           SELECT account, run_id FROM ${table} WHERE expires <= ? LIMIT ?
         )`,
        now,
        now,
        limit,
      ),
  }
}
