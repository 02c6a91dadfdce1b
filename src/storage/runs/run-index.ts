import type { Run } from '../../core/runs/run.ts'
import {
  mostPoints,
  type RunState,
  type VerdictState,
  verdictState,
} from '../../core/runs/run-state.ts'
import type { Queries } from '../database/database.ts'
import { type RunRow, runColumns, runOf } from './tables.ts'

/** A run of the index with its state. */
export interface ListedRun {
  run: Run
  state: RunState
}

/** The part of the index that a list reads. Times are milliseconds since 1970. */
export interface RunRange {
  /**
   * Narrows the list to the runs that can be in this state, or to those with an outcome; null for all. Waiting runs
   * are among the drifting and the uncertain ones, and all runs among the calm ones.
   */
  kind: RunKind | null
  /** Updated at or after this time. */
  since: number
  /** Updated before this time. */
  until: number
}

/** A kind of runs that is counted: those in a state, and those with an outcome. */
type RunKind = RunState | 'finished'

/** A cursor in a list of runs, newest first: the last run already looked at. */
export interface RunPlace {
  updated: number
  run_id: string
}

/** A step of a run as its spark shows it. */
export interface SparkPoint {
  phi: number
  state: VerdictState
}

interface SparkRow {
  phi: number
  drifting: number
  uncertain: number | null
  verdict: string | null
}

/** The runs of accounts by their last step. */
export interface RunIndex {
  /**
   * Lists the next `limit` runs of a range, newest first; expired ones are among them until they are deleted.
   * It leaves filtering to the caller, so that its cost depends on `limit` alone.
   */
  list(
    account: string,
    range: RunRange,
    limit: number,
    after: RunPlace | null,
  ): Promise<ListedRun[]>
  /** Finds an unexpired run with its state. */
  listed(account: string, runId: string, now: number): Promise<ListedRun | null>
  /** Counts the unexpired runs in each state and those with an outcome, each up to `mostCounted`. */
  countListed(account: string, now: number): Promise<Record<RunKind, number>>
  /** Reads the points of these steps, at most `mostPoints`, ascending, and the verdict kept with the last of them. */
  spark(
    account: string,
    runId: string,
    steps: readonly number[],
  ): Promise<{ points: SparkPoint[]; verdict: string | null }>
  /** Reads the goals of the steps after number `after`, ascending. */
  goals(
    account: string,
    runId: string,
    after: number,
    limit: number,
  ): Promise<{ step: number; goal: string }[]>
}

/** Highest count of a state, and the newest pending escalations whose runs are the waiting ones. */
export const mostCounted = 1_000
/** The newest runs among which a state is counted. */
export const mostLookedAt = 4_000

/** Creates the index of runs on a database or a transaction. */
export function createRunIndex(db: Queries): RunIndex {
  async function count(account: string, kind: RunKind, now: number): Promise<number> {
    const accounts = kind === 'waiting' ? [account, account] : [account]
    const row = await db.get<{ count: number }>(counts[kind], ...accounts, now)
    return row?.count ?? 0
  }
  const listedOf = ({ waiting, ...row }: RunRow & { waiting: number }): ListedRun => {
    const run = runOf(row)
    return { run, state: waiting === 1 ? 'waiting' : verdictState(run.drifting, run.uncertain) }
  }
  return {
    async list(account, { kind, since, until }, limit, after) {
      const rows = await db.all<RunRow & { waiting: number }>(
        lists[kind ?? 'all'],
        ...(kind === 'waiting' ? [account, account] : [account]),
        since,
        Math.min(until - 1, after?.updated ?? Number.MAX_SAFE_INTEGER),
        after?.updated ?? Number.MAX_SAFE_INTEGER,
        after?.run_id ?? '',
        limit,
      )
      return rows.map(listedOf)
    },
    async listed(account, runId, now) {
      const row = await db.get<RunRow & { waiting: number }>(listedRun, account, runId, now)
      return row === undefined ? null : listedOf(row)
    },
    async countListed(account, now) {
      const [waiting, drifting, uncertain, calm, finished] = await Promise.all([
        count(account, 'waiting', now),
        count(account, 'drifting', now),
        count(account, 'uncertain', now),
        count(account, 'calm', now),
        count(account, 'finished', now),
      ])
      return { waiting, drifting, uncertain, calm, finished }
    },
    async spark(account, runId, steps) {
      // The same text for any number of steps, because each text is prepared once and cached.
      const wanted = Array.from({ length: mostPoints }, (_, place) => steps[place] ?? null)
      const rows = await db.all<SparkRow>(
        `SELECT phi, drifting, uncertain, CASE WHEN step = ? THEN verdict END AS verdict FROM steps
         WHERE account = ? AND run_id = ? AND step IN (${wanted.map(() => '?').join(', ')})
         ORDER BY step`,
        steps.at(-1) ?? 0,
        account,
        runId,
        ...wanted,
      )
      const points = rows.map(({ phi, drifting, uncertain }) => ({
        phi,
        state: verdictState(drifting === 1, uncertain === 1),
      }))
      return { points, verdict: rows.at(-1)?.verdict ?? null }
    },
    goals: (account, runId, after, limit) =>
      db.all(
        `SELECT step, goal FROM steps WHERE account = ? AND run_id = ? AND step > ?
         ORDER BY step LIMIT ?`,
        account,
        runId,
        after,
        limit,
      ),
  }
}

const columns = Object.keys(runColumns)
  .map((name) => `runs.${name}`)
  .join(', ')

/** Whether a run of `table` has a pending escalation. */
function isWaiting(table: string): string {
  return `EXISTS (
    SELECT 1 FROM escalations WHERE escalations.account = ${table}.account
      AND escalations.run_id = ${table}.run_id AND escalations.decision IS NULL
  )`
}

/** Spelled out, because a partial index serves only a statement that contains its condition. */
const indexed = {
  drifting: 'AND runs.drifting = 1',
  uncertain: 'AND runs.uncertain = 1',
  finished: 'AND runs.outcome IS NOT NULL',
}

/** The runs with the newest pending escalations. These are read first, so that no other run is looked at. */
const waitingRuns = `(
    SELECT DISTINCT run_id FROM (
      SELECT run_id FROM escalations WHERE account = ? AND decision IS NULL
      ORDER BY created DESC, esc_id DESC LIMIT ${mostCounted}
    ) AS pending
  ) AS asked
  CROSS JOIN runs WHERE runs.account = ? AND runs.run_id = asked.run_id`

const inRange = `runs.updated >= ? AND runs.updated <= ? AND (runs.updated < ? OR runs.run_id < ?)
  ORDER BY runs.updated DESC, runs.run_id DESC LIMIT ?`

const lists = {
  all: listOf(''),
  drifting: listOf(indexed.drifting),
  uncertain: listOf(indexed.uncertain),
  finished: listOf(indexed.finished),
  // Most runs are calm, so an index of these would save little.
  calm: listOf(''),
  waiting: `SELECT ${columns}, 1 AS waiting FROM ${waitingRuns} AND ${inRange}`,
}

function listOf(filter: string): string {
  return `${withWaiting()} WHERE runs.account = ? ${filter} AND ${inRange}`
}

/** Selects runs, and whether each waits for a person. */
function withWaiting(): string {
  return `SELECT ${columns}, CASE WHEN ${isWaiting('runs')} THEN 1 ELSE 0 END AS waiting FROM runs`
}

const isKept = 'expires > ? AND steps > 0'

const listedRun = `${withWaiting()} WHERE runs.account = ? AND runs.run_id = ? AND ${isKept}`

const isAlone = `AND NOT ${isWaiting('newest')}`

const counts: Record<RunKind, string> = {
  waiting: `SELECT COUNT(*) AS count FROM ${waitingRuns} AND ${isKept}`,
  drifting: countOf(indexed.drifting, isAlone),
  uncertain: countOf(indexed.uncertain, isAlone),
  calm: countOf('', `AND drifting = 0 AND COALESCE(uncertain, 0) = 0 ${isAlone}`),
  finished: countOf(indexed.finished, ''),
}

function countOf(kind: string, filter: string): string {
  return `SELECT COUNT(*) AS count FROM (
    SELECT 1 AS counted FROM (
      SELECT account, run_id, expires, steps, drifting, uncertain FROM runs
      WHERE account = ? ${kind} ORDER BY updated DESC LIMIT ${mostLookedAt}
    ) AS newest WHERE ${isKept} ${filter} LIMIT ${mostCounted}
  ) AS found`
}
