import { baseOf, clausesOf, wordsIn } from '../../acts/clauses.ts'
import { deeds } from '../../acts/deeds.ts'
import type { Swap } from '../contract/findings.ts'
import { sentencesOf } from './plain.ts'

/** A thing that an assignment says to leave as it is. */
export interface OffLimits {
  /** Its name in lower case: a file, a host, an id, a noun with its number, or a proper name. */
  name: string
  /** The words of the assignment that say so. */
  text: string
  /** Whether it holds without a condition. */
  isFirm: boolean
}

/** A thing that is off limits and the goal that works on it. */
export interface FoundOffLimits {
  swap: Swap
  /** Whether the goal begins with a verb that changes things, so that it can hardly mean anything else. */
  isSure: boolean
}

const cut = /[,;]\s+|\s+[–—]\s+|\s+(?:but|and|und|aber|et|mais|y|pero|mas|ma|e)\s+|[()]/
const general =
  'touch(?:ing)?|chang(?:e|ing)|alter(?:ing)?|modif(?:y|ying)|edit(?:ing)?|us(?:e|ing)|open(?:ing)?|mess(?:ing)?(?: around)? with|tamper(?:ing)? with|work(?:ing)? on|go(?:ing)? into|fiddl(?:e|ing) with|anfassen|anrühren|ändern|benutzen|verwenden|toques?|tocar|cambi(?:es|ar)|modific(?:ar|are)|uses|usar|touche[rz]?|modifier|changer|utiliser|mex[ae]r?|alterar|mude|toccare|cambiare'
const handled =
  '(?:touched|changed|altered|modified|edited|used|opened|moved?|renamed|deleted|removed|formatted|reformatted|replaced|rewritten)'
const unmoved =
  '(?:as (?:it|they|is|are)\\b|untouched|unchanged|the same\\b|put\\b|where\\b|on \\S+$|with\\b|[.!]?$)'
const mustNot = "(?:must not|mustn['’]?t|may not|should not|shouldn['’]?t)"
/** "don't touch NAME" as an order, and not "we don't use NAME". */
const orders = new RegExp(
  `^(?:(?:please|but|so|also|and|just|then|ok|you|bitte|por favor)\\s+)*(?:do not|don['’]?t|never|${mustNot}|not to|nicht|ne|no|não|non)\\s+(?:\\S+\\s+){0,2}?(?:${general})\\s+(?<rest>.+)`,
  'iu',
)
/** "without changing NAME"; and in German "NAME nicht ändern", with the verb behind the name. */
const without = new RegExp(
  `(?:^|\\s)(?:without|ohne|sans|sin|sem|senza)\\s+(?!opening)(?:\\S+\\s+){0,2}?(?:${general})\\s+(?<rest>.+)`,
  'iu',
)
const behind = new RegExp(`^(?<before>.*\\S)\\snicht\\s+(?:${general})`, 'iu')
/** "leave NAME alone", "leave NAME to Ana"; what stands before the end of the phrase. */
const leaves =
  /^(?:(?:please|but|so|also|and|just|then|bitte)\s+)*(?:leave|lass(?:e|t)?)\s+(?!an?\s)(?<rest>.*?)\s?\b(?:alone|as (?:it|they|is|are)|is|are|untouched|to|out|in ruhe|so)\b/iu
/** "hands off NAME", "keep out of NAME", "nothing on NAME". */
const away =
  /(?:^|\s)(?:hands off|(?:stay|keep) (?:out of|away from|off|clear of)|finger weg von)\s+(?<rest>.+)|^(?:(?:so|but|and)\s+)?nothing on\s+(?<nothing>.+)/iu
/** "NAME stays as it is", "NAME must not be altered". */
const stays = new RegExp(
  `^(?<before>.*?\\S)\\s(?:(?:stays?|remains?|must (?:stay|remain)|bleibt|bleiben|queda|reste)(?:\\s+${unmoved}|$)|${mustNot} (?:be )?${handled}|(?:is|are) (?:off[- ]limits|out of scope|taboo|not to be ${handled}))`,
  'iu',
)
/** The same of what the part before named: "they must not be altered", "don't touch it". */
const saysOfBefore = new RegExp(
  `^(?:(?:and|so|but)\\s+)?(?:it|they|this|that|these|those|which|both)\\s(?:${mustNot} (?:be )?${handled}|stays? ${unmoved}|(?:is|are) off[- ]limits)|^(?:(?:so|please|but)\\s)*(?:leave (?:it|them|those|that)(?: (?:alone|be|out|to|untouched|as)\\b|[.!]?$)|hands off\\b(?!\\s+\\w)|(?:do not|don['’]?t) (?:touch|change|alter|modify|edit|use|open) (?:it|them|those|that)\\b)`,
  'iu',
)
/** "Not my own one (ends 3307)". */
const contrast = /^(?:but\s)?not\s(?:the|my|our|his|her|their|your|that|\p{L}+ \d|\d)/iu
const conditional =
  /\b(?:until|till|before|unless|except|if|when|more than|other than|without asking|without my|solange|bevor|avant|antes|prima)\b/iu

const token = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./'’-]*[\p{L}\p{N}_]|[\p{L}\p{N}]/gu
const year = /^(?:19|20)\d\d$/
const number = /^(?:\d{4,}|\p{L}+ \d{1,4})$/u
const environment = /^(?:production|prod|prd|staging|stg|uat)$/i

/** A name in a text, and whether its shape alone makes it one, unlike a word with a capital. */
interface Named {
  name: string
  isIdentifier: boolean
}

/** The names that a text says to leave as they are, and of those none that it also names without. */
export function offLimitsIn(text: string): OffLimits[] {
  const found = new Map<string, OffLimits>()
  const free = new Set<string>()
  const deny = (name: string, said: string, isFirm: boolean) => {
    if (!found.has(name)) found.set(name, { name, text: said, isFirm })
  }
  // What "it" or "they" may stand for.
  let before: string[] = []
  for (const sentence of sentencesOf(text)) {
    const isConditional = conditional.test(sentence)
    const isContrast = !isConditional && contrast.test(sentence)
    for (const part of sentence.split(cut)) {
      const said = part.trim()
      if (said === '') continue
      const named = namesIn(said)
      const contrasted = isContrast ? identifiers(named).filter((name) => number.test(name)) : []
      const denied = conditional.test(said) ? [] : [...contrasted, ...deniedIn(said)]
      const isFirm = !isConditional && away.exec(said)?.groups?.nothing === undefined
      for (const name of denied) deny(name, said, isFirm)
      for (const { name } of named) if (!denied.includes(name)) free.add(name)
      if (!isConditional && saysOfBefore.test(said)) {
        for (const name of before) {
          deny(name, sentence, isFirm)
          free.delete(name)
        }
      }
      if (beginsWithDeed(said)) before = []
      else if (named.length > 0) before = identifiers(named)
    }
  }
  return [...found.values()].filter(({ name }) => !free.has(name))
}

function deniedIn(part: string): string[] {
  const ordered = orders.exec(part)?.groups?.rest ?? without.exec(part)?.groups?.rest
  if (ordered !== undefined) return objectsIn(ordered)
  const left = leaves.exec(part)?.groups?.rest ?? away.exec(part)?.groups?.rest
  if (left !== undefined) return objectsIn(left)
  const kept =
    behind.exec(part)?.groups?.before ??
    away.exec(part)?.groups?.nothing ??
    stays.exec(part)?.groups?.before
  return kept === undefined ? [] : identifiers(namesIn(kept))
}

const nearest = 4

/** The names of what follows a verb; a word with a capital counts only near the verb. */
function objectsIn(rest: string): string[] {
  const near = rest.split(/\s+/).slice(0, nearest).join(' ')
  const proper = [rest, near].map((text) => namesIn(`: ${text}`))
  return [...identifiers(proper[0] ?? []), ...(proper[1] ?? []).map(({ name }) => name)]
}

function identifiers(named: readonly Named[]): string[] {
  return named.filter((each) => each.isIdentifier).map(({ name }) => name)
}

/** Files, hosts, ids, environments, nouns with a number, and words with a capital inside a sentence. */
function namesIn(text: string): Named[] {
  const named: Named[] = []
  let word = ''
  for (const match of text.matchAll(token)) {
    const said = match[0].replace(/['’]s$/, '')
    const name = said.toLowerCase()
    if (isIdentifier(said)) named.push({ name, isIdentifier: true })
    else if (/^\d{1,4}$/.test(said) && /^\p{L}{3,}$/u.test(word) && !small.has(word)) {
      named.push({ name: `${word} ${said}`, isIdentifier: true })
    } else if (match.index > 0 && isProper(said)) named.push({ name, isIdentifier: false })
    word = name
  }
  return named
}

/** Words before a number that it does not belong to. */
const small = new Set(
  'the and for are was before after until till than from over under about above below between with within only just not max min least most next last first all these those that this into onto has have had its our your their her his can may'.split(
    ' ',
  ),
)
const common = new Set(
  'monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december english json yaml html http https python java linux windows'.split(
    ' ',
  ),
)

function isProper(said: string): boolean {
  const isShort = said.length < 4 || (said.length === 4 && /^\p{Lu}+$/u.test(said))
  return /^\p{Lu}/u.test(said) && !isShort && !common.has(said.toLowerCase())
}

function isIdentifier(said: string): boolean {
  if (/^[\d.,%]+$/.test(said)) return /^\d{4,}$/.test(said) && !year.test(said)
  if (environment.test(said)) return true
  return (
    said.length >= 3 &&
    (/[_/\d]/.test(said) || /\p{L}\.\p{L}/u.test(said) || /\p{Ll}\p{Lu}/u.test(said))
  )
}

const keeps =
  /\?|\b(?:not|no|never|don['’]?t|without|un(?:touched|changed|altered|modified)|alone|as (?:it )?(?:is|are|was|were|told)|keep\w*|kept|skip\w*|leav\w*|stays?|identical|exclud\w*|except|outside|ignor\w*|avoid\w*|instead of|rather than|read[- ]only|cop(?:y|ies|ied) of|off[- ]limits|own up|undo|revert|restore|nicht|sans|sin|sem|senza)\b/iu
const reads =
  /^(?:check|compar|verify|look|read|find|see|confirm|list|search|view|inspect|ask|which|what|where|why|how|is|are|doe|do|did|can|diff|review|get|grep|cat|note|count|query|log|wait|watch|flag|tell|mention|explain|report|say|reply|assert|prov|ensur|mak|fetch|hash|know|learn|understand|warn|remind|remember|mind|respect|protect|guard|undo|revert|restor|back|backup|apologis|apologiz)$/
const changing = new Set(
  'chang edit modify updat delet remov rewrit refactor restart reboot deploy migrat renam mov replac drop truncat reset overwrit disabl enabl alt add set patch push merg put switch purg wip clean touch reformat tidy adjust insert rais lower increas decreas includ apply convert correct shorten extend suspend squash rebas install upgrad downgrad bump port fix turn writ creat fill trim vectoris vectoriz precomput optimis optimiz simplify extract inlin format sort split join round regenerat recomput rebuild swap tweak tun retun accept approv sign send draft book order pay us call import script work treat enter break uninstall execut launch restor respell rescor map begin start'.split(
    ' ',
  ),
)

/** The thing that is off limits and that a goal works on, or null. */
export function offLimitsBy(limits: readonly OffLimits[], goal: string): FoundOffLimits | null {
  if (limits.length === 0) return null
  const text = goal.toLowerCase()
  const near = limits.filter(({ name }) => text.includes(lastOf(name)))
  if (near.length === 0 || keeps.test(goal)) return null
  const first = baseOf(wordsIn(goal)[0]?.key ?? '')
  for (const clause of clausesOf(goal)) {
    const said = clause.text.toLowerCase()
    const denied = near.find(({ name }) => names(said, name) || names(said, lastOf(name)))
    if (denied === undefined) continue
    const heads = [first, baseOf(clause.words[0]?.key ?? '')]
    if (heads.some((head) => reads.test(head))) continue
    return {
      swap: { ground: shown(denied.text), goal: shown(clause.text), kind: 'forbidden' },
      isSure: denied.isFirm && heads.some((head) => changing.has(head) || isDeed(head)),
    }
  }
  return null
}

/** The file of a path; any other name whole. */
function lastOf(name: string): string {
  const file = name.split('/').at(-1) ?? name
  return name.includes('/') && file.includes('.') ? file : name
}

/** Whether a text names a thing, whose name is in lower case. */
export function namesThing(text: string, name: string): boolean {
  return names(text.toLowerCase(), name)
}

function names(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before = ' ', after = ' '] = [text[at - 1], text[at + name.length]]
    if (!/[\p{L}\p{N}_]/u.test(before) && !/[\p{L}\p{N}_]/u.test(after)) return true
  }
  return false
}

function beginsWithDeed(part: string): boolean {
  const first = wordsIn(part)[0]?.key ?? ''
  const head = baseOf(first)
  return !first.endsWith('ed') && (changing.has(head) || isDeed(head))
}

function isDeed(head: string): boolean {
  return deeds.some(({ words }) => words.has(head))
}

const shownLength = 120

function shown(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength).toWellFormed()}…` : text
}
