/** The work in flight on this node, at most one for each name, such as an account. */
export interface InFlight {
  /** Begins a work and returns the function that ends it. Returns null if one of that name is in flight. */
  begin(name: string): (() => void) | null
}

/** Creates a set with no work in flight. */
export function createInFlight(): InFlight {
  const names = new Set<string>()
  return {
    begin(name) {
      if (names.has(name)) return null
      names.add(name)
      return () => void names.delete(name)
    },
  }
}
