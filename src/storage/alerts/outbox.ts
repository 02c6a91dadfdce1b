import { keylessPrefix } from '../../core/accounts/keys.ts'
import type { AlertConfig, Severity } from '../../core/alerts/alerts.ts'
import {
  type AlertAccount,
  agentKey,
  decideAlerts,
  type EventIncident,
  type Happening,
  type LogEntry,
  type Numbered,
  type OutboxEvent,
} from '../../core/alerts/outbox.ts'
import { dayMs } from '../../core/time.ts'
import { type Database, notAwaited, type Queries } from '../database/database.ts'
import { createJobs } from '../database/jobs.ts'
import { type Columns, jsonRows, type Row } from '../database/rows.ts'
import { createTable } from '../database/table.ts'
import { type AgentOf, findOpenIncidents, saveIncidents } from './incidents.ts'

/** The kind of the delivery jobs; each account has one job. */
export const deliverKind = 'deliver'

/** The alert log of an account keeps this many entries, for this long. */
export const logEntriesKept = 50
export const logKeptMs = 30 * dayMs

/**
 * Writes each happening to the outbox or, if the account does not want it, to the log, in the caller's
 * transaction. The happenings must be in order. One that does not drift costs a query and changes
 * something only if it ends an incident. `jobAdded` is called after every enqueue. Callers without a key
 * are skipped, because they can neither set a webhook nor read the log.
 */
export async function emitAlerts(
  tx: Queries,
  kind: Database['kind'],
  all: readonly Happening[],
  jobAdded: () => void,
): Promise<void> {
  const happenings = all.filter(({ account }) => !account.startsWith(keylessPrefix))
  if (happenings.length === 0) return
  const returning = happenings.filter(({ drifting }) => !drifting)
  const drifting = happenings.filter((each) => each.drifting)
  const closing = await findOpenIncidents(tx, kind, unique(returning))
  // A drifting step may need three numbers: for an incident, its event and the event of its end.
  const numbers = countByAccount([...drifting, ...drifting, ...drifting, ...closing])
  if (numbers.size === 0) return
  const accounts = await takeNumbers(tx, kind, numbers)
  const known = new Set(returning.map(keyOfAgent))
  const watched = drifting.filter(
    (each) =>
      accounts.get(each.account)?.config?.incidents === true && !known.has(keyOfAgent(each)),
  )
  const open = [...closing, ...(await findOpenIncidents(tx, kind, unique(watched)))]
  const { events, log, incidents } = decideAlerts(happenings, accounts, open)
  saveIncidents(tx, kind, incidents)
  addLog(tx, kind, log)
  if (events.length === 0) return
  tables[kind].events.insert(tx, events.map(eventRow))
  const first = new Map<string, number>()
  for (const { account, value } of events) {
    first.set(account, Math.min(first.get(account) ?? value.ts, value.ts))
  }
  for (const [account, due] of [...first].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await addDeliverJob(tx, kind, account, due, jobAdded)
  }
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
 * Reserves numbers for each account, and returns its config and the last number before them. The rows stay
 * locked until the transaction ends, so the numbers of an account follow the order of its commits. Once in
 * fifty numbers it deletes the excess log entries: finding them costs more than an insert, and readers
 * never see them.
 */
export async function takeNumbers(
  tx: Queries,
  kind: Database['kind'],
  numbers: ReadonlyMap<string, number>,
): Promise<Map<string, AlertAccount>> {
  // A fixed order on every node prevents deadlocks.
  const rows = [...numbers]
    .map(([account, seq]) => ({ account, seq }))
    .sort((a, b) => (a.account < b.account ? -1 : 1))
  const asked =
    kind === 'postgres'
      ? [tx.all<TakenNumbers>(takeAll, JSON.stringify(rows))]
      : // Reading values out of JSON costs SQLite more than one statement for each row.
        rows.map(({ account, seq }) => tx.all<TakenNumbers>(takeOne, account, seq))
  const taken = (await Promise.all(asked)).flat()
  const accounts = new Map<string, AlertAccount>()
  for (const { account, seq, config } of taken) {
    const before = seq - (numbers.get(account) ?? 0)
    accounts.set(account, { seq: before, config: configOf(config) })
    if (Math.floor(seq / logEntriesKept) > Math.floor(before / logEntriesKept)) {
      trimLog(tx, account)
    }
  }
  return accounts
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

const tables = { sqlite: tablesFor('sqlite'), postgres: tablesFor('postgres') }

function tablesFor(kind: Database['kind']) {
  return {
    events: createTable(kind, 'alert_events', ['account', 'seq'], eventColumns),
    log: createTable(kind, 'alert_log', ['account', 'seq'], logColumns),
  }
}

interface TakenNumbers {
  account: string
  seq: number
  config: string | null
}

const addNumbers = `ON CONFLICT (account) DO UPDATE SET seq = alert_accounts.seq + excluded.seq
  RETURNING account, seq, config`

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
  const { incident, ...event } = value
  return {
    account,
    seq,
    ...event,
    incident: incident === null ? null : JSON.stringify(incident),
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
  }
}

function logRow({ account, seq, value }: Numbered<LogEntry>): Row<typeof logColumns> {
  return { account, seq, ...value, delivered: value.delivered ? 1 : 0 }
}

function countByAccount(each: readonly { account: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { account } of each) counts.set(account, (counts.get(account) ?? 0) + 1)
  return counts
}

function keyOfAgent(agent: AgentOf): string {
  return agentKey(agent.account, agent)
}

function unique(agents: readonly AgentOf[]): AgentOf[] {
  return [...new Map(agents.map((agent) => [keyOfAgent(agent), agent])).values()]
}
