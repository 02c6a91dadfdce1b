import { z } from 'zod'
import { type KeyScope, keyPrefix, keyScopes } from '../../core/accounts/keys.ts'
import { isoTime } from '../../core/time.ts'
import type { KeyRow } from '../../storage/accounts.ts'
import type { Service } from '../gate/context.ts'
import type { Declaration } from '../gate/declaration.ts'
import { describeRefusal } from '../gate/declaration.ts'
import { time } from '../gate/fields.ts'
import { open } from '../gate/operation.ts'
import { Refusal } from '../gate/refusal.ts'

/** What a key may do. */
export const keyScope = z
  .enum(keyScopes, `send ${keyScopes.join(' or ')}`)
  .describe('full may do everything; hooks may only report events of hooks, and reads nothing.')

/** What an owner calls a key. */
export const keyLabel = z
  .string('send a text of at most 100 characters')
  .trim()
  .max(100, 'send at most 100 characters')

/** A key in a list, without its secret. */
export const keySchema = z
  .strictObject({
    id: z.string().describe('The id by which you revoke or rotate the key.'),
    prefix: z.string().describe('The first characters of the key.'),
    created: time,
    last_used: time.nullable().describe('Accurate to the minute if there are several nodes.'),
    expires: time
      .nullable()
      .describe('The time the key expires after a rotation; null if it does not expire.'),
    scope: keyScope,
    label: z.string().nullable().describe('What its owner calls it.'),
  })
  .meta({ id: 'Key' })

/** A new key with its secret. Only one answer shows it. */
export const newKeySchema = z
  .strictObject({
    id: z.string(),
    key: z
      .string()
      .describe('The key itself. Only this answer shows it, and the server does not store it.'),
    prefix: z.string(),
    created: time,
    expires: time.nullable(),
    scope: keyScope,
    label: z.string().nullable(),
  })
  .meta({ id: 'NewKey' })

/** Converts a stored key to its form in a list. */
export function shownKey({
  id,
  prefix,
  created,
  last_used,
  expires,
  scope,
  label,
}: KeyRow): z.infer<typeof keySchema> {
  return {
    id,
    prefix,
    created: isoTime(created),
    last_used: last_used === null ? null : isoTime(last_used),
    expires: expires === null ? null : isoTime(expires),
    scope,
    label,
  }
}

/** Creates a key of an account. Only the answer holds the secret; the server stores its hash. */
export async function issueKey(
  { store, now, newId, newKey, hash }: Service,
  account: string,
  { scope = 'full', label = null }: { scope?: KeyScope; label?: string | null } = {},
): Promise<z.infer<typeof newKeySchema>> {
  const key = newKey()
  const row = {
    id: newId('key'),
    account,
    hash: hash(key),
    prefix: keyPrefix(key),
    created: now(),
    expires: null,
    scope,
    label,
  }
  await store.accounts.addKey(row)
  return {
    id: row.id,
    key,
    prefix: row.prefix,
    created: isoTime(row.created),
    expires: null,
    scope,
    label,
  }
}

const disabled = {
  group: 'account',
  summary: 'Disabled. The answer says where keys come from.',
  input: z.unknown(),
  output: z.never(),
  refusals: [describeRefusal(410, 'disabled', 'Always.')],
} satisfies Partial<Declaration<unknown, never>>

/** Refuses to list keys: `/v1/keys` is disabled, and its refusals name the routes for keys. */
export const readKeys = open({
  ...disabled,
  name: 'keys.read',
  http: { method: 'GET', path: '/v1/keys' },
})(refuse)

/** Refuses to create keys; see `readKeys`. */
export const createKeys = open({
  ...disabled,
  name: 'keys.create',
  http: { method: 'POST', path: '/v1/keys' },
})(refuse)

async function refuse({ identity, settings }: Service): Promise<never> {
  const signIn =
    identity === null ? '' : ` Or sign in at ${settings.baseUrl()}/signin, which makes one.`
  throw new Refusal(410, 'disabled', {
    detail: `This route makes no keys. Ask the operator of this server for one; "plumbline keys create" makes it.${signIn} With a key you can make more: POST /v1/me/keys.`,
  })
}
