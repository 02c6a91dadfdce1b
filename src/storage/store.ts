import { type Counters, createCounters } from './counters.ts'
import type { Database } from './database.ts'

/** What the service remembers, one member for each noun. */
export interface Store {
  readonly db: Database
  readonly counters: Counters
  /** Resolves when a row was written at `at` (milliseconds since 1970), and rejects when none can be. */
  writable(at: number): Promise<void>
  /** Stores what is still in memory and closes the database. */
  close(): Promise<void>
}

/** The store in a migrated database. */
export function createStore(db: Database): Store {
  const counters = createCounters(db)
  return {
    db,
    counters,
    async writable(at) {
      await db.run(
        'INSERT INTO heartbeat (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at',
        at,
      )
    },
    async close() {
      await counters.close()
      await db.close()
    },
  }
}
