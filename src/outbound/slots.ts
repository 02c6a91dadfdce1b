/** Places that are given out in the order they were asked for. */
interface Slots {
  /** Answers what gives the place back, or null when none is free. */
  takeNow(): (() => void) | null
  /** Resolves with what gives the place back; rejects with the signal's reason when that comes first. */
  take(signal: AbortSignal): Promise<() => void>
  /** Whether nobody holds or waits for a place. */
  readonly idle: boolean
}

/** At most `max` holders at a time. */
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
      const leave = () => {
        waiting.splice(waiting.indexOf(start), 1)
        reject(signal.reason)
      }
      const start = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave)
      waiting.push(start)
    })
  }
}

/** What a holder belongs to, and how many of the same may hold a place at a time. */
export interface Share {
  name: string
  most: number
}

/** Places that are shared by all, and of which each share has only so many. */
export interface Places {
  /** Takes a place in each of the shares; answers how to leave, or null when one of them has none free. */
  takeNow(shares: readonly Share[]): (() => void) | null
  /** Waits for a place in each of the shares, one after another; answers null when aborted. */
  take(shares: readonly Share[], signal: AbortSignal): Promise<(() => void) | null>
}

/** Places of shares, which come into being with their first holder. */
export function createPlaces(): Places {
  const named = new Map<string, Slots>()

  function slotsOf({ name, most }: Share): Slots {
    const own = named.get(name) ?? createSlots(most)
    named.set(name, own)
    return own
  }

  function leaving(shares: readonly Share[], giveBack: readonly (() => void)[]): () => void {
    return () => {
      for (const give of giveBack) give()
      for (const { name } of shares) if (named.get(name)?.idle) named.delete(name)
    }
  }

  return {
    takeNow(shares) {
      const taken = shares.map((share) => slotsOf(share).takeNow())
      const leave = leaving(
        shares,
        taken.filter((give) => give !== null),
      )
      if (!taken.includes(null)) return leave
      leave()
      return null
    },
    async take(shares, signal) {
      const taken: (() => void)[] = []
      const leave = leaving(shares, taken)
      try {
        for (const share of shares) taken.push(await slotsOf(share).take(signal))
        return leave
      } catch {
        leave()
        return null
      }
    },
  }
}
