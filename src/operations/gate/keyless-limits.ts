import { dayOf } from '../../core/time.ts'
import type { Embeddings } from '../../outbound/embeddings.ts'
import type { Service } from './context.ts'
import { secondsToMidnight } from './daily-limit.ts'
import { Refusal } from './refusal.ts'

/**
 * Daily limits (UTC) for all callers without a key together. Limits for each address do not bound these
 * costs, because a caller may forge addresses. Callers with a key have quotas of their own.
 */
const perDay = {
  /** Bytes of state that their tool calls store; see `storedBytes`. */
  bytes: 256 * 1024 * 1024,
  /** Questions to the chat endpoint. */
  guide: 1_000,
  /** Pairs of texts sent to the embeddings endpoint. */
  embeddings: 10_000,
}

/** Counts the state that a tool call without a key will store. Refuses it beyond the daily limit (429). */
export async function admitState(service: Service, given: object): Promise<void> {
  if (await tryCount(service, 'bytes', storedBytes(given))) return
  const retry_after_s = secondsToMidnight(service.now())
  throw new Refusal(429, 'rate_limit', {
    detail: `This server has reached its daily limit (UTC) of stored state for callers without a key. Send a key, or try again in ${retry_after_s} seconds.`,
    retry_after_s,
  })
}

/** Counts a question to the chat endpoint by a caller without a key. Returns whether the limit allows it. */
export function mayAskGuide(service: Service): Promise<boolean> {
  return tryCount(service, 'guide', 1)
}

/** The embeddings for callers without a key. Beyond the daily limit they fetch no new ones. */
export function keylessEmbeddings(service: Service): Embeddings | null {
  const { embeddings } = service
  if (embeddings === null) return null
  return {
    ...embeddings,
    async learn(pairs, waitMs) {
      const unknown = pairs.filter(({ ground, goal }) => !isKnown(embeddings, ground, goal))
      if (unknown.length === 0 || !(await tryCount(service, 'embeddings', unknown.length))) return
      await embeddings.learn(unknown, waitMs)
    },
  }
}

function isKnown({ similarity }: Embeddings, ground: string, goal: string): boolean {
  return similarity(ground, goal) !== undefined
}

/** Counts an amount and returns whether the day's sum is within the limit. */
async function tryCount(
  { store, now }: Service,
  what: keyof typeof perDay,
  amount: number,
): Promise<boolean> {
  return (await store.counters.count(`keyless:${what}`, dayOf(now()), amount)) <= perDay[what]
}

/** The size of the rows and index entries of a first step, without its texts, in bytes. */
const rowBytes = 2_048
/** The database holds a goal in its step, its run, its ground, the detector's memory and their indexes. */
const copies = 8

/** Estimates how many bytes a call with these arguments adds to the database. */
function storedBytes(given: object): number {
  return rowBytes + copies * Buffer.byteLength(JSON.stringify(given))
}
