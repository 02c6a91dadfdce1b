import type { Counters } from './counters.ts'

/** The buckets that calls of addresses count in. */
export interface AddressBuckets {
  /**
   * The bucket of an address for one kind of call on `day`: its own while the day has at most 100,000
   * of them, and then one that all further addresses share. An address keeps its bucket for the day.
   */
  find(kind: string, address: string, day: number): Promise<string>
}

const maxBuckets = 100_000

/** The counter of how many there are. */
const liveBucket = 'addresses'

/**
 * Where a header names the address, a caller can make up any number of them, and each would be a row
 * and its memory. So only so many are told apart.
 */
export function createAddressBuckets({
  count,
  used,
}: Pick<Counters, 'count' | 'used'>): AddressBuckets {
  let today = newDay(Number.NaN)

  /** Whether the bucket is there already, or is the next that there is room for. */
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

/** What this node knows of the buckets of a day. */
interface Day {
  readonly day: number
  readonly own: Set<string>
  /** Asked by several calls at once, a bucket is counted once. */
  readonly deciding: Map<string, Promise<boolean>>
  isFull: boolean
}

function newDay(day: number): Day {
  return { day, own: new Set(), deciding: new Map(), isFull: false }
}
