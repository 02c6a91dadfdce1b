import {
  type Database,
  isUnavailable,
  mayBeStored,
  notAwaited,
  storable,
  unavailable,
} from './database/database.ts'

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
 * of PostgreSQL loses no more than that either. While PostgreSQL is away, read-only or slow, each node
 * goes on from the numbers it knows and adds what it counted when PostgreSQL is back: until then limits
 * are approximate, since no node sees what the others count.
 */
export function createCounters(db: Database): Counters {
  return db.kind === 'sqlite' ? countInMemory(db) : countTogether(db)
}

const MAX_BUCKETS = 100_000
const WRITE_PAUSE_MS = 1_000
const RETRY_PAUSE_MS = 1_000
/** How long a call waits for its count before the node counts by itself. */
const SHARED_LIMIT_MS = 1_000

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

/** What all callers of a bucket add to it. */
function sumOf({ bucket, day, callers }: Waiting): Tally {
  return { bucket, day, used: callers.reduce((sum, { by }) => sum + by, 0) }
}

function countTogether(db: Database): Counters {
  let waiting = new Map<string, Waiting>()
  let sending: Promise<void> | null = null
  /** What each bucket was last known to have had, the latest last: what an outage goes on from. */
  const known = new Map<string, number>()
  /** What was counted during an outage and is not stored yet. */
  const owed = new Map<string, Tally>()
  /** Whether the database could not be written the last time. */
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

  /** Answers callers whose bucket has had `used`, theirs included. */
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

  /** Counts by what this node knows. What may be stored already is not owed, lest it counts twice. */
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

  /** Remembers a count to be stored; false when there are too many. */
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

  /** Stores what the outage has left and ends it; rejects while the database is still away. */
  function storeOwed(): Promise<void> {
    storing ??= storeAll().finally(() => {
      storing = null
    })
    return storing
  }

  async function storeAll(): Promise<void> {
    // Asked first, so that counts are not sent to where nobody can tell whether they arrived.
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

  /** Rows are added in one order on every node: in different orders they would wait for each other. */
  async function add(rows: readonly Tally[]): Promise<Tally[]> {
    const { counted } = await db.tx(
      async (tx) => {
        // It goes to disk with the next commit that is waited for, so with that of what the call stores.
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
        // In an object it is not waited for here, and COMMIT leaves with it.
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
