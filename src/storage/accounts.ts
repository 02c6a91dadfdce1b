import type { TierName } from '../core/accounts/tiers.ts'
import type { Database, Queries } from './database/database.ts'
import { jsonRows } from './database/rows.ts'

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
  /**
   * In a transaction: has others that lock the same account wait until this one is over. Answers
   * whether there is such an account.
   */
  lock(id: string): Promise<boolean>
  /** Deletes the account and its keys, which are refused from then on. */
  delete(id: string): Promise<void>
  /** Also forgets the keys of the account that have expired. */
  addKey(key: Omit<KeyRow, 'last_used'> & { hash: string }): Promise<void>
  /** Newest first, those no longer valid left out. */
  keysOf(account: string, now: number): Promise<KeyRow[]>
  /** The key expires at `at`, unless it does so earlier. Answers whether the account has such a key. */
  expireKey(account: string, id: string, at: number): Promise<boolean>
  /** Ends a key at once; `account` of null is whosever it is. Answers whether there was such a key. */
  deleteKey(account: string | null, id: string): Promise<boolean>
  /** The account a key belongs to, by the hash of the key, or null when it is unknown or expired. */
  withKey(hash: string, now: number): Promise<Account | null>
  /** Stores when keys were last used, as far as this node has seen. */
  saveUse(): Promise<void>
}

/** What this node remembers of keys between requests, so that most need no look-up. */
export interface KeyMemory {
  readonly known: Map<string, KnownKey>
  readonly used: Map<string, number>
  /** How often `known` was emptied: what was looked up before that is not remembered after it. */
  emptied: number
}

interface KnownKey {
  account: Account
  id: string
  expires: number | null
  /** When it was looked up. */
  at: number
}

const knownForMs = 3_000
const maxKnown = 10_000

/** A memory with nothing in it. */
export function newKeyMemory(): KeyMemory {
  return { known: new Map(), used: new Map(), emptied: 0 }
}

/** Has the next request of every key look it up again; asked for when a change of keys is committed. */
export function forgetKeys(memory: KeyMemory): void {
  memory.known.clear()
  memory.emptied += 1
}

/**
 * Accounts in a database or one of its transactions; `memory` is the node's, shared by all of them.
 * `changed` is called after every statement that changes what a key may do.
 */
export function createAccounts(
  db: Queries,
  kind: Database['kind'],
  memory: KeyMemory,
  changed: () => void,
): Accounts {
  async function change(sql: string, ...values: (string | number | null)[]): Promise<boolean> {
    const rows = await db.run(sql, ...values)
    changed()
    return rows > 0
  }

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
    setTier: (id, tier) => change('UPDATE accounts SET tier = ? WHERE id = ?', tier, id),
    async lock(id) {
      return (await db.run('UPDATE accounts SET tier = tier WHERE id = ?', id)) > 0
    },
    async delete(id) {
      await change('DELETE FROM keys WHERE account = ?', id)
      await change('DELETE FROM accounts WHERE id = ?', id)
    },
    async addKey({ id, account, hash, prefix, created, expires }) {
      await db.run('DELETE FROM keys WHERE account = ? AND expires <= ?', account, created)
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
    async keysOf(account, now) {
      const rows = await db.all<KeyRow>(
        `SELECT id, account, prefix, created, last_used, expires FROM keys
         WHERE account = ? AND (expires IS NULL OR expires > ?)
         ORDER BY created DESC, id DESC`,
        account,
        now,
      )
      return rows.map((row) => ({ ...row, last_used: memory.used.get(row.id) ?? row.last_used }))
    },
    expireKey: (account, id, at) =>
      change(
        `UPDATE keys SET expires = CASE WHEN expires < ? THEN expires ELSE ? END
         WHERE account = ? AND id = ?`,
        at,
        at,
        account,
        id,
      ),
    deleteKey: (account, id) =>
      change(
        'DELETE FROM keys WHERE id = ? AND account = COALESCE(CAST(? AS TEXT), account)',
        id,
        account,
      ),
    async withKey(hash, now) {
      const known = memory.known.get(hash)
      // A clock that was set back must not make a revoked key live on.
      if (known !== undefined && now >= known.at && now - known.at < knownForMs) {
        return recognise(known, now)
      }
      const { emptied } = memory
      const row = await db.get<Account & { key_id: string; expires: number | null }>(
        `SELECT accounts.id, accounts.tier, accounts.email, keys.id AS key_id, keys.expires
         FROM keys JOIN accounts ON accounts.id = keys.account WHERE keys.hash = ?`,
        hash,
      )
      memory.known.delete(hash)
      if (row === undefined) return null
      const { id, tier, email, key_id, expires } = row
      const found = { account: { id, tier, email }, id: key_id, expires, at: now }
      if (memory.emptied === emptied) {
        if (memory.known.size >= maxKnown) memory.known.clear()
        memory.known.set(hash, found)
      }
      return recognise(found, now)
    },
    async saveUse() {
      const used = [...memory.used]
      if (used.length === 0) return
      memory.used.clear()
      try {
        await db.run(
          `UPDATE keys SET last_used = rows.at
           FROM ${jsonRows(kind, { id: 'TEXT', at: 'BIGINT' })}
           WHERE keys.id = rows.id AND (keys.last_used IS NULL OR keys.last_used < rows.at)`,
          JSON.stringify(used.map(([id, at]) => ({ id, at }))),
        )
      } catch (error) {
        for (const [id, at] of used) if (!memory.used.has(id)) memory.used.set(id, at)
        throw error
      }
    },
  }

  function recognise({ account, id, expires }: KnownKey, now: number): Account | null {
    if (expires !== null && expires <= now) return null
    memory.used.set(id, now)
    return account
  }
}
