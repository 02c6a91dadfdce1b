import { judgeBatch, type LoggedStep } from '../../core/runs/batch.ts'
import type { ReadEntry } from '../../core/runs/entry.ts'
import type { Database, Queries } from '../database/database.ts'
import { load } from './load.ts'
import { createRunCache, type RunCache } from './run-cache.ts'
import { save } from './save.ts'

/**
 * Logs the steps of requests in order, in a transaction whose commit makes them durable: loads the state,
 * judges the batch and saves the changes, alerts included. The cost of a step does not depend on the
 * length of its run. A request with a damaged run logs nothing.
 */
export async function logSteps(
  tx: Queries,
  kind: Database['kind'],
  requests: readonly (readonly ReadEntry[])[],
  jobAdded: () => void,
  cache: RunCache = createRunCache(kind),
): Promise<LoggedStep[]> {
  const loaded = await load(tx, kind, requests.flat(), cache.find)
  const { logged, changes } = judgeBatch(requests, loaded)
  await save(tx, kind, changes, jobAdded)
  cache.keep(tx, changes)
  return logged
}
