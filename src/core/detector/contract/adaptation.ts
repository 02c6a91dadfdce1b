/**
 * A parsed personal table. `readTable` makes one, and a step takes it along.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { type Adaptation, readTable } from 'plumbline/detector'
 *
 * export function loadTable(file: string): Adaptation {
 *   const table = readTable(readFileSync(file, 'utf8'))
 *   if ('fault' in table) throw new Error(`${file}: ${table.fault}`)
 *   return table
 * }
 * ```
 */
export interface Adaptation {
  /** The source and a hash of the table, which identify it in a verdict. */
  version: string
  /** Number of examples behind the table. */
  examples: number
  /** Number of examples by the hash of a word: among errands, and among parts. */
  errands: ReadonlyMap<number, Associations>
  parts: ReadonlyMap<number, number>
}

/** The entry of a word of errands. */
export interface Associations {
  examples: number
  /** Number of common examples by the hash of a part's word. */
  together: ReadonlyMap<number, number>
}
