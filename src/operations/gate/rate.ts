import { dayOf } from '../../core/time.ts'
import type { Service } from './context.ts'
import { Refusal } from './refusal.ts'

/** How often something may be done in each stretch of time. */
export interface Rate {
  /** Names the counter, with whose it is. */
  counter: string
  most: number
  /** A stretch, in milliseconds; they begin at whole multiples since 1970. */
  perMs: number
  /** The limited thing and its period, as the refusal names them: `tests a minute`. */
  what: string
}

/** Counts once more; refuses with 429 what is more than the rate allows. */
export async function countRate(
  { store, now }: Pick<Service, 'store' | 'now'>,
  { counter, most, perMs, what }: Rate,
): Promise<void> {
  const at = now()
  const stretch = Math.floor(at / perMs)
  const used = await store.counters.count(`${counter}:${stretch}`, dayOf(at))
  if (used <= most) return
  const retry_after_s = Math.ceil(((stretch + 1) * perMs - at) / 1000)
  throw new Refusal(
    429,
    'rate_limit',
    {
      detail: `The limit is ${most} ${what}. Send the next one in ${retry_after_s} seconds.`,
      retry_after_s,
    },
    { 'retry-after': String(retry_after_s) },
  )
}
