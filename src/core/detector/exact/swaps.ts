import { baseOf, clausesOf, wordsIn } from '../../acts/clauses.ts'
import type { Swap } from '../contract/findings.ts'
import { rememberingTexts } from '../words/tokens.ts'
import { areOpposite } from './antonyms.ts'
import { deniedMarksIn, type Mark, marksIn } from './marks.ts'
import { onlyLooks } from './unspaced-marks.ts'

const ownMarksOf = rememberingTexts((text): readonly Mark[] => {
  const denied = deniedMarksIn(text)
  return marksIn(text).filter(
    ({ family, key }) =>
      family !== 'environment' ||
      !denied.some((each) => each.family === family && each.key === key),
  )
})

// Plans and declared parents stand for many steps.
const marksOfTrusted = rememberingTexts((text): readonly Mark[] => marksIn(text))

const readsOnly =
  /^(?:check|compar|verify|look|read|find|see|confirm|list|search|view|inspect|ask|which|what|is|are|doe|do|how|why|diff|review|get|grep|cat|open|note|count|query|fetch|pull|log|test|run|cross-check|make|lint|licens|swap|wait|watch|leav|keep|skip|exclud|ignor)$/
const paying =
  /\b(?:transfer|wire|pay|refund|send|credit|charge|reimburse|price|rent|budget|quote|limit)\b/i

const translates = /translat|übersetz|tradu[cirsz]/i

/** A swap, and whether two of them in a row are drift: an honest step names another file, date or person now and then. */
export interface FoundSwap {
  swap: Swap
  isSure: boolean
}

/** The first identifier of the same kind, or opposite, that a goal names instead of one of the texts. */
export function swapOf(
  assignment: readonly string[],
  trusted: readonly string[],
  goal: string,
): FoundSwap | null {
  const others = marksIn(goal)
  const own = others.length === 0 ? [] : assignment.flatMap(ownMarksOf)
  const all = [...assignment, ...trusted].join('\n')
  let doubtful: Swap | null = null
  if (others.length > 0 && own.length > 0) {
    const known = [...own, ...trusted.flatMap(marksOfTrusted)]
    for (const mark of others) {
      const swap = markSwap(mark, own, known, others, goal, all)
      if (swap === null) continue
      if (!isDoubtful(mark)) return { swap, isSure: true }
      doubtful ??= swap
    }
  }
  const opposite = oppositeOf(assignment, trusted, goal)
  if (opposite !== null) return { swap: opposite, isSure: true }
  return doubtful === null ? null : { swap: doubtful, isSure: false }
}

function isDoubtful({ family }: Mark): boolean {
  return family === 'date' || family === 'person' || family.startsWith('file:')
}

/** The sign of a swap: two swaps with the same sign put the same thing in place of the same. */
export function signOf({ kind, ground, goal }: Swap): string {
  if (kind === 'forbidden') return `${kind} ${ground}`
  const said = (text: string) => (kind === 'number' ? text.replace(/[^\d]/g, '') : lastWordOf(text))
  return kind === 'opposite' ? kind : `${kind} ${said(ground)} ${said(goal)}`
}

function lastWordOf(text: string): string {
  return wordsIn(text).at(-1)?.key ?? text
}

function markSwap(
  mark: Mark,
  own: readonly Mark[],
  known: readonly Mark[],
  others: readonly Mark[],
  goal: string,
  all: string,
): Swap | null {
  const family = own.filter((each) => each.family === mark.family)
  if (family.length === 0 || known.some((each) => each.key === mark.key)) return null
  if (mark.family !== 'environment' && saysWhole(all, mark.key)) return null
  // A goal that also names the right one compares or joins the two.
  if (
    own.some(
      ({ key }) =>
        mark.kind !== 'environment' &&
        others.some((each) => each.key === key && each.kind === mark.kind),
    )
  ) {
    return null
  }
  const right = family.find((each) => isSwapped(each, mark, family, others, goal, all))
  return right === undefined ? null : { ground: right.text, goal: mark.text, kind: mark.kind }
}

function isSwapped(
  right: Mark,
  mark: Mark,
  family: readonly Mark[],
  others: readonly Mark[],
  goal: string,
  all: string,
): boolean {
  const [name = ''] = mark.family.split(':')
  if (name === 'noun') {
    return (
      (family.length === 1 && sameShape(right.key, mark.key) && acts(goal)) ||
      isNear(right.key, mark.key)
    )
  }
  const isOnly =
    family.length === 1 && others.filter((each) => each.family === mark.family).length === 1
  if (name === 'tag') return isNear(right.key, mark.key) || (isOnly && acts(goal))
  if (name === 'digits') return isNear(right.key, mark.key)
  if (name === 'numbered' || name === 'date') return isOnly && acts(goal)
  if (name === 'part' || name === 'person') return isOnly && acts(goal)
  if (name === 'file') return isOnly && acts(goal) && !sharesBeginning(right.key, mark.key)
  if (name === 'environment') {
    if (others.some((each) => each.family === 'environment' && each.key === right.key)) return false
    const isTrial = family.every(({ key }) => key !== 'production')
    return isTrial && mark.key === 'production' && acts(goal)
  }
  if (name === 'money') {
    return isOnly && sharesDeed(goal, all)
  }
  if (name === 'mail') return family.length === 1 && acts(goal) && isNearMail(right.key, mark.key)
  if (name === 'branch') return family.length === 1 && acts(goal) && sharesDeed(goal, all, true)
  return family.length === 1 && translates.test(goal)
}

/** A copy or another form of a file: budget.xlsx and budget_backup.xlsx. */
function sharesBeginning(one: string, other: string): boolean {
  const [a = '', b = ''] = [one, other].map((stem) => stem.split(/[_.-]/)[0])
  return a === b && (one === a || other === b)
}

function acts(goal: string): boolean {
  const head = baseOf(wordsIn(goal)[0]?.key ?? '')
  return !readsOnly.test(head) && !goal.includes('?') && !onlyLooks(goal)
}

function sharesDeed(goal: string, all: string, anyDeed = false): boolean {
  if (!anyDeed && !paying.test(goal)) return false
  const said = new Set(wordsIn(all).map(({ key }) => baseOf(key)))
  const heads = wordsIn(goal).slice(0, 1)
  if (anyDeed) return heads.some(({ key }) => said.has(baseOf(key)))
  return (
    paying.test(all) &&
    wordsIn(goal)
      .slice(0, 1)
      .some(({ key }) => paying.test(key))
  )
}

/** Whether two identifiers have letters and digits in the same places. */
function sameShape(one: string, other: string): boolean {
  return shapeOf(one) === shapeOf(other)
}

function shapeOf(id: string): string {
  return id.replace(/\d/g, '0').replace(/[a-z]/g, 'a')
}

const fewestDigits = 3

/** Two numbers that differ by exchanged or few digits: 88214 and 88241. */
function isNear(one: string, other: string): boolean {
  if (one === other || one.length !== other.length || one.length < fewestDigits) return false
  let differing = 0
  let sum = 0
  for (let at = 0; at < one.length; at++) {
    if (one[at] !== other[at]) differing++
    sum += one.charCodeAt(at) - other.charCodeAt(at)
  }
  // Exchanged characters leave the sum as it is, and only few other numbers do.
  const exchanged = sum === 0 && [...one].sort().join('') === [...other].sort().join('')
  if (exchanged) return true
  if (Math.abs(Number(one) - Number(other)) === 1) return false
  return differing <= (one.length > fewestDigits + 1 ? 1 : 0)
}

function isNearMail(one: string, other: string): boolean {
  return one.split('@')[0] === other.split('@')[0] || one.split('@')[1] === other.split('@')[1]
}

function saysWhole(text: string, key: string): boolean {
  const lower = text.toLowerCase()
  for (let at = lower.indexOf(key); at >= 0; at = lower.indexOf(key, at + 1)) {
    if (!/[a-z0-9]/.test(lower[at - 1] ?? ' ') && !/[a-z0-9]/.test(lower[at + key.length] ?? ' ')) {
      return true
    }
  }
  return false
}

const strong = new Set(
  'enabl disabl lock unlock allow block increas decreas rais lower reduc start stop grant revok open clos subscrib unsubscrib activat deactivat approv reject accept declin mut unmut hid show add remov buy sell encrypt decrypt install uninstall paus resum upgrad downgrad extend shorten'.split(
    ' ',
  ),
)
/** Words behind which a word says what a thing is like, not what to do. */
const before = new Set(
  'the a an all any our my your their these those this that every each of'.split(' '),
)
const small = new Set('the a an to of in on for and from with my our it is at by'.split(' '))

/** The goal begins with the opposite of a clause of the assignment, for the same thing. */
function oppositeOf(
  assignment: readonly string[],
  trusted: readonly string[],
  goal: string,
): Swap | null {
  const words = wordsIn(goal)
  const verb = words[0]
  if (verb === undefined || !strong.has(baseOf(verb.key)) || goal.includes('?')) return null
  const said = new Set([...assignment, ...trusted].flatMap(wordsIn).map(({ key }) => baseOf(key)))
  if (said.has(baseOf(verb.key))) return null
  const things = words.slice(1).filter(({ key }) => !small.has(key))
  if (things.length === 0) return null
  for (const text of assignment) {
    for (const clause of clausesOf(text)) {
      const at = clause.words.findIndex(({ key }) => areOpposite(key, verb.key))
      if (at < 0 || at > 2 || clause.negated) continue
      // In "answer the open tickets", open is no deed.
      if (before.has(clause.words[at - 1]?.key ?? '')) continue
      const shared = clause.words
        .slice(at + 1)
        .filter(({ key }) => !small.has(key))
        .map(({ key }) => baseOf(key))
      const same = things.filter(({ key }) => shared.includes(baseOf(key))).length
      if (same >= Math.ceil(things.length * 0.6)) {
        return { ground: clause.text.slice(0, 120), goal: goal.slice(0, 120), kind: 'opposite' }
      }
    }
  }
  return null
}
