import {
  type Database,
  isUnavailable,
  mayBeStored,
  notAwaited,
  storable,
  unavailable,
} from './database/database.ts'

/** Daily counts per bucket: an address, an account or any other limited thing. */
export interface Counters {
  /**
   * Counts one call and returns the count of the bucket on `day` (days since 1970-01-01 UTC), including
   * this call. Concurrent calls, on all nodes, get different numbers. `by` of −1 uncounts a call; a larger
   * number counts other units.
   */
  count(bucket: string, day: number, by?: number): Promise<number>
  /** Returns the count of the bucket on `day` as this node knows it, without counting. */
  used(bucket: string, day: number): Promise<number>
  /** Deletes at most `limit` counters of days before `beforeDay` and returns their number. */
  expire(beforeDay: number, limit: number): Promise<number>
  /** Resolves when all counts are stored; rejects if they cannot be. */
  flush(): Promise<void>
  /** Flushes if the database is available, and stops writing. */
  close(): Promise<void>
}

/**
 * Creates counters on a database. On SQLite, which has one server, counts are kept in memory and stored
 * within a second: a call costs no write and counts even on a full disk, but a crash loses the last
 * second. On PostgreSQL the nodes share the stored count, and a crash of PostgreSQL loses no more than
 * that. While PostgreSQL is unavailable, read-only or slow, each node continues from the counts it knows,
 * and adds its own when PostgreSQL is back. Until then limits are approximate, because no node sees the
 * counts of the others.
 */
export function createCounters(db: Database): Counters {
  return db.kind === 'sqlite' ? countInMemory(db) : countTogether(db)
}

const MAX_BUCKETS = 100_000
const WRITE_PAUSE_MS = 1_000
const RETRY_PAUSE_MS = 1_000
/** Longest wait of a call for its count before the node counts locally. */
const SHARED_LIMIT_MS = 1_000

interface Tally {
  readonly bucket: string
  readonly day: number
  used: number
}

function countInMemory(db: Database): Counters {
  // Each tally is in exactly one of the two maps, so that evicting one needs no search.
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
    // Counts that could not be written stay among the changed ones for the next write.
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

/** The sum of what concurrent callers add to a bucket. */
function sumOf({ bucket, day, callers }: Waiting): Tally {
  return { bucket, day, used: callers.reduce((sum, { by }) => sum + by, 0) }
}

function countTogether(db: Database): Counters {
  let waiting = new Map<string, Waiting>()
  let sending: Promise<void> | null = null
  /** The last known count of each bucket, newest last; an outage continues from it. */
  const known = new Map<string, number>()
  /** Counts of an outage that are not stored yet. */
  const owed = new Map<string, Tally>()
  /** Whether the last write failed. */
  let away = false
  let retry: NodeJS.Timeout | null = null
  let storing: Promise<void> | null = null
  let closed = false

  async function send(): Promise<void> {
    while (waiting.size > 0) {
      await new Promise(setImmediate)
      const calls = waiting
      waiting = new Map()
      if (away) countMeanwhile(calls)
      else await countStored(calls)
    }
    sending = null
  }

  async function countStored(calls: ReadonlyMap<string, Waiting>): Promise<void> {
    try {
      for (const { bucket, day, used } of await add([...calls.values()].map(sumOf))) {
        const key = `${day} ${bucket}`
        answer(key, calls.get(key)?.callers ?? [], used)
      }
    } catch (error) {
      if (isUnavailable(error)) {
        away = true
        retryLater()
        countMeanwhile(calls, mayBeStored(error))
        return
      }
      for (const { callers } of calls.values()) for (const { reject } of callers) reject(error)
    }
  }

  /** Resolves the callers of a bucket; `used` includes their calls. */
  function answer(key: string, callers: Waiting['callers'], used: number): void {
    let ordinal = used - callers.reduce((sum, { by }) => sum + by, 0)
    for (const caller of callers) {
      ordinal += caller.by
      caller.resolve(ordinal)
    }
    known.delete(key)
    known.set(key, used)
    const [oldest] = known.keys()
    if (known.size > MAX_BUCKETS && oldest !== undefined) known.delete(oldest)
  }

  /** Counts locally. A count that may be stored already is not owed, otherwise it would count twice. */
  function countMeanwhile(calls: ReadonlyMap<string, Waiting>, isStored = false): void {
    for (const [key, call] of calls) {
      const { used: added } = sumOf(call)
      if (!isStored && !owe(sumOf(call))) {
        const error = unavailable('too many counters wait to be stored')
        for (const { reject } of call.callers) reject(error)
        continue
      }
      answer(key, call.callers, (known.get(key) ?? 0) + added)
    }
  }

  /** Notes a count to store later; returns false if there are too many. */
  function owe({ bucket, day, used }: Tally): boolean {
    const key = `${day} ${bucket}`
    const before = owed.get(key)
    if (before === undefined && owed.size >= MAX_BUCKETS) return false
    owed.set(key, { bucket, day, used: used + (before?.used ?? 0) })
    return true
  }

  function retryLater(): void {
    if (closed) return
    retry = setTimeout(() => void storeOwed().catch(retryLater), RETRY_PAUSE_MS)
    retry.unref()
  }

  /** Stores the counts of the outage and ends it; rejects while the database is unavailable. */
  function storeOwed(): Promise<void> {
    storing ??= storeAll().finally(() => {
      storing = null
    })
    return storing
  }

  async function storeAll(): Promise<void> {
    // A read first, so that counts are not sent to a database that cannot confirm them.
    await db.get('SELECT 1 AS answers')
    while (owed.size > 0) {
      const rows = [...owed.values()]
      owed.clear()
      try {
        for (const { bucket, day, used } of await add(rows)) known.set(`${day} ${bucket}`, used)
      } catch (error) {
        if (!mayBeStored(error)) for (const row of rows) owe(row)
        throw error
      }
    }
    away = false
  }

  /** Adds rows in a fixed order on every node, which prevents deadlocks. */
  async function add(rows: readonly Tally[]): Promise<Tally[]> {
    const { counted } = await db.tx(
      async (tx) => {
        // The next awaited commit flushes it to disk, so the count is durable with what the call stores.
        notAwaited(tx.run('SET LOCAL synchronous_commit = off'))
        const counted = tx.all<Tally>(
          `INSERT INTO counters (bucket, day, used)
           SELECT bucket, day, used
           FROM json_to_recordset(CAST(? AS JSON)) AS call(bucket TEXT, day BIGINT, used BIGINT)
           ORDER BY bucket, day
           ON CONFLICT (bucket, day) DO UPDATE SET used = counters.used + excluded.used
           RETURNING bucket, day, used`,
          JSON.stringify(rows),
        )
        // Wrapping the promise in an object keeps it from being awaited here, so COMMIT is sent with it.
        return { counted: notAwaited(counted) }
      },
      { limitMs: SHARED_LIMIT_MS },
    )
    return counted
  }

  async function flush(): Promise<void> {
    await sending
    if (owed.size > 0) await storeOwed()
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
      return (row?.used ?? 0) + (owed.get(`${day} ${storable(bucket)}`)?.used ?? 0)
    },
    expire: (beforeDay, limit) => expireStored(db, beforeDay, limit),
    flush,
    async close() {
      closed = true
      if (retry !== null) clearTimeout(retry)
      await flush().catch(() => {})
    },
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
