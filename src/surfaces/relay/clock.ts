/** Time and chance of a relay. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Does work after so many milliseconds, unless the returned function is called before. */
  later(ms: number, work: () => void): () => void
  /** A number in [0, 1). */
  random(): number
}
