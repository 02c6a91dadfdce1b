import { type Field, newField, type Signal } from '../core/field.ts'
import { parseJson } from '../core/text.ts'
import type { Queries } from './database/database.ts'

/** The shared field and the seed of its climate. */
export interface SeededField {
  seed: string
  field: Field
}

/** The one field that all nodes share, and its samples. */
export interface FieldStore {
  /** Reads the field. The first call inserts it with `seed`. */
  read(now: number, seed: string): Promise<SeededField>
  /** As `read`, and locks the field until the transaction ends. */
  lock(now: number, seed: string): Promise<SeededField>
  save(field: Field): Promise<void>
  /** Stores the signal of a minute (milliseconds since 1970), unless the minute has one. */
  addSample(minute: number, signal: Signal): Promise<void>
  /** Reads the newest `limit` samples at or after `since`, oldest first. */
  samples(since: number, limit: number): Promise<Signal[]>
  /** Deletes the samples before this time. */
  forgetSamples(before: number): Promise<void>
}

/** Creates the field on a database or a transaction. */
export function createFieldStore(db: Queries): FieldStore {
  async function insertMissing(now: number, seed: string): Promise<void> {
    await db.run(
      'INSERT INTO field (id, seed, state) VALUES (1, ?, ?) ON CONFLICT (id) DO NOTHING',
      seed,
      JSON.stringify(newField(now, seed)),
    )
  }

  async function readOrInsert(sql: string, now: number, seed: string): Promise<SeededField> {
    const read = () => db.get<{ seed: string; state: string }>(sql)
    let row = await read()
    if (row === undefined) {
      await insertMissing(now, seed)
      row = await read()
    }
    if (row === undefined) throw new Error('the field vanished while it was read')
    const field = parseJson(row.state) as Field | undefined
    return { seed: row.seed, field: field ?? newField(now, row.seed) }
  }

  return {
    read: (now, seed) => readOrInsert('SELECT seed, state FROM field WHERE id = 1', now, seed),
    // An update that changes nothing locks the row on both databases.
    lock: (now, seed) =>
      readOrInsert('UPDATE field SET id = 1 WHERE id = 1 RETURNING seed, state', now, seed),
    async save(field) {
      await db.run('UPDATE field SET state = ? WHERE id = 1', JSON.stringify(field))
    },
    async addSample(minute, signal) {
      await db.run(
        'INSERT INTO field_samples (at, signal) VALUES (?, ?) ON CONFLICT (at) DO NOTHING',
        minute,
        JSON.stringify(signal),
      )
    },
    async samples(since, limit) {
      const rows = await db.all<{ signal: string }>(
        'SELECT signal FROM field_samples WHERE at >= ? ORDER BY at DESC LIMIT ?',
        since,
        limit,
      )
      return rows.map(({ signal }) => JSON.parse(signal) as Signal).reverse()
    },
    async forgetSamples(before) {
      await db.run('DELETE FROM field_samples WHERE at < ?', before)
    },
  }
}
