import type { Database, Queries } from '../database/database.ts'
import type { KnownContext, KnownRun } from './known.ts'

/**
 * Caches runs and contexts between transactions, so that a step of a busy run reads few rows. On SQLite
 * the cache notices every other writer. On PostgreSQL it does not: there each run is locked and its last
 * writer compared, and contexts are always read. So every change of an agent or an opening must also write
 * the row of the run.
 */
export interface RunCache {
  readonly runs: WeightedCache<KnownRun>
  readonly contexts: WeightedCache<KnownContext>
  /** Whether the cache can be trusted without reading the row. */
  readonly isTrusted: boolean
  /** Empties the cache if another writer has changed the tables since `end`. Call it first in a transaction. */
  begin(tx: Queries): Promise<void>
  /** Call it last in a transaction, after every query is sent. */
  end(tx: Queries): void
  /** Empties the cache. Call it when a transaction did not become durable. */
  clear(): void
}

/** A least-recently-used cache with a limit on the total weight of its values. */
export interface WeightedCache<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  clear(): void
}

/** The caches hold about twice this many characters. */
const maxWeight = 8_000_000
/** The weight of a run without its texts, and of a context. */
const runWeight = 1_000
const contextWeight = 200

/**
 * Creates an empty cache for the transactions of one process; no two concurrent transactions may use the
 * same run.
 */
export function createRunCache(kind: Database['kind'], limit = maxWeight): RunCache {
  const runs = createWeightedCache<KnownRun>(limit, weightOf)
  return kind === 'sqlite' ? trustedCache(runs, limit) : comparedCache(runs)
}

function comparedCache(runs: WeightedCache<KnownRun>): RunCache {
  return {
    runs,
    contexts: { get: () => undefined, set() {}, clear() {} },
    isTrusted: false,
    clear: () => runs.clear(),
    async begin() {},
    end() {},
  }
}

function trustedCache(runs: WeightedCache<KnownRun>, limit: number): RunCache {
  const contexts = createWeightedCache<KnownContext>(limit, () => contextWeight)
  let changesSeen: number | undefined
  let versionSeen = -1

  function clear(): void {
    changesSeen = undefined
    runs.clear()
    contexts.clear()
  }
  return {
    runs,
    contexts,
    isTrusted: true,
    clear,
    async begin(tx) {
      const version = await versionOf(tx)
      if (
        changesSeen === undefined ||
        tx.changes?.(tables) !== changesSeen ||
        version !== versionSeen
      ) {
        clear()
      }
      versionSeen = version
    },
    end(tx) {
      changesSeen = tx.changes?.(tables)
    },
  }
}

/** The cached rows come from these tables. */
const tables = ['runs', 'agents', 'openings', 'contexts']

/** A number that changes with every commit of another connection or process. */
async function versionOf(tx: Queries): Promise<number> {
  const row = await tx.get<{ data_version: number }>('PRAGMA data_version')
  return row?.data_version ?? -1
}

function weightOf({ run, agents, opened }: KnownRun): number {
  let weight = runWeight + (run.ground?.length ?? 0) + opened.size * contextWeight
  for (const { memoryLength } of agents.values()) weight += runWeight + memoryLength
  return weight
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
    // A run that gains more and more agents would otherwise stay as long as it is used.
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
