import { clausesOf } from '../../acts/clauses.ts'
import { languageNamed } from './language-names.ts'
import { numberedNounsIn } from './unspaced-marks.ts'

/** An identifier in a text: `family` says which others could stand in its place, `key` which one it is. */
export interface Mark {
  family: string
  key: string
  text: string
  kind: 'number' | 'name' | 'environment'
}

const nouns =
  'order|ticket|invoice|account|acct|pr|pull request|merge request|mr|issue|build|job|pipeline|policy|claim|contract|booking|reservation|case|customer|patient|shipment|parcel|flight|req|dish|chapter|bestellung|rechnung|commande|facture|pedido|factura|ordine|fattura'
const afterNoun = new RegExp(
  `\\b(${nouns})s?\\s{0,2}(?:no\\.?|number|nr\\.?|id)?\\s{0,2}[#:]?\\s?([a-z]{0,4}-?\\d[\\w-]{0,20})(?![\\w%]|[.,]\\d)`,
  'gi',
)
const tagged = /(?<![\w.-])([A-Za-z]{1,6})[-_ ]?#?(\d{3,10})(?![\w%]|[.,]\d)/g
/** A host, a year of accounts, a machine: letters and a few digits, in one word. */
const numbered =
  /(?<![\w./-])([A-Za-z]{2,12}(?:-[A-Za-z]{1,12}){0,2}|[A-GI-OR-UYZ](?=\d\d))-?0{0,2}(\d{1,2})(?![\w%./]|-\d)/g
/** Letters before a number that count or measure, or name a format. */
const countingPrefix =
  /^(?:sha|utf|ipv|md|http|es|base|int|float|uint|top|step|day|week|page|phase|part|round|option|version|level|tier)$/i
const file =
  /(?<![\w/])(?:[\w-]{1,60}\/){0,8}([\w-]{1,80})\.(pyi?|tsx?|jsx?|go|rs|java|kt|rb|php|cs?|cpp|css|html|sql|ya?ml|toml|json|csv|xlsx?|pdf|md|docx?|pptx|txt|sh)\b/g
/** A part of a project, beside others of its folder. */
const part =
  /(?<![\w/.-])(?:\.\/)?(packages|apps|services|libs|modules|crates|plugins|charts|tenants|clusters|environments|envs)\/([\w-]{1,60})(?!\.\w)/gi
/** A person by title and name. */
const person =
  /\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|Herr|Frau|Madame|Mme|Signora?|Señora?)\.? (\p{Lu}[\p{L}'’-]{1,40})/gu
const months =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?'
const date = new RegExp(
  `\\b(?:(\\d{1,2})(?:st|nd|rd|th)?\\.? (?:of )?(${months})|(${months}) (\\d{1,2})(?:st|nd|rd|th)?)\\b(?! ?\\d\\d?:)`,
  'gi',
)
const bare = /(?<![\w.,:/$€£#-])#?(\d{4,10})(?![\w%:/]|[.,]\d|-\d)/g
const money =
  /(?:(€|\$|£|\bEUR|\bUSD|\bGBP|\bCHF)\s?(\d[\d.,]{0,14})|(\d[\d.,]{0,14})\s?(€|\$|£|EUR|USD|GBP|CHF|dollars|euros|pounds)(?![a-z]))/gi
const mail = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g
const branch = /\bbranch\s+([\w./-]{1,80})|\b(feature|fix|hotfix|bugfix|release)\/([\w./-]{1,80})/gi
const environments = new Map(
  (
    'production production,prod production,prd production,staging staging,stg staging,' +
    'test test,qa test,uat test,sandbox sandbox,preview preview,dev development,development development'
  )
    .split(',')
    .map((entry) => entry.split(' ') as [string, string]),
)
const environmentWord =
  /(?<![\w/])(production|prod|prd|staging|stg|test(?=[- ](?:cluster|server|system|environment|env|database|account)\b)|qa|uat|sandbox|dev|development)(?=-[a-z0-9]|[\s.,;:!?)]|$)/gi
/** What a language is named behind when a text is put into it, in the languages that users write most. */
const language =
  /(?<!\p{L})(?:into|to|in|ins|auf|en|vers|au|al|para|hacia)\s+(?:(?:brazilian|das|el|o|il|lo|le|l['’])\s*)?(\p{L}{4,18})/giu

// What each kind cannot be without.
const digit = /[\d０-９]/
const beyondLatin = /[\u3040-\uffef]/
const fourDigits = /\d{4}/
const moneySign = /[€$£]|eur|usd|gbp|chf|dollars|pounds/i
const branchWord = /branch/i
const someEnvironment = /prod|prd|staging|stg|test|qa|uat|sandbox|dev/i
const puttingWord = /(?:to|in|ins|auf|en|vers|au|al|para|hacia)\s/i
const someMonth = /jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/i

/** Families that a prohibition names without denying them: "do not restart db-3" under an errand on db-3. */
const oftenInPassing = /^(?:money|numbered|file|date)/

/** The identifiers of a text that it names with a "not", and of those none that it also names without. */
export function deniedMarksIn(text: string): Mark[] {
  const clauses = clausesOf(text)
  const said = clauses.filter(({ negated }) => !negated).flatMap((clause) => marksIn(clause.text))
  const denied = clauses.filter(({ negated }) => negated).flatMap((clause) => marksIn(clause.text))
  return denied.filter(
    ({ family, key }) =>
      !oftenInPassing.test(family) &&
      !said.some((each) => each.family === family && each.key === key),
  )
}

/** The identifiers of a text, by the noun beside them or by their shape. */
export function marksIn(text: string): Mark[] {
  const marks: Mark[] = []
  const add = (family: string, key: string, said: string, kind: Mark['kind']) => {
    if (!marks.some((mark) => mark.family === family && mark.key === key)) {
      marks.push({ family, key, text: said, kind })
    }
  }
  // Most goals hold no identifier of a kind, and a first look for what the kind needs is cheap.
  const hasDigit = digit.test(text)
  const all = (kind: RegExp, mayBe: boolean) => (mayBe ? matchesOf(kind, text) : [])
  for (const [said, noun = '', id = ''] of all(afterNoun, hasDigit)) {
    add(`noun:${nounOf(noun)}`, id.toLowerCase(), said, 'number')
  }
  for (const { noun, id, text: said } of hasDigit && beyondLatin.test(text)
    ? numberedNounsIn(text)
    : []) {
    add(`noun:${noun}`, id, said, 'number')
  }
  for (const [said, prefix = '', id = ''] of all(tagged, hasDigit)) {
    if (/[-_#]/.test(said)) add(`tag:${prefix.toLowerCase()}`, id, said, 'number')
  }
  for (const [said, prefix = '', id = ''] of all(numbered, hasDigit)) {
    if (!countingPrefix.test(prefix)) add(`numbered:${prefix.toLowerCase()}`, id, said, 'number')
  }
  for (const [said, id = ''] of all(bare, hasDigit && fourDigits.test(text))) {
    if (!isYear(id)) add(`digits:${id.length}`, id, said, 'number')
  }
  const hasMoney = hasDigit && moneySign.test(text)
  for (const [said, sign, figure, otherFigure, otherSign] of all(money, hasMoney)) {
    const unit = unitOf(sign ?? otherSign ?? '')
    add(`money:${unit}`, amountOf(figure ?? otherFigure ?? ''), said, 'number')
  }
  for (const [said] of all(mail, text.includes('@'))) {
    add('mail', said.toLowerCase(), said, 'name')
  }
  const hasBranch = text.includes('/') || branchWord.test(text)
  for (const [said, named, group, rest] of all(branch, hasBranch)) {
    add('branch', named ?? `${group}/${rest}`, said, 'name')
  }
  for (const [, name = ''] of all(environmentWord, someEnvironment.test(text))) {
    const key = environments.get(name.toLowerCase())
    if (key !== undefined) add('environment', key, name, 'environment')
  }
  for (const [said, name = ''] of all(language, puttingWord.test(text))) {
    const key = languageNamed(name)
    if (key !== null) add('language', key, said, 'name')
  }
  for (const [said, stem = '', ending = ''] of all(file, text.includes('.'))) {
    add(`file:${ending.toLowerCase()}`, stem.toLowerCase(), said, 'name')
  }
  for (const [said, folder = '', name = ''] of all(part, text.includes('/'))) {
    add(`part:${folder.toLowerCase()}`, name.toLowerCase(), said, 'name')
  }
  for (const [said, name = ''] of all(person, /[A-Z]/.test(text))) {
    add('person', name.toLowerCase().replace(/['’]s$/, ''), said.replace(/['’]s$/, ''), 'name')
  }
  for (const [said, day, month, otherMonth, otherDay] of all(
    date,
    hasDigit && someMonth.test(text),
  )) {
    const name = (month ?? otherMonth ?? '').slice(0, 3).toLowerCase()
    add('date', `${name} ${day ?? otherDay}`, said, 'number')
  }
  return marks
}

/** As `matchAll`, which copies the expression at each call. No kind matches an empty text. */
function matchesOf(kind: RegExp, text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = []
  kind.lastIndex = 0
  for (let match = kind.exec(text); match !== null; match = kind.exec(text)) found.push(match)
  return found
}

function nounOf(noun: string): string {
  const lower = noun.toLowerCase()
  if (lower === 'acct') return 'account'
  return /^(?:pr|mr|pull request|merge request)$/.test(lower) ? 'pr' : lower
}

function isYear(id: string): boolean {
  return id.length === 4 && /^(?:19|20)/.test(id)
}

function unitOf(sign: string): string {
  const upper = sign.toUpperCase()
  if (upper === '€' || upper === 'EUROS') return 'EUR'
  if (upper === '$' || upper === 'DOLLARS') return 'USD'
  return upper === '£' || upper === 'POUNDS' ? 'GBP' : upper
}

function amountOf(figure: string): string {
  return figure
    .replace(/[.,]$/, '')
    .replace(/[.,](?=\d{3}(?:\D|$))/g, '')
    .replace(',', '.')
    .replace(/\.00?$/, '')
}
