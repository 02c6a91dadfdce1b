import type { Database, Queries } from './database.ts'

/** Work to be done once it is due. */
export interface NewJob {
  /** Of jobs with one id, at most one is ever under way, on all nodes together. */
  id: string
  kind: string
  /** What the kind reads; JSON where it is structured. */
  input: string
  /** Milliseconds since 1970. */
  due: number
}

/** A job that this process holds until the lease ends. */
export interface TakenJob extends NewJob {
  /** How often it was taken since it last succeeded, this time included. */
  attempts: number
  /** Milliseconds since 1970; also tells this lease from every other of the job. */
  held_until: number
}

/** The jobs of one kind, by what they wait for. */
export interface JobCount {
  kind: string
  due: number
  later: number
  held: number
  gave_up: number
  /** When the oldest that is due became so, milliseconds since 1970, or null when none is. */
  oldest_due: number | null
}

/** Work that happens by itself. Whatever changes a job is asked in a transaction. */
export interface Jobs {
  /**
   * Adds a job, or has the one with this id run no later than `due`, with the new input. One that is
   * under way runs once more after it; one that waits for another try keeps waiting; one that gave
   * up starts anew. Add several in the order of their ids, lest two transactions wait for each other.
   */
  add(job: NewJob): Promise<void>
  /** For each of the kinds that has a job nobody holds: when the first one is due. */
  nextDue(kinds: readonly string[], now: number): Promise<{ kind: string; due: number }[]>
  /**
   * Holds at most `limit` jobs that are due, those longest due first and then by id, for `leaseMs`.
   * When that time ends, whoever asks next gets them.
   */
  take(kind: string, now: number, leaseMs: number, limit: number): Promise<TakenJob[]>
  /**
   * The job is done until it is added again, or until `next`. Like the other ways to give a job back
   * it changes nothing, and answers so, when the lease has ended and somebody else took the job.
   */
  finish(job: TakenJob, next: number | null): Promise<boolean>
  /** The attempt failed and the next is due at `retryAt`. */
  fail(job: TakenJob, error: string, retryAt: number): Promise<boolean>
  /** The last attempt failed: the job stays as it is until it is added again, or forgotten. */
  giveUp(job: TakenJob, error: string, now: number): Promise<boolean>
  /** Gives the job back as if it had not been taken. */
  release(job: TakenJob): Promise<boolean>
  count(now: number): Promise<JobCount[]>
  /** Forgets at most `limit` jobs that gave up before this time; answers how many. */
  forget(before: number, limit: number): Promise<number>
}

/** The jobs in a database or one of its transactions; `added` hears of every job that is added. */
export function createJobs(db: Queries, kind: Database['kind'], added: () => void): Jobs {
  // SQLite has one writer. On PostgreSQL nodes that ask at once pass over what another is taking.
  const passOver = kind === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''

  async function giveBack(changes: string, job: TakenJob, ...values: (string | number)[]) {
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
           ORDER BY due, id LIMIT ? ${passOver}
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
      return giveBack(
        `due = CASE WHEN again < ? THEN again ELSE ? END, again = NULL, attempts = 0, error = NULL`,
        job,
        latest,
        latest,
      )
    },
    // What was asked for meanwhile is covered by the next try.
    fail: (job, error, retryAt) =>
      giveBack('due = ?, again = NULL, error = ?', job, retryAt, error),
    giveUp: (job, error, now) =>
      giveBack(
        `due = COALESCE(again, due),
         attempts = CASE WHEN again IS NULL THEN attempts ELSE 0 END,
         gave_up = CASE WHEN again IS NULL THEN CAST(? AS BIGINT) ELSE NULL END,
         again = NULL, error = ?`,
        job,
        now,
        error,
      ),
    release: (job) => giveBack('again = NULL, attempts = attempts - 1', job),
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
        // Asked twice, because PostgreSQL looks again at a row that it had to wait for.
        `DELETE FROM jobs WHERE gave_up < ? AND id IN (
           SELECT id FROM jobs WHERE gave_up < ? ORDER BY gave_up, id LIMIT ?
         )`,
        before,
        before,
        limit,
      ),
  }
}
