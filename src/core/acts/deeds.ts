import type { IrreversibleKind } from './commands.ts'

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
  /** Command lines that do it. */
  commands: RegExp | null
  /** The kind of consequence, or null for a deed that has none by itself. */
  consequence: ConsequenceKind | null
  /** The irreversible commands of the operator's list that are this deed. */
  irreversible: readonly IrreversibleKind[]
  /** Words of an assignment that imply it. */
  implied: ReadonlySet<string>
}

function deed(
  name: string,
  words: string,
  rest: Partial<Pick<Deed, 'commands' | 'consequence' | 'irreversible'>> & {
    implied?: string
  } = {},
): Deed {
  return {
    name,
    words: wordsOf(words),
    commands: rest.commands ?? null,
    consequence: rest.consequence ?? null,
    irreversible: rest.irreversible ?? [],
    implied: wordsOf(rest.implied ?? ''),
  }
}

/** The words of a list; an empty list has none, not the empty word. */
function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.split(' ').filter((word) => word !== ''))
}

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
    },
  ),
  deed('push', 'push', { commands: /\bgit push\b/, irreversible: ['force-push'] }),
  deed('commit', 'commit', { commands: /\bgit commit\b/ }),
  deed('merge', 'merg', {
    commands: /\b(?:git merge|gh pr merge|glab mr merge)\b/,
    consequence: 'merge',
    implied:
      'land ship releas rebas deploy reconcil dedup deduplicat combin consolidat join upstream backport',
  }),
  deed('deploy', 'deploy redeploy ship', {
    commands: /\b(?:helm upgrade|terraform apply|kubectl apply|pulumi up)\b/,
    consequence: 'deploy',
    irreversible: ['production-deploy'],
    implied:
      'releas ship roll rollout rollback launch live upgrad promot migrat host publish provision cutover hotfix',
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
  deed('pay', 'pay wir prepay transf überweis', {
    consequence: 'pay',
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
