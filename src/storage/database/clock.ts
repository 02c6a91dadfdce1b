import { minuteMs } from '../../core/time.ts'
import type { Database } from './database.ts'
import { readClock } from './health.ts'

const toleranceMs = minuteMs
const refreshMs = minuteMs
const retryMs = 1_000

/**
 * Creates the clock that all nodes of a database share, in milliseconds since 1970. With it, a node whose
 * system clock is wrong expires no row early and runs no job twice. On PostgreSQL it is the clock of the
 * database server: read at the start and about once a minute, and advanced by a monotonic timer in
 * between. On SQLite it is `own`. `noteOff` is called with the milliseconds that `own` is ahead, if the
 * difference exceeds a minute either way. Rejects if the database is unavailable.
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
      // The database is unavailable; the timer continues from the last reading.
      nextReadAt = performance.now() + retryMs
    }
    reading = false
  }

  return () => {
    const elapsedMs = performance.now() - read.at
    // A jump means that the system clock was set, or that the machine slept and the timer stood still.
    const jumpMs = Math.abs(own() - read.own - elapsedMs)
    if (elapsedMs > refreshMs || jumpMs > toleranceMs) void refresh()
    return Math.floor(read.database + elapsedMs)
  }
}
