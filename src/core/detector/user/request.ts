import type { Clause, ReadMessage } from './clauses.ts'
import type { UserTable } from './table.ts'

/**
 * Whether a message has a request in it, as the tables of its language see it: a deed in the imperative, "please", a need,
 * "can you …", or one more thing by its name alone ("also the sign-up form"). Only such a message adds in doubt.
 */
export function hasRequest({ table, clauses }: ReadMessage): boolean {
  return clauses.some(
    (clause) => clause.kind === 'requests' || (clause.kind === 'names' && hasMore(clause, table)),
  )
}

/** Whether a clause has words that add. Beside a verb, "now" does too. */
export function hasMore({ kind, text }: Clause, table: UserTable): boolean {
  const said = table.without('said', text)
  return table.contains('adds', kind === 'requests' ? said : table.without('whens', said))
}
