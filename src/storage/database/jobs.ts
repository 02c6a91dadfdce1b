import type { Database, Queries } from './database.ts'

/** A job to enqueue. */
export interface NewJob {
  /** At most one job with this id runs at a time, on all nodes together. */
  id: string
  kind: string
  /** Input for the handler of this kind; structured input is JSON. */
  input: string
  /** Milliseconds since 1970. */
  due: number
}

/** A job that this process has leased. */
export interface TakenJob extends NewJob {
  /** Attempts since the last success, including this one. */
  attempts: number
  /** End of the lease, milliseconds since 1970; it also identifies the lease. */
  held_until: number
}

/** Number of jobs of one kind in each state. */
export interface JobCount {
  kind: string
  due: number
  later: number
  held: number
  gave_up: number
  /** When the oldest due job became due, milliseconds since 1970, or null if no job is due. */
  oldest_due: number | null
}

/** The queue of background jobs. Call every method that changes a job in a transaction. */
export interface Jobs {
  /**
   * Enqueues a job. If a job with this id exists, it gets the new input and runs no later than `due`. A
   * running job runs once more after it ends; a job that waits for a retry keeps waiting; a job that gave
   * up starts again. Enqueue several jobs in the order of their ids, otherwise two transactions can
   * deadlock.
   */
  add(job: NewJob): Promise<void>
  /** Returns, for each kind that has a job without a lease, when the first is due. */
  nextDue(kinds: readonly string[], now: number): Promise<{ kind: string; due: number }[]>
  /**
   * Leases at most `limit` due jobs for `leaseMs`: the longest due first, then by id. After the lease
   * ends, another node can lease them.
   */
  take(kind: string, now: number, leaseMs: number, limit: number): Promise<TakenJob[]>
  /**
   * Marks the job as done until it is enqueued again, or until `next`. Like `fail`, `giveUp` and
   * `release`, it changes nothing and returns false if another node has leased the job meanwhile.
   */
  finish(job: TakenJob, next: number | null): Promise<boolean>
  /** Records a failed attempt; the job is retried at `retryAt`. */
  fail(job: TakenJob, error: string, retryAt: number): Promise<boolean>
  /** Records the last failed attempt. The job stays until it is enqueued again or forgotten. */
  giveUp(job: TakenJob, error: string, now: number): Promise<boolean>
  /** Ends the lease without counting the attempt. */
  release(job: TakenJob): Promise<boolean>
  count(now: number): Promise<JobCount[]>
  /** Deletes at most `limit` jobs that gave up before this time and returns their number. */
  forget(before: number, limit: number): Promise<number>
}

/** Creates the job queue on a database or a transaction; `added` is called after every enqueue. */
export function createJobs(db: Queries, kind: Database['kind'], added: () => void): Jobs {
  // On PostgreSQL, nodes that lease at the same time skip each other's rows. SQLite has one writer.
  const skipLocked = kind === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''

  async function endLease(changes: string, job: TakenJob, ...values: (string | number)[]) {
    const changed = await db.run(
      `UPDATE jobs SET held_until = 0, ${changes} WHERE id = ? AND held_until = ?`,
      ...values,
      job.id,
      job.held_until,
    )
    return changed > 0
  }

  return {
    async add({ id, kind, input, due }) {
      await db.run(
        `INSERT INTO jobs (id, kind, input, due, held_until, again, attempts, error, gave_up)
         VALUES (?, ?, ?, ?, 0, NULL, 0, NULL, NULL)
         ON CONFLICT (id) DO UPDATE SET
           kind = excluded.kind,
           input = excluded.input,
           due = CASE
             WHEN jobs.gave_up IS NOT NULL THEN excluded.due
             WHEN jobs.attempts > 0 OR jobs.due < excluded.due THEN jobs.due
             ELSE excluded.due END,
           again = CASE
             WHEN jobs.held_until = 0 OR jobs.again < excluded.due THEN jobs.again
             ELSE excluded.due END,
           attempts = CASE WHEN jobs.gave_up IS NOT NULL THEN 0 ELSE jobs.attempts END,
           gave_up = NULL`,
        id,
        kind,
        input,
        due,
      )
      added()
    },
    async nextDue(kinds, now) {
      const first = `SELECT due FROM jobs
        WHERE kind = ? AND gave_up IS NULL AND held_until <= ? ORDER BY due LIMIT 1`
      const rows = await db.all<{ kind: string; due: number | null }>(
        kinds.map(() => `SELECT CAST(? AS TEXT) AS kind, (${first}) AS due`).join(' UNION ALL '),
        ...kinds.flatMap((kind) => [kind, kind, now]),
      )
      return rows.flatMap(({ kind, due }) => (due === null ? [] : [{ kind, due }]))
    },
    async take(kind, now, leaseMs, limit) {
      const taken = await db.all<TakenJob>(
        `WITH next AS (
           SELECT id AS next_id FROM jobs
           WHERE kind = ? AND gave_up IS NULL AND held_until <= ? AND due <= ?
           ORDER BY due, id LIMIT ? ${skipLocked}
         )
         UPDATE jobs SET held_until = ?, again = NULL, attempts = attempts + 1
         FROM next WHERE id = next_id
         RETURNING id, kind, input, due, attempts, held_until`,
        kind,
        now,
        now,
        limit,
        now + leaseMs,
      )
      return taken.sort((a, b) => a.due - b.due || (a.id < b.id ? -1 : 1))
    },
    async finish(job, next) {
      if (next === null) {
        const gone = await db.run(
          'DELETE FROM jobs WHERE id = ? AND held_until = ? AND again IS NULL',
          job.id,
          job.held_until,
        )
        if (gone > 0) return true
      }
      const latest = next ?? Number.MAX_SAFE_INTEGER
      return endLease(
        `due = CASE WHEN again < ? THEN again ELSE ? END, again = NULL, attempts = 0, error = NULL`,
        job,
        latest,
        latest,
      )
    },
    // The retry also covers what was enqueued meanwhile.
    fail: (job, error, retryAt) =>
      endLease('due = ?, again = NULL, error = ?', job, retryAt, error),
    giveUp: (job, error, now) =>
      endLease(
        `due = COALESCE(again, due),
         attempts = CASE WHEN again IS NULL THEN attempts ELSE 0 END,
         gave_up = CASE WHEN again IS NULL THEN CAST(? AS BIGINT) ELSE NULL END,
         again = NULL, error = ?`,
        job,
        now,
        error,
      ),
    release: (job) => endLease('again = NULL, attempts = attempts - 1', job),
    count: (now) =>
      db.all<JobCount>(
        `SELECT kind,
           COUNT(*) FILTER (WHERE gave_up IS NULL AND held_until <= ? AND due <= ?) AS due,
           COUNT(*) FILTER (WHERE gave_up IS NULL AND held_until <= ? AND due > ?) AS later,
           COUNT(*) FILTER (WHERE gave_up IS NULL AND held_until > ?) AS held,
           COUNT(*) FILTER (WHERE gave_up IS NOT NULL) AS gave_up,
           MIN(due) FILTER (WHERE gave_up IS NULL AND held_until <= ? AND due <= ?) AS oldest_due
         FROM jobs GROUP BY kind ORDER BY kind`,
        now,
        now,
        now,
        now,
        now,
        now,
        now,
      ),
    forget: (before, limit) =>
      db.run(
        // The condition appears twice because PostgreSQL rechecks it on a row whose lock it waited for.
        `DELETE FROM jobs WHERE gave_up < ? AND id IN (
           SELECT id FROM jobs WHERE gave_up < ? ORDER BY gave_up, id LIMIT ?
         )`,
        before,
        before,
        limit,
      ),
  }
}
