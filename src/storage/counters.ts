import { type Database, leave, storable, unavailable } from './database.ts'

/** How often something was done on a day, per bucket: an address, an account, whatever is limited. */
export interface Counters {
  /**
   * Counts one call and answers how many the bucket has had on `day` (days since 1970-01-01 UTC),
   * this one included. Among calls at once, on all nodes, every number is given out once. `by` of
   * −1 takes one back, and a larger number counts what is not a call.
   */
  count(bucket: string, day: number, by?: number): Promise<number>
  /** How many the bucket has had on `day`, as this node knows it, without counting. */
  used(bucket: string, day: number): Promise<number>
  /** Forgets at most `limit` counters of days before `beforeDay`; answers how many. */
  expire(beforeDay: number, limit: number): Promise<number>
  /** Resolves when what was counted so far is stored; rejects when it cannot be. */
  flush(): Promise<void>
  /** Flushes if the database lets it, and stops writing. */
  close(): Promise<void>
}

/**
 * Counters in a database. On SQLite, which has one server, the number is kept in memory and stored
 * within a second, so that a call costs no write and still counts on a full disk; what was counted in
 * the last second before a crash is lost. On PostgreSQL the nodes share the stored number, and a crash
 * of PostgreSQL loses no more than that either.
 */
export function createCounters(db: Database): Counters {
  return db.kind === 'sqlite' ? countInMemory(db) : countTogether(db)
}

const MAX_BUCKETS = 100_000
const WRITE_PAUSE_MS = 1_000
const RETRY_PAUSE_MS = 1_000
const SHARED_LIMIT_MS = 2_000

interface Tally {
  readonly bucket: string
  readonly day: number
  used: number
}

function countInMemory(db: Database): Counters {
  // Each tally is in one of the two, so that the next to leave memory is found at once.
  const stored = new Map<string, Tally>()
  const changed = new Map<string, Tally>()
  const loading = new Map<string, Promise<void>>()
  let writing: Promise<void> | null = null
  let pause: NodeJS.Timeout | null = null
  let closed = false

  async function load(key: string, bucket: string, day: number): Promise<void> {
    if (changed.size >= MAX_BUCKETS) throw unavailable('too many counters wait to be stored')
    const row = await db.get<{ used: number }>(
      'SELECT used FROM counters WHERE bucket = ? AND day = ?',
      bucket,
      day,
    )
    stored.set(key, { bucket, day, used: row?.used ?? 0 })
    for (const oldest of stored.keys()) {
      if (stored.size + changed.size <= MAX_BUCKETS) break
      stored.delete(oldest)
    }
  }

  function loadOnce(key: string, bucket: string, day: number): Promise<void> {
    const running = loading.get(key)
    if (running !== undefined) return running
    const started = load(key, bucket, day).finally(() => loading.delete(key))
    loading.set(key, started)
    return started
  }

  async function write(): Promise<void> {
    const written = await db.tx(async (tx) => {
      const rows = [...changed].map(([key, tally]) => ({ key, tally, used: tally.used }))
      for (const [day, ofDay] of Map.groupBy(rows, ({ tally }) => tally.day)) {
        await tx.run(
          `INSERT INTO counters (bucket, day, used)
           SELECT key, ?, value FROM json_each(?) WHERE true
           ON CONFLICT (bucket, day) DO UPDATE SET used = excluded.used`,
          day,
          JSON.stringify(Object.fromEntries(ofDay.map(({ tally, used }) => [tally.bucket, used]))),
        )
      }
      return rows
    })
    for (const { key, tally, used } of written) {
      if (tally.used === used && changed.get(key) === tally) {
        changed.delete(key)
        stored.set(key, tally)
      }
    }
  }

  function writeSoon(): void {
    if (closed || writing !== null || pause !== null) return
    // What could not be written is still among the changed and goes with the next write.
    writing = write()
      .then(
        () => WRITE_PAUSE_MS,
        () => RETRY_PAUSE_MS,
      )
      .then((pauseMs) => {
        writing = null
        pause = setTimeout(() => {
          pause = null
          if (changed.size > 0) writeSoon()
        }, pauseMs)
        pause.unref()
      })
  }

  async function flush(): Promise<void> {
    await writing
    if (changed.size > 0) await write()
  }

  function known(key: string): Tally | undefined {
    return changed.get(key) ?? stored.get(key)
  }

  async function loaded(key: string, name: string, day: number): Promise<Tally> {
    let tally: Tally | undefined
    while (tally === undefined) {
      await loadOnce(key, name, day)
      tally = known(key)
    }
    return tally
  }

  return {
    async count(bucket, day, by = 1) {
      const name = storable(bucket)
      const key = `${day} ${name}`
      const tally = known(key) ?? (await loaded(key, name, day))
      tally.used += by
      if (!changed.has(key)) {
        stored.delete(key)
        changed.set(key, tally)
        writeSoon()
      }
      return tally.used
    },
    async used(bucket, day) {
      const name = storable(bucket)
      const key = `${day} ${name}`
      return (known(key) ?? (await loaded(key, name, day))).used
    },
    async expire(beforeDay, limit) {
      for (const tallies of [stored, changed]) {
        for (const [key, { day }] of tallies) if (day < beforeDay) tallies.delete(key)
      }
      return expireStored(db, beforeDay, limit)
    },
    flush,
    async close() {
      closed = true
      if (pause !== null) clearTimeout(pause)
      await flush().catch(() => {})
    },
  }
}

interface Waiting {
  readonly bucket: string
  readonly day: number
  readonly callers: { by: number; resolve(used: number): void; reject(error: unknown): void }[]
}

function sumOf(callers: Waiting['callers']): number {
  return callers.reduce((sum, { by }) => sum + by, 0)
}

function countTogether(db: Database): Counters {
  let waiting = new Map<string, Waiting>()
  let sending: Promise<void> | null = null

  async function send(): Promise<void> {
    while (waiting.size > 0) {
      await new Promise(setImmediate)
      const calls = waiting
      waiting = new Map()
      try {
        for (const { bucket, day, used } of await add([...calls.values()])) {
          const callers = calls.get(`${day} ${bucket}`)?.callers ?? []
          let ordinal = used - sumOf(callers)
          for (const caller of callers) {
            ordinal += caller.by
            caller.resolve(ordinal)
          }
        }
      } catch (error) {
        // Those that came meanwhile would wait once more for a database that is away.
        for (const { callers } of [...calls.values(), ...waiting.values()]) {
          for (const caller of callers) caller.reject(error)
        }
        waiting = new Map()
      }
    }
    sending = null
  }

  /** Rows are added in one order on every node: in different orders they would wait for each other. */
  async function add(calls: readonly Waiting[]): Promise<Tally[]> {
    const rows = calls.map(({ bucket, day, callers }) => ({ bucket, day, used: sumOf(callers) }))
    const { counted } = await db.tx(
      async (tx) => {
        // It goes to disk with the next commit that is waited for, so with that of what the call stores.
        leave(tx.run('SET LOCAL synchronous_commit = off'))
        const counted = tx.all<Tally>(
          `INSERT INTO counters (bucket, day, used)
           SELECT bucket, day, used
           FROM json_to_recordset(CAST(? AS JSON)) AS call(bucket TEXT, day BIGINT, used BIGINT)
           ORDER BY bucket, day
           ON CONFLICT (bucket, day) DO UPDATE SET used = counters.used + excluded.used
           RETURNING bucket, day, used`,
          JSON.stringify(rows),
        )
        // In an object it is not waited for here, and COMMIT leaves with it.
        return { counted: leave(counted) }
      },
      { limitMs: SHARED_LIMIT_MS },
    )
    return counted
  }

  async function flush(): Promise<void> {
    await sending
  }

  return {
    count: (bucket, day, by = 1) =>
      new Promise((resolve, reject) => {
        const name = storable(bucket)
        const key = `${day} ${name}`
        const entry = waiting.get(key) ?? { bucket: name, day, callers: [] }
        entry.callers.push({ by, resolve, reject })
        waiting.set(key, entry)
        sending ??= send()
      }),
    async used(bucket, day) {
      const row = await db.get<{ used: number }>(
        'SELECT used FROM counters WHERE bucket = ? AND day = ?',
        storable(bucket),
        day,
      )
      return row?.used ?? 0
    },
    expire: (beforeDay, limit) => expireStored(db, beforeDay, limit),
    flush,
    close: flush,
  }
}

function expireStored(db: Database, beforeDay: number, limit: number): Promise<number> {
  return db.run(
    `DELETE FROM counters WHERE (bucket, day) IN (
       SELECT bucket, day FROM counters WHERE day < ? ORDER BY day LIMIT ?
     )`,
    beforeDay,
    limit,
  )
}
