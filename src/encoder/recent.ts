/** Values by key, of which the least recently used are forgotten. */
export interface Recent<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
}

/** Creates a cache whose values have together at most `maxSize`, in the unit of `sizeOf`. */
export function createRecent<Value>(
  maxSize: number,
  sizeOf: (value: Value) => number,
): Recent<Value> {
  // The map is in the order of use, so the first entry is the least recently used.
  const values = new Map<string, Value>()
  let size = 0

  function forget(key: string): void {
    const value = values.get(key)
    if (value === undefined) return
    values.delete(key)
    size -= sizeOf(value)
  }

  return {
    get(key) {
      const value = values.get(key)
      if (value === undefined) return undefined
      values.delete(key)
      values.set(key, value)
      return value
    },
    set(key, value) {
      forget(key)
      values.set(key, value)
      size += sizeOf(value)
      for (const oldest of values.keys()) {
        if (size <= maxSize) break
        forget(oldest)
      }
    },
  }
}
