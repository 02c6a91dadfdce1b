import { baseOf, type Clause, clausesOf, isNegation, wordsIn } from '../../acts/clauses.ts'
import { type Deed, deeds, doesDeed } from '../../acts/deeds.ts'
import { lightVerbs } from '../../acts/deeds-abroad.ts'
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
  /(?<!\p{L})(?:until|till|before|unless|without (?:my|asking)|except|if|when|where|other than|more than|too|than|solange|bevor|bis|wenn|falls|außer|ohne (?:zu|meine)? ?(?:fragen|rücksprache|zustimmung)|avant|sauf|lorsque|quand|tant que|jusqu\S*|antes|hasta|salvo|cuando|mientras|quando|enquanto|prima|fino|finché|tranne|se|si)(?!\p{L})/iu
/** A condition behind a comma: not pushing, unless I say so. */
const conditions =
  /^,\s*(?:until|till|before|unless|except|solange|bevor|bis|wenn|falls|außer|avant|sauf|antes|hasta|salvo|prima|finché|tranne)$/iu
const fillers = new Set(
  'please just ever yet do to the a an any anything any of it them this that these those there in on at for with by or nor and i you we is be own more also else from my our your their its here now today actual actually commit commits email emails message messages things thing stuff changes code anyone anybody out yourself him her straight away up off'.split(
    ' ',
  ),
)
/** The same of other languages; verbs that carry a deed are among them. */
const fillersAbroad = new Set([
  ...lightVerbs,
  ...(
    'zu starten den die das der dem des ein eine einen es sie ihn ihm ihr mir bitte aber auch noch schon dabei etwas irgendetwas auf an in nach ' +
    'pas plus jamais rien de du d le la les un une au aux en vers sur y mais aussi surtout svp ' +
    'lo los las el al uno una nada ningún ninguna por favor pero tampoco hacia ' +
    'il i gli nulla niente nessun nessuna su sul ma per favore da ' +
    'o os as um uma nenhum nenhuma no na nos nas para mas também'
  ).split(' '),
])
const forbids = new Set(
  "not don't dont never no without nicht nichts kein keine keinen ohne niemals ne pas jamais sans no sin nunca não nao sem non senza mai".split(
    ' ',
  ),
)
/** What says that something cannot be done or is not done, and forbids nothing. */
const tells =
  /^(?:kann|kannst|können|konnte|könnte|könnten|lässt|lassen|will|wollte|wird|werden|wurde|wurden|geht|klappt|funktioniert|warum|wieso|weshalb|pourquoi|perché|porque|impossible)$/
const germanNegation = /^(?:nicht|nichts|kein|keine|keinen)$/
const nearest = 5
const listing = new Set(['or', 'nor', 'oder', 'ou', 'o'])
// Of many objects two have to be the same; one word is shared by chance.
const leastObjects = 2
const shownLength = 120

/** The prohibitions of a text. Conditional ones ("not before I say so") are left to the reader. */
export function prohibitionsIn(text: string): Prohibition[] {
  const found: Prohibition[] = []
  const clauses = clausesOf(text)
  for (const [at, clause] of clauses.entries()) {
    if (!clause.negated || conditional.test(clause.text)) continue
    const next = clauses[at + 1]
    if (next !== undefined && conditions.test(textBetween(text, clause, next))) continue
    found.push(...prohibitionsOf(clause))
  }
  return found
}

/** The text from the end of a clause to the end of the first word of the next one. */
function textBetween(text: string, { words }: Clause, next: Clause): string {
  return text.slice(words.at(-1)?.to, next.words[0]?.to)
}

function prohibitionsOf(clause: Clause): Prohibition[] {
  const { text } = clause
  const words = keysOf(clause)
  const from = words.findIndex((key) => forbids.has(key))
  if (from < 0 || words.some((key) => tells.test(key))) return []
  // "that does not send", "it is not deleted": a fault is told, and nothing forbidden.
  const before = words[from - 1] ?? ''
  if (
    /^(?:does|did|is|are|was|were|has|have|had|can|could|will|would|it|they|i|we|who|which|that)$/.test(
      before,
    )
  )
    return []
  const said = words[from] ?? ''
  const opens = words.slice(0, from).every(isFiller) || /^(?:mais|pero|aber|ma|mas)$/.test(before)
  const rest = words.slice(from + 1)
  const named: { deed: Deed; at: number }[] = []
  rest.forEach((key, at) => {
    const leads = at < nearest && rest.slice(0, at).every(isFiller)
    const listed = listing.has(rest[at - 1] ?? '') && named.length > 0
    if (!leads && !listed) return
    const deed = deeds.find((each) => doesDeed(each, key))
    if (deed !== undefined && forbidsWith(said, key, deed, opens)) named.push({ deed, at })
  })
  // "Lösche nichts", "schick ihn nicht ab": the verb stands first.
  const first = words.slice(0, from).find((key) => !isFiller(key)) ?? ''
  const ordered = germanNegation.test(said) && words.indexOf(first) <= 1 ? orderedBy(first) : null
  if (ordered !== null) named.push({ deed: ordered, at: -1 })
  if (named.length === 0) return []
  const others =
    ordered === null
      ? [...objectsBefore(said, words.slice(0, from)), ...rest]
      : [...words.slice(words.indexOf(first) + 1, from), ...rest]
  const objects = new Set(
    others
      .filter((key) => !isFiller(key) && !isNegation(key) && !particles.has(key))
      .filter((key) => !named.some(({ deed }) => doesDeed(deed, key)))
      .map(baseOf),
  )
  return named.map(({ deed }) => ({ deed, objects, text }))
}

/** German puts the object before the negation: "das Laufwerk nicht löschen". */
function objectsBefore(said: string, before: readonly string[]): readonly string[] {
  return germanNegation.test(said) ? before.slice(before.lastIndexOf('aber') + 1) : []
}

/** The words of a clause; French "n'envoie" is two. */
function keysOf({ words }: Clause): string[] {
  return words.flatMap(({ key }) => (key.startsWith("n'") ? ['ne', key.slice(2)] : [key]))
}

function isFiller(key: string): boolean {
  return fillers.has(key) || fillersAbroad.has(key)
}

/** Parts that German verbs leave at the end: schick ihn nicht ab. */
const particles = new Set(['ab', 'an', 'aus', 'ein', 'hoch', 'um', 'weg', 'zurück'])

/** Whether a word behind a "not" forbids the deed, and does not tell that it is not done. */
function forbidsWith(said: string, key: string, { abroad }: Deed, opens: boolean): boolean {
  const isAbroad = abroad?.test(key) === true
  // "lint on push, not commit" and "60 days no contact" forbid nothing.
  if (said === 'not' || (said === 'no' && !isAbroad)) return opens
  if (!isAbroad) return true
  // "El botón no envía", "la app non invia", "le bouton n'envoie pas" tell of a fault.
  if (/^(?:no|não|nao|non)$/.test(said)) return !/a$/.test(key) || /rl[ao]$/.test(key)
  return said !== 'ne' || /(?:er|ir|re|ez)$/.test(key) || opens
}

/** The deed that a German imperative orders, or null. */
function orderedBy(key: string): Deed | null {
  if (key === '') return null
  return (
    deeds.find(
      ({ abroad }) =>
        abroad !== null && (abroad.test(key) ? key.endsWith('e') : abroad.test(`${key}e`)),
    ) ?? null
  )
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
  if (doesAbroad(deed, words)) return true
  if (first.endsWith('s')) return deed.commands?.test(text) ?? false
  if (deed.words.has(head)) return true
  if ((deed.name === 'touch' || deed.name === 'change') && acting.test(head)) return true
  return deed.commands?.test(text) ?? false
}

const fewWords = 5
const questions = /^(?:ob|was|wie|warum|wer|wenn|wo|welche[rsn]?|prüfen)$/

/** Whether a goal in another language begins with the deed, behind a verb that carries it, or ends with its infinitive. */
function doesAbroad(deed: Deed, words: readonly { key: string }[]): boolean {
  if (deed.abroad?.test(words[0]?.key ?? '')) return true
  if (lightVerbs.has(words[0]?.key ?? '')) {
    const carried = words.slice(1).find(({ key }) => !isFiller(key))
    return carried !== undefined && doesDeed(deed, carried.key)
  }
  const last = words.at(-1)?.key ?? ''
  return (
    words.length <= fewWords &&
    /[^e]n$|en$/.test(last) &&
    deed.abroad?.test(last) === true &&
    !words.some(({ key }) => questions.test(key))
  )
}

// A draft of a mail is no mail, and a question about a deletion deletes nothing.
const spokenOf =
  /\b(?:draft|drafts|dry-run|dry run|--dry-run|template|plan|whether|would|preview|ready|entwurf|vorlage|brouillon|borrador|bozza|rascunho)\b/i

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
