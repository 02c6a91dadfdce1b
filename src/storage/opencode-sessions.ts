import { DatabaseSync } from 'node:sqlite'
import { parseJson } from '../core/text.ts'
import type { OpencodeLine } from '../core/transcripts/opencode.ts'

/** Sessions above one another that are looked through for the root. */
const deepest = 20

/**
 * Reads the database of opencode (1.18), and writes nothing: each call returns the messages that have changed since the
 * call before, in their order. `since` is in milliseconds since 1970; sessions without a change after it are left out.
 * Throws if the file is no such database.
 */
export function openOpencodeSessions(
  path: string,
  since: number,
): { changed(): OpencodeLine[]; close(): void } {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 })
  const sessions = database.prepare('SELECT id, parent_id, directory, time_created FROM session')
  const messages = database.prepare(
    `SELECT id, session_id, data, time_updated FROM message
     WHERE session_id IN (SELECT id FROM session WHERE time_updated >= ?) AND (
       time_updated >= ? OR id IN (SELECT message_id FROM part WHERE time_updated >= ?))
     ORDER BY time_created, id`,
  )
  const parts = database.prepare(
    'SELECT id, data, time_updated FROM part WHERE message_id = ? ORDER BY id',
  )
  // The newest change that was seen. What has changed in the same millisecond is read again.
  let seen = 0
  return {
    changed() {
      const known = new Map(sessions.all().map((row) => [String(row.id), row]))
      const rootOf = (id: string, left = deepest): string => {
        const parent = known.get(id)?.parent_id
        return typeof parent === 'string' && left > 0 ? rootOf(parent, left - 1) : id
      }
      const from = seen
      return messages.all(since, from, from).map((row) => {
        const own = parts.all(row.id as string)
        seen = Math.max(seen, ...[row, ...own].map((each) => Number(each.time_updated)))
        const id = String(row.session_id)
        const session = known.get(id)
        return {
          session: {
            id,
            parentID: session?.parent_id ?? null,
            root: rootOf(id),
            directory: session?.directory,
            created: session?.time_created,
          },
          message: { id: row.id, data: parseJson(String(row.data)) },
          parts: own.map((part) => ({ id: part.id, data: parseJson(String(part.data)) })),
        }
      })
    },
    close: () => database.close(),
  }
}
