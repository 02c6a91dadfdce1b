/** A semaphore that serves its waiters in order. */
interface Slots {
  /** Returns a function that releases the slot, or null if no slot is free. */
  takeNow(): (() => void) | null
  /**
   * Waits for a slot and returns the function that releases it; rejects with the reason of the signal on
   * abort.
   */
  take(signal: AbortSignal): Promise<() => void>
  /** Whether no slot is taken or awaited. */
  readonly idle: boolean
}

/** Creates a semaphore of `max` slots. */
function createSlots(max: number): Slots {
  const waiting: (() => void)[] = []
  let held = 0

  function give(): void {
    const next = waiting.shift()
    if (next === undefined) held -= 1
    else next()
  }

  function takeNow(): (() => void) | null {
    if (held === max) return null
    held += 1
    return give
  }

  return {
    takeNow,
    async take(signal) {
      signal.throwIfAborted()
      if (takeNow() === null) await turn(signal)
      return give
    },
    get idle() {
      return held === 0
    },
  }

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        waiting.splice(waiting.indexOf(start), 1)
        reject(signal.reason)
      }
      const start = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      signal.addEventListener('abort', onAbort)
      waiting.push(start)
    })
  }
}

/** A group of requests, and the most slots that it may take. */
export interface Share {
  name: string
  most: number
}

/** Slots with a limit for each group. */
export interface Places {
  /** Takes a slot in each group; returns a function that releases them, or null if a group is full. */
  takeNow(shares: readonly Share[]): (() => void) | null
  /** Waits for a slot in each group, one after another; returns null on abort. */
  take(shares: readonly Share[], signal: AbortSignal): Promise<(() => void) | null>
}

/** Creates the slots; a group exists while it has a slot taken. */
export function createPlaces(): Places {
  const named = new Map<string, Slots>()

  function slotsOf({ name, most }: Share): Slots {
    const own = named.get(name) ?? createSlots(most)
    named.set(name, own)
    return own
  }

  function releaseOf(shares: readonly Share[], releases: readonly (() => void)[]): () => void {
    return () => {
      for (const give of releases) give()
      for (const { name } of shares) if (named.get(name)?.idle) named.delete(name)
    }
  }

  return {
    takeNow(shares) {
      const taken = shares.map((share) => slotsOf(share).takeNow())
      const release = releaseOf(
        shares,
        taken.filter((give) => give !== null),
      )
      if (!taken.includes(null)) return release
      release()
      return null
    },
    async take(shares, signal) {
      const taken: (() => void)[] = []
      const release = releaseOf(shares, taken)
      try {
        for (const share of shares) taken.push(await slotsOf(share).take(signal))
        return release
      } catch {
        release()
        return null
      }
    },
  }
}
