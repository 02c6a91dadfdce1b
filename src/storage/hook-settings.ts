import { type HookSettings, readHookSettings } from '../core/hosts/hook-settings.ts'
import type { Queries } from './database/database.ts'

/** How the hooks of accounts and of their runs are answered. */
export interface HookSettingsStore {
  /** The settings of a run: its own, else those of the account, else the built-in ones. */
  of(account: string, runId: string): Promise<HookSettings>
  /**
   * Changes what is given; null takes a setting of the run or the account away. `runId` of '' is the account; the settings of
   * a run are kept until `expires`, milliseconds since 1970.
   */
  change(
    account: string,
    runId: string,
    changed: { mode?: string | null | undefined; remind?: boolean | null | undefined },
    expires: number,
  ): Promise<void>
  /** Forgets the settings of a run. */
  forget(account: string, runId: string): Promise<void>
  /** Deletes at most `limit` expired settings of runs and returns their number. */
  expire(now: number, limit: number): Promise<number>
}

interface Row {
  run_id: string
  mode: string | null
  remind: number | null
}

/** Creates the settings on a database or a transaction. */
export function createHookSettings(db: Queries): HookSettingsStore {
  const find = (account: string, runId: string) =>
    db.all<Row>(
      `SELECT run_id, mode, remind FROM hook_settings WHERE account = ? AND run_id IN ('', ?)`,
      account,
      runId,
    )
  return {
    async of(account, runId) {
      const rows = await find(account, runId)
      const own = runId === '' ? undefined : rows.find(({ run_id }) => run_id === runId)
      const shared = rows.find(({ run_id }) => run_id === '')
      return readHookSettings(own?.mode ?? shared?.mode, own?.remind ?? shared?.remind)
    },
    async change(account, runId, { mode, remind }, expires) {
      const before = (await find(account, runId)).find(({ run_id }) => run_id === runId)
      const asNumber = remind === undefined || remind === null ? remind : Number(remind)
      await db.run(
        `INSERT INTO hook_settings (account, run_id, mode, remind, expires) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (account, run_id) DO UPDATE
         SET mode = excluded.mode, remind = excluded.remind, expires = excluded.expires`,
        account,
        runId,
        mode === undefined ? (before?.mode ?? null) : mode,
        asNumber === undefined ? (before?.remind ?? null) : asNumber,
        runId === '' ? null : expires,
      )
    },
    async forget(account, runId) {
      await db.run('DELETE FROM hook_settings WHERE account = ? AND run_id = ?', account, runId)
    },
    expire: (now, limit) =>
      db.run(
        `DELETE FROM hook_settings WHERE expires <= ? AND (account, run_id) IN (
           SELECT account, run_id FROM hook_settings WHERE expires <= ? LIMIT ?
         )`,
        now,
        now,
        limit,
      ),
  }
}
