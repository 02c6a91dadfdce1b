import type { AlertConfig, Severity } from '../../core/alerts/alerts.ts'
import {
  type DecidedAlerts,
  decideAlerts,
  type Happening,
  numberAlerts,
} from '../../core/alerts/decide.ts'
import type { IncidentState } from '../../core/alerts/incidents.ts'
import type { EventIncident, LogEntry, Numbered, OutboxEvent } from '../../core/alerts/outbox.ts'
import { isKeyless } from '../../core/keyless.ts'
import { dayMs } from '../../core/time.ts'
import { type Database, notAwaited, type Queries } from '../database/database.ts'
import { createJobs } from '../database/jobs.ts'
import { type Columns, jsonRows, type Row } from '../database/rows.ts'
import { recordEvents, type StreamEvent } from '../database/stream.ts'
import { createTable } from '../database/table.ts'
import { findOpenIncidents, saveIncidents } from './incidents.ts'

/** The kind of the delivery jobs; each account has one job. */
export const deliverKind = 'deliver'

/** The alert log of an account keeps this many entries, for this long. */
export const logEntriesKept = 50
export const logKeptMs = 30 * dayMs

/** Reads the config of each account; null without one. */
export async function findConfigs(
  tx: Queries,
  kind: Database['kind'],
  accounts: readonly string[],
): Promise<Map<string, AlertConfig | null>> {
  const rows = await tables[kind].configs.find(
    tx,
    accounts.map((account) => ({ account })),
  )
  const configs = new Map<string, AlertConfig | null>(accounts.map((account) => [account, null]))
  for (const { account, config } of rows) {
    configs.set(String(account), configOf(config === null ? null : String(config)))
  }
  return configs
}

/**
 * Decides the alert of a dialogue or an escalation and stores it. `jobAdded` is called after every enqueue.
 * The dialogue must be locked.
 */
export async function emitAlert(
  tx: Queries,
  kind: Database['kind'],
  happening: Happening,
  jobAdded: () => void,
): Promise<void> {
  if (isKeyless(happening.account)) return
  const [configs, open] = await Promise.all([
    findConfigs(tx, kind, [happening.account]),
    findOpenIncidents(tx, kind, [happening]),
  ])
  await saveAlerts(tx, kind, decideAlerts([happening], configs, open), jobAdded)
}

/**
 * Stores decided alerts: events in the outbox with the jobs that deliver them, log entries and incidents.
 * `jobAdded` is called after every enqueue.
 */
export async function saveAlerts(
  tx: Queries,
  kind: Database['kind'],
  decided: DecidedAlerts,
  jobAdded: () => void,
): Promise<void> {
  const last = await takeNumbers(tx, kind, decided.newNumbers)
  const { events, log, incidents } = numberAlerts(decided, last)
  saveIncidents(tx, kind, incidents)
  addLog(tx, kind, log)
  tables[kind].events.insert(tx, events.map(eventRow))
  const first = new Map<string, number>()
  for (const { account, value } of events) {
    first.set(account, Math.min(first.get(account) ?? value.ts, value.ts))
  }
  for (const [account, due] of [...first].sort(([a], [b]) => (a < b ? -1 : 1))) {
    notAwaited(addDeliverJob(tx, kind, account, due, jobAdded))
  }
  await recordEvents(tx, kind, [
    ...incidents.map(({ account, seq, value }) => {
      const { updated, closed, dialogue, run_id } = value
      const at = closed ?? updated
      // A run and a dialogue can have the same id.
      const run = dialogue ? '' : run_id
      return { account, at, kind: 'incident' as const, run_id: run, subject: String(seq) }
    }),
    ...events.map((event) => deliveryEvent(event, event.value.ts)),
  ])
}

/** The event that tells listeners of a change of a delivery. */
export function deliveryEvent(
  { account, seq, value }: Numbered<Pick<OutboxEvent, 'run_id'>>,
  at: number,
): StreamEvent {
  return { account, at, kind: 'delivery', run_id: value.run_id, subject: String(seq) }
}

/** Enqueues the delivery job of an account, due no later than `due`. */
export function addDeliverJob(
  tx: Queries,
  kind: Database['kind'],
  account: string,
  due: number,
  jobAdded: () => void,
): Promise<void> {
  const id = `${deliverKind}:${account}`
  return createJobs(tx, kind, jobAdded).add({ id, kind: deliverKind, input: account, due })
}

/** Appends entries to the logs of accounts, in order for each account; need not be awaited. */
export function addLog(
  tx: Queries,
  kind: Database['kind'],
  entries: readonly Numbered<LogEntry>[],
): Promise<unknown> {
  // Entries beyond the limit would be trimmed at once.
  const kept = [...Map.groupBy(entries, ({ account }) => account).values()].flatMap((own) =>
    own.slice(-logEntriesKept),
  )
  return tables[kind].log.insert(tx, kept.map(logRow))
}

/**
 * Reserves numbers for each account, and returns the last number before them. The rows stay locked until
 * the transaction ends, so the numbers of an account follow the order of its commits. Once in fifty numbers
 * it deletes the excess log entries: finding them costs more than an insert, and readers never see them.
 */
export async function takeNumbers(
  tx: Queries,
  kind: Database['kind'],
  numbers: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  if (numbers.size === 0) return new Map()
  // A fixed order on every node prevents deadlocks.
  const rows = [...numbers]
    .map(([account, seq]) => ({ account, seq }))
    .sort((a, b) => (a.account < b.account ? -1 : 1))
  const asked =
    kind === 'postgres'
      ? [tx.all<TakenNumbers>(takeAll, JSON.stringify(rows))]
      : // Reading values out of JSON costs SQLite more than one statement for each row.
        rows.map(({ account, seq }) => tx.all<TakenNumbers>(takeOne, account, seq))
  const last = new Map<string, number>()
  for (const { account, seq } of (await Promise.all(asked)).flat()) {
    const before = seq - (numbers.get(account) ?? 0)
    last.set(account, before)
    if (Math.floor(seq / logEntriesKept) > Math.floor(before / logEntriesKept)) {
      trimLog(tx, account)
    }
  }
  return last
}

function trimLog(tx: Queries, account: string): void {
  notAwaited(
    tx.run(
      `DELETE FROM alert_log WHERE account = ? AND seq <= (
         SELECT seq FROM alert_log WHERE account = ? ORDER BY seq DESC LIMIT 1 OFFSET ${logEntriesKept}
       )`,
      account,
      account,
    ),
  )
}

/**
 * Locks the outboxes of accounts until the transaction ends. A transaction that changes several events of
 * an account must call it first to prevent deadlocks. It inserts no row: an account without one has no
 * events.
 */
export async function lockOutbox(
  tx: Queries,
  kind: Database['kind'],
  accounts: readonly string[],
): Promise<void> {
  // SQLite has one writer.
  if (kind === 'postgres' && accounts.length > 0) await tx.all(lockAll, accountRows(accounts))
}

/**
 * Deletes the rows of accounts without config, secret and numbered rows; other rows stay, so that no
 * number is used twice. The outboxes must be locked.
 */
export async function forgetIdleOutboxes(
  tx: Queries,
  kind: Database['kind'],
  accounts: readonly string[],
): Promise<void> {
  if (accounts.length > 0) await tx.run(forgetIdle[kind], accountRows(accounts))
}

function accountRows(accounts: readonly string[]): string {
  return JSON.stringify(accounts.map((account) => ({ account })))
}

/** Parses a stored config. */
export function configOf(stored: string | null): AlertConfig | null {
  return stored === null ? null : JSON.parse(stored)
}

/** The columns of an event, without its `detail`. */
export const eventColumns = {
  account: 'TEXT',
  seq: 'BIGINT',
  ts: 'BIGINT',
  run_id: 'TEXT',
  goal: 'TEXT',
  reason: 'TEXT',
  severity: 'TEXT',
  phi: 'DOUBLE PRECISION',
  advice: 'TEXT',
  incident: 'TEXT',
  drift_state: 'TEXT',
  about: 'TEXT',
  state: 'TEXT',
  due: 'BIGINT',
  tries: 'BIGINT',
  attempts: 'BIGINT',
  held: 'BIGINT',
} as const satisfies Columns

const logColumns = {
  account: 'TEXT',
  seq: 'BIGINT',
  ts: 'BIGINT',
  run_id: 'TEXT',
  reason: 'TEXT',
  severity: 'TEXT',
  phi: 'DOUBLE PRECISION',
  delivered: 'BIGINT',
  status: 'BIGINT',
  detail: 'TEXT',
} as const satisfies Columns

const configColumns = { account: 'TEXT', config: 'TEXT' } as const satisfies Columns

const tables = { sqlite: tablesFor('sqlite'), postgres: tablesFor('postgres') }

function tablesFor(kind: Database['kind']) {
  return {
    events: createTable(kind, 'alert_events', ['account', 'seq'], eventColumns),
    log: createTable(kind, 'alert_log', ['account', 'seq'], logColumns),
    configs: createTable(kind, 'alert_accounts', ['account'], configColumns),
  }
}

interface TakenNumbers {
  account: string
  seq: number
}

const addNumbers = `ON CONFLICT (account) DO UPDATE SET seq = alert_accounts.seq + excluded.seq
  RETURNING account, seq`

const takeOne = `INSERT INTO alert_accounts (account, seq) VALUES (?, ?) ${addNumbers}`

const takeAll = `INSERT INTO alert_accounts (account, seq)
  SELECT account, seq FROM ${jsonRows('postgres', { account: 'TEXT', seq: 'BIGINT' })}
  WHERE true ORDER BY account COLLATE "C"
  ${addNumbers}`

const lockAll = `SELECT alert_accounts.account FROM alert_accounts
  WHERE account IN (SELECT rows.account FROM ${jsonRows('postgres', { account: 'TEXT' })})
  ORDER BY account FOR UPDATE`

/** The tables with rows numbered within their account. */
const numberedTables = ['alert_events', 'alert_attempts', 'alert_incidents', 'alert_log']

const forgetIdle = { sqlite: forgetIdleIn('sqlite'), postgres: forgetIdleIn('postgres') }

function forgetIdleIn(kind: Database['kind']): string {
  const empty = numberedTables.map(
    (table) =>
      `AND NOT EXISTS (SELECT 1 FROM ${table} WHERE ${table}.account = alert_accounts.account)`,
  )
  return `DELETE FROM alert_accounts WHERE config IS NULL AND secret IS NULL
    AND account IN (SELECT rows.account FROM ${jsonRows(kind, { account: 'TEXT' })})
    ${empty.join(' ')}`
}

function eventRow({ account, seq, value }: Numbered<OutboxEvent>): Row<typeof eventColumns> {
  const { incident, about, state, ...event } = value
  return {
    account,
    seq,
    ...event,
    incident: incident === null ? null : JSON.stringify(incident),
    drift_state: state,
    about: about === null ? null : JSON.stringify(about),
    state: 'waiting',
    due: event.ts,
    tries: 0,
    attempts: 0,
    held: 0,
  }
}

/** Converts a row to an event. */
export function eventOf(row: Row<typeof eventColumns>): OutboxEvent {
  const incident: EventIncident | null =
    row.incident === null ? null : JSON.parse(String(row.incident))
  return {
    ts: Number(row.ts),
    run_id: String(row.run_id),
    goal: row.goal === null ? null : String(row.goal),
    reason: String(row.reason),
    severity: row.severity as Severity,
    phi: Number(row.phi),
    advice: String(row.advice),
    incident,
    // An earlier release stored only the state of the incident.
    state: incident?.state ?? (row.drift_state as IncidentState),
    about: row.about === null ? null : JSON.parse(String(row.about)),
  }
}

function logRow({ account, seq, value }: Numbered<LogEntry>): Row<typeof logColumns> {
  return { account, seq, ...value, delivered: value.delivered ? 1 : 0 }
}
