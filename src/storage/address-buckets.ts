import type { Counters } from './counters.ts'

/** The rate-limit buckets of client addresses. */
export interface AddressBuckets {
  /**
   * Returns the bucket of an address for one kind of call on `day`. The first 100,000 addresses of a day
   * get their own buckets; all later ones share one. An address keeps its bucket for the day.
   */
  find(kind: string, address: string, day: number): Promise<string>
}

const maxBuckets = 100_000

/** The counter of the buckets of a day. */
const liveBucket = 'addresses'

/**
 * If a header names the address, a caller can forge any number of addresses, each of which would cost a
 * row and memory. So the number of buckets is limited.
 */
export function createAddressBuckets({
  count,
  used,
}: Pick<Counters, 'count' | 'used'>): AddressBuckets {
  let today = newDay(Number.NaN)

  /** Whether the bucket exists, or there is room for it. */
  async function hasRoom(bucket: string, state: Day): Promise<boolean> {
    if ((await used(bucket, state.day)) > 0) return true
    if (state.isFull) return false
    if ((await count(liveBucket, state.day)) <= maxBuckets) return true
    state.isFull = true
    return false
  }

  async function decide(bucket: string, state: Day): Promise<boolean> {
    try {
      const isOwn = await hasRoom(bucket, state)
      if (isOwn) state.own.add(bucket)
      return isOwn
    } finally {
      state.deciding.delete(bucket)
    }
  }

  return {
    async find(kind, address, day) {
      if (today.day !== day) today = newDay(day)
      const { own, deciding } = today
      const bucket = `${kind}:${address}`
      if (own.has(bucket)) return bucket
      const decided = deciding.get(bucket) ?? decide(bucket, today)
      deciding.set(bucket, decided)
      return (await decided) ? bucket : `${kind}:others`
    },
  }
}

/** The cache of the buckets of a day. */
interface Day {
  readonly day: number
  readonly own: Set<string>
  /** Lookups in flight: concurrent calls count a bucket only once. */
  readonly deciding: Map<string, Promise<boolean>>
  isFull: boolean
}

function newDay(day: number): Day {
  return { day, own: new Set(), deciding: new Map(), isFull: false }
}
