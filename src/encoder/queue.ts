/** What several callers wait for, by key. A caller with much to wait for does not keep the others waiting. */
export interface Queue<Item> {
  /** Adds a caller with its items and returns a function that takes the caller away. */
  join(items: ReadonlyMap<string, Item>): () => void
  /** True while an item of the key waits. */
  has(key: string): boolean
  /** Removes and returns up to `most` items, one of each caller in turn. */
  take(most: number): Map<string, Item>
  clear(): void
}

/** Creates an empty queue. */
export function createQueue<Item>(): Queue<Item> {
  let callers: Map<string, Item>[] = []
  return {
    join(items) {
      const caller = new Map(items)
      callers.push(caller)
      return () => {
        callers = callers.filter((other) => other !== caller)
      }
    },
    has: (key) => callers.some((caller) => caller.has(key)),
    take(most) {
      const taken = new Map<string, Item>()
      while (taken.size < most) {
        const caller = callers.shift()
        if (caller === undefined) break
        for (const [key, item] of caller) {
          for (const other of [caller, ...callers]) other.delete(key)
          taken.set(key, item)
          break
        }
        if (caller.size > 0) callers.push(caller)
      }
      return taken
    },
    clear() {
      callers = []
    },
  }
}
