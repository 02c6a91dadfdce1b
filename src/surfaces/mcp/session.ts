import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Service } from '../../operations/gate/context.ts'

/** Session tokens that say of themselves that this installation gave them out, so no node keeps any. */
export interface SessionTokens {
  give(): Promise<string>
  isOurs(token: string): Promise<boolean>
}

/** Tokens signed with a secret that all nodes of the installation share. */
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
    give: () => signed(newId('session')),
    async isOurs(token) {
      // Compared as text: bytes have several spellings, and each would be a session of its own.
      const expected = Buffer.from(await signed(token.slice(0, token.indexOf('.'))))
      const given = Buffer.from(token)
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}
