/** A call of a tool that has begun. */
export interface BegunCall {
  tool: string
  input: unknown
}

/** Most calls that wait for their end. */
const mostCalls = 200

/** Remembers the calls of tools that have begun, until they end; the oldest are forgotten. */
export function createCalls() {
  const waiting = new Map<string, BegunCall>()
  return {
    begin(id: string, call: BegunCall): void {
      waiting.set(id, call)
      const oldest = waiting.keys().next().value
      if (waiting.size > mostCalls && oldest !== undefined) waiting.delete(oldest)
    },
    /** The call, which is then forgotten. */
    end(id: string): BegunCall | undefined {
      const call = waiting.get(id)
      waiting.delete(id)
      return call
    },
  }
}
