import { dayOf } from '../../core/time.ts'
import type { Service } from './context.ts'
import { Refusal } from './refusal.ts'

/** A limit on calls in each window of time. */
export interface Rate {
  /** The name of the counter, with the id of the account or address that it counts. */
  counter: string
  limit: number
  /** The length of a window. Windows begin at whole multiples of it since 1970. */
  windowMs: number
  /** The limited thing and its period, as the refusal names them: `tests a minute`. */
  what: string
}

/**
 * Counts a call and refuses it beyond the limit (429). Call it outside of transactions: a database in memory has one
 * connection, and the read of a count would wait for the transaction that waits for it.
 */
export async function countRate(
  { store, now }: Pick<Service, 'store' | 'now'>,
  { counter, limit, windowMs, what }: Rate,
): Promise<void> {
  const at = now()
  const window = Math.floor(at / windowMs)
  const used = await store.counters.count(`${counter}:${window}`, dayOf(at))
  if (used <= limit) return
  const retry_after_s = Math.ceil(((window + 1) * windowMs - at) / 1000)
  throw new Refusal(
    429,
    'rate_limit',
    {
      detail: `The limit is ${limit} ${what}. Send the next one in ${retry_after_s} seconds.`,
      retry_after_s,
    },
    { 'retry-after': String(retry_after_s) },
  )
}
