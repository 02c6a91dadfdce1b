import { textOf } from './fields.ts'
import type { PlanItem } from './host-event.ts'
import { stateOf } from './tool-facts.ts'

const longestQuery = 40_000
const mostItems = 50
/** The columns of the table, in the order that an INSERT without names gives them. */
const usualColumns = ['id', 'title', 'description', 'status']
const pieces =
  /'((?:[^']|'')*)'|"([^"]*)"|`([^`]*)`|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|([\w.]+)|(<>|[!<>]=|[(),;=])/g

/** A piece of SQL: a text in quotes, a name, keyword or number, or a mark. */
interface Piece {
  is: 'text' | 'word' | 'mark'
  text: string
}

/** The items that SQL statements put into Copilot's table `todos` or change there; one without a text only changes. */
export function todosIn(query: unknown): PlanItem[] {
  if (typeof query !== 'string') return []
  return statementsOf(query.slice(0, longestQuery))
    .flatMap((statement) => [...inserted(statement), ...updated(statement)])
    .slice(0, mostItems)
}

function statementsOf(query: string): Piece[][] {
  const statements: Piece[][] = [[]]
  for (const [, text, quoted, ticked, word, mark] of query.matchAll(pieces)) {
    if (mark === ';') statements.push([])
    const piece = pieceOf(text, quoted ?? ticked ?? word, mark)
    if (piece !== null) statements.at(-1)?.push(piece)
  }
  return statements
}

function pieceOf(text?: string, word?: string, mark?: string): Piece | null {
  if (text !== undefined) return { is: 'text', text: text.replaceAll("''", "'") }
  // A name may stand after that of its table.
  if (word !== undefined) return { is: 'word', text: word.replace(/^\w+\./, '').toLowerCase() }
  return mark === undefined || mark === ';' ? null : { is: 'mark', text: mark }
}

function inserted(statement: readonly Piece[]): PlanItem[] {
  const into = statement.findIndex(({ text }) => text === 'into')
  if (!/^(?:insert|replace)$/.test(wordAt(statement, 0)) || wordAt(statement, into + 1) !== 'todos')
    return []
  const values = statement.findIndex(({ is, text }) => is === 'word' && text === 'values')
  if (values === -1) return []
  const [named = usualColumns.map((text) => ({ is: 'word' as const, text }))] = listsIn(
    statement.slice(into + 2, values),
  )
  const columns = named.map((piece) => piece?.text)
  return listsIn(statement.slice(values + 1)).flatMap((row): PlanItem[] => {
    const of = (column: string) => literalIn(row[columns.indexOf(column)])[0] ?? ''
    const text = of('title') || of('description') || of('id')
    const id = of('id')
    return text === '' ? [] : [{ ...(id === '' ? {} : { id }), text, state: stateOf(of('status')) }]
  })
}

function updated(statement: readonly Piece[]): PlanItem[] {
  const set = statement.findIndex(({ is, text }) => is === 'word' && text === 'set')
  const where = statement.findIndex(({ is, text }) => is === 'word' && text === 'where')
  if (wordAt(statement, 0) !== 'update' || wordAt(statement, set - 1) !== 'todos' || where < set)
    return []
  const status = equals(statement.slice(set + 1, where), 'status')[0]
  if (status === undefined) return []
  const text = textOf(equals(statement.slice(set + 1, where), 'title')[0])
  const ids = equals(statement.slice(where + 1), 'id')
  return ids.map((id) => ({ id, text, state: stateOf(status) }))
}

/** The values that a column is compared with or set to, one or a list of them. */
function equals(statement: readonly Piece[], column: string): string[] {
  return statement.flatMap(({ is, text }, at) => {
    if (is !== 'word' || text !== column) return []
    const next = statement[at + 1]
    if (next?.text === '=') return literalIn(statement[at + 2])
    if (next?.is !== 'word' || next.text !== 'in') return []
    return (listsIn(statement.slice(at + 2))[0] ?? []).flatMap((piece) => literalIn(piece))
  })
}

function literalIn(piece: Piece | null | undefined): string[] {
  const isNone = piece?.is === 'mark' || (piece?.is === 'word' && piece.text === 'null')
  const value = isNone ? '' : textOf(piece?.text)
  return value === '' ? [] : [value]
}

/** The lists in brackets at the beginning; a value that is more than one piece is null, an unfinished list is none. */
function listsIn(statement: readonly Piece[]): (Piece | null)[][] {
  const lists: (Piece | null)[][] = []
  let list: (Piece | null)[] = []
  let value: Piece[] = []
  let depth = 0
  for (const piece of statement) {
    const mark = piece.is === 'mark' ? piece.text : ''
    if (depth === 0 && mark !== '(' && mark !== ',') return lists
    if (mark === '(') depth++
    if (mark === ')') depth--
    const ends = (depth === 1 && mark === ',') || (depth === 0 && mark === ')')
    if (ends) {
      list.push(value.length === 1 ? (value[0] ?? null) : null)
      value = []
    } else if (depth > 1 || (depth === 1 && mark !== '(')) value.push(piece)
    if (depth === 0 && mark === ')') {
      lists.push(list)
      list = []
    }
  }
  return lists
}

function wordAt(statement: readonly Piece[], at: number): string {
  const piece = statement[at]
  return piece?.is === 'word' ? piece.text : ''
}
