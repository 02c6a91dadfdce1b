import type { Database, Queries } from '../database/database.ts'
import type { KnownContext, KnownRun } from './known.ts'

/**
 * What one transaction leaves for the next, so that a step of a busy run reads little. On SQLite
 * everybody else's changes show. On PostgreSQL they do not: there a run is held and looked at, which
 * tells whether anybody has written it since, and contexts are read anew. So whoever changes an agent
 * or an opening of a run writes the row of the run too.
 */
export interface RecentRuns {
  readonly runs: Recent<KnownRun>
  readonly contexts: Recent<KnownContext>
  /** Whether what is in here is as stored; else a run is only if nobody has written its row since. */
  readonly isCertain: boolean
  /** Forgets everything if anybody else has changed it since `end`. Asked first in a transaction. */
  begin(tx: Queries): Promise<void>
  /** Must be called last in a transaction, when all is asked. */
  end(tx: Queries): void
  /** Must be called when the transaction did not become durable. */
  forget(): void
}

/** Values by key, of which those that were not used for longest leave when all weigh too much. */
export interface Recent<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  clear(): void
}

/** What is known at most is about twice this many characters. */
const maxWeight = 8_000_000
/** What a run weighs beside its texts, and a context. */
const runWeight = 1_000
const contextWeight = 200

/** An empty memory, for the transactions of one process, of which no two at once know the same run. */
export function createRecentRuns(kind: Database['kind'], limit = maxWeight): RecentRuns {
  const runs = createRecent<KnownRun>(limit, weightOf)
  return kind === 'sqlite' ? certain(runs, limit) : uncertain(runs)
}

function uncertain(runs: Recent<KnownRun>): RecentRuns {
  return {
    runs,
    contexts: { get: () => undefined, set() {}, clear() {} },
    isCertain: false,
    forget: () => runs.clear(),
    async begin() {},
    end() {},
  }
}

function certain(runs: Recent<KnownRun>, limit: number): RecentRuns {
  const contexts = createRecent<KnownContext>(limit, () => contextWeight)
  let changesSeen: number | undefined
  let versionSeen = -1

  function forget(): void {
    changesSeen = undefined
    runs.clear()
    contexts.clear()
  }
  return {
    runs,
    contexts,
    isCertain: true,
    forget,
    async begin(tx) {
      const version = await versionOf(tx)
      if (
        changesSeen === undefined ||
        tx.changes?.(tables) !== changesSeen ||
        version !== versionSeen
      ) {
        forget()
      }
      versionSeen = version
    },
    end(tx) {
      changesSeen = tx.changes?.(tables)
    },
  }
}

/** What is known comes from these. */
const tables = ['runs', 'agents', 'openings', 'contexts']

/** A number that is another one after a commit of another connection, whatever process it is of. */
async function versionOf(tx: Queries): Promise<number> {
  const row = await tx.get<{ data_version: number }>('PRAGMA data_version')
  return row?.data_version ?? -1
}

function weightOf({ run, agents, opened }: KnownRun): number {
  let weight = runWeight + (run.ground?.length ?? 0) + opened.size * contextWeight
  for (const { memoryLength } of agents.values()) weight += runWeight + memoryLength
  return weight
}

/** Holds values up to about twice `limit`: those used since the young were many enough to become the old. */
export function createRecent<V>(limit: number, weigh: (value: V) => number): Recent<V> {
  let young = new Map<string, { value: V; weight: number }>()
  let old = new Map<string, { value: V; weight: number }>()
  let total = 0

  function set(key: string, value: V): void {
    const weight = weigh(value)
    total += weight - (young.get(key)?.weight ?? 0)
    young.set(key, { value, weight })
    // One that grows without end, as a run with more and more agents, would stay while it is used.
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
