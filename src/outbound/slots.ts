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
