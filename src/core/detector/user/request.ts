import type { ReadMessage } from './clauses.ts'

/**
 * Whether a message has a request in it, as the tables of its language see it: a deed in the imperative, "please", a need,
 * "can you …", or one more thing by its name alone ("also the sign-up form"). Only such a message adds in doubt.
 */
export function hasRequest({ table, clauses }: ReadMessage): boolean {
  return clauses.some(
    ({ kind, text }) =>
      kind === 'requests' ||
      (kind === 'names' && table.contains('adds', table.without('said', text))),
  )
}
