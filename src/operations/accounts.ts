import { z } from 'zod'
import type { TierName } from '../core/tiers.ts'
import type { AccountRow } from '../storage/accounts.ts'
import type { OpenStore } from '../storage/store.ts'
import { issueKey, type newKeySchema } from './keys.ts'
import type { Service } from './operation.ts'

/** Longest address that SMTP can carry. */
const maxEmailLength = 254

/** The mail address of an account. */
export const emailField = z
  .email('send a mail address such as name@example.com')
  .max(maxEmailLength, `send at most ${maxEmailLength} characters`)

/** An account that was just made, with its first key. */
export interface NewAccount {
  account: AccountRow
  key: z.infer<typeof newKeySchema>
}

/** Makes an account with one key. */
export function createAccount(
  service: Service,
  tier: TierName,
  email: string | null,
): Promise<NewAccount> {
  const account = { id: service.newId('acct'), tier, email, created: service.now() }
  return service.store.tx(async (store) => {
    await store.accounts.create(account)
    return { account, key: await issueKey({ ...service, store }, account.id) }
  })
}

/**
 * Makes the account of whoever runs the server when there is none at all, of the tier that is not
 * throttled; otherwise null. Of nodes that start at once one makes it.
 */
export function createFirstAccount(
  service: Service,
  openStore: OpenStore,
): Promise<NewAccount | null> {
  return openStore.inTurn(async (store) =>
    (await store.accounts.count()) > 0
      ? null
      : createAccount({ ...service, store }, 'enterprise', null),
  )
}
