import { isDeployment, namesProduction, namesTrial } from './deployments.ts'
import { formats, isDisk } from './disks.ts'
import { begins, hasLetter, hasOption, type Invocation } from './invocation.ts'

/** The kinds of irreversible commands, with their labels. */
export const irreversibleKinds = [
  'force-push',
  'hard-reset',
  'recursive-force-delete',
  'package-publish',
  'production-deploy',
  'table-drop',
  'table-truncate',
  'cloud-delete',
  'disk-format',
  // Nested too deeply to read: it may be any of them.
  'unreadable',
] as const

export type IrreversibleKind = (typeof irreversibleKinds)[number]

/** The kind of an irreversible call, or null. */
export function irreversibleKindOf(call: Invocation): IrreversibleKind | null {
  if (!ruled.test(call.program)) return null
  const harmless = !deletes(call.program) && isRehearsal(call)
  if (harmless) return null
  const rule = rules.find(
    ({ programs, when }) => programs.test(call.program) && (when === undefined || when(call)),
  )
  return rule?.kind ?? null
}

interface Rule {
  kind: IrreversibleKind
  /** The programs of the rule, whole names in lower case. */
  programs: RegExp
  /** Whether the rule applies to a call of one of them; always by default. */
  when?(call: Invocation): boolean
}

/** The first applicable rule gives the kind. */
const rules: readonly Rule[] = [
  {
    kind: 'force-push',
    programs: /^git$/,
    // Even with a lease it discards commits of the remote.
    when: (call) =>
      begins(call, 'push') &&
      !hasLetter(call, 'n') &&
      (hasLetter(call, 'f') ||
        hasOption(call, '--mirror') ||
        call.options.some((option) => option.startsWith('--force')) ||
        call.positionals.some((refspec) => /^\+./.test(refspec))),
  },
  {
    kind: 'force-push',
    programs: /^hg$/,
    when: (call) => begins(call, 'push') && (hasLetter(call, 'f') || hasOption(call, '--force')),
  },
  {
    kind: 'hard-reset',
    programs: /^git$/,
    when: (call) => begins(call, 'reset') && hasOption(call, '--hard'),
  },
  {
    kind: 'recursive-force-delete',
    programs: /^git$/,
    when: (call) =>
      begins(call, 'clean') &&
      (hasLetter(call, 'f') || hasOption(call, '--force')) &&
      hasLetter(call, 'dxX') &&
      !hasLetter(call, 'n'),
  },
  {
    kind: 'recursive-force-delete',
    programs: /^rm$/,
    when: (call) =>
      (hasLetter(call, 'rR') || isAbbreviated(call, '--recursive', 3)) &&
      (hasLetter(call, 'f') || isAbbreviated(call, '--force', 3)),
  },
  {
    kind: 'recursive-force-delete',
    programs: /^(remove-item|ri|rm|del|erase|rd|rmdir)$/,
    when: ({ args }) =>
      (given(args, /^-r(e|ec|ecu.*)?$/i) && given(args, /^-fo(r|rce)?$/i)) ||
      (given(args, /^\/s$/i) && given(args, /^\/[qf]$/i)),
  },
  { kind: 'recursive-force-delete', programs: /^rimraf$/ },
  {
    kind: 'recursive-force-delete',
    programs: /^find$/,
    when: ({ args }) => args.includes('-delete'),
  },
  {
    kind: 'package-publish',
    programs:
      /^(npm|pnpm|yarn|bun|lerna|changeset|cargo|poetry|uv|flit|hatch|pdm|jsr|deno|wasm-pack|vsce|ovsx|np|semantic-release|melos)$/,
    when: (call) =>
      /^(np|semantic-release)$/.test(call.program) ||
      begins(call, 'publish|unpublish') ||
      begins(call, 'npm publish|unpublish') ||
      (begins(call, 'workspace|workspaces') && call.positionals.includes('publish')),
  },
  {
    kind: 'package-publish',
    programs: /^(npm|pnpm|yarn|bun|make|just|task|rake)$/,
    when: (call) => runsScript(call, /^(publish|release)(:|$)/),
  },
  { kind: 'package-publish', programs: /^twine$/, when: (call) => begins(call, 'upload') },
  {
    kind: 'package-publish',
    programs: /^setup\.py$/,
    when: ({ positionals }) => positionals.includes('upload'),
  },
  { kind: 'package-publish', programs: /^(gem|helm|oras|crane|buildah)$/, when: pushes },
  {
    kind: 'package-publish',
    programs: /^(docker|podman|nerdctl|docker-compose)$/,
    when: (call) =>
      pushes(call) ||
      begins(call, 'image|compose|manifest push') ||
      (begins(call, 'buildx|build') && hasOption(call, '--push')),
  },
  {
    kind: 'package-publish',
    programs: /^(dart|flutter|dotnet|nuget|mix|conda|anaconda|mvn|mvnw|gradle|gradlew|sbt|skopeo)$/,
    when: (call) =>
      begins(call, 'pub publish') ||
      begins(call, 'nuget push') ||
      (call.program === 'nuget' && pushes(call)) ||
      begins(call, 'hex.publish') ||
      (/conda$/.test(call.program) && begins(call, 'upload')) ||
      (/^mvnw?$/.test(call.program) && given(call.positionals, /^(deploy|release:perform)$/)) ||
      (/^(gradlew?|sbt)$/.test(call.program) && given(call.positionals, /(^|:)\+?publish/i)) ||
      (call.program === 'skopeo' && begins(call, 'copy|sync')),
  },
  {
    kind: 'cloud-delete',
    programs: /^(terraform|tofu|terragrunt|pulumi|cdk)$/,
    when: (call) =>
      given(call.positionals.slice(0, 2), /^destroy$/) ||
      (given(call.positionals.slice(0, 2), /^apply$/) && hasOption(call, '-destroy', '--destroy')),
  },
  {
    kind: 'cloud-delete',
    programs: /^(kubectl|oc|eksctl|k)$/,
    when: (call) => begins(call, 'delete'),
  },
  {
    kind: 'cloud-delete',
    programs: /^helm$/,
    when: (call) => begins(call, 'uninstall|delete|del|un'),
  },
  {
    kind: 'cloud-delete',
    programs: /^aws$/,
    when: (call) =>
      /^(delete|terminate|purge)-/.test(call.positionals[1] ?? '') ||
      begins(call, 's3 rb') ||
      (begins(call, 's3 rm') && hasOption(call, '--recursive')) ||
      (begins(call, 's3 sync') && hasOption(call, '--delete')),
  },
  {
    kind: 'cloud-delete',
    programs: /^gsutil$/,
    when: ({ positionals }) => given(positionals.slice(0, 1), /^(rm|rb)$/),
  },
  {
    kind: 'cloud-delete',
    programs: /^bq$/,
    when: ({ positionals }) => given(positionals.slice(0, 1), /^rm$/),
  },
  {
    kind: 'cloud-delete',
    programs:
      /^(gcloud|az|doctl|hcloud|linode-cli|ibmcloud|oci|scw|exo|vultr-cli|openstack|cf|gh|glab|fly|flyctl|heroku|netlify|vercel|now|firebase|wrangler|railway|render|supabase|neonctl|pscale|turso|upstash|serverless|sls|sam|copilot|eb|amplify|nomad|atlas)$/,
    when: deletesResource,
  },
  {
    kind: 'production-deploy',
    programs: /^git$/,
    when: (call) => begins(call, 'push heroku|dokku|production|prod|live'),
  },
  {
    kind: 'production-deploy',
    programs: /^(vercel|now|netlify)$/,
    when: (call) => hasOption(call, '--prod', '--production') || begins(call, 'promote|rollback'),
  },
  {
    kind: 'production-deploy',
    programs:
      /^(firebase|fly|flyctl|wrangler|serverless|sls|sam|cdk|copilot|eb|kamal|railway|cap|surge|dep|amplify|render|gcloud|az|aws|skaffold|lftp)$/,
    when: (call) => isDeployment(call) && !namesTrial(call),
  },
  {
    kind: 'production-deploy',
    programs: /^(terraform|tofu|terragrunt|pulumi)$/,
    when: (call) => given(call.positionals.slice(0, 2), /^(apply|up)$/) && !namesTrial(call),
  },
  {
    kind: 'production-deploy',
    programs: /^(kubectl|oc|helm|ansible-playbook|argocd|nomad|docker|gh|glab)$/,
    when: (call) =>
      given(
        call.positionals.slice(0, 2),
        /^(apply|create|replace|patch|set|rollout|scale|upgrade|install|sync|run|deploy)$|\.ya?ml$/,
      ) && namesProduction(call),
  },
  {
    kind: 'production-deploy',
    programs: /^(npm|pnpm|yarn|bun|make|just|task|rake|fab|invoke|inv|mage)$/,
    when: (call) => runsScript(call, /^deploy(:|-|_|$)/) && !namesTrial(call),
  },
  {
    kind: 'production-deploy',
    programs: /^deploy([-_.].*)?$/,
    when: (call) => !namesTrial(call) && !namesTrial({ ...call, args: [call.program] }),
  },
  { kind: 'table-drop', programs: /^(dropdb|dropuser)$/ },
  {
    kind: 'table-drop',
    programs: /^mysqladmin$/,
    when: (call) => given(call.positionals, /^drop$/),
  },
  {
    kind: 'table-drop',
    programs:
      /^(rails|rake|artisan|sequelize|sequelize-cli|prisma|typeorm|supabase|knex|mikro-orm)$/,
    when: ({ positionals: [first = '', second = ''], ...call }) =>
      /^(db:drop|db:reset|db:wipe|migrate:fresh|migrate:reset|schema:drop|migration:fresh)/.test(
        first,
      ) ||
      (first === 'migrate' && second === 'reset') ||
      (first === 'db' &&
        (second === 'reset' || hasOption({ ...call, positionals: [] }, '--force-reset'))),
  },
  {
    kind: 'table-truncate',
    programs: /^(manage\.py|django-admin)$/,
    when: (call) => begins(call, 'flush'),
  },
  {
    kind: 'table-truncate',
    programs: /^redis-cli$/,
    when: (call) => begins(call, 'flushall|flushdb'),
  },
  { kind: 'disk-format', programs: /^(mkfs(\..+)?|mke2fs|newfs(_.+)?|blkdiscard)$/ },
  {
    kind: 'disk-format',
    programs: /^dd$/,
    when: ({ args }) => args.some((arg) => arg.startsWith('of=') && isDisk(arg.slice(3))),
  },
  {
    kind: 'disk-format',
    programs: /^(cp|tee|shred|pv|cat)$/,
    when: ({ program, positionals }) =>
      program === 'shred' || program === 'tee'
        ? positionals.some(isDisk)
        : program === 'cp' && isDisk(positionals.at(-1) ?? ''),
  },
  {
    kind: 'disk-format',
    programs: /^wipefs$/,
    when: (call) => hasLetter(call, 'a') || hasOption(call, '--all'),
  },
  {
    kind: 'disk-format',
    programs:
      /^(sfdisk|fdisk|sgdisk|parted|cryptsetup|diskutil|nvme|zpool|zfs|lvremove|vgremove|pvremove|format|format-volume|clear-disk)$/,
    when: formats,
  },
]

/** The programs of all rules; most calls are of other programs and end here. */
const ruled = new RegExp(rules.map(({ programs }) => programs.source).join('|'))

function deletes(program: string): boolean {
  return /^(rm|find|dd)$/.test(program)
}

/** Whether a call is a dry run or asks for help. */
function isRehearsal({ options }: Invocation): boolean {
  return options.some((option) =>
    /^--?(help|dry-?run(=(?!none$|false$).*)?|what-?if|noop|simulate|just-print)$/i.test(option),
  )
}

function given(args: readonly string[], pattern: RegExp): boolean {
  return args.some((arg) => pattern.test(arg))
}

/** GNU programs accept every unambiguous prefix of a long option. */
function isAbbreviated({ options }: Invocation, name: string, least: number): boolean {
  return options.some((option) => option.length >= least && name.startsWith(option))
}

function pushes(call: Invocation): boolean {
  return begins(call, 'push')
}

/** Whether a runner is called with a script or target of that name. */
function runsScript({ program, positionals }: Invocation, name: RegExp): boolean {
  if (!/^(npm|pnpm|yarn|bun)$/.test(program)) return given(positionals, name)
  const [first = '', second = ''] = positionals
  return name.test(/^(run|run-script)$/.test(first) ? second : first)
}

const reading = /^(list|ls|get|show|describe|view|status|info|help|logs?|search)$/

/** Whether a word of a cloud command line means permanent deletion. */
function deletesResource({ program, positionals }: Invocation): boolean {
  const words = positionals.slice(0, 6).map((word) => word.toLowerCase())
  const verb = words.findIndex((word) =>
    /^(delete|destroy|terminate|purge|erase)(-|$)|:(delete|destroy|remove)$|^(pg|apps|addons):(reset|destroy)$|-(delete|destroy|rm)$/.test(
      word,
    ),
  )
  const removes =
    /^(vercel|now|serverless|sls|doctl|railway|cf|nomad|amplify)$/.test(program) &&
    /^(rm|remove|d|del)$/.test(
      words.find(
        (word) => !reading.test(word) && word.length < 7 && /^(rm|remove|d|del)$/.test(word),
      ) ?? '',
    )
  const isRead = words.slice(0, verb < 0 ? words.length : verb).some((word) => reading.test(word))
  return (verb >= 0 || removes) && !isRead
}
