import { z } from 'zod'
import type { TierName } from '../../core/accounts/tiers.ts'
import type { AccountRow } from '../../storage/accounts.ts'
import type { OpenStore } from '../../storage/store.ts'
import type { Service } from '../gate/context.ts'
import { issueKey, type newKeySchema } from './keys.ts'

/** The longest address that SMTP allows. */
const maxEmailLength = 254

/** The mail address of an account. */
export const emailField = z
  .email('send a mail address such as name@example.com')
  .max(maxEmailLength, `send at most ${maxEmailLength} characters`)

/** A new account with its first key. */
export interface NewAccount {
  account: AccountRow
  key: z.infer<typeof newKeySchema>
}

/** Creates an account with one key. */
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

/** The account that the first start creates. `isGiven` if the operator chose its key. */
export interface FirstAccount extends NewAccount {
  isGiven: boolean
}

/**
 * Creates the operator's account if there are no accounts, in the unlimited tier, with the key `given` or a
 * new one. Returns null if there are accounts. If several nodes start at once, one of them creates it.
 */
export function createFirstAccount(
  service: Service,
  openStore: OpenStore,
  given: string | null,
): Promise<FirstAccount | null> {
  const newKey = () => given ?? service.newKey()
  return openStore.inTurn(async (store) => {
    if ((await store.accounts.count()) > 0) return null
    const made = await createAccount({ ...service, store, newKey }, 'enterprise', null)
    return { ...made, isGiven: given !== null }
  })
}
