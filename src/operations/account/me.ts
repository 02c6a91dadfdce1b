import { z } from 'zod'
import type { KeyScope } from '../../core/accounts/keys.ts'
import { dayOf, hourMs, isoTime } from '../../core/time.ts'
import { quotaBucket, secondsToMidnight } from '../gate/daily-limit.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { okAnswer } from '../gate/fields.ts'
import { lenient } from '../gate/lenient.ts'
import { keyed } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { issueKey, keyLabel, keySchema, keyScope, newKeySchema, shownKey } from './keys.ts'
import { tierName } from './tiers.ts'

/** The most keys of one account at a time. */
const maxKeys = 50
const longestGraceHours = 720

const count = z.int().min(0)

const id = z
  .string('send the id of a key, from GET /v1/me')
  .min(1, 'send the id of a key, from GET /v1/me')

const noSuchKey = describeRefusal(404, 'not_found', 'The account has no such key.')

const tooManyKeys = describeRefusal(409, 'conflict', `The account already has ${maxKeys} keys.`)

/** Returns the account of the key, with today's usage. */
export const readMe = keyed({
  name: 'me.read',
  group: 'account',
  summary: 'Your account with its keys, its tier and today’s usage.',
  http: { method: 'GET', path: '/v1/me' },
  unmetered: true,
  input: z.object({}),
  output: z.strictObject({
    account: z.string(),
    tier: tierName,
    email: z.string().nullable(),
    email_verified: z
      .boolean()
      .describe('Whether somebody has followed the link sent to the address.'),
    keys: z.array(keySchema).describe('The valid keys, newest first.'),
    team: z
      .strictObject({ id: z.string(), name: z.string(), role: z.enum(['owner', 'member']) })
      .nullable()
      .describe('The team in which the account has a seat.'),
    usage: z.strictObject({
      date: z.iso.date().describe('The UTC day of the counts.'),
      reads: count,
      writes: count,
      reads_limit: count.nullable().describe('null is unlimited.'),
      writes_limit: count.nullable().describe('null is unlimited.'),
      resets_in_s: z.int().min(1).describe('Seconds until the counts restart.'),
    }),
  }),
})(async ({ store, account, tier, now }) => {
  const at = now()
  const used = async (kind: 'reads' | 'writes') => {
    const counted = await store.counters.used(quotaBucket(account.id, kind), dayOf(at))
    return Math.max(0, Math.min(counted, tier[kind] ?? counted))
  }
  const keys = await store.accounts.keysOf(account.id, at)
  const { email, verified } = await store.emails.of(account.id)
  const seat = await store.teams.seatOf(account.id)
  const team = seat === null ? null : await store.teams.find(seat.team)
  return {
    account: account.id,
    tier: account.tier,
    email,
    email_verified: verified,
    keys: keys.map(shownKey),
    team: seat === null || team === null ? null : { id: team.id, name: team.name, role: seat.role },
    usage: {
      date: isoTime(at).slice(0, 10),
      reads: await used('reads'),
      writes: await used('writes'),
      reads_limit: tier.reads,
      writes_limit: tier.writes,
      resets_in_s: secondsToMidnight(at),
    },
  }
})

const newKeyBody = z.object({ scope: keyScope.nullish(), label: keyLabel.nullish() })

/** Creates another key of the account. */
export const createKey = keyed({
  name: 'me.create-key',
  group: 'account',
  summary: 'Create another key. Only this answer shows it.',
  http: { method: 'POST', path: '/v1/me/keys' },
  secret: true,
  input: lenient(newKeyBody),
  output: newKeySchema,
  status: 201,
  changes: ({ id, prefix }) => ({ key_id: id, prefix }),
  refusals: [badRequest, tooManyKeys],
})((context, body) =>
  context.store.tx(async (store) => {
    const { account, now } = context
    const wanted = readNewKey(body)
    await store.accounts.lock(account.id)
    refuseTooMany((await store.accounts.keysOf(account.id, now())).length + 1)
    return issueKey({ ...context, store }, account.id, wanted)
  }),
)

/** The scope and the label of a new key; a body that is no object asks for neither. */
function readNewKey(body: unknown): { scope: KeyScope; label: string | null } {
  const read = newKeyBody.safeParse(typeof body === 'object' && body !== null ? body : {})
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Refusal(400, 'bad_request', {
      detail: `${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? 'cannot be read'}`,
    })
  }
  return { scope: read.data.scope ?? 'full', label: read.data.label || null }
}

/** Revokes a key at once. */
export const revokeKey = keyed({
  name: 'me.revoke-key',
  group: 'account',
  summary: 'Revoke a key at once.',
  description:
    'Other nodes refuse the key within 5 seconds. The call does not count against the quota: you can revoke a key that has used up the quota.',
  http: { method: 'DELETE', path: '/v1/me/keys' },
  unmetered: true,
  input: z.object({ id }),
  output: okAnswer,
  changes: (_ok, { id }) => ({ key_id: id }),
  refusals: [
    badRequest,
    noSuchKey,
    describeRefusal(409, 'conflict', 'The key is the last one that does not expire.'),
  ],
})(({ store, account, now }, { id }) =>
  store.tx(async ({ accounts }) => {
    await accounts.lock(account.id)
    const keys = await accounts.keysOf(account.id, now())
    const key = keys.find((each) => each.id === id)
    if (key === undefined) throw unknownKey()
    // A key of the scope `hooks` makes no other.
    const unexpiring = keys.filter(({ expires, scope }) => expires === null && scope === 'full')
    if (unexpiring.length === 1 && unexpiring[0] === key) {
      throw new Refusal(409, 'conflict', {
        detail:
          'This is your last key, and without a key you cannot make another. Make one first with POST /v1/me/keys, or replace this one at once with POST /v1/me/keys/rotate and grace_hours 0.',
      })
    }
    await accounts.deleteKey(account.id, id)
    return { ok: true as const }
  }),
)

/** Replaces a key with a new one. */
export const rotateKey = keyed({
  name: 'me.rotate-key',
  group: 'account',
  summary: 'Replace a key. The old key stays valid for a while.',
  description:
    'The call does not count against the quota: you can replace a key that has used up the quota.',
  http: { method: 'POST', path: '/v1/me/keys/rotate' },
  unmetered: true,
  secret: true,
  input: z.object({
    id,
    grace_hours: z
      .number(`send a number of hours from 0 to ${longestGraceHours}`)
      .min(0, `send 0 to ${longestGraceHours}`)
      .max(longestGraceHours, `send 0 to ${longestGraceHours}`)
      .default(24)
      .describe('How long the old key stays valid. 0 ends it at once.'),
  }),
  output: newKeySchema,
  status: 201,
  changes: ({ id, prefix }, old) => ({ key_id: id, prefix, replaces: old.id }),
  refusals: [badRequest, noSuchKey, tooManyKeys],
})((context, { id, grace_hours }) =>
  context.store.tx(async (store) => {
    const { account, now } = context
    const { accounts } = store
    await accounts.lock(account.id)
    const keys = await accounts.keysOf(account.id, now())
    const old = keys.find((each) => each.id === id)
    if (old === undefined) throw unknownKey()
    if (grace_hours > 0) refuseTooMany(keys.length + 1)
    const made = await issueKey({ ...context, store }, account.id, old)
    // The browser that replaces the key of its own session stays signed in. Others end with the old key.
    if (context.session !== null) await store.sessions.moveTo(context.session, id, made.id)
    if (grace_hours === 0) await accounts.deleteKey(account.id, id)
    else await accounts.expireKey(account.id, id, now() + Math.ceil(grace_hours * hourMs))
    return made
  }),
)

function refuseTooMany(keys: number): void {
  if (keys <= maxKeys) return
  throw new Refusal(409, 'conflict', {
    detail: `An account has at most ${maxKeys} keys. Revoke one first with DELETE /v1/me/keys?id=.`,
  })
}

function unknownKey(): Refusal {
  return new Refusal(404, 'not_found', {
    detail: 'This account has no such key. GET /v1/me lists its keys.',
  })
}
