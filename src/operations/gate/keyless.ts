import { dayOf } from '../../core/time.ts'
import type { Embeddings } from '../../outbound/embeddings.ts'
import { secondsToMidnight } from './admission.ts'
import type { Service } from './context.ts'
import { Refusal } from './refusal.ts'

/**
 * What all callers without a key together may cost this server in a day (UTC). Their addresses may be
 * made up, so a limit for each address bounds none of this. Callers with a key have their quotas.
 */
const perDay = {
  /** Bytes of state that their tool calls store, as `storedBytes` estimates them. */
  bytes: 256 * 1024 * 1024,
  /** Questions to the chat endpoint. */
  guide: 1_000,
  /** Pairs of texts that the embeddings endpoint is asked for. */
  embeddings: 10_000,
}

/** Counts state that a tool call without a key is about to store; refuses with 429 past the day's ceiling. */
export async function admitState(service: Service, given: object): Promise<void> {
  if (await fits(service, 'bytes', storedBytes(given))) return
  const retry_after_s = secondsToMidnight(service.now())
  throw new Refusal(429, 'rate_limit', {
    detail: `This server has reached its daily limit (UTC) of stored state for callers without a key. Send a key, or try again in ${retry_after_s} seconds.`,
    retry_after_s,
  })
}

/** Counts a question to the chat endpoint by a caller without a key; answers whether it may be asked. */
export function mayAskGuide(service: Service): Promise<boolean> {
  return fits(service, 'guide', 1)
}

/** The embeddings as callers without a key have them: past the day's ceiling they learn nothing more. */
export function keylessEmbeddings(service: Service): Embeddings | null {
  const { embeddings } = service
  if (embeddings === null) return null
  return {
    ...embeddings,
    async learn(pairs, waitMs) {
      const news = pairs.filter(({ ground, goal }) => !isKnown(embeddings, ground, goal))
      if (news.length === 0 || !(await fits(service, 'embeddings', news.length))) return
      await embeddings.learn(news, waitMs)
    },
  }
}

function isKnown({ similarity }: Embeddings, ground: string, goal: string): boolean {
  return similarity(ground, goal) !== undefined
}

async function fits(
  { store, now }: Service,
  what: keyof typeof perDay,
  amount: number,
): Promise<boolean> {
  return (await store.counters.count(`keyless:${what}`, dayOf(now()), amount)) <= perDay[what]
}

/** Rows and indexes of a first step, bytes. */
const rowBytes = 2_048
/** A goal stands in its step, its run, its ground, its detector's memory and their indexes. */
const copies = 8

/** About what a call with these arguments adds to the database, bytes. */
function storedBytes(given: object): number {
  return rowBytes + copies * Buffer.byteLength(JSON.stringify(given))
}
