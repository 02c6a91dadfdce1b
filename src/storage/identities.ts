import type { Queries } from './database/database.ts'

/** A person at an identity provider, with the account that the first sign-in has made. */
export interface IdentityRow {
  issuer: string
  /** The provider's own id of the person. */
  subject: string
  account: string
  /** Milliseconds since 1970. */
  created: number
}

/** The persons who sign in with an identity provider. */
export interface Identities {
  /** Adds a person, and returns false if the person is known. */
  add(identity: IdentityRow): Promise<boolean>
  /** The account of a person, and whether the first key was shown; null for a person who is not known. */
  find(issuer: string, subject: string): Promise<{ account: string; keyShown: boolean } | null>
  /** Notes that the first key of an account is shown; returns false if it was before, or no person has the account. */
  showKey(account: string): Promise<boolean>
}

/** Creates the identities on a database or a transaction. */
export function createIdentities(db: Queries): Identities {
  return {
    async add({ issuer, subject, account, created }) {
      const rows = await db.run(
        `INSERT INTO identities (issuer, subject, account, created, key_shown)
         VALUES (?, ?, ?, ?, 0) ON CONFLICT (issuer, subject) DO NOTHING`,
        issuer,
        subject,
        account,
        created,
      )
      return rows > 0
    },
    async find(issuer, subject) {
      const row = await db.get<{ account: string; key_shown: number }>(
        'SELECT account, key_shown FROM identities WHERE issuer = ? AND subject = ?',
        issuer,
        subject,
      )
      return row === undefined ? null : { account: row.account, keyShown: row.key_shown === 1 }
    },
    async showKey(account) {
      const rows = await db.run(
        'UPDATE identities SET key_shown = 1 WHERE account = ? AND key_shown = 0',
        account,
      )
      return rows > 0
    },
  }
}
