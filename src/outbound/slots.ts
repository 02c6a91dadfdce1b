/** Places that are given out in the order they were asked for. */
export interface Slots {
  /** Resolves with what gives the place back; rejects with the signal's reason when that comes first. */
  take(signal: AbortSignal): Promise<() => void>
  /** Whether nobody holds or waits for a place. */
  readonly idle: boolean
}

/** At most `max` holders at a time. */
export function createSlots(max: number): Slots {
  const waiting: (() => void)[] = []
  let held = 0

  function give(): void {
    const next = waiting.shift()
    if (next === undefined) held -= 1
    else next()
  }

  return {
    async take(signal) {
      signal.throwIfAborted()
      if (held < max) held += 1
      else await turn(signal)
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

/** Places that are shared by all, and of which one name has only a few. */
export interface Places {
  /** Waits for a place with each of the names, then for one of all; answers how to leave, or null when aborted. */
  take(names: readonly string[], signal: AbortSignal): Promise<(() => void) | null>
}

/** At most `inAll` holders at a time, and at most `each` with the same name. */
export function createPlaces(inAll: number, each: number): Places {
  const all = createSlots(inAll)
  const named = new Map<string, Slots>()
  return {
    async take(names, signal) {
      const giveBack: (() => void)[] = []
      const leave = () => {
        for (const give of giveBack) give()
        for (const name of names) if (named.get(name)?.idle) named.delete(name)
      }
      try {
        for (const name of names) {
          const own = named.get(name) ?? createSlots(each)
          named.set(name, own)
          giveBack.push(await own.take(signal))
        }
        giveBack.push(await all.take(signal))
        return leave
      } catch {
        leave()
        return null
      }
    },
  }
}
