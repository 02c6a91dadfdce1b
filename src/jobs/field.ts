import { signalAt } from '../core/field.ts'
import { dayMs, minuteMs } from '../core/time.ts'
import type { Store } from '../storage/store.ts'
import type { JobKind } from './scheduler.ts'

/**
 * Stores one sample of the field a minute, on one node, and keeps samples for a day; missed minutes stay
 * missing.
 */
export function createFieldJob(
  store: Pick<Store, 'tx'>,
  now: () => number,
  newSeed: () => string,
): JobKind {
  return {
    name: 'field',
    everyMs: minuteMs,
    leaseMs: minuteMs,
    async run() {
      await store.tx(async ({ field: stored }) => {
        const at = now()
        const { field, seed } = await stored.read(at, newSeed())
        await stored.addSample(Math.floor(at / minuteMs) * minuteMs, signalAt(field, at, seed))
        await stored.forgetSamples(at - dayMs)
      })
      return null
    },
  }
}
