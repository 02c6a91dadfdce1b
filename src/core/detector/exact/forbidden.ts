import { baseOf, type Clause, clausesOf, isNegation, wordsIn } from '../../acts/clauses.ts'
import { type Deed, deeds } from '../../acts/deeds.ts'
import { type Mark, marksIn } from './marks.ts'

/** A prohibition of an assignment: the deed, and what it must not be done to; anything if that is empty. */
export interface Prohibition {
  deed: Deed
  objects: ReadonlySet<string>
  text: string
}

/** A prohibition and the goal that does what it forbids, each in its own words. */
export interface Forbidden {
  ground: string
  goal: string
  kind: 'forbidden'
}

const conditional =
  /\b(?:until|till|before|unless|without (?:my|asking)|except|if|when|where|other than|more than|too|than|solange|bevor|avant|antes|prima)\b/i
const fillers = new Set(
  'please just ever yet do to the a an any anything any of it them this that these those there in on at for with by or nor and i you we is be own more also else from my our your their its here now today actual actually commit commits email emails message messages things thing stuff changes code anyone anybody out yourself him her straight away up off'.split(
    ' ',
  ),
)
const forbids = new Set(
  "not don't dont never no without nicht kein keine ne pas sans no sin nunca não sem non senza".split(
    ' ',
  ),
)
const nearest = 3
const listing = new Set(['or', 'nor', 'oder', 'ou', 'o'])
// Of many objects two have to be the same; one word is shared by chance.
const leastObjects = 2
const shownLength = 120

/** The prohibitions of a text. Conditional ones ("not before I say so") are left to the reader. */
export function prohibitionsIn(text: string): Prohibition[] {
  const found: Prohibition[] = []
  for (const clause of clausesOf(text)) {
    if (!clause.negated || conditional.test(clause.text)) continue
    found.push(...prohibitionsOf(clause))
  }
  return found
}

function prohibitionsOf({ words, text }: Clause): Prohibition[] {
  const from = words.findIndex(({ key }) => forbids.has(key))
  if (from < 0) return []
  // "that does not send", "it is not deleted": a fault is told, and nothing forbidden.
  const before = words[from - 1]?.key ?? ''
  if (
    /^(?:does|did|is|are|was|were|has|have|had|can|could|will|would|it|they|i|we|who|which|that)$/.test(
      before,
    )
  )
    return []
  const said = words[from]?.key ?? ''
  const opens = words.slice(0, from).every(({ key }) => fillers.has(key))
  // "lint on push, not commit" and "60 days no contact" forbid nothing.
  if ((said === 'not' || said === 'no') && !opens) return []
  const rest = words.slice(from + 1)
  const named: { deed: Deed; at: number }[] = []
  rest.forEach(({ key }, at) => {
    const leads = at < nearest && rest.slice(0, at).every((each) => fillers.has(each.key))
    const listed = listing.has(rest[at - 1]?.key ?? '') && named.length > 0
    if (!leads && !listed) return
    const deed = deeds.find(({ words: doing }) => doing.has(baseOf(key)))
    if (deed !== undefined) named.push({ deed, at })
  })
  if (named.length === 0) return []
  const taken = new Set(named.map(({ at }) => at))
  const objects = new Set(
    rest
      .filter(({ key }, at) => !taken.has(at) && !fillers.has(key) && !isNegation(key))
      .map(({ key }) => baseOf(key)),
  )
  return named.map(({ deed }) => ({ deed, objects, text }))
}

const acting =
  /^(?:chang|edit|modify|updat|delet|remov|rewrit|refactor|restart|reboot|deploy|migrat|renam|mov|replac|drop|truncat|reset|overwrit|disabl|enabl|alt|add|set|patch|push|merg|put|switch|purg|wip|clean|touch|reformat|tidy|adjust)$/

/** The prohibited identifier or environment that a goal acts on, or null. */
export function deniedBy(denied: readonly Mark[], goal: string): Forbidden | null {
  if (denied.length === 0) return null
  for (const clause of clausesOf(goal)) {
    const head = baseOf(clause.words[0]?.key ?? '')
    if (clause.negated || !(acting.test(head) || isDeed(head)) || isOnlySpokenOf(clause)) continue
    for (const mark of marksIn(clause.text)) {
      const same = denied.find(({ family, key }) => family === mark.family && key === mark.key)
      if (same !== undefined) {
        return { ground: `not ${same.text}`, goal: shown(clause.text), kind: 'forbidden' }
      }
    }
  }
  return null
}

function isDeed(head: string): boolean {
  return deeds.some(({ words }) => words.has(head))
}

/** The forbidden deed that a goal does, also by another word or a command, or null. */
export function forbiddenBy(prohibitions: readonly Prohibition[], goal: string): Forbidden | null {
  if (prohibitions.length === 0) return null
  const clauses = clausesOf(goal)
  for (const { deed, objects, text } of prohibitions) {
    for (const clause of clauses) {
      if (clause.negated || !does(deed, clause) || isOnlySpokenOf(clause)) continue
      const needed = deed.name === 'touch' || deed.name === 'change' || objects.size > 0
      if (needed && !names(clause, objects)) continue
      return { ground: shown(text), goal: shown(clause.text), kind: 'forbidden' }
    }
  }
  return null
}

function does(deed: Deed, { words, text }: Clause): boolean {
  const first = words[0]?.key ?? ''
  const head = baseOf(first)
  if (first.endsWith('s')) return deed.commands?.test(text) ?? false
  if (deed.words.has(head)) return true
  if ((deed.name === 'touch' || deed.name === 'change') && acting.test(head)) return true
  return deed.commands?.test(text) ?? false
}

// A draft of a mail is no mail, and a question about a deletion deletes nothing.
const spokenOf =
  /\b(?:draft|drafts|dry-run|dry run|--dry-run|template|plan|whether|would|preview|ready)\b/i

function isOnlySpokenOf({ text }: Clause): boolean {
  return spokenOf.test(text)
}

function names(clause: Clause, objects: ReadonlySet<string>): boolean {
  const named = wordsIn(clause.text).filter(({ key }) => objects.has(baseOf(key)))
  return named.length >= Math.min(objects.size, leastObjects)
}

function shown(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength).toWellFormed()}…` : text
}
