import type { Reads } from '../contract/reads.ts'
import { type Clause, type ReadMessage, readClauses } from './clauses.ts'
import type { UserEffect } from './effects.ts'
import { featuresOfMessage } from './features.ts'
import { learnedEffect } from './learned.ts'
import { hasMore, hasRequest } from './request.ts'
import { englishTable, type UserTable } from './table.ts'

/** From so many words on, a text that no rule explains counts as a request. */
const longText = 25
/** A text of up to so many words can be a request without a verb. */
const shortText = 12

/** A message that begins so adds, whatever it resembles. */
const addsOutright = /^\W*(?:also|additionally|in addition|one more thing)\b/i

/**
 * Reads what a message of the user does to the `standing` requests: nothing (thanks, go on, a question,
 * impatience, praise, a report), a correction, a further request, or another request instead. If no request stands,
 * every message with content adds the first one. A small model decides, which learned from labelled messages: from what
 * the word tables of the language see, and in English from the words and from what an encoder reads too. Only a message
 * with a request in it adds in doubt, and one in which no table sees a withdrawal seldom replaces.
 */
export function readUserEffect(
  text: string,
  standing: readonly string[],
  reads?: Reads,
): UserEffect {
  const message = readClauses(text)
  const read = effectByTables(message, text, standing)
  const isOnlySaid = message.clauses.every(({ kind }) => kind === 'said')
  const isRepeated = standing.some((each) => saysTheSame(each, text))
  if (isOnlySaid || isRepeated || standing.length === 0) return read
  if (read === 'adds' && addsOutright.test(text)) return 'adds'
  const features = featuresOfMessage(message, text, standing, read)
  const ofEncoder =
    message.table === englishTable ? reads?.effects(standing.join('\n'), text) : undefined
  return learnedEffect(features, ofEncoder, {
    inDoubt: hasRequest(message),
    withdraws: read === 'replaces',
  })
}

/** What the word tables read. In doubt between adding and replacing, the message adds. */
export function readByTables(text: string, standing: readonly string[]): UserEffect {
  return effectByTables(readClauses(text), text, standing)
}

function effectByTables(
  { table, clauses }: ReadMessage,
  text: string,
  standing: readonly string[],
): UserEffect {
  const contents = clauses.filter(({ kind }) => kind !== 'said')
  if (contents.length === 0 || standing.some((each) => saysTheSame(each, text))) return 'none'
  if (standing.length === 0) return 'adds'
  const told = contents.filter(({ kind }) => kind !== 'asks')
  if (told.length === 0) return 'none'
  const requests = told.filter(({ kind }) => kind === 'requests')
  if (withdraws(table, clauses, requests)) return 'replaces'
  const says = (role: 'keeps' | 'limits' | 'refines') =>
    clauses.some(
      ({ text, kind }) => kind !== 'asks' && table.contains(role, table.without('said', text)),
    )
  const words = told.reduce((sum, clause) => sum + clause.words, 0)
  const names = told.some(({ kind }) => kind === 'names') && words <= shortText
  const opensCorrection = told.some((clause) => opens(table, clause))
  if (requests.length > 0 || names) {
    if (
      (told.some((clause) => hasMore(clause, table)) || says('keeps')) &&
      !objects(table, clauses)
    )
      return 'adds'
    if (says('limits') || opensCorrection || (requests.length > 0 && says('refines')))
      return 'refines'
  }
  if (requests.length > 0) return 'adds'
  const reports = told.some(({ kind }) => kind === 'states')
  // "Also it took a deposit" asks for something, by what is told.
  if (told.some(({ text, words }) => words > 3 && table.after('adds', text) !== null)) return 'adds'
  if (reports && (says('limits') || contrasts(table, told))) return 'refines'
  return words >= longText ? 'adds' : 'none'
}

/** Whether a text says more than an acknowledgement, so that it can be an errand. */
export function hasContent(text: string): boolean {
  return readClauses(text).clauses.some(({ kind, onward }) => kind !== 'said' || onward > 3)
}

/** Whether the old request no longer stands: it is withdrawn, and there is another one beside that. */
function withdraws(table: UserTable, clauses: readonly Clause[], requests: Clause[]): boolean {
  const told = clauses.filter(({ kind }) => kind !== 'asks')
  const anew = told.find(({ text }) => table.contains('anew', text))
  if (anew !== undefined)
    return clauses.some((each) => each !== anew && each.kind !== 'said') || anew.words > 5
  const others = [...requests, ...clauses.filter(({ kind }) => kind === 'asks')]
  const contrasted = clauses.some(({ text }) => table.contains('limits', text))
  return told.some((clause) => {
    const text = table.without('keeps', clause.text)
    const drops = table.contains('drops', text)
    if (!drops && !(contrasted && table.contains('stops', text))) return false
    const hasOther = others.some((each) => each !== clause && !corrects(table, each))
    return hasOther || (clause.words > 4 && table.contains('limits', text))
  })
}

/** Whether a clause begins as a correction does. */
function opens(table: UserTable, { text, core }: Clause): boolean {
  return table.after('refines', core) !== null || table.after('refines', text) !== null
}

/** Whether a clause only corrects: "use the other one", "keep it". */
function corrects(table: UserTable, { core }: Clause): boolean {
  return table.after('refines', core) !== null && table.after('limits', core) === null
}

/** Whether the message begins with an objection. */
function objects(table: UserTable, clauses: readonly Clause[]): boolean {
  const first = clauses.find(({ kind }) => kind !== 'said')
  return first !== undefined && opens(table, first) && !table.contains('adds', first.text)
}

/** Whether a report is corrected by a part without a verb: "on Friday, not on Monday". */
function contrasts(table: UserTable, told: readonly Clause[]): boolean {
  return told.some((clause) => clause.kind === 'names' && opens(table, clause))
}

function saysTheSame(a: string, b: string): boolean {
  return plain(a) === plain(b)
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
}
