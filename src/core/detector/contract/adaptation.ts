/** A table ready for use. */
export interface Adaptation {
  /** The source and a hash of all the table holds, so that a verdict can name what it was judged with. */
  version: string
  examples: number
  /** By the hash of a word: its examples among errands, and among parts. */
  errands: ReadonlyMap<number, Associations>
  parts: ReadonlyMap<number, number>
}

/** What is known of a word of errands. */
export interface Associations {
  examples: number
  /** By the hash of a part's word: the examples that hold both. */
  together: ReadonlyMap<number, number>
}
