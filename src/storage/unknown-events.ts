import { mostUnknownEvents } from '../core/hosts/unknown-events.ts'
import type { Queries } from './database/database.ts'

/** An event of a host that no reader understood. */
export interface UnknownEvent {
  host: string
  name: string
  count: number
  /** When it came last, milliseconds since 1970. */
  last: number
}

/** The events of hosts that no reader understood: their names and how often they came, and nothing of what they held. */
export interface UnknownEvents {
  /** Counts an event; beyond 20 names of a host a new name is not kept. */
  count(account: string, host: string, name: string, times: number, now: number): Promise<void>
  /** Lists the events by host and name. */
  list(account: string): Promise<UnknownEvent[]>
}

/** Creates the counts on a database or a transaction. */
export function createUnknownEvents(db: Queries): UnknownEvents {
  return {
    async count(account, host, name, times, now) {
      const changed = await db.run(
        `UPDATE unknown_events SET count = count + ?, last = ?
         WHERE account = ? AND host = ? AND name = ?`,
        times,
        now,
        account,
        host,
        name,
      )
      if (changed > 0) return
      const row = await db.get<{ names: number }>(
        'SELECT COUNT(*) AS names FROM unknown_events WHERE account = ? AND host = ?',
        account,
        host,
      )
      if (Number(row?.names ?? 0) >= mostUnknownEvents) return
      await db.run(
        `INSERT INTO unknown_events (account, host, name, count, last) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (account, host, name) DO UPDATE
         SET count = unknown_events.count + excluded.count, last = excluded.last`,
        account,
        host,
        name,
        times,
        now,
      )
    },
    list: (account) =>
      db.all<UnknownEvent>(
        'SELECT host, name, count, last FROM unknown_events WHERE account = ? ORDER BY host, name',
        account,
      ),
  }
}
