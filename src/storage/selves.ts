import type { Queries } from './database/database.ts'

/** The fields that an agent says of itself, in the order of the log. */
export const selfFields = ['purpose', 'now', 'mind', 'note'] as const

export type SelfField = (typeof selfFields)[number]

/** A stored self. Times are milliseconds since 1970. */
export interface Self extends Record<SelfField, string | null> {
  identity: string
  created: number
  updated: number
}

/** One log entry, with its time in milliseconds since 1970. */
export interface SelfEntry {
  ts: number
  kind: SelfField
  text: string
}

/** The selves of accounts. */
export interface Selves {
  find(account: string, identity: string): Promise<Self | null>
  /** Newest first. */
  log(account: string, identity: string): Promise<SelfEntry[]>
  /**
   * Merges the given fields into the self, or creates it, and logs each field; other fields stay.
   * Concurrent writers wait for each other. Returns the self. Call it in a transaction.
   */
  merge(
    account: string,
    identity: string,
    given: Partial<Record<SelfField, string>>,
    now: number,
  ): Promise<Self>
  /** Counts the selves of the account. */
  count(account: string): Promise<number>
  /** Deletes the self and its log, and returns whether it existed. */
  erase(account: string, identity: string): Promise<boolean>
}

/** The log keeps this many of the newest entries. */
export const logSize = 200

const columns = `identity, ${selfFields.join(', ')}, created, updated`

/** Creates the selves on a database or a transaction. */
export function createSelves(db: Queries): Selves {
  return {
    async find(account, identity) {
      const row = await db.get<Self>(
        `SELECT ${columns} FROM selves WHERE account = ? AND identity = ?`,
        account,
        identity,
      )
      return row ?? null
    },
    log: (account, identity) =>
      db.all<SelfEntry>(
        `SELECT ts, kind, text FROM self_log WHERE account = ? AND identity = ?
         ORDER BY entry DESC LIMIT ${logSize}`,
        account,
        identity,
      ),
    async merge(account, identity, given, now) {
      const entries = selfFields.flatMap((kind) => {
        const text = given[kind]
        return text === undefined ? [] : [{ kind, text }]
      })
      // The row is locked from here on, so no other writer takes the same entry numbers.
      const self = await db.get<Self & { entries: number }>(
        `INSERT INTO selves (account, identity, purpose, now, mind, note, created, updated, entries)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (account, identity) DO UPDATE SET
           purpose = COALESCE(excluded.purpose, selves.purpose),
           now = COALESCE(excluded.now, selves.now),
           mind = COALESCE(excluded.mind, selves.mind),
           note = COALESCE(excluded.note, selves.note),
           updated = CASE WHEN excluded.updated > selves.updated
             THEN excluded.updated ELSE selves.updated END,
           entries = selves.entries + excluded.entries
         RETURNING ${columns}, entries`,
        account,
        identity,
        ...selfFields.map((field) => given[field] ?? null),
        now,
        now,
        entries.length,
      )
      if (self === undefined) throw new Error('a self vanished while it was written')
      const { entries: last, ...merged } = self
      for (const [index, { kind, text }] of entries.entries()) {
        await db.run(
          'INSERT INTO self_log (account, identity, entry, ts, kind, text) VALUES (?, ?, ?, ?, ?, ?)',
          account,
          identity,
          last - entries.length + index + 1,
          merged.updated,
          kind,
          text,
        )
      }
      await db.run(
        'DELETE FROM self_log WHERE account = ? AND identity = ? AND entry <= ?',
        account,
        identity,
        last - logSize,
      )
      return merged
    },
    async count(account) {
      const row = await db.get<{ count: number }>(
        'SELECT COUNT(*) AS count FROM selves WHERE account = ?',
        account,
      )
      return row?.count ?? 0
    },
    async erase(account, identity) {
      // Delete the self first: a concurrent writer waits for it, and starts a new self with a new log.
      const erased = await db.run(
        'DELETE FROM selves WHERE account = ? AND identity = ?',
        account,
        identity,
      )
      await db.run('DELETE FROM self_log WHERE account = ? AND identity = ?', account, identity)
      return erased > 0
    },
  }
}
