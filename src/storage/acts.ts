import type { Database, Queries } from './database/database.ts'
import { jsonRows } from './database/rows.ts'

/** A run of an account. */
export interface ActingRun {
  account: string
  run_id: string
}

/** Acts that other runs have begun. */
export interface ActsOfOthers {
  /** Number of other runs that began any act. */
  runs: number
  /** One run that began the same act, or null. */
  same: ActingRun | null
}

/** The acts that runs have begun, by a hash of the act and its target. */
export interface Acts {
  /** Locks the acts of the accounts until the transaction ends. */
  lock(accounts: readonly string[]): Promise<void>
  /**
   * Finds the acts that other runs of the accounts began after `since` (milliseconds since 1970). If a
   * group is given, acts of other groups do not count.
   */
  ofOthers(
    accounts: readonly string[],
    self: ActingRun,
    act: string,
    group: string | null,
    since: number,
  ): Promise<ActsOfOthers>
  begin(self: ActingRun, act: string, group: string | null, at: number): Promise<void>
  /** Deletes at most `limit` acts begun before `before` and returns their number. */
  expire(before: number, limit: number): Promise<number>
}

/** Creates the acts on a database or a transaction. */
export function createActs(db: Queries, kind: Database['kind']): Acts {
  const among = `acts JOIN ${jsonRows(kind, { account: 'TEXT' })} ON acts.account = rows.account
    WHERE acts.at > ? AND NOT (acts.account = ? AND acts.run_id = ?)
      AND (CAST(? AS TEXT) IS NULL OR acts.work_group IS NULL OR acts.work_group = ?)`
  return {
    async lock(accounts) {
      // Locking the first account of a team is enough, because every member locks the same one.
      const [first] = [...accounts].sort()
      if (first === undefined) return
      await db.run('UPDATE accounts SET created = created WHERE id = ?', first)
    },
    async ofOthers(accounts, { account, run_id }, act, group, since) {
      const rows = JSON.stringify(accounts.map((each) => ({ account: each })))
      const values = [rows, since, account, run_id, group, group]
      const others = await db.get<{ runs: number }>(
        `SELECT COUNT(*) AS runs FROM (SELECT DISTINCT acts.account, acts.run_id FROM ${among}) AS others`,
        ...values,
      )
      const same = await db.get<ActingRun>(
        `SELECT acts.account, acts.run_id FROM ${among} AND acts.act = ?
         ORDER BY acts.at DESC LIMIT 1`,
        ...values,
        act,
      )
      return { runs: others?.runs ?? 0, same: same ?? null }
    },
    async begin({ account, run_id }, act, group, at) {
      await db.run(
        `INSERT INTO acts (account, run_id, act, work_group, at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (account, act, run_id)
         DO UPDATE SET work_group = excluded.work_group, at = excluded.at`,
        account,
        run_id,
        act,
        group,
        at,
      )
    },
    expire: (before, limit) =>
      db.run(
        // The condition appears twice because PostgreSQL rechecks it on a row whose lock it waited for,
        // and then sees that the act began again.
        `DELETE FROM acts WHERE at < ? AND (account, act, run_id) IN (
           SELECT account, act, run_id FROM acts WHERE at < ? ORDER BY at LIMIT ?
         )`,
        before,
        before,
        limit,
      ),
  }
}
