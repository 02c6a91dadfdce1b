import { nothingObserved, type Observed } from '../core/hosts/observed.ts'
import { type SessionSeen, seenOf } from '../core/hosts/seen.ts'
import type { Database, Queries } from './database/database.ts'
import { jsonRows } from './database/rows.ts'
import { createRunStates, type ParsedStates, type RunStates } from './run-states.ts'

/** How many acts of the runs of one detector and host began, and of how many it is known how they ended. */
export interface HostSeen {
  detector: string
  host: string | null
  acts: number
  ended: number
}

/** What is known of the sessions of hosts, by their runs. */
export interface HostSessions extends RunStates<Observed> {
  /** How much has been seen of the sessions of runs; none of a session that was stored before this was counted. */
  seen(
    account: string,
    runIds: readonly string[],
    now: number,
  ): Promise<ReadonlyMap<string, SessionSeen>>
  /** Sums what has been seen of the acts of unexpired runs, by detector and host. */
  seenByHost(account: string, now: number): Promise<HostSeen[]>
}

/** The columns beside a session, in the order in which they are written. */
const columns = {
  acts: ({ acts }) => acts,
  ended: ({ ended }) => ended,
  agents_begun: ({ agentsBegun }) => agentsBegun,
  agents_stopped: ({ agentsStopped }) => agentsStopped,
  prompts: ({ prompts }) => prompts,
  unheard: ({ unheard }) => unheard,
  heard_at: ({ heardAt }) => heardAt,
  over_at: ({ overAt }) => overAt,
} satisfies Record<string, (seen: SessionSeen) => number | null>

interface Row {
  run_id: string
  acts: number
  ended: number
  agents_begun: number
  agents_stopped: number
  prompts: number
  unheard: number
  heard_at: number | null
  over_at: number | null
}

/** Creates the sessions of hosts on a database or a transaction. */
export function createHostSessions(
  db: Queries,
  kind: Database['kind'],
  parsed: ParsedStates<Observed>,
): HostSessions {
  const names = Object.keys(columns)
  const states = createRunStates(db, kind, 'host_sessions', nothingObserved, parsed, {
    names,
    of(state) {
      const seen = seenOf(state)
      return Object.values(columns).map((read) => read(seen))
    },
  })
  return {
    ...states,
    async seen(account, runIds, now) {
      if (runIds.length === 0) return new Map()
      const rows = await db.all<Row>(
        `SELECT host_sessions.run_id, ${names.map((name) => `host_sessions.${name}`).join(', ')}
         FROM ${jsonRows(kind, { run_id: 'TEXT' })}
         JOIN host_sessions ON host_sessions.account = ? AND host_sessions.run_id = rows.run_id
         WHERE host_sessions.expires > ? AND host_sessions.acts IS NOT NULL`,
        JSON.stringify(runIds.map((run_id) => ({ run_id }))),
        account,
        now,
      )
      return new Map(rows.map((row) => [row.run_id, seenIn(row)]))
    },
    seenByHost: (account, now) =>
      db.all<HostSeen>(
        `SELECT runs.detector, runs.host, SUM(host_sessions.acts) AS acts,
           SUM(host_sessions.ended) AS ended
         FROM host_sessions
         JOIN runs ON runs.account = host_sessions.account AND runs.run_id = host_sessions.run_id
         WHERE host_sessions.account = ? AND host_sessions.acts IS NOT NULL
           AND runs.expires > ? AND runs.steps > 0
         GROUP BY runs.detector, runs.host`,
        account,
        now,
      ),
  }
}

function seenIn(row: Row): SessionSeen {
  return {
    acts: row.acts,
    ended: row.ended,
    agentsBegun: row.agents_begun,
    agentsStopped: row.agents_stopped,
    prompts: row.prompts,
    unheard: row.unheard,
    heardAt: row.heard_at,
    overAt: row.over_at,
  }
}
