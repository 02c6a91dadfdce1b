import { z } from 'zod'
import { isoTime } from '../../core/time.ts'
import { badRequest, describeRefusal } from '../gate/declaration.ts'
import { okAnswer, time } from '../gate/fields.ts'
import { cursorFrom, limitField, pageOf } from '../gate/list.ts'
import { admin } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'
import { createAccount, emailField } from './accounts.ts'
import { eraseAccount, erasedSchema } from './erasure.ts'
import { issueKey, keySchema, newKeySchema, shownKey } from './keys.ts'
import { tierName } from './tiers.ts'

const account = z.string('send the id of an account, acct_…')

const noAccount = describeRefusal(404, 'no_account', 'There is no such account.')

const noSuchKey = describeRefusal(404, 'not_found', 'The account has no such key.')

/** Creates an account with its first key. */
export const makeAccount = admin({
  name: 'admin.create-account',
  group: 'admin',
  summary: 'Create an account with its first key. Only this answer shows the key.',
  http: { method: 'POST', path: '/v1/admin/accounts' },
  secret: true,
  input: z.object({ tier: tierName, email: emailField.nullish() }),
  output: z.strictObject({
    account: z.string(),
    tier: tierName,
    email: z.string().nullable(),
    key: newKeySchema,
  }),
  status: 201,
  changes: ({ account, tier, key: { id, prefix } }) => ({ account, tier, key_id: id, prefix }),
  refusals: [badRequest],
})(async (service, { tier, email }) => {
  const made = await createAccount(service, tier, email ?? null)
  return { account: made.account.id, tier, email: made.account.email, key: made.key }
})

/** Lists all accounts. */
export const listAccounts = admin({
  name: 'admin.list-accounts',
  group: 'admin',
  summary: 'All accounts, newest first.',
  http: { method: 'GET', path: '/v1/admin/accounts' },
  input: z.object({ limit: limitField(200, 50), cursor: z.string().optional() }),
  output: z.strictObject({
    accounts: z.array(
      z.strictObject({
        account: z.string(),
        tier: tierName,
        email: z.string().nullable(),
        created: time,
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
  refusals: [badRequest],
})(async ({ store }, { limit, cursor }) => {
  const after = cursorFrom(cursor, z.object({ account: z.string() }))
  const found = await store.accounts.list(limit + 1, after?.account ?? null)
  const { page, next_cursor } = pageOf(found, limit, ({ id }) => ({ account: id }))
  return {
    accounts: page.map(({ id, tier, email, created }) => ({
      account: id,
      tier,
      email,
      created: isoTime(created),
    })),
    next_cursor,
  }
})

/** Deletes an account and all its data. */
export const deleteAccount = admin({
  name: 'admin.delete-account',
  group: 'admin',
  summary: 'Delete an account and all its data. A team that it owns ends.',
  description:
    'The server refuses its keys at once (other nodes within 5 seconds) and deletes every row of the account within a minute. It ends no subscription at the payment provider: `unended_subscriptions` and the log name those that go on.',
  http: { method: 'DELETE', path: '/v1/admin/accounts' },
  input: z.object({ account }),
  output: erasedSchema,
  changes: (_erased, { account }) => ({ account }),
  refusals: [badRequest, noAccount],
})(async (service, { account }) => {
  const erased = await eraseAccount(service, account, { byOperator: true })
  if (erased === null) throw unknownAccount()
  return erased
})

/** Moves an account to another tier. */
export const setTier = admin({
  name: 'admin.set-tier',
  group: 'admin',
  summary: 'Move an account to another tier.',
  description: 'Other nodes use the new tier within 5 seconds.',
  http: { method: 'POST', path: '/v1/admin/accounts/tier' },
  input: z.object({ account, tier: tierName }),
  output: z.strictObject({ ok: z.literal(true), account: z.string(), tier: tierName }),
  changes: ({ account, tier }) => ({ account, tier }),
  refusals: [badRequest, noAccount],
})(async ({ store }, { account, tier }) => {
  if (!(await store.accounts.setTier(account, tier))) throw unknownAccount()
  return { ok: true as const, account, tier }
})

/** Lists the keys of an account. */
export const listKeys = admin({
  name: 'admin.list-keys',
  group: 'admin',
  summary: 'The valid keys of an account, newest first.',
  http: { method: 'GET', path: '/v1/admin/keys' },
  input: z.object({ account }),
  output: z.strictObject({ keys: z.array(keySchema) }),
  refusals: [badRequest, noAccount],
})(async ({ store, now }, { account }) => {
  if ((await store.accounts.find(account)) === null) throw unknownAccount()
  return { keys: (await store.accounts.keysOf(account, now())).map(shownKey) }
})

/** Creates another key of an account. */
export const makeKey = admin({
  name: 'admin.create-key',
  group: 'admin',
  summary: 'Create another key of an account. Only this answer shows the key.',
  http: { method: 'POST', path: '/v1/admin/keys' },
  secret: true,
  input: z.object({ account }),
  output: newKeySchema,
  status: 201,
  changes: ({ id, prefix }, { account }) => ({ account, key_id: id, prefix }),
  refusals: [badRequest, noAccount],
})(async (service, { account }) => {
  if ((await service.store.accounts.find(account)) === null) throw unknownAccount()
  return issueKey(service, account)
})

/** Revokes a key of an account at once, even its last one. */
export const endKey = admin({
  name: 'admin.revoke-key',
  group: 'admin',
  summary: 'Revoke a key of an account at once, even its last one.',
  description: 'Other nodes refuse the key within 5 seconds.',
  http: { method: 'DELETE', path: '/v1/admin/keys' },
  input: z.object({ account, id: z.string('send the id of a key, key_…') }),
  output: okAnswer,
  changes: (_ok, { account, id }) => ({ account, key_id: id }),
  refusals: [badRequest, noSuchKey],
})(async ({ store }, { account, id }) => {
  if (await store.accounts.deleteKey(account, id)) return { ok: true as const }
  throw new Refusal(404, 'not_found', {
    detail: 'This account has no such key. GET /v1/admin/keys?account= lists its keys.',
  })
})

function unknownAccount(): Refusal {
  return new Refusal(404, 'no_account', {
    detail: 'There is no such account. GET /v1/admin/accounts lists all accounts.',
  })
}
