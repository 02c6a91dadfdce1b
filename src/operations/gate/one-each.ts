/** Work that each account, or whatever else has a name, may have under way once at a time on this node. */
export interface OneEach {
  /** Begins for a name; answers how to end, or null while it is under way already. */
  begin(name: string): (() => void) | null
}

/** Nothing is under way yet. */
export function createOneEach(): OneEach {
  const underWay = new Set<string>()
  return {
    begin(name) {
      if (underWay.has(name)) return null
      underWay.add(name)
      return () => void underWay.delete(name)
    },
  }
}
