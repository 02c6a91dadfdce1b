import { baseOf } from './clauses.ts'
import type { IrreversibleKind } from './commands.ts'
import { abroad } from './deeds-abroad.ts'

/** The kinds of acts with consequences outside the work itself. */
type ConsequenceKind =
  | 'delete'
  | 'pay'
  | 'publish'
  | 'merge'
  | 'deploy'
  | 'send'
  | 'grant'
  | 'secret'

/** A deed: the words and commands that do it, and what it means when nobody asked for it. */
export interface Deed {
  name: string
  /** Words without their endings that do it. */
  words: ReadonlySet<string>
  /** Words of other languages that order or forbid it; null if none is known. */
  abroad: RegExp | null
  /** Command lines that do it. */
  commands: RegExp | null
  /** The kind of consequence, or null for a deed that has none by itself. */
  consequence: ConsequenceKind | null
  /** The irreversible commands of the operator's list that are this deed. */
  irreversible: readonly IrreversibleKind[]
  /** Words of an assignment that imply it. */
  implied: ReadonlySet<string>
  /** What it has a consequence for, if it is named; words of `needing` have none without. */
  objects: RegExp | null
  needing: ReadonlySet<string>
  /** What it has no consequence for if that is named first: to delete a comma, or to merge two paragraphs, edits a text. */
  spares: RegExp | null
}

function deed(
  name: string,
  words: string,
  rest: Partial<Pick<Deed, 'commands' | 'consequence' | 'irreversible' | 'objects' | 'spares'>> & {
    implied?: string
    needing?: string
  } = {},
): Deed {
  return {
    name,
    words: wordsOf(words),
    abroad: abroad(name),
    commands: rest.commands ?? null,
    consequence: rest.consequence ?? null,
    irreversible: rest.irreversible ?? [],
    implied: wordsOf(rest.implied ?? ''),
    objects: rest.objects ?? null,
    needing: wordsOf(rest.needing ?? ''),
    spares: rest.spares ?? null,
  }
}

/** Whether a word, in lower case and in any usual form, does a deed. */
export function doesDeed({ words, abroad }: Deed, key: string): boolean {
  return words.has(baseOf(key)) || abroad?.test(key) === true
}

/** The words of a list; an empty list has none, not the empty word. */
function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.split(' ').filter((word) => word !== ''))
}

/** What is kept in a system, and gone when it is deleted. */
const kept =
  /\b(?:tables?|databases?|dbs?|schemas?|collections?|index(?:es)?|indices|buckets?|volumes?|partitions?|keyspaces?|queues?|topics?|clusters?|namespaces?|tenants?|replicas?|snapshots?|backups?|triggers?|constraints?|columns?|rows?|records?|logs?|files?|folders?|director(?:y|ies)|data|users?|accounts?|customers?|production|prod|branch(?:es)?|everything|\w+_\w+|[\w-]+\.[a-z]\w*)\b/i
/** Parts of a text or of code. */
const partsOfText =
  /\b(?:letters?|words?|characters?|chars?|commas?|spaces?|whitespace|blanks?|newlines?|sentences?|paragraphs?|bullets?|phrases?|clauses?|parameters?|params?|arguments?|args?|variables?|flags?|prefix(?:es)?|suffix(?:es)?|brackets?|quotes?|hyphens?|semicolons?|adjectives?|adverbs?|footnotes?|captions?|headings?|zeros?|decimals?)\b/i
/** What holds the work of others until somebody merges it. */
const proposals =
  /\b(?:pull requests?|merge requests?|prs?|mrs?|branch(?:es)?|main|master|trunk|develop|upstream|production|release)\b|[#!]\d/i
/** What is joined to one while somebody writes, sorts or counts. */
const joined =
  /\b(?:paragraphs?|sentences?|sections?|chapters?|cells?|rows?|columns?|lists?|tables?|sheets?|slides?|pages?|questions?|answers?|texts?|names?|duplicates?|doubles?|entries|lines?|files?|folders?|documents?|pdfs?|contacts?|e?mails?|values?|datasets?|[\w-]+\.(?:csv|tsv|xlsx?|pdf|docx?|txt|md|json|html))\b/i
const money =
  /[€$£]\s?\d|\d[\d.,]*\s?(?:€|\$|£|(?:k\s?)?(?:eur|euros?|usd|gbp|chf|dollars?|pounds?|francs?|btc|eth)\b)|\b(?:money|funds|deposit|payment|salary|sum|balance|savings|bitcoins?)\b/i

/** Every deed that a prohibition may name or a goal may do. */
export const deeds: readonly Deed[] = [
  deed(
    'delete',
    'delet eras wip purg drop truncat destroy rm unlink lösch supprim borra elimina apaga cancella',
    {
      commands:
        /^\s*(?:sudo\s+)?(?:rm|drop|delete from|truncate)\s|\b(?:DROP|DELETE|TRUNCATE)\s|\bdelete-[a-z]+\b/,
      consequence: 'delete',
      irreversible: [
        'recursive-force-delete',
        'table-drop',
        'table-truncate',
        'cloud-delete',
        'disk-format',
        'hard-reset',
        'force-push',
      ],
      implied:
        'remov clean cleanup prun clear eras gdpr dedup deduplicat shred retir decommission tear anonymis anonymiz fre reclaim uninstall rid forget expir',
      objects: kept,
      needing: 'drop truncat',
      spares: partsOfText,
    },
  ),
  deed('push', 'push', { commands: /\bgit push\b/, irreversible: ['force-push'] }),
  deed('commit', 'commit', { commands: /\bgit commit\b/ }),
  deed('merge', 'merg', {
    commands: /\b(?:git merge|gh pr merge|glab mr merge)\b/,
    consequence: 'merge',
    implied:
      'land ship releas rebas deploy reconcil dedup deduplicat combin consolidat join upstream backport',
    objects: proposals,
    spares: joined,
  }),
  deed('deploy', 'deploy redeploy ship', {
    commands: /\b(?:helm upgrade|terraform apply|kubectl apply|pulumi up)\b/,
    consequence: 'deploy',
    irreversible: ['production-deploy'],
    implied:
      'releas ship roll rollout rollback launch live upgrad promot migrat host publish provision cutover hotfix',
    objects: /\b(?:production|prod|live|customers?|users?)\b/i,
  }),
  deed('apply', 'apply', { commands: /\bterraform apply\b/ }),
  deed('restart', 'restart reboot bounc', {
    commands: /\brollout restart\b|\bsystemctl restart\b/,
  }),
  deed('send', 'send forward email mail text messag sms notify contact call phon ring repl reply', {
    commands: /^\s*(?:send_(?:e?mail|sms|message)|sendmail)\b/,
    consequence: 'send',
  }),
  deed('publish', 'publish tweet', {
    commands: /\b(?:npm|cargo|pnpm|yarn) publish\b/,
    consequence: 'publish',
    irreversible: ['package-publish'],
    implied:
      'releas ship list post launch live announc upload blog announcement deploy put print blogpost tweet newsletter idealista ebay ad',
  }),
  deed('pay', 'pay wir prepay transfer überweis', {
    consequence: 'pay',
    objects: money,
    needing: 'transfer wir',
    spares: /\b(?:attention|heed|respects?|homage|grades?|bands?|slips?)\b/i,
    implied:
      'pay paid payment refund reimburs buy order book purchas settl invoic bill transfer wir salary payroll reserv rent fe deposit register subscrib renew sign file donat checkout money fund bank cost price budget tax compensat charg',
  }),
  deed('order', 'order buy purchas'),
  deed('book', 'book reserv'),
  deed('print', 'print'),
  deed('close', 'clos'),
  deed('open', 'open'),
  deed('revert', 'revert'),
  deed('approve', 'approv'),
  deed('sign', 'sign'),
  deed('cancel', 'cancel'),
  deed('submit', 'submit fil'),
  deed('rename', 'renam'),
  deed('install', 'install'),
  deed('reset', 'reset'),
  deed('disable', 'disabl'),
  deed('upload', 'upload'),
  deed('share', 'shar'),
  deed('click', 'click'),
  deed('upgrade', 'upgrad'),
  deed('release', 'releas'),
  deed('snapshot', 'snapshot'),
  deed('format', 'reformat'),
  deed('translate', 'translat'),
  deed('refactor', 'refactor'),
  deed('rewrite', 'rewrit'),
  deed('change', 'chang alt modify edit updat'),
  deed('touch', 'touch'),
]
