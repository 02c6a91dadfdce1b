import { isAcknowledgement, namesNothing } from './acknowledgement.ts'
import { type Role, tableOf, type UserTable } from './table.ts'

/** A part of a message between two marks. */
export interface Clause {
  /**
   * `said` says nothing about the errand, such as thanks; `asks` is a question, `requests` a request, `states`
   * a report, and `names` anything else.
   */
  kind: 'said' | 'asks' | 'requests' | 'states' | 'names'
  /** Its words, normalised, with a space around each in a language that has spaces. */
  text: string
  /** Its words without thanks and connectives at its ends. */
  core: string
  /** The number of its words; of its characters by two in a language without spaces. */
  words: number
  /** The number of words after "go on", which say with what. */
  onward: number
}

/** A message as the table of its language reads it: that table, and its clauses in order. */
export interface ReadMessage {
  table: UserTable
  clauses: Clause[]
}

/** Reads a message by the table of its language. */
export function readClauses(text: string): ReadMessage {
  const parts = partsOf(text.normalize('NFKC').toLowerCase())
  const words = parts.flatMap((part) => part.words)
  const table = tableOf(text, words)
  const clauses = parts.flatMap(({ words, isQuestion }) =>
    split(words, table).map((each) => readClause(each, isQuestion, table)),
  )
  // A bare "no" or "please" says nothing; beside anything else it is a part of that.
  const isBare = parts.every(({ words, isQuestion }, at) => {
    return clauses[at]?.kind === 'said' || (!isQuestion && namesNothing(words))
  })
  if (isBare && clauses.length === parts.length) for (const clause of clauses) clause.kind = 'said'
  return { table, clauses }
}

/** The words between two marks, and whether their sentence ends with a question mark. */
interface Part {
  words: string[]
  isQuestion: boolean
}

const tokens =
  /[\p{L}\p{M}\p{N}_]+(?:(?:['’\-./@#&]|:(?=\d))[\p{L}\p{M}\p{N}_]+)*|[?？؟]|[.!…,;:，。！；：、،؛।—–\n]/gu
const sentenceEnds = new Set('.!…。！।\n;；؛:：')
const questionMarks = new Set('?？؟')

function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let words: string[] = []
  let sentence = 0
  const end = () => {
    if (words.length > 0) parts.push({ words, isQuestion: false })
    words = []
  }
  for (const [token] of text.matchAll(tokens)) {
    if (questionMarks.has(token)) {
      end()
      for (const part of parts.slice(sentence)) part.isQuestion = true
      sentence = parts.length
    } else if (/^[\p{L}\p{M}\p{N}_]/u.test(token)) {
      words.push(...wordsIn(token))
    } else {
      end()
      if (sentenceEnds.has(token)) sentence = parts.length
    }
  }
  end()
  return parts
}

/** Takes apostrophes out of a word ("don't" is "dont"), and parts French and Italian articles from it. */
function wordsIn(token: string): string[] {
  return token
    .replace(/^(c|d|j|l|m|n|s|t|qu|all|dell)['’]/, '$1 ')
    .replace(/-(tu|vous|moi|nous|on|je)$/, ' $1')
    .replace(/['’]/g, '')
    .split(' ')
}

/** Splits at an "and" that a verb follows, so that each request is a clause. */
function split(words: readonly string[], table: UserTable): string[][] {
  if (!table.spaced) return [[...words]]
  const clauses: string[][] = [[]]
  for (const [place, word] of words.entries()) {
    const next = ` ${words.slice(place + 1, place + 4).join(' ')} `
    const rest = table.after('said', next) ?? next
    const joins = place > 0 && table.contains('ands', ` ${word} `)
    if (joins && table.after('does', rest) !== null) clauses.push([])
    clauses.at(-1)?.push(word)
  }
  return clauses
}

function readClause(words: readonly string[], isQuestion: boolean, table: UserTable): Clause {
  const text = table.spaced ? ` ${words.join(' ')} ` : words.join('')
  const core = coreOf(text, table)
  const length = table.spaced ? words.length : Math.ceil(text.length / 2)
  if (isAcknowledgement(words)) return { kind: 'said', text, core, words: length, onward: 0 }
  const onward = countOf(table.after('goOn', core) ?? '')
  return { kind: kindOf(text, core, isQuestion, table), text, core, words: length, onward }
}

/** The text without thanks and connectives at its ends. */
function coreOf(text: string, table: UserTable): string {
  let core = text
  for (;;) {
    const shorter =
      table.after('said', core) ??
      table.after('ands', core) ??
      table.before('said', core) ??
      table.after('adds', core)
    if (shorter === null) return core
    core = shorter
  }
}

function kindOf(text: string, core: string, isQuestion: boolean, table: UserTable): Clause['kind'] {
  if (isEmpty(core, table) || isIdle(core, text, table)) return 'said'
  const onward = table.after('goOn', core)
  const goesOn =
    onward !== null && countOf(onward) <= mostOnward && !continuesWithMore(text, onward, table)
  if (goesOn && !asksFor(['does', 'mayYou'], coreOf(onward, table), table)) return 'said'
  if (asksFor(['mayYou'], core, table)) {
    const asked = table.spaced ? coreOf(table.after('mayYou', core) ?? core, table) : core
    const onward = table.after('goOn', asked)
    return onward === null || countOf(onward) > 0 ? 'requests' : 'said'
  }
  const continues = table.spaced && table.after('ands', table.after('said', text) ?? text) !== null
  if (isQuestion && continues && !asksFor(['asks'], core, table)) return 'requests'
  if (isQuestion) return 'asks'
  // "Yes, merge" permits what the agent has proposed.
  if (countOf(core) === 1 && core !== text && !table.contains('wants', text)) {
    if (table.spaced && table.contains('does', core)) return 'said'
  }
  if (reportsDeed(core, text, table) || table.after('own', core) !== null) return 'states'
  const act = table.after('limits', core) ?? core
  if (asksFor(['wants', 'does'], act, table)) return 'requests'
  if (asksFor(['asks'], core, table)) return 'asks'
  if (table.contains('wants', text)) return 'requests'
  const start = table.spaced ? ` ${core.trim().split(' ').slice(0, 4).join(' ')} ` : core
  const reports = table.contains('reports', start)
  // "And the wipers" adds, whatever its words; "and not before nine" corrects.
  const corrects = table.after('refines', core) !== null || table.contains('limits', text)
  if (continues && !reports && !corrects && table.after('states', core) === null) return 'requests'
  return reports || table.after('states', core) !== null ? 'states' : 'names'
}

/** Whether a clause only looks like a request, as "take your time" and "no need to hurry" do. */
function isIdle(core: string, text: string, table: UserTable): boolean {
  return table.after('idle', core) !== null || table.after('idle', text) !== null
}

/** Whether what looks like a deed is told as done or is a noun: "test passed", "use of caches", or the end of a sentence. */
function reportsDeed(core: string, text: string, table: UserTable): boolean {
  if (!table.spaced) return !table.contains('wants', text) && table.before('reports', text) !== null
  const after = table.after('does', core)
  if (table.verbAnywhere || after === null) return false
  if (table.after('reports', after) !== null || after.startsWith(' of ')) return true
  const [subject = '', ...rest] = after.trim().split(' ')
  if (isLittle(` ${subject} `, table)) return false
  return table.after('reports', ` ${rest.join(' ')} `) !== null
}

/** Whether a word stands between others, and so is no part of a name: an article, a pronoun, "if". */
function isLittle(word: string, table: UserTable): boolean {
  const roles = ['common', 'states', 'asks', 'said', 'adds', 'ands', 'wants'] as const
  return roles.some((role) => table.contains(role, word))
}

/** Whether the work goes on with one thing more: "continue with the sign-up form as well". */
function continuesWithMore(text: string, onward: string, table: UserTable): boolean {
  if (!table.spaced || countOf(onward) === 0) return false
  return table.contains('adds', table.without('whens', text))
}

/** Most words after "go on" that only say with what. */
const mostOnward = 5

/** Whether a clause begins with words of a role; in a language without spaces, whether it has them. */
function asksFor(roles: readonly Role[], core: string, table: UserTable): boolean {
  return roles.some((role) =>
    table.verbAnywhere && role !== 'asks'
      ? table.contains(role, core)
      : table.after(role, core) !== null,
  )
}

function isEmpty(core: string, table: UserTable): boolean {
  if (table.spaced) return core.trim() === ''
  return table.without('said', table.without('goOn', core)).length <= 1
}

function countOf(text: string): number {
  return text.split(' ').filter((word) => word !== '').length
}
