import { dayMs, dayOf } from '../../core/time.ts'
import type { Service } from './context.ts'
import type { AddressLimit, Call } from './declaration.ts'
import { Refusal } from './refusal.ts'

/** The bucket that counts the reads or the writes of an account. */
export function quotaBucket(account: string, kind: 'reads' | 'writes'): string {
  return `${kind}:${account}`
}

/** Seconds until the daily counts restart at midnight UTC. */
export function secondsToMidnight(now: number): number {
  return Math.ceil(((dayOf(now) + 1) * dayMs - now) / 1000)
}

/** A counted call. */
interface Counted {
  /** The refusal of a call beyond the limit; null within the limit. */
  refusal: Refusal | null
  /** Takes the call off the count of its day, even after midnight. */
  refund(): Promise<void>
}

/** Counts a call and sets the rate limit headers. A limit of null is unlimited and sets no headers. */
export async function countDaily(
  { store, now }: Service,
  { headers }: Pick<Call, 'headers'>,
  bucket: string,
  perDay: number | null,
  who: string,
  setting?: AddressLimit['setting'],
): Promise<Counted> {
  const at = now()
  const day = dayOf(at)
  const used = await store.counters.count(bucket, day)
  if (perDay === null) {
    return {
      refusal: null,
      refund: async () => void (await store.counters.count(bucket, day, -1)),
    }
  }
  const resetSeconds = secondsToMidnight(at)
  const setRemaining = (used: number) => {
    headers['x-ratelimit-remaining'] = String(Math.max(0, perDay - used))
  }
  headers['x-ratelimit-limit'] = String(perDay)
  headers['x-ratelimit-reset'] = String(resetSeconds)
  setRemaining(used)
  return {
    refusal: used > perDay ? limitReached(who, perDay, resetSeconds, setting) : null,
    refund: async () => setRemaining(await store.counters.count(bucket, day, -1)),
  }
}

function limitReached(
  who: string,
  perDay: number,
  resetSeconds: number,
  setting: AddressLimit['setting'] | undefined,
): Refusal {
  const hint =
    setting === undefined ? '' : ` The operator of this server can raise the limit with ${setting}.`
  return new Refusal(
    429,
    'rate_limit',
    {
      detail: `${who} has used its ${perDay} calls for today (UTC). The limit resets in ${resetSeconds} seconds.${hint}`,
      retry_after_s: resetSeconds,
    },
    { 'retry-after': String(resetSeconds) },
  )
}
