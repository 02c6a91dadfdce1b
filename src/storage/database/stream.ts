import { hourMs, secondMs } from '../../core/time.ts'
import { arrayRows, columnArrays } from './column-arrays.ts'
import { type Database, notAwaited, type Queries } from './database.ts'
import type { Columns, Row } from './rows.ts'

/** What an event of a stream is about. */
export type StreamKind = 'steps' | 'run' | 'incident' | 'escalation' | 'delivery'

/** A change that the listeners of an account are told of. It holds no content: a reader looks that up. */
export interface StreamEvent {
  account: string
  /** Milliseconds since 1970. */
  at: number
  kind: StreamKind
  /** '' if it belongs to no run. */
  run_id: string
  /** `first-last` of steps, the number of an incident or a delivery, the id of an escalation, or ''. */
  subject: string
}

/** A place in the order of events, on all nodes the same. */
export interface StreamPlace {
  tx: number
  seq: number
}

/** An event with its place. */
export type PlacedEvent = StreamEvent & StreamPlace

/** The numbers of the first and the last step of an event of steps. */
export function stepsOf(subject: string): { first: number; last: number } {
  const [first = 0, last = 0] = subject.split('-').map(Number)
  return { first, last }
}

/** How long events are kept, in milliseconds. */
export const streamKeptMs = hourMs

/** The events that listeners are told of. They are recorded only for accounts that have listeners. */
export interface Stream {
  /** Records changes that this transaction has made, if anybody listens. Call it after the changes. */
  record(events: readonly StreamEvent[]): Promise<void>
  /**
   * Has the events of an account recorded until this time, and resolves when no transaction runs that does not
   * know it yet. Call it outside of transactions.
   */
  listen(account: string, until: number, now: number): Promise<void>
  /** The place behind all events that can be read now. */
  end(): Promise<StreamPlace>
  /**
   * Reads the next events behind a place of each account, at most `streamPage` of each, in their order. It stops
   * before an event that another one may still precede. `more` says that there may be further ones.
   */
  next(
    places: readonly (StreamPlace & { account: string })[],
    now: number,
  ): Promise<{ events: PlacedEvent[]; more: boolean }>
  /** Reads at most `streamPage` events of an account behind `from`, up to `to`. */
  between(account: string, from: StreamPlace, to: StreamPlace): Promise<PlacedEvent[]>
  /** Deletes at most `limit` old events, and returns whether there may be more. */
  expire(now: number, limit: number): Promise<boolean>
}

/** The most events that one read returns of an account. */
export const streamPage = 200

/** Longer than any transaction of this service may take; a node whose clock differs gets some time too. */
const longestTxMs = 10 * secondMs
/** A client that resumes within the hour must find every event. */
const expiryMarginMs = 600 * secondMs
const settleEveryMs = 10

/** Creates the stream on a database or a transaction. */
export function createStream(db: Queries, kind: Database['kind']): Stream {
  return {
    record: (events) => recordEvents(db, kind, events),
    async listen(account, until, now) {
      const row = await db.get<{ until: number }>(untilOf, account)
      await db.run(
        `INSERT INTO stream_listeners (account, until) VALUES (?, ?)
         ON CONFLICT (account) DO UPDATE SET until = excluded.until
         WHERE stream_listeners.until < excluded.until`,
        account,
        until,
      )
      if (kind === 'postgres' && (row === undefined || row.until <= now)) await settle(db)
    },
    async end() {
      const row = await db.get<StreamPlace>(endOf[kind])
      return row ?? { tx: 0, seq: 0 }
    },
    async next(places, now) {
      if (places.length === 0) return { events: [], more: false }
      const asked = places.map(({ account, tx, seq }) => ({ account, tx, seq }))
      const rows =
        kind === 'postgres'
          ? await db.all<FoundEvent>(nextOfAll, ...columnArrays(placeColumns, asked))
          : (
              await Promise.all(
                asked.map(({ account, tx, seq }) =>
                  db.all<FoundEvent>(nextOfOne, account, tx, seq),
                ),
              )
            ).flat()
      const held = new Set<string>()
      const events = rows.flatMap(({ settled, ...event }) => {
        // A transaction of another program can run for hours, and none of ours.
        const isSettled = settled === 1 || event.at < now - longestTxMs
        if (!isSettled) held.add(event.account)
        return held.has(event.account) ? [] : event
      })
      return { events, more: held.size > 0 || rows.length >= streamPage }
    },
    between: (account, from, to) =>
      db.all<PlacedEvent>(between, account, from.tx, from.seq, to.tx, to.seq),
    async expire(now, limit) {
      await db.run(`DELETE FROM stream_listeners WHERE until <= ?`, now - streamKeptMs)
      const deleted = await db.run(
        `DELETE FROM stream_events WHERE seq IN (
           SELECT seq FROM stream_events WHERE at <= ? ORDER BY at LIMIT ?
         )`,
        now - streamKeptMs - expiryMarginMs,
        limit,
      )
      return deleted === limit
    },
  }
}

/**
 * Records changes that this transaction has made, if anybody listens. Call it after the changes: on PostgreSQL
 * the transaction then has a number, by which `listen` waits for it.
 */
export async function recordEvents(
  tx: Queries,
  kind: Database['kind'],
  events: readonly StreamEvent[],
): Promise<void> {
  if (events.length === 0) return
  if (kind === 'postgres') {
    const rows: Row<typeof eventColumns>[] = events.map((event) => ({ ...event }))
    notAwaited(tx.run(insertHeard, ...columnArrays(eventColumns, rows)))
    return
  }
  const heard = new Map<string, number>()
  for (const { account, at, kind, run_id, subject } of events) {
    let until = heard.get(account)
    if (until === undefined) {
      until = (await tx.get<{ until: number }>(untilOf, account))?.until ?? 0
      heard.set(account, until)
    }
    if (until > at) notAwaited(tx.run(insertOne, account, at, kind, run_id, subject))
  }
}

/**
 * Waits until every transaction has ended that had a number when this was called. Each of ours has one before it
 * looks for listeners.
 */
async function settle(db: Queries): Promise<void> {
  const own = await (db as Database).tx((tx) =>
    tx.get<{ tx: number }>('SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) AS tx'),
  )
  for (let waitedMs = 0; waitedMs < longestTxMs / 2; waitedMs += settleEveryMs) {
    const oldest = await db.get<StreamPlace>(endOf.postgres)
    if (oldest === undefined || own === undefined || oldest.tx > own.tx) return
    await new Promise((resolve) => setTimeout(resolve, settleEveryMs))
  }
}

const eventColumns = {
  account: 'TEXT',
  at: 'BIGINT',
  kind: 'TEXT',
  run_id: 'TEXT',
  subject: 'TEXT',
} as const satisfies Columns

const names = Object.keys(eventColumns).join(', ')

const placeColumns = { account: 'TEXT', tx: 'BIGINT', seq: 'BIGINT' } as const satisfies Columns

type FoundEvent = PlacedEvent & { settled: number }

const untilOf = 'SELECT until FROM stream_listeners WHERE account = ?'

const insertOne = `INSERT INTO stream_events (${names}) VALUES (?, ?, ?, ?, ?)`

const insertHeard = `INSERT INTO stream_events (${names})
  SELECT rows.account, rows.at, rows.kind, rows.run_id, rows.subject
  FROM ${arrayRows(eventColumns)} JOIN stream_listeners ON stream_listeners.account = rows.account
  WHERE stream_listeners.until > rows.at`

/** The oldest transaction that may still commit. */
const oldestTx = 'CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)'

const endOf = {
  sqlite: "SELECT 0 AS tx, seq FROM sqlite_sequence WHERE name = 'stream_events'",
  postgres: `SELECT ${oldestTx} AS tx, CAST(0 AS BIGINT) AS seq`,
}

const nextOfOne = `SELECT tx, seq, ${names}, 1 AS settled FROM stream_events
  WHERE account = ? AND (tx, seq) > (?, ?) ORDER BY tx, seq LIMIT ${streamPage}`

const nextOfAll = `SELECT found.* FROM ${arrayRows(placeColumns)} CROSS JOIN LATERAL (
    SELECT tx, seq, ${names}, CASE WHEN tx < ${oldestTx} THEN 1 ELSE 0 END AS settled
    FROM stream_events AS event
    WHERE event.account = rows.account AND (event.tx, event.seq) > (rows.tx, rows.seq)
    ORDER BY tx, seq LIMIT ${streamPage}
  ) AS found ORDER BY found.account, found.tx, found.seq`

const between = `SELECT tx, seq, ${names} FROM stream_events
  WHERE account = ? AND (tx, seq) > (?, ?) AND (tx, seq) <= (?, ?)
  ORDER BY tx, seq LIMIT ${streamPage}`
