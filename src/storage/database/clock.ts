import { minuteMs } from '../../core/time.ts'
import type { Database } from './database.ts'
import { readClock } from './health.ts'

const toleranceMs = minuteMs
const refreshMs = minuteMs
const retryMs = 1_000

/**
 * The clock, milliseconds since 1970, that all nodes of a database go by, so that one whose own clock
 * is wrong deletes nothing early and works nothing twice. On PostgreSQL it is that of the database: read
 * now and about once a minute, and carried on by a timer that nobody can set. On SQLite, which has no
 * clock, it is `own`. `noteOff` hears by how many milliseconds `own` is ahead, when that is more than a
 * minute either way. Rejects when the database cannot be asked.
 */
export async function createClock(
  db: Database,
  own: () => number,
  noteOff: (aheadMs: number) => void,
): Promise<() => number> {
  if (db.kind === 'sqlite') return own
  let read = await readTimes()
  let reading = false
  let nextReadAt = 0

  async function readTimes() {
    const database = (await readClock(db)) ?? own()
    const times = { database, own: own(), at: performance.now() }
    const aheadMs = times.own - times.database
    if (Math.abs(aheadMs) > toleranceMs) noteOff(aheadMs)
    return times
  }

  async function refresh(): Promise<void> {
    if (reading || performance.now() < nextReadAt) return
    reading = true
    try {
      read = await readTimes()
    } catch {
      // The database is away; the timer goes on meanwhile.
      nextReadAt = performance.now() + retryMs
    }
    reading = false
  }

  return () => {
    const elapsedMs = performance.now() - read.at
    // A jump says that the own clock was set, or that the machine slept, when the timer stood still.
    const jumpMs = Math.abs(own() - read.own - elapsedMs)
    if (elapsedMs > refreshMs || jumpMs > toleranceMs) void refresh()
    return Math.floor(read.database + elapsedMs)
  }
}
