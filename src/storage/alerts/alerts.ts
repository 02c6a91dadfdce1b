import type { AlertConfig, AlertSecrets, NewAlert, Severity } from '../../core/alerts/alerts.ts'
import type { Incident } from '../../core/alerts/incidents.ts'
import type { LogEntry, Numbered } from '../../core/alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import { findIncident, findOpenIncidents, listIncidents } from './incidents.ts'
import {
  addDeliverJob,
  addLog,
  configOf,
  emitAlert,
  forgetIdleOutboxes,
  logEntriesKept,
  logKeptMs,
  takeNumbers,
} from './outbox.ts'

/** The alert config and the signing secrets of an account. */
export interface AlertSettings {
  config: AlertConfig | null
  secrets: AlertSecrets | null
}

/** The alert settings, logs and incidents of accounts. Call every method that writes in a transaction. */
export interface Alerts {
  /**
   * Replaces the config, or deletes it (null), and resets the state of all addresses: events that a pause
   * held back are due at once.
   */
  setConfig(account: string, config: AlertConfig | null, now: number): Promise<void>
  /** Reads the config and the signing secrets. */
  settings(account: string): Promise<AlertSettings>
  /** Sets the signing secrets; null leaves events unsigned. */
  setSecrets(account: string, secrets: AlertSecrets | null): Promise<void>
  /** Reads the log, newest first. */
  log(account: string, now: number): Promise<LogEntry[]>
  addToLog(account: string, entry: LogEntry): Promise<void>
  /**
   * Emits an event of a dialogue, an escalation or a drifting step. It goes to the outbox, or to the log
   * if the account does not want it.
   */
  emit(alert: NewAlert): Promise<void>
  /** Closes the incidents of an agent that is back on its errand. */
  returned(alert: NewAlert): Promise<void>
  /**
   * Lists incidents, newest first; `open` of null shows all, `before` is the number of the last one
   * already shown.
   */
  incidents(
    account: string,
    open: boolean | null,
    limit: number,
    before: number | null,
  ): Promise<Numbered<Incident>[]>
  /** Finds an incident by its number. */
  incident(account: string, seq: number): Promise<Numbered<Incident> | null>
  /** Finds the open incident of the main agent of each run, the newest of several, by `run_id`. */
  openOfRuns(account: string, runIds: readonly string[]): Promise<Map<string, Numbered<Incident>>>
}

/** Creates the alerts on a database or a transaction; `jobAdded` is called after every enqueue. */
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
      const seq = (taken.get(account) ?? 0) + 1
      await addLog(db, kind, [{ account, seq, value: entry }])
    },
    emit: (alert) => emitAlert(db, kind, { ...alert, drifting: true }, jobAdded),
    returned: (alert) => emitAlert(db, kind, { ...alert, drifting: false }, jobAdded),
    incidents: (account, open, limit, before) => listIncidents(db, account, open, limit, before),
    incident: (account, seq) => findIncident(db, account, seq),
    async openOfRuns(account, runIds) {
      const open = await findOpenIncidents(
        db,
        kind,
        runIds.map((run_id) => ({ account, run_id, dialogue: false, agent_id: '' })),
      )
      // They come oldest first.
      return new Map(open.map((incident) => [incident.value.run_id, incident]))
    },
  }
}

type LogRow = Omit<LogEntry, 'delivered' | 'severity'> & { delivered: number; severity: Severity }

interface SettingsRow extends Omit<AlertSecrets, 'secret'> {
  config: string | null
  secret: string | null
}
