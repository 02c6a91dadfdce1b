import type { AlertConfig, AlertSecrets, NewAlert, Severity } from '../../core/alerts/alerts.ts'
import type { Incident } from '../../core/alerts/incidents.ts'
import type { LogEntry, Numbered } from '../../core/alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import { listIncidents } from './incidents.ts'
import {
  addDeliverJob,
  addLog,
  configOf,
  emitAlerts,
  forgetIdleOutboxes,
  logEntriesKept,
  logKeptMs,
  takeNumbers,
} from './outbox.ts'

/** All that an account says of its alerts. */
export interface AlertSettings {
  config: AlertConfig | null
  secrets: AlertSecrets | null
}

/** What accounts say of alerts, and what became of theirs. Whatever changes something is asked in a transaction. */
export interface Alerts {
  /**
   * Replaces the config, or deletes it (null), and forgets what is known of the addresses so far: what
   * a pause held back is due at once.
   */
  setConfig(account: string, config: AlertConfig | null, now: number): Promise<void>
  /** The config and what signs, at once. */
  settings(account: string): Promise<AlertSettings>
  /** Sets what signs from now on; null has events unsigned. */
  setSecrets(account: string, secrets: AlertSecrets | null): Promise<void>
  /** The log, newest first. */
  log(account: string, now: number): Promise<LogEntry[]>
  addToLog(account: string, entry: LogEntry): Promise<void>
  /**
   * Emits an event of a dialogue, of an escalation, or of any step that drifts: it goes to the outbox
   * or, when the account does not want it, to the log.
   */
  emit(alert: NewAlert): Promise<void>
  /** Has the incidents of an agent end, because it is back on its errand. */
  returned(alert: NewAlert): Promise<void>
  /** Incidents, those opened last first; `open` of null shows all, `before` is the last one shown. */
  incidents(
    account: string,
    open: boolean | null,
    limit: number,
    before: number | null,
  ): Promise<Numbered<Incident>[]>
}

/** Alerts in a database or one of its transactions; `jobAdded` hears of new work. */
export function createAlerts(db: Queries, kind: Database['kind'], jobAdded: () => void): Alerts {
  return {
    async setConfig(account, config, now) {
      await db.run(
        `INSERT INTO alert_accounts (account, seq, config) VALUES (?, 0, ?)
         ON CONFLICT (account) DO UPDATE SET config = excluded.config`,
        account,
        config === null ? null : JSON.stringify(config),
      )
      await db.run('DELETE FROM alert_endpoints WHERE account = ?', account)
      const released = await db.run(
        `UPDATE alert_events SET due = ?
         WHERE account = ? AND state = 'waiting' AND due > ? AND held = 1`,
        now,
        account,
        now,
      )
      if (released > 0) await addDeliverJob(db, kind, account, now, jobAdded)
      if (config === null) await forgetIdleOutboxes(db, kind, [account])
    },
    async settings(account) {
      const row = await db.get<SettingsRow>(
        `SELECT config, secret, old_secret, old_secret_until FROM alert_accounts
         WHERE account = ?`,
        account,
      )
      if (row === undefined) return { config: null, secrets: null }
      const { config, secret, ...old } = row
      return { config: configOf(config), secrets: secret === null ? null : { secret, ...old } }
    },
    async setSecrets(account, secrets) {
      await db.run(
        `INSERT INTO alert_accounts (account, seq, secret, old_secret, old_secret_until)
         VALUES (?, 0, ?, ?, ?)
         ON CONFLICT (account) DO UPDATE SET secret = excluded.secret,
           old_secret = excluded.old_secret, old_secret_until = excluded.old_secret_until`,
        account,
        secrets?.secret ?? null,
        secrets?.old_secret ?? null,
        secrets?.old_secret_until ?? null,
      )
      if (secrets === null) await forgetIdleOutboxes(db, kind, [account])
    },
    async log(account, now) {
      const rows = await db.all<LogRow>(
        `SELECT ts, run_id, reason, severity, phi, delivered, status, detail FROM alert_log
         WHERE account = ? AND ts > ? ORDER BY ts DESC, seq DESC LIMIT ${logEntriesKept}`,
        account,
        now - logKeptMs,
      )
      return rows.map(({ delivered, ...row }) => ({ ...row, delivered: delivered === 1 }))
    },
    async addToLog(account, entry) {
      const taken = await takeNumbers(db, kind, new Map([[account, 1]]))
      const seq = (taken.get(account)?.seq ?? 0) + 1
      await addLog(db, kind, [{ account, seq, value: entry }])
    },
    emit: (alert) => emitAlerts(db, kind, [{ ...alert, drifting: true }], jobAdded),
    returned: (alert) => emitAlerts(db, kind, [{ ...alert, drifting: false }], jobAdded),
    incidents: (account, open, limit, before) => listIncidents(db, account, open, limit, before),
  }
}

type LogRow = Omit<LogEntry, 'delivered' | 'severity'> & { delivered: number; severity: Severity }

interface SettingsRow extends Omit<AlertSecrets, 'secret'> {
  config: string | null
  secret: string | null
}
