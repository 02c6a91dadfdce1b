import { type KeyScope, keyScopes } from '../../core/accounts/keys.ts'
import { isTierName, type TierName, tierNames } from '../../core/accounts/tiers.ts'
import { createAccount, emailField, type NewAccount } from '../../operations/account/accounts.ts'
import { issueKey, keyLabel, shownKey } from '../../operations/account/keys.ts'
import type { Service } from '../../operations/gate/context.ts'
import type { AccountRow } from '../../storage/accounts.ts'
import { type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { usageFault } from './usage-fault.ts'

/** Creates, lists and revokes keys in the configured database, also while the server runs. */
export const keysCommand: Command = {
  name: 'keys',
  summary: 'make, list and revoke keys, also while the server runs',
  usage: `plumbline keys create --tier TIER [--email ADDRESS] [--json]
  plumbline keys create --account ID [--scope full|hooks] [--label TEXT] [--json]
  plumbline keys list [--json]
  plumbline keys revoke ID
  plumbline keys generate`,
  details: `create makes an account with a key, or another key of an account. It shows the key only once.
  --tier TIER      the tier of the new account: ${tierNames.join(', ')}
  --email ADDRESS  the mail address of the new account
  --account ID     make a key of this account, not a new account
  --scope SCOPE    full (all), or hooks: a key that may only report events of hooks
  --label TEXT     what you call the key, such as the name of a machine
  --json           print the answer as JSON

list shows every valid key without its secret; revoke ends one, and a running server refuses it
within 5 seconds. The database is the one that DATABASE_URL names.

generate prints a key that no account has. Give it to the first start of a server as
PLUMBLINE_BOOTSTRAP_KEY.`,
  async run([name, ...args], world) {
    const action = actions.find((known) => known.name === name)
    if (action === undefined) {
      const said = name === undefined ? '' : `there is no "keys ${name}"; `
      throw usageFault(`${said}use ${actions.map((known) => `keys ${known.name}`).join(', ')}.`)
    }
    await action.run(args, world)
    return exitCodes.ok
  },
}

const actions: readonly { name: string; run(args: string[], world: CliWorld): Promise<void> }[] = [
  { name: 'create', run: create },
  { name: 'list', run: list },
  { name: 'revoke', run: revoke },
  { name: 'generate', run: generate },
]

async function create(args: string[], world: CliWorld): Promise<void> {
  const { values, positionals } = parse(args, {
    tier: { type: 'string' },
    email: { type: 'string' },
    account: { type: 'string' },
    scope: { type: 'string' },
    label: { type: 'string' },
    json: { type: 'boolean' },
  })
  refuseMore(positionals)
  const { tier, email, account: id } = values
  if (typeof id === 'string' && (tier !== undefined || email !== undefined)) {
    throw usageFault(
      '--account names an account that already has a tier and address; leave out --tier and --email.',
    )
  }
  const wanted = { scope: readScope(values.scope), label: readLabel(values.label) }
  if (typeof id !== 'string' && (values.scope !== undefined || values.label !== undefined)) {
    throw usageFault(
      '--scope and --label are for a further key of an account; name it with --account.',
    )
  }
  // The options are checked first, because opening the database would create one.
  const make =
    typeof id === 'string' ? addKeyTo(id, wanted) : newAccount(readTier(tier), readEmail(email))
  const { account, key } = await world.withService(make)
  if (values.json === true) {
    const { id: accountId, tier, email } = account
    world.out(`${JSON.stringify({ account: accountId, tier, email, ...key })}\n`)
    return
  }
  const address = account.email === null ? '' : `, ${account.email}`
  world.out(`Account ${account.id} (${account.tier}${address})
Key ${key.id}, shown this once:

  ${key.key}
`)
}

type Make = (service: Service) => Promise<NewAccount>

function newAccount(tier: TierName, email: string | null): Make {
  return (service) => createAccount(service, tier, email)
}

function addKeyTo(id: string, wanted: { scope: KeyScope; label: string | null }): Make {
  return async (service) => {
    const account = await service.store.accounts.find(id)
    if (account === null) throw usageFault(`there is no account "${id}"; see plumbline keys list.`)
    return { account, key: await issueKey(service, id, wanted) }
  }
}

function readTier(value: unknown): TierName {
  if (typeof value === 'string' && isTierName(value)) return value
  const said = value === undefined ? 'name a --tier' : `--tier is "${value}"`
  throw usageFault(`${said}; send ${tierNames.join(', ')}.`)
}

function readScope(value: unknown): KeyScope {
  const scope = keyScopes.find((each) => each === (value ?? 'full'))
  if (scope === undefined)
    throw usageFault(`--scope is "${value}"; send ${keyScopes.join(' or ')}.`)
  return scope
}

function readLabel(value: unknown): string | null {
  if (value === undefined) return null
  const read = keyLabel.safeParse(value)
  if (read.success) return read.data || null
  throw usageFault('--label: send at most 100 characters.')
}

function readEmail(value: unknown): string | null {
  if (value === undefined) return null
  const read = emailField.safeParse(value)
  if (read.success) return read.data
  throw usageFault(`--email is "${value}"; send a mail address such as name@example.com.`)
}

const accountsAtATime = 500

async function list(args: string[], world: CliWorld): Promise<void> {
  const { values, positionals } = parse(args, { json: { type: 'boolean' } })
  refuseMore(positionals)
  const keys = await world.withService(allKeys)
  if (values.json === true) {
    world.out(`${JSON.stringify(keys)}\n`)
  } else if (keys.length === 0) {
    world.out('There are no keys; plumbline keys create --tier TIER makes one.\n')
  } else {
    world.out(columns([headings, ...keys.map(cells)]))
  }
}

type ListedKey = Awaited<ReturnType<typeof allKeys>>[number]

async function allKeys({ store, now }: Service) {
  const keys = []
  let after: string | null = null
  for (;;) {
    const accounts: AccountRow[] = await store.accounts.list(accountsAtATime, after)
    for (const { id: account, tier, email } of accounts) {
      for (const key of await store.accounts.keysOf(account, now())) {
        keys.push({ ...shownKey(key), account, tier, email })
      }
    }
    after = accounts.at(-1)?.id ?? null
    if (accounts.length < accountsAtATime) return keys
  }
}

const headings = [
  'KEY',
  'BEGINS',
  'CREATED (UTC)',
  'LAST USED',
  'EXPIRES',
  'ACCOUNT',
  'TIER',
  'MAIL',
]

function cells(key: ListedKey): string[] {
  const { id, prefix, created, last_used, expires, account, tier, email } = key
  const times = [created, last_used, expires].map((time) =>
    time === null ? '-' : time.slice(0, 16).replace('T', ' '),
  )
  return [id, `${prefix}…`, ...times, account, tier, email ?? '-']
}

function columns(rows: readonly string[][]): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const widths = headings.map((_, column) => width(column))
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

async function revoke(args: string[], world: CliWorld): Promise<void> {
  const { positionals } = parse(args, {})
  const [id, ...more] = positionals
  if (id === undefined) throw usageFault('name the ID of a key, from plumbline keys list.')
  refuseMore(more)
  const found = await world.withService(({ store }) => store.accounts.deleteKey(null, id))
  if (!found)
    throw usageFault(`there is no key "${id}"; plumbline keys list shows the ids of all keys.`)
  world.out(`Revoked ${id}. A running server refuses it within 5 seconds.\n`)
}

async function generate(args: string[], world: CliWorld): Promise<void> {
  refuseMore(parse(args, {}).positionals)
  world.out(`${world.newKey()}\n`)
}

function refuseMore(positionals: readonly string[]): void {
  if (positionals.length > 0) throw usageFault(`unexpected argument "${positionals[0]}".`)
}
