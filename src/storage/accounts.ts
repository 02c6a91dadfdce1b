import type { TierName } from '../core/tiers.ts'
import type { Queries } from './database.ts'

/** Whose a request is. */
export interface Account {
  /** `acct_…`, opaque. */
  readonly id: string
  readonly tier: TierName
  readonly email: string | null
}

/** A key as it can be shown: its secret is stored nowhere. Times are milliseconds since 1970. */
export interface KeyRow {
  id: string
  account: string
  prefix: string
  created: number
  last_used: number | null
  expires: number | null
}

/** An account with its age, as whoever runs the server sees it. */
export interface AccountRow extends Account {
  created: number
}

/** Accounts and their keys. */
export interface Accounts {
  create(account: AccountRow): Promise<void>
  find(id: string): Promise<AccountRow | null>
  /** Newest first, at most `limit`, older than the account `after` when that is given. */
  list(limit: number, after: string | null): Promise<AccountRow[]>
  count(): Promise<number>
  /** Answers whether there is such an account. */
  setTier(id: string, tier: TierName): Promise<boolean>
  addKey(key: Omit<KeyRow, 'last_used'> & { hash: string }): Promise<void>
  /** Newest first, those no longer valid left out. */
  keysOf(account: string, now: number): Promise<KeyRow[]>
  /** The key expires at `at`, unless it does so earlier. Answers whether the account has such a key. */
  expireKey(account: string, id: string, at: number): Promise<boolean>
  /** The account a key belongs to, by the hash of the key, or null when it is unknown or expired. */
  withKey(hash: string, now: number): Promise<Account | null>
  /** Stores when keys were last used, as far as this node has seen. */
  saveUse(): Promise<void>
}

/** What this node remembers of keys between requests, so that most need no look-up. */
export interface KeyMemory {
  readonly known: Map<
    string,
    { account: Account; id: string; expires: number | null; until: number }
  >
  readonly used: Map<string, number>
}

const knownForMs = 3_000
const maxKnown = 10_000

/** A memory with nothing in it. */
export function newKeyMemory(): KeyMemory {
  return { known: new Map(), used: new Map() }
}

/** Accounts in a database or one of its transactions; `memory` is the node's, shared by all of them. */
export function createAccounts(db: Queries, memory: KeyMemory): Accounts {
  return {
    async create({ id, tier, email, created }) {
      await db.run(
        'INSERT INTO accounts (id, tier, email, created) VALUES (?, ?, ?, ?)',
        id,
        tier,
        email,
        created,
      )
    },
    async find(id) {
      const row = await db.get<AccountRow>(
        'SELECT id, tier, email, created FROM accounts WHERE id = ?',
        id,
      )
      return row ?? null
    },
    list: (limit, after) =>
      db.all<AccountRow>(
        `SELECT id, tier, email, created FROM accounts
         WHERE (created, id) < (
           COALESCE((SELECT created FROM accounts WHERE id = ?), 9007199254740991),
           CAST(? AS TEXT)
         )
         ORDER BY created DESC, id DESC LIMIT ?`,
        after,
        after ?? '~',
        limit,
      ),
    async count() {
      const row = await db.get<{ count: number }>('SELECT COUNT(*) AS count FROM accounts')
      return row?.count ?? 0
    },
    async setTier(id, tier) {
      memory.known.clear()
      return (await db.run('UPDATE accounts SET tier = ? WHERE id = ?', tier, id)) > 0
    },
    async addKey({ id, account, hash, prefix, created, expires }) {
      await db.run(
        'INSERT INTO keys (id, account, hash, prefix, created, expires) VALUES (?, ?, ?, ?, ?, ?)',
        id,
        account,
        hash,
        prefix,
        created,
        expires,
      )
    },
    keysOf: (account, now) =>
      db.all<KeyRow>(
        `SELECT id, account, prefix, created, last_used, expires FROM keys
         WHERE account = ? AND (expires IS NULL OR expires > ?)
         ORDER BY created DESC, id DESC`,
        account,
        now,
      ),
    async expireKey(account, id, at) {
      memory.known.clear()
      const changed = await db.run(
        `UPDATE keys SET expires = CASE WHEN expires < ? THEN expires ELSE ? END
         WHERE account = ? AND id = ?`,
        at,
        at,
        account,
        id,
      )
      return changed > 0
    },
    async withKey(hash, now) {
      const known = memory.known.get(hash)
      if (known !== undefined && known.until > now) {
        memory.used.set(known.id, now)
        return known.expires === null || known.expires > now ? known.account : null
      }
      const row = await db.get<Account & { key_id: string; expires: number | null }>(
        `SELECT accounts.id, accounts.tier, accounts.email, keys.id AS key_id, keys.expires
         FROM keys JOIN accounts ON accounts.id = keys.account WHERE keys.hash = ?`,
        hash,
      )
      memory.known.delete(hash)
      if (row === undefined || (row.expires !== null && row.expires <= now)) return null
      const account = { id: row.id, tier: row.tier, email: row.email }
      if (memory.known.size >= maxKnown) memory.known.clear()
      memory.known.set(hash, {
        account,
        id: row.key_id,
        expires: row.expires,
        until: now + knownForMs,
      })
      memory.used.set(row.key_id, now)
      return account
    },
    async saveUse() {
      const used = [...memory.used]
      memory.used.clear()
      for (const [id, at] of used) {
        await db.run('UPDATE keys SET last_used = ? WHERE id = ?', at, id)
      }
    },
  }
}
