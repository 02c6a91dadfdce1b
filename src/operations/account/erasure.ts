import { z } from 'zod'
import type { Subscription } from '../../core/accounts/subscription.ts'
import { parseJson } from '../../core/text.ts'
import { isoTime, minuteMs } from '../../core/time.ts'
import { eraseJob } from '../../jobs/erase.ts'
import { type OwnedRow, type OwnedTable, ownedTables } from '../../storage/owned.ts'
import type { Keyed, Service } from '../gate/context.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { nextTurn } from '../gate/event-loop-turns.ts'
import { exportOnce, exportRule } from '../gate/exports.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'

const count = z.int().min(0)

/** The answer to the deletion of an account. */
export const erasedSchema = z.strictObject({
  ok: z.literal(true),
  account: z.string(),
  erased: z.strictObject({
    keys: count,
    runs: count,
    steps: count,
    conversations: count,
    escalations: count,
    selves: count,
    templates: count,
    alerts: count.describe('Events, whether sent, waiting or failed.'),
  }),
  gone_by: z.iso
    .datetime()
    .describe(
      'The time by which the server deletes the last row. Nothing is readable from now on. The rows of a very large account take longer.',
    ),
  unended_subscriptions: z
    .array(z.string())
    .describe(
      'The subscriptions at the payment provider that go on and cost money until they are ended there. Only the operator erases such an account.',
    ),
})

const ownsTeam = describeRefusal(
  409,
  'conflict',
  'The account owns a team that has members, or pays for a subscription that goes on.',
)

/** Deletes the account of this key. */
export const eraseMe = keyed({
  name: 'me.erase',
  group: 'account',
  summary: 'Delete this account and all its data.',
  description:
    'The server refuses its keys at once (other nodes within 5 seconds) and deletes every row of the account within a minute: runs, conversations, escalations, selves, templates, alerts with their log, digests, mail address, stored answers, usage. You cannot undo it. If the account owns a team without members, the team ends. If the account is a member, it gives up the seat. You can also send `confirm` in a JSON body. The call does not count against the quota.',
  http: { method: 'DELETE', path: '/v1/me' },
  unmetered: true,
  async read({ readBody, query }) {
    const body = await readBody(maxBodyBytes)
    return { body, sent: { ...query, ...(parseJson(body) as object | undefined) } }
  },
  input: z.object({
    confirm: z
      .string('send the id of the account, acct_…')
      .describe('The id of the account, from GET /v1/me.'),
  }),
  output: erasedSchema,
  changes: () => ({}),
  refusals: [badRequest, ownsTeam],
})(async (context, { confirm }) => {
  const { id } = context.account
  if (confirm !== id) {
    throw new Refusal(400, 'bad_request', {
      detail: 'confirm: send the id of the account that this key belongs to, from GET /v1/me',
    })
  }
  const erased = await eraseAccount(context, id, { byOperator: false })
  // A concurrent request has deleted the account.
  if (erased === null) throw new Refusal(401, 'bad_key', {})
  return erased
})

const maxBodyBytes = 4096

/**
 * Deletes an account and its keys, and enqueues the deletion of its data. Returns null if there is no such
 * account. Refuses an owner whose team has members, and an account that goes on paying (409), unless the
 * operator asks: then the team ends, and the log names the subscriptions that go on.
 */
export async function eraseAccount(
  service: Pick<Service, 'store' | 'now' | 'logUnendedSubscriptions'>,
  account: string,
  { byOperator }: { byOperator: boolean },
): Promise<z.infer<typeof erasedSchema> | null> {
  const erased = await eraseRows(service, account, byOperator)
  const unended = erased?.unended_subscriptions ?? []
  if (unended.length > 0) service.logUnendedSubscriptions(account, unended)
  return erased
}

function eraseRows(
  { store, now }: Pick<Service, 'store' | 'now'>,
  account: string,
  byOperator: boolean,
): Promise<z.infer<typeof erasedSchema> | null> {
  return store.tx(async ({ accounts, subscriptions, teams, erasure, jobs }) => {
    if (!(await accounts.lock(account))) return null
    const unended = (await subscriptions.of(account)).filter(goesOn)
    if (!byOperator && unended.length > 0) throw stillPays()
    const seat = await teams.seatOf(account)
    if (seat !== null) {
      await teams.lock(seat.team)
      const owns = seat.role === 'owner'
      if (owns && !byOperator && (await teams.seats(seat.team)).length > 1) throw teamHasMembers()
      if (owns) await teams.dissolve(seat.team)
      else await teams.removeSeat(seat.team, account)
    }
    const erased = await erasure.count(account)
    await accounts.delete(account)
    const at = now()
    await jobs.add(eraseJob(account, at))
    return {
      ok: true as const,
      account,
      erased,
      gone_by: isoTime(at + minuteMs),
      unended_subscriptions: unended.map(({ subscription }) => subscription),
    }
  })
}

function teamHasMembers(): Refusal {
  return new Refusal(409, 'conflict', {
    detail: 'You own a team that has members. Remove them first with POST /v1/team/seat.',
  })
}

/** Whether a subscription would cost money after its account is gone. */
function goesOn({ live, ending }: Subscription): boolean {
  return live && !ending
}

function stillPays(): Refusal {
  return new Refusal(409, 'conflict', {
    detail:
      'This account pays for a subscription that goes on. End it first; GET /v1/upgrade leads to the page.',
  })
}

/** Exports all data of an account as JSON lines. */
export const exportMe = keyed({
  name: 'me.export',
  group: 'account',
  summary: 'All stored data of this account, as JSON lines.',
  description: `Streamed: a line \`{"type":"account",…}\`, then a line for each row of the account, with its \`type\`: key, run, ground, agent, step, escalation, conversation, conversation_turn, self, template, alert_settings, alert_log_entry and others. Times are ISO 8601, also inside JSON. The export leaves out secrets, and the hashes and tokens that stand for them. ${exportRule}`,
  http: { method: 'GET', path: '/v1/me/export' },
  input: z.object({}),
  output: z.unknown().describe('JSON lines.'),
  streams: 'application/x-ndjson',
})(async (context) => exportOnce(context, () => linesOf(context)))

const rowsPerPage = 200

async function* linesOf({ store, account: { id } }: Keyed): AsyncGenerator<string> {
  const account = await store.accounts.find(id)
  const { verified } = await store.emails.of(id)
  yield lineOf('account', { ...account, email_verified: Number(verified) })
  for (const table of ownedTables) {
    let after: OwnedRow | null = null
    for (let more = true; more; ) {
      const rows: OwnedRow[] = await store.erasure.read(table, id, after, rowsPerPage)
      yield rows.map((row) => lineOf(table.type, exportedOf(table, row))).join('')
      // SQLite reads without a wait, so only this serves other requests between two pages.
      await nextTurn()
      after = rows.at(-1) ?? null
      more = rows.length === rowsPerPage
    }
  }
}

function exportedOf({ table, exported }: OwnedTable, row: OwnedRow): OwnedRow {
  return Object.fromEntries(
    exported.map((name) => [shownNames[`${table}.${name}`] ?? name, row[name] ?? null]),
  )
}

/** The names of columns that say something else where they are read without their table. */
const shownNames: Readonly<Record<string, string>> = { 'pending_spans.note': 'span' }

function lineOf(type: string, row: OwnedRow): string {
  const shown = Object.entries(row).map(([name, value]) => [name, shownValue(name, value)])
  return `${JSON.stringify({ type, ...Object.fromEntries(shown) })}\n`
}

/** Converts a stored value: times and booleans are stored as numbers, and JSON as text. */
function shownValue(name: string, value: string | number | null): unknown {
  if (typeof value === 'number' && times.has(name)) return isoTime(value)
  if (typeof value === 'number' && flags.has(name)) return value === 1
  if (typeof value === 'string' && structured.has(name)) {
    return shownJson(parseJson(value) ?? value, name)
  }
  return value
}

/** Converts the times in stored JSON, where a name of a time may also stand for the number of a step. */
function shownJson(value: unknown, name: string): unknown {
  if (typeof value === 'number') {
    return times.has(name) && value >= earliest && value < latest ? isoTime(value) : value
  }
  if (Array.isArray(value)) return value.map((each) => shownJson(each, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([inner, each]) => [inner, shownJson(each, inner)]),
  )
}

/** In milliseconds since 1970: from 2001 to 2286. */
const [earliest, latest] = [1e12, 1e13]

const times: ReadonlySet<string> = new Set([
  ...['created', 'updated', 'expires', 'ts', 'at', 'last_used', 'joined', 'decided_at', 'due'],
  ...['opened', 'notified', 'closed', 'next', 'sent_until', 'failing_since', 'paused_until'],
  ...['until', 'received', 'last', 'last_person_at', 'filled', 'personAt'],
  ...['heard_at', 'over_at', 'heardAt', 'overAt', 'since', 'waitsSince'],
])
const flags: ReadonlySet<string> = new Set([
  ...['drifting', 'overhead', 'delivered', 'held', 'dialogue', 'share_goals', 'email_verified'],
  ...['uncertain', 'key_shown', 'live', 'ending', 'over', 'remind'],
])
const structured: ReadonlySet<string> = new Set([
  ...['memory', 'judgment', 'config', 'roles', 'incident', 'state'],
  ...['verdict', 'plan', 'totals', 'about', 'assignment', 'clock', 'coverage', 'result', 'span'],
])
