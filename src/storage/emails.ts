import type { Queries } from './database/database.ts'

/** The mail address of an account, and whether it is confirmed. */
export interface Email {
  email: string | null
  verified: boolean
}

/** A mailed confirmation link; its token is stored as a hash. */
export interface EmailLink {
  hash: string
  account: string
  email: string
  /** Milliseconds since 1970. */
  expires: number
}

/** The mail addresses of accounts. */
export interface Emails {
  of(account: string): Promise<Email>
  /**
   * Sets the address, unconfirmed, or removes it (null), and invalidates earlier links. Call it in a
   * transaction.
   */
  set(account: string, email: string | null): Promise<void>
  /** Sets the address, confirmed, because an identity provider vouches for it. */
  adopt(account: string, email: string): Promise<void>
  addLink(link: EmailLink): Promise<void>
  /** Finds the address that a link confirms; null if the link is unknown, used, replaced or expired. */
  linked(hash: string, now: number): Promise<string | null>
  /** Confirms the address of a link and ends the link; returns as `linked`. Call it in a transaction. */
  confirm(hash: string, now: number): Promise<string | null>
  /** Deletes at most `limit` expired links and returns their number. */
  expireLinks(now: number, limit: number): Promise<number>
}

/** Creates the mail addresses on a database or a transaction; `changed` is called after every change. */
export function createEmails(db: Queries, changed: () => void): Emails {
  async function linkOf(hash: string, now: number): Promise<EmailLink | null> {
    const link = await db.get<EmailLink>(
      'SELECT hash, account, email, expires FROM email_links WHERE hash = ? AND expires > ?',
      hash,
      now,
    )
    return link ?? null
  }

  return {
    async of(account) {
      const row = await db.get<{ email: string | null; email_verified: number }>(
        'SELECT email, email_verified FROM accounts WHERE id = ?',
        account,
      )
      return { email: row?.email ?? null, verified: row?.email_verified === 1 }
    },
    async set(account, email) {
      await db.run('UPDATE accounts SET email = ?, email_verified = 0 WHERE id = ?', email, account)
      await db.run('DELETE FROM email_links WHERE account = ?', account)
      changed()
    },
    async adopt(account, email) {
      await db.run('UPDATE accounts SET email = ?, email_verified = 1 WHERE id = ?', email, account)
      changed()
    },
    async addLink({ hash, account, email, expires }) {
      await db.run(
        'INSERT INTO email_links (hash, account, email, expires) VALUES (?, ?, ?, ?)',
        hash,
        account,
        email,
        expires,
      )
    },
    linked: async (hash, now) => (await linkOf(hash, now))?.email ?? null,
    async confirm(hash, now) {
      const link = await linkOf(hash, now)
      if (link === null) return null
      const { account, email } = link
      await db.run(
        'UPDATE accounts SET email_verified = 1 WHERE id = ? AND email = ?',
        account,
        email,
      )
      await db.run('DELETE FROM email_links WHERE account = ?', account)
      return email
    },
    expireLinks: (now, limit) =>
      db.run(
        `DELETE FROM email_links WHERE hash IN (
           SELECT hash FROM email_links WHERE expires <= ? ORDER BY expires LIMIT ?
         )`,
        now,
        limit,
      ),
  }
}
