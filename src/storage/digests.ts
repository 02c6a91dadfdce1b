import type { DigestSchedule, StepsTold } from '../core/alerts/digest.ts'
import type { Database, Queries } from './database/database.ts'
import { jsonRows } from './database/rows.ts'

/** The digest settings of an account. Times are milliseconds since 1970. */
export interface Digest extends DigestSchedule {
  channel: 'email' | 'webhook'
  /** Of a webhook. */
  url: string | null
  created: number
  next: number
  /** End of the period of the last digest, or null before the first. */
  sent_until: number | null
  /** The token in its mails, with which the reader can stop them; it grants nothing else. */
  token: string
}

/** The digests of accounts. */
export interface Digests {
  of(account: string): Promise<Digest | null>
  /**
   * Replaces the digest. The next period still begins where the last one ended, and the token stays,
   * because sent mails contain it.
   */
  set(account: string, digest: Omit<Digest, 'sent_until'>): Promise<void>
  delete(account: string): Promise<void>
  /** Finds the account whose mails contain this token, or null; it also finds accounts that send none now. */
  accountOf(token: string): Promise<string | null>
  /** Invalidates the tokens of all mails sent so far. */
  renewToken(account: string, token: string): Promise<void>
  /**
   * Stores the time of the next digest and the end of the last period, unless the digest was replaced
   * meanwhile.
   */
  advance(account: string, digest: Digest, next: number, sentUntil: number | null): Promise<void>
  /**
   * Lists the runs updated since a time, after the cursor, by their last step. A run that continues
   * meanwhile appears again.
   */
  runs(
    account: string,
    from: number,
    now: number,
    after: { updated: number; run_id: string } | null,
    limit: number,
  ): Promise<DigestRun[]>
  /**
   * Sums the steps of each part of a run that fall into the period, and tells whether the run had drifted
   * by the end of the part. Pass at most as many parts as one query should read.
   */
  sumParts(
    account: string,
    parts: readonly RunPart[],
    period: { from: number; to: number },
  ): Promise<PartTold[]>
}

/** A run of a digest. */
export interface DigestRun {
  run_id: string
  /** Milliseconds since 1970. */
  updated: number
  ground: string | null
  /** Whether its last verdict drifts. */
  drifting: boolean
  /** All steps, inside the period or not. */
  steps: number
}

/** A range of steps of a run; `until` is excluded. */
export interface RunPart {
  run_id: string
  since: number
  until: number
  /** Whether an earlier step drifts. */
  drifted: boolean
}

/** The sums of a part of a run. */
export interface PartTold {
  run_id: string
  drifted: boolean
  told: StepsTold[]
}

/** Creates the digests on a database or a transaction. */
export function createDigests(db: Queries, kind: Database['kind']): Digests {
  const parts = jsonRows(kind, {
    run_id: 'TEXT',
    since: 'BIGINT',
    until: 'BIGINT',
    first: 'BIGINT',
  })
  // CROSS JOIN makes SQLite start with the parts; otherwise it reads all steps of the account.
  const stepsOfParts = `${parts} CROSS JOIN steps
    WHERE steps.account = ? AND steps.run_id = rows.run_id
      AND step >= rows.since AND step < rows.until`

  return {
    async of(account) {
      const row = await db.get<Digest>(
        `SELECT cadence, hour_utc, weekday, channel, url, created, next, sent_until, token
         FROM digests WHERE account = ?`,
        account,
      )
      return row ?? null
    },
    async set(account, { cadence, hour_utc, weekday, channel, url, created, next, token }) {
      await db.run(
        `INSERT INTO digests
           (account, cadence, hour_utc, weekday, channel, url, created, next, sent_until, token)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)
         ON CONFLICT (account) DO UPDATE SET
           cadence = excluded.cadence, hour_utc = excluded.hour_utc, weekday = excluded.weekday,
           channel = excluded.channel, url = excluded.url, created = excluded.created,
           next = excluded.next`,
        account,
        cadence,
        hour_utc,
        weekday,
        channel,
        url,
        created,
        next,
        token,
      )
    },
    async delete(account) {
      await db.run('DELETE FROM digests WHERE account = ?', account)
    },
    async accountOf(token) {
      const row = await db.get<{ account: string }>(
        "SELECT account FROM digests WHERE token = ? AND channel = 'email'",
        token,
      )
      return row?.account ?? null
    },
    async renewToken(account, token) {
      await db.run('UPDATE digests SET token = ? WHERE account = ?', token, account)
    },
    async advance(account, { created, next: was }, next, sentUntil) {
      await db.run(
        `UPDATE digests SET next = ?, sent_until = COALESCE(?, sent_until)
         WHERE account = ? AND created = ? AND next = ?`,
        next,
        sentUntil,
        account,
        created,
        was,
      )
    },
    async runs(account, from, now, after, limit) {
      const runs = await db.all<Omit<DigestRun, 'drifting'> & { drifting: number }>(
        `SELECT run_id, updated, ground, drifting, steps FROM runs
         WHERE account = ? AND updated >= ? AND (updated, run_id) > (?, ?)
           AND expires > ? AND steps > 0
         ORDER BY updated, run_id LIMIT ?`,
        account,
        from,
        after?.updated ?? 0,
        after?.run_id ?? '',
        now,
        limit,
      )
      return runs.map((run) => ({ ...run, drifting: run.drifting === 1 }))
    },
    async sumParts(account, of, { from, to }) {
      const undrifted = of.filter(({ drifted }) => !drifted)
      const firsts = await db.all<{ run_id: string; first: number }>(
        `SELECT steps.run_id, MIN(step) AS first FROM ${stepsOfParts}
         AND drifting = 1 GROUP BY steps.run_id`,
        JSON.stringify(undrifted.map(({ drifted: _, ...part }) => ({ ...part, first: 0 }))),
        account,
      )
      const firstOf = new Map(firsts.map(({ run_id, first }) => [run_id, first]))
      const named = of.map(({ run_id, since, until, drifted }) => {
        return { run_id, since, until, first: drifted ? since : (firstOf.get(run_id) ?? until) }
      })
      const rows = await db.all<StepsRow>(
        `SELECT steps.run_id, reason, drifting, COUNT(*) AS steps, SUM(phi) AS phi_sum,
           MAX(phi) AS max_phi, SUM(COALESCE(tokens, 0)) AS tokens,
           SUM(CASE WHEN step >= rows.first THEN COALESCE(tokens, 0) ELSE 0 END) AS drift_tokens
         FROM ${stepsOfParts}
         AND ts >= ? AND ts < ?
         GROUP BY steps.run_id, reason, drifting ORDER BY steps.run_id, steps DESC, reason`,
        JSON.stringify(named),
        account,
        from,
        to,
      )
      const rowsOf = Map.groupBy(rows, ({ run_id }) => run_id)
      return named.map(({ run_id, until, first }) => ({
        run_id,
        drifted: first < until,
        told: (rowsOf.get(run_id) ?? []).map(({ run_id: _, drifting, ...row }) => ({
          ...row,
          drifting: drifting === 1,
        })),
      }))
    },
  }
}

interface StepsRow {
  run_id: string
  reason: string
  drifting: number
  steps: number
  phi_sum: number
  max_phi: number
  tokens: number
  drift_tokens: number
}
