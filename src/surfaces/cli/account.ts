import type { Store } from '../../storage/store.ts'
import { usageFault } from './usage-fault.ts'

/** The account that an option names, or the first one of the server; a usage fault if there is none. */
export async function accountOf(
  { accounts }: Pick<Store, 'accounts'>,
  id: unknown,
): Promise<string> {
  const account = typeof id === 'string' ? await accounts.find(id) : await accounts.first()
  if (account !== null) return account.id
  throw usageFault(
    typeof id === 'string'
      ? `there is no account "${id}"; see plumbline keys list.`
      : 'there is no account yet; the first start of the server makes one.',
  )
}
