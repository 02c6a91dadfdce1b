import type { DeliveryState, Endpoint } from '../../core/alerts/delivery.ts'
import {
  type LogEntry,
  type Numbered,
  type OutboxEvent,
  suppressedEntry,
} from '../../core/alerts/outbox.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Columns, jsonRows, type Row } from '../database/rows.ts'
import { recordEvents } from '../database/stream.ts'
import {
  addDeliverJob,
  addLog,
  deliveryEvent,
  eventColumns,
  eventOf,
  forgetIdleOutboxes,
  lockOutbox,
  takeNumbers,
} from './outbox.ts'

/** An event of an outbox with the state of its delivery. */
export interface Delivery extends Numbered<OutboxEvent> {
  state: DeliveryState
  /** Time of the next attempt, milliseconds since 1970; meaningful only in the state `waiting`. */
  due: number
  /** Attempts since it was emitted or replayed. */
  tries: number
  /** Attempts in all. */
  attempts: number
  /** Whether a pause of the address holds it back and the log says so. */
  held: boolean
  /** Why it waits or failed; null before the first attempt and after delivery. */
  detail: string | null
}

/** One delivery attempt, sent or not. */
export interface Attempt {
  /** From 1. */
  attempt: number
  /** Milliseconds since 1970. */
  ts: number
  /** Host of the address. */
  host: string
  status: number
  detail: string | null
  latency_ms: number
  bytes: number
}

/** The state that an attempt changes. */
export type DeliveryChange = Pick<
  Delivery,
  'state' | 'due' | 'tries' | 'attempts' | 'held' | 'detail'
>

/** The events of accounts and their delivery. Call every method that writes in a transaction. */
export interface Deliveries {
  /** Finds the next event of an account to send, due or not. */
  next(account: string): Promise<Delivery | null>
  /** Sets the state of an event at `now` and appends `entry` to the log. */
  change(
    event: Numbered<OutboxEvent>,
    change: DeliveryChange,
    entry: LogEntry | null,
    now: number,
  ): Promise<void>
  addAttempt(account: string, seq: number, attempt: Attempt): Promise<void>
  endpoint(account: string, url: string): Promise<Endpoint | null>
  /** Stores the state of an address, or deletes it (null). */
  putEndpoint(account: string, url: string, endpoint: Endpoint | null, now: number): Promise<void>
  /**
   * Finds the number of the newest waiting event beyond the `kept` newest ones; null if no more than
   * `kept` wait.
   */
  behind(account: string, kept: number): Promise<number | null>
  /** Fails the waiting events up to this number and logs it. */
  giveUpTo(account: string, seq: number, detail: string, now: number): Promise<void>
  find(account: string, seq: number): Promise<Delivery | null>
  /**
   * Lists events, newest first; `state` of null shows all, `before` is the number of the last one already
   * shown.
   */
  list(
    account: string,
    state: DeliveryState | null,
    limit: number,
    before: number | null,
  ): Promise<Delivery[]>
  /** Reads the attempts of these events, by event, oldest first. */
  attemptsOf(account: string, seqs: readonly number[]): Promise<Map<number, Attempt[]>>
  /** Lists at most `limit` numbers of failed events that were emitted at or after `since`, oldest first. */
  failedSince(account: string, since: number, limit: number): Promise<number[]>
  /** Counts the undelivered events that were emitted at or after `since`. */
  countUndelivered(account: string, since: number): Promise<number>
  /** Makes these events due again, with all their tries. */
  replay(account: string, seqs: readonly number[], now: number): Promise<void>
  /**
   * Deletes at most `limit` rows from before this time in each table, and returns whether there may be
   * more.
   */
  expire(before: number, limit: number): Promise<boolean>
}

const columns = `${Object.keys(eventColumns).join(', ')}, detail`
/** Spelled out, because a partial index serves only a statement that contains its condition. */
const filters = {
  all: '',
  waiting: "AND state = 'waiting'",
  delivered: "AND state = 'delivered'",
  failed: "AND state = 'failed'",
}
const attemptColumns = 'attempt, ts, host, status, detail, latency_ms, bytes'

/** Creates the deliveries on a database or a transaction; `jobAdded` is called after every enqueue. */
export function createDeliveries(
  db: Queries,
  kind: Database['kind'],
  jobAdded: () => void,
): Deliveries {
  return {
    async next(account) {
      const row = await db.get<EventRow>(
        `SELECT ${columns} FROM alert_events
         WHERE account = ? AND state = 'waiting' ORDER BY due, seq LIMIT 1`,
        account,
      )
      return row === undefined ? null : deliveryOf(row)
    },
    async change(event, { state, due, tries, attempts, held, detail }, entry, now) {
      const { account, seq } = event
      // Write the log first: taking a number locks the row of the account, which every writer locks before
      // its events.
      if (entry !== null) {
        const taken = await takeNumbers(db, kind, new Map([[account, 1]]))
        await addLog(db, kind, [{ account, seq: (taken.get(account) ?? 0) + 1, value: entry }])
      }
      await db.run(
        `UPDATE alert_events SET state = ?, due = ?, tries = ?, attempts = ?, held = ?, detail = ?
         WHERE account = ? AND seq = ?`,
        state,
        due,
        tries,
        attempts,
        held ? 1 : 0,
        detail,
        account,
        seq,
      )
      await recordEvents(db, kind, [deliveryEvent(event, now)])
    },
    async addAttempt(account, seq, { attempt, ts, host, status, detail, latency_ms, bytes }) {
      await db.run(
        `INSERT INTO alert_attempts (account, seq, ${attemptColumns})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account, seq, attempt) DO NOTHING`,
        account,
        seq,
        attempt,
        ts,
        host,
        status,
        detail,
        latency_ms,
        bytes,
      )
    },
    async endpoint(account, url) {
      const row = await db.get<Endpoint>(
        `SELECT failures, failing_since, paused_until, pause_detail FROM alert_endpoints
         WHERE account = ? AND url = ?`,
        account,
        url,
      )
      return row ?? null
    },
    async putEndpoint(account, url, endpoint, now) {
      if (endpoint === null) {
        await db.run('DELETE FROM alert_endpoints WHERE account = ? AND url = ?', account, url)
        return
      }
      const { failures, failing_since, paused_until, pause_detail } = endpoint
      await db.run(
        `INSERT INTO alert_endpoints
           (account, url, failures, failing_since, paused_until, pause_detail, updated)
         VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (account, url) DO UPDATE SET failures = excluded.failures,
           failing_since = excluded.failing_since, paused_until = excluded.paused_until,
           pause_detail = excluded.pause_detail, updated = excluded.updated`,
        account,
        url,
        failures,
        failing_since,
        paused_until,
        pause_detail,
        now,
      )
    },
    async behind(account, kept) {
      const row = await db.get<{ seq: number }>(
        `SELECT seq FROM alert_events WHERE account = ? AND state = 'waiting'
         ORDER BY seq DESC LIMIT 1 OFFSET ?`,
        account,
        kept,
      )
      return row?.seq ?? null
    },
    async giveUpTo(account, seq, detail, now) {
      await lockOutbox(db, kind, [account])
      const rows = await db.all<EventRow>(
        `UPDATE alert_events SET state = 'failed', detail = ?
         WHERE account = ? AND state = 'waiting' AND seq <= ? RETURNING ${columns}`,
        detail,
        account,
        seq,
      )
      const given = rows.map(deliveryOf).sort((a, b) => a.seq - b.seq)
      const taken = await takeNumbers(db, kind, new Map([[account, given.length]]))
      const first = (taken.get(account) ?? 0) + 1
      const entries = given.map(({ value }, place) => ({
        account,
        seq: first + place,
        value: suppressedEntry(value, now, detail),
      }))
      await addLog(db, kind, entries)
      await recordEvents(
        db,
        kind,
        given.map((each) => deliveryEvent(each, now)),
      )
    },
    async find(account, seq) {
      const row = await db.get<EventRow>(
        `SELECT ${columns} FROM alert_events WHERE account = ? AND seq = ?`,
        account,
        seq,
      )
      return row === undefined ? null : deliveryOf(row)
    },
    async list(account, state, limit, before) {
      const rows = await db.all<EventRow>(
        `SELECT ${columns} FROM alert_events
         WHERE account = ? AND seq < ? ${filters[state ?? 'all']}
         ORDER BY seq DESC LIMIT ?`,
        account,
        before ?? Number.MAX_SAFE_INTEGER,
        limit,
      )
      return rows.map(deliveryOf)
    },
    async attemptsOf(account, seqs) {
      const [first, last] = [Math.min(...seqs), Math.max(...seqs)]
      if (seqs.length === 0) return new Map()
      const rows = await db.all<Attempt & { seq: number }>(
        `SELECT seq, ${attemptColumns} FROM alert_attempts
         WHERE account = ? AND seq BETWEEN ? AND ? ORDER BY seq, attempt`,
        account,
        first,
        last,
      )
      return new Map(
        [...Map.groupBy(rows, ({ seq }) => seq)].map(([seq, own]) => [
          seq,
          own.map(({ seq: _, ...attempt }) => attempt),
        ]),
      )
    },
    async failedSince(account, since, limit) {
      const rows = await db.all<{ seq: number }>(
        `SELECT seq FROM alert_events WHERE account = ? AND state = 'failed' AND ts >= ?
         ORDER BY seq LIMIT ?`,
        account,
        since,
        limit,
      )
      return rows.map(({ seq }) => seq)
    },
    async countUndelivered(account, since) {
      const row = await db.get<{ count: number }>(
        `SELECT COUNT(*) AS count FROM (
           SELECT seq FROM alert_events WHERE account = ? AND ts >= ? ${filters.waiting}
           UNION ALL
           SELECT seq FROM alert_events WHERE account = ? AND ts >= ? ${filters.failed}
         ) AS undelivered`,
        account,
        since,
        account,
        since,
      )
      return row?.count ?? 0
    },
    async replay(account, seqs, now) {
      await lockOutbox(db, kind, [account])
      for (const seq of seqs) {
        const row = await db.get<{ run_id: string }>(
          `UPDATE alert_events SET state = 'waiting', due = ?, tries = 0, held = 0, detail = NULL
           WHERE account = ? AND seq = ? RETURNING run_id`,
          now,
          account,
          seq,
        )
        if (row !== undefined) {
          await recordEvents(db, kind, [deliveryEvent({ account, seq, value: row }, now)])
        }
      }
      if (seqs.length > 0) await addDeliverJob(db, kind, account, now, jobAdded)
    },
    async expire(before, limit) {
      const old = []
      for (const { table, at, key } of aged) {
        const columns = Object.keys(key)
        const rows = await db.all<AgedRow>(
          `SELECT ${columns.join(', ')} FROM ${table} WHERE ${at} <= ? ORDER BY ${at} LIMIT ?`,
          before,
          limit,
        )
        if (rows.length > 0) old.push({ table, at, key, columns, rows })
      }
      const accounts = [...new Set(old.flatMap(({ rows }) => rows.map(({ account }) => account)))]
      await lockOutbox(db, kind, accounts)
      for (const { table, at, key, columns, rows } of old) {
        // The age is checked again, because a transaction that held the lock may have changed it.
        await db.run(
          `DELETE FROM ${table} WHERE ${at} <= ? AND (${columns.join(', ')}) IN (
             SELECT ${columns.map((column) => `rows.${column}`).join(', ')} FROM ${jsonRows(kind, key)}
           )`,
          before,
          JSON.stringify(rows),
        )
      }
      await forgetIdleOutboxes(db, kind, accounts)
      return old.some(({ rows }) => rows.length === limit)
    },
  }
}

/** The tables with expiring rows: the column of the age, and the key. */
const numbered = { account: 'TEXT', seq: 'BIGINT' } as const satisfies Columns
const aged: readonly { table: string; at: string; key: Columns }[] = [
  { table: 'alert_log', at: 'ts', key: numbered },
  { table: 'alert_events', at: 'ts', key: numbered },
  { table: 'alert_attempts', at: 'ts', key: { ...numbered, attempt: 'BIGINT' } },
  { table: 'alert_incidents', at: 'updated', key: numbered },
  { table: 'alert_endpoints', at: 'updated', key: { account: 'TEXT', url: 'TEXT' } },
]

type AgedRow = Record<string, string | number> & { account: string }

type EventRow = Row<typeof eventColumns> & { detail: string | null }

function deliveryOf({ detail, ...row }: EventRow): Delivery {
  return {
    account: String(row.account),
    seq: Number(row.seq),
    value: eventOf(row),
    state: row.state as DeliveryState,
    due: Number(row.due),
    tries: Number(row.tries),
    attempts: Number(row.attempts),
    held: row.held === 1,
    detail,
  }
}
