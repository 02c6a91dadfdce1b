import type { Changes, ContextTotals } from '../../core/runs/batch.ts'
import type { Agent, Run } from '../../core/runs/run.ts'
import { keyOf } from '../../core/text.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Find, findRows } from './load.ts'

/**
 * Keeps the state that one transaction leaves for the next one. On SQLite a step of a busy run then reads
 * few rows, and the cache notices every other writer. On PostgreSQL it would not, so there it keeps
 * nothing.
 */
export interface RunCache {
  /** As `findRows`, for the rows that are not cached. */
  readonly find: Find
  /** Keeps the changes of a batch. Call it after every query about them is sent. */
  keep(tx: Queries, changes: Changes): void
  /** Empties the cache. Call it when a transaction did not become durable. */
  clear(): void
}

/** A least-recently-used cache with a limit on the total weight of its values. */
export interface WeightedCache<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  clear(): void
}

/** A cache holds at most about twice this many characters. */
const maxWeight = 8_000_000
/** The weights of a run and an agent without their texts, and of a context or an opening. */
const rowWeight = 1_000
const contextWeight = 200

/** Creates an empty cache for the transactions of one process. */
export function createRunCache(kind: Database['kind'], limit = maxWeight): RunCache {
  if (kind === 'sqlite') return cached((tx, wanted) => findRows(tx, kind, wanted), limit)
  return { find: (tx, wanted) => findRows(tx, kind, wanted), keep() {}, clear() {} }
}

function cached(find: Find, limit: number): RunCache {
  const runs = createWeightedCache<Run>(
    limit / 2,
    // The assignment holds the ground again.
    ({ ground }) => rowWeight + 2 * (ground?.length ?? 0),
  )
  const agents = createWeightedCache<{ agent: Agent; memory: string }>(
    limit,
    ({ memory }) => rowWeight + memory.length,
  )
  const contexts = createWeightedCache<ContextTotals>(limit / 2, () => contextWeight)
  const openings = createWeightedCache<true>(limit / 2, () => contextWeight)
  let changesSeen: number | undefined
  let versionSeen = -1

  function clear(): void {
    changesSeen = undefined
    for (const each of [runs, agents, contexts, openings]) each.clear()
  }

  /** Empties the cache if another writer has changed the tables since `keep`. */
  async function validate(tx: Queries): Promise<void> {
    const version = await versionOf(tx)
    const isSame = changesSeen !== undefined && tx.changes?.(tables) === changesSeen
    if (!isSame || version !== versionSeen) clear()
    versionSeen = version
  }

  return {
    clear,
    async find(tx, wanted) {
      await validate(tx)
      const known = {
        runs: new Map<string, Run>(),
        agents: new Map<string, Agent>(),
        contexts: new Map<string, ContextTotals>(),
        openings: new Set<string>(),
      }
      for (const [key, { now }] of wanted.runs) {
        const run = runs.get(key)
        if (run !== undefined && run.expires > now) known.runs.set(key, run)
      }
      for (const key of wanted.agents.keys()) {
        const kept = agents.get(key)
        if (kept !== undefined) known.agents.set(key, kept.agent)
      }
      const unknown = new Map(wanted.contexts)
      for (const [opening, { account, context }] of wanted.contexts) {
        const key = keyOf(account, context)
        const totals = contexts.get(key)
        if (totals === undefined || openings.get(opening) !== true) continue
        known.contexts.set(key, totals)
        known.openings.add(opening)
        unknown.delete(opening)
      }
      const found = await find(tx, {
        runs: without(wanted.runs, known.runs),
        agents: without(wanted.agents, known.agents),
        contexts: unknown,
        accounts: wanted.accounts,
      })
      if (found.hasForgotten) {
        clear()
        return find(tx, wanted)
      }
      for (const key of found.openings) openings.set(key, true)
      for (const [key, run] of known.runs) found.runs.set(key, run)
      for (const [key, agent] of known.agents) found.agents.set(key, agent)
      for (const [key, totals] of known.contexts) found.contexts.set(key, totals)
      for (const key of known.openings) found.openings.add(key)
      return found
    },
    keep(tx, changes) {
      for (const [key, { run }] of changes.runs) runs.set(key, run)
      for (const [key, changed] of changes.agents) agents.set(key, changed)
      for (const [key, { runs, lowest }] of changes.contexts) contexts.set(key, { runs, lowest })
      for (const key of changes.openings.keys()) openings.set(key, true)
      changesSeen = tx.changes?.(tables)
    },
  }
}

function without<Row>(
  wanted: ReadonlyMap<string, Row>,
  known: { has(key: string): boolean },
): Map<string, Row> {
  return new Map([...wanted].filter(([key]) => !known.has(key)))
}

/** The cached rows come from these tables. */
const tables = ['runs', 'agents', 'openings', 'contexts']

/** A number that changes with every commit of another connection or process. */
async function versionOf(tx: Queries): Promise<number> {
  const row = await tx.get<{ data_version: number }>('PRAGMA data_version')
  return row?.data_version ?? -1
}

/**
 * Creates a cache of two generations. When the young values weigh `limit`, they become the old ones and
 * the previous old ones are dropped.
 */
export function createWeightedCache<V>(
  limit: number,
  weigh: (value: V) => number,
): WeightedCache<V> {
  let young = new Map<string, { value: V; weight: number }>()
  let old = new Map<string, { value: V; weight: number }>()
  let total = 0

  function set(key: string, value: V): void {
    const weight = weigh(value)
    total += weight - (young.get(key)?.weight ?? 0)
    young.set(key, { value, weight })
    // A value that grows and grows would otherwise stay as long as it is used.
    if (weight > limit / 8) remove(key)
    if (total < limit) return
    old = young
    young = new Map()
    total = 0
  }
  function remove(key: string): void {
    total -= young.get(key)?.weight ?? 0
    young.delete(key)
    old.delete(key)
  }

  return {
    get: (key) => (young.get(key) ?? old.get(key))?.value,
    set,
    clear() {
      young = new Map()
      old = new Map()
      total = 0
    },
  }
}
