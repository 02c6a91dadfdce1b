import type { Clause, ReadMessage } from './clauses.ts'
import { hasRequest } from './request.ts'
import { englishTable, type Role } from './table.ts'

/** The roles of words whose place in a message tells what it does. */
const tellingRoles: readonly Role[] = [
  'said',
  'idle',
  'goOn',
  'asks',
  'mayYou',
  'states',
  'own',
  'reports',
  'wants',
  'does',
  'refines',
  'ands',
  'limits',
  'adds',
  'whens',
  'keeps',
  'drops',
  'stops',
  'anew',
]
/** Upper bounds of the lengths in words that are told apart. */
const lengths = [1, 2, 3, 5, 8, 12, 20, 35]
const mostClauses = 3

/**
 * What the word tables see in a message, in words that mean the same in every language: what they read, the kinds of its
 * clauses, and which roles of words it has, begins with and ends with.
 */
export function shapeOf(message: ReadMessage, standing: readonly string[], read: string): string[] {
  const { table, clauses } = message
  const language = table === englishTable ? 'en' : 'other'
  const contents = clauses.filter(({ kind }) => kind !== 'said')
  const words = clauses.reduce((sum, clause) => sum + clause.words, 0)
  const length = lengths.findIndex((most) => words <= most)
  const requested = hasRequest(message) ? 'request' : 'none'
  const shape = [
    language,
    `read ${read}`,
    `length ${length}`,
    `read ${read} length ${length}`,
    `read ${read} ${requested}`,
    `${language} read ${read} ${requested}`,
    `clauses ${Math.min(contents.length, mostClauses)} of ${Math.min(clauses.length, mostClauses)}`,
    `kinds ${clauses
      .slice(0, mostClauses)
      .map(({ kind }) => kind)
      .join(' ')}`,
    `last ${clauses.at(-1)?.kind ?? ''}`,
    ...new Set(clauses.map(({ kind }) => `kind ${kind}`)),
  ]
  const first = contents[0]
  for (const role of tellingRoles) {
    if (clauses.some(({ text }) => table.contains(role, text))) shape.push(`has ${role}`)
    if (first === undefined) continue
    if (table.after(role, first.core) !== null) {
      shape.push(`first ${role}`, `first ${role} ${first.kind} ${Math.min(first.words, 6)}`)
    }
    if (contents.slice(1).some(({ core }) => table.after(role, core) !== null)) {
      shape.push(`later ${role}`)
    }
    if (table.before(role, first.core) !== null) shape.push(`ends ${role}`)
  }
  if (first !== undefined) shape.push(...pairsOf(first, message))
  const known = standing.join(' ').normalize('NFKC').toLowerCase()
  const isNamed = ({ core }: Clause) =>
    core.split(' ').some((word) => word.length >= 4 && known.includes(word))
  if (contents.some(isNamed)) shape.push('shared')
  return shape
}

/** Which roles of words the first clause has beside that which it begins with. */
function pairsOf({ core }: Clause, { table }: ReadMessage): string[] {
  const has = tellingRoles.filter((role) => table.contains(role, core))
  const begins = tellingRoles.filter((role) => table.after(role, core) !== null)
  return begins.flatMap((one) => has.flatMap((other) => (one === other ? [] : `${one}+${other}`)))
}
