import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Service } from '../../operations/gate/context.ts'

/** Session tokens of this installation. A token proves its origin, so no node stores any. */
export interface SessionTokens {
  issue(): Promise<string>
  isOurs(token: string): Promise<boolean>
}

/** Creates tokens that are signed with a secret that all nodes of the installation share. */
export function createSessionTokens({
  store,
  newId,
}: Pick<Service, 'store' | 'newId'>): SessionTokens {
  let secret: Promise<string> | null = null

  function take(): Promise<string> {
    secret ??= store.secrets.take('sessions', newId('secret')).catch((error) => {
      secret = null
      throw error
    })
    return secret
  }

  async function signed(name: string): Promise<string> {
    const signature = createHmac('sha256', await take())
      .update(name)
      .digest('base64url')
    return `${name}.${signature}`
  }

  return {
    issue: () => signed(newId('session')),
    async isOurs(token) {
      // Compared as text, because the same bytes have several spellings, and each would be another session.
      const expected = Buffer.from(await signed(token.slice(0, token.indexOf('.'))))
      const given = Buffer.from(token)
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}
