import { keyOf, parseJson } from '../core/text.ts'
import type { Database, Queries } from './database/database.ts'
import { createWeightedCache, type WeightedCache } from './runs/run-cache.ts'

/** What is kept beside a run: one state for each, until it expires. */
export interface RunStates<State> {
  /** Reads a state without locking it; null if there is none. */
  find(account: string, runId: string, now: number): Promise<State | null>
  /** Reads a state, a fresh one if there is none, and locks it until the transaction ends. */
  lock(account: string, runId: string, now: number): Promise<State>
  /** As `lock`; null if there is no state. */
  lockStored(account: string, runId: string, now: number): Promise<State | null>
  /** Stores a state that is locked, until `expires`, milliseconds since 1970. */
  save(account: string, runId: string, state: State, expires: number): Promise<void>
  /** Deletes a state. */
  forget(account: string, runId: string): Promise<void>
  /** Deletes at most `limit` expired states and returns their number. */
  expire(now: number, limit: number): Promise<number>
}

interface Row {
  state: string
  expires: number
}

/**
 * The newest states of a process beside the texts that they were parsed from. A state is taken from here only if its
 * stored text is the same, whoever wrote it; so it is current on every node, and nobody may change it.
 */
export type ParsedStates<State> = WeightedCache<{ text: string; state: State }>

/** Most characters of texts that are kept, about. */
const mostCharacters = 8_000_000

/** Creates an empty cache of states. */
export function createParsedStates<State>(): ParsedStates<State> {
  return createWeightedCache(mostCharacters, ({ text }) => 2 * text.length)
}

/** Columns beside a state, by which it can be summed and listed without reading it. */
export interface StateColumns<State> {
  names: readonly string[]
  /** The values of a state, in the order of the names. */
  of(state: State): readonly (number | null)[]
}

/**
 * Creates the states of one table on a database or a transaction; `fresh` is the state of a run that has none. States that
 * are read often are taken from `parsed`, if it is given, and `beside` is stored with each.
 */
export function createRunStates<State>(
  db: Queries,
  kind: Database['kind'],
  table: 'tool_sessions' | 'host_sessions',
  fresh: State,
  parsed?: ParsedStates<State>,
  beside: StateColumns<State> = { names: [], of: () => [] },
): RunStates<State> {
  const set = ['state', 'expires', ...beside.names].map((name) => `${name} = ?`).join(', ')
  function stateIn(
    row: Row | undefined,
    account: string,
    runId: string,
    now: number,
  ): State | null {
    if (row === undefined || row.expires <= now) return null
    const key = keyOf(account, runId)
    const known = parsed?.get(key)
    if (known?.text === row.state) return known.state
    // An earlier release stored less.
    const state = { ...fresh, ...(parseJson(row.state) as State | undefined) }
    parsed?.set(key, { text: row.state, state })
    return state
  }
  const read = (account: string, runId: string, lock = '') =>
    db.get<Row>(
      `SELECT state, expires FROM ${table} WHERE account = ? AND run_id = ? ${lock}`,
      account,
      runId,
    )
  // A transaction of SQLite has the whole database to itself.
  const locked = kind === 'postgres' ? 'FOR UPDATE' : ''
  return {
    async find(account, runId, now) {
      return stateIn(await read(account, runId), account, runId, now)
    },
    async lockStored(account, runId, now) {
      return stateIn(await read(account, runId, locked), account, runId, now)
    },
    async lock(account, runId, now) {
      // Most rows are there, and an upsert would write them a second time.
      const stored = stateIn(await read(account, runId, locked), account, runId, now)
      if (stored !== null) return stored
      // Insert a missing row, so that two first calls wait for each other.
      const row = await db.get<Row>(
        `INSERT INTO ${table} (account, run_id, state, expires) VALUES (?, ?, ?, ?)
         ON CONFLICT (account, run_id) DO UPDATE SET run_id = excluded.run_id
         RETURNING state, expires`,
        account,
        runId,
        JSON.stringify(fresh),
        now,
      )
      return stateIn(row, account, runId, now) ?? fresh
    },
    async save(account, runId, state, expires) {
      const text = JSON.stringify(state)
      parsed?.set(keyOf(account, runId), { text, state })
      await db.run(
        `UPDATE ${table} SET ${set} WHERE account = ? AND run_id = ?`,
        text,
        expires,
        ...beside.of(state),
        account,
        runId,
      )
    },
    async forget(account, runId) {
      await db.run(`DELETE FROM ${table} WHERE account = ? AND run_id = ?`, account, runId)
    },
    expire: (now, limit) =>
      db.run(
        `DELETE FROM ${table} WHERE expires <= ? AND (account, run_id) IN (
           SELECT account, run_id FROM ${table} WHERE expires <= ? LIMIT ?
         )`,
        now,
        now,
        limit,
      ),
  }
}
