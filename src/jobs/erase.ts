import { deliverKind } from '../storage/alerts/outbox.ts'
import type { NewJob } from '../storage/database/jobs.ts'
import type { OpenStore, Store } from '../storage/store.ts'
import { digestJob } from './digest.ts'
import type { JobContext, JobKind } from './scheduler.ts'

const kindName = 'erase'
const sliceRows = 500
const slicesARun = 100

/**
 * Longest time that a request or delivery in flight may still write for a deleted account: other nodes
 * cache its key for some seconds, and a delivery keeps its lease for 30.
 */
const settleMs = 45_000

/** The job that erases the rows of an account deleted at `since`, milliseconds since 1970. */
export function eraseJob(account: string, since: number): NewJob {
  const input = JSON.stringify({ account, since })
  return { id: `${kindName}:${account}`, kind: kindName, input, due: since }
}

/**
 * Erases all rows of a deleted account: at once, and again when no request can write for it any more. Each
 * transaction deletes a few hundred rows, so that other requests wait only for milliseconds.
 */
export function createEraseJob(store: OpenStore, now: () => number): JobKind {
  async function run({ input, signal }: JobContext): Promise<number | null> {
    const { account, since } = JSON.parse(input) as { account: string; since: number }
    for (let slices = 0; await eraseSlice(store, account); slices++) {
      // The rest is erased at once by a further run of the job, perhaps on another node.
      if (slices === slicesARun || signal.aborted) return now()
    }
    // These jobs find no rows and are never repeated.
    await store.tx(async ({ jobs }) => {
      const at = now()
      const deliver = {
        id: `${deliverKind}:${account}`,
        kind: deliverKind,
        input: account,
        due: at,
      }
      await jobs.add(deliver)
      await jobs.add(digestJob(account, at))
    })
    await store.db.scrub?.()
    const settled = since + settleMs
    return now() < settled ? settled : null
  }
  return {
    name: kindName,
    leaseMs: 600_000,
    maxAttempts: Number.MAX_SAFE_INTEGER,
    run,
  }
}

/** Deletes some hundred rows of a deleted account and returns whether there may be more. */
export function eraseSlice(store: Pick<Store, 'tx'>, account: string): Promise<boolean> {
  return store.tx(({ erasure }) => erasure.slice(account, sliceRows))
}
