import type { KeyScope } from '../core/accounts/keys.ts'
import type { TierName } from '../core/accounts/tiers.ts'
import type { Database, Queries } from './database/database.ts'
import { jsonRows } from './database/rows.ts'

/** The account of a request. */
export interface Account {
  /** `acct_…`, opaque. */
  readonly id: string
  readonly tier: TierName
  readonly email: string | null
}

/** A key without its secret, which is never stored. Times are milliseconds since 1970. */
export interface KeyRow {
  id: string
  account: string
  prefix: string
  created: number
  last_used: number | null
  expires: number | null
  scope: KeyScope
  /** What its owner calls it. */
  label: string | null
}

/** An account as the operator sees it. */
export interface AccountRow extends Account {
  created: number
}

/** The account of a key, and what the key may do. */
export interface KeyOwner {
  readonly account: Account
  readonly keyId: string
  readonly scope: KeyScope
}

/** Accounts and their keys. */
export interface Accounts {
  create(account: AccountRow): Promise<void>
  find(id: string): Promise<AccountRow | null>
  /** Lists at most `limit` accounts, newest first, older than the account `after` if given. */
  list(limit: number, after: string | null): Promise<AccountRow[]>
  count(): Promise<number>
  /** The oldest account, which is the operator's; null without any. */
  first(): Promise<AccountRow | null>
  /** Answers whether there is such an account. */
  setTier(id: string, tier: TierName): Promise<boolean>
  /** Locks the account until the transaction ends, and returns whether it exists. */
  lock(id: string): Promise<boolean>
  /** Deletes the account, its keys and the persons who sign in to it; all stop working at once. */
  delete(id: string): Promise<void>
  /** Adds a key, and deletes the expired keys of the account. */
  addKey(key: Omit<KeyRow, 'last_used'> & { hash: string }): Promise<void>
  /** Lists the valid keys, newest first. */
  keysOf(account: string, now: number): Promise<KeyRow[]>
  /** Makes the key expire at `at` or earlier, and returns whether the account has this key. */
  expireKey(account: string, id: string, at: number): Promise<boolean>
  /** Revokes a key and ends the sessions that it made; `account` of null matches any account. Returns whether the key existed. */
  deleteKey(account: string | null, id: string): Promise<boolean>
  /** Finds the account of a key, and what the key may do, by its hash; null if it is unknown or expired. */
  withKey(hash: string, now: number): Promise<KeyOwner | null>
  /** Stores the last use of each key that this node has seen. */
  saveUse(): Promise<void>
}

/** The cache of keys of this node, so that most requests need no query. */
export interface KeyMemory {
  readonly known: Map<string, KnownKey>
  readonly used: Map<string, number>
  /** How often `known` was emptied. A lookup that began before is not cached after. */
  emptied: number
}

interface KnownKey {
  account: Account
  id: string
  scope: KeyScope
  expires: number | null
  /** Time of the lookup. */
  at: number
}

const knownForMs = 3_000
const maxKnown = 10_000

/** Creates an empty cache of keys. */
export function newKeyMemory(): KeyMemory {
  return { known: new Map(), used: new Map(), emptied: 0 }
}

/** Empties the cache of keys; called when a change of keys commits. */
export function forgetKeys(memory: KeyMemory): void {
  memory.known.clear()
  memory.emptied += 1
}

/**
 * Creates the accounts on a database or a transaction. All of them share the key cache of the node.
 * `changed` is called after every statement that changes the rights of a key.
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
    async first() {
      const row = await db.get<AccountRow>(
        'SELECT id, tier, email, created FROM accounts ORDER BY created, id LIMIT 1',
      )
      return row ?? null
    },
    setTier: (id, tier) => change('UPDATE accounts SET tier = ? WHERE id = ?', tier, id),
    async lock(id) {
      return (await db.run('UPDATE accounts SET tier = tier WHERE id = ?', id)) > 0
    },
    async delete(id) {
      await change('DELETE FROM keys WHERE account = ?', id)
      await db.run('DELETE FROM identities WHERE account = ?', id)
      await change('DELETE FROM accounts WHERE id = ?', id)
    },
    async addKey({ id, account, hash, prefix, created, expires, scope, label }) {
      await db.run('DELETE FROM keys WHERE account = ? AND expires <= ?', account, created)
      await db.run(
        `INSERT INTO keys (id, account, hash, prefix, created, expires, scope, label)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        account,
        hash,
        prefix,
        created,
        expires,
        scope,
        label,
      )
    },
    async keysOf(account, now) {
      const rows = await db.all<KeyRow>(
        `SELECT id, account, prefix, created, last_used, expires, scope, label FROM keys
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
    async deleteKey(account, id) {
      const existed = await change(
        'DELETE FROM keys WHERE id = ? AND account = COALESCE(CAST(? AS TEXT), account)',
        id,
        account,
      )
      if (existed) await db.run('DELETE FROM sessions WHERE key_id = ?', id)
      return existed
    },
    async withKey(hash, now) {
      const known = memory.known.get(hash)
      // The age check also guards against a clock that was set back: a revoked key must not live on.
      if (known !== undefined && now >= known.at && now - known.at < knownForMs) {
        return recognise(known, now)
      }
      const { emptied } = memory
      const row = await db.get<Account & Pick<KeyRow, 'expires' | 'scope'> & { key_id: string }>(
        `SELECT accounts.id, accounts.tier, accounts.email, keys.id AS key_id, keys.expires,
           keys.scope
         FROM keys JOIN accounts ON accounts.id = keys.account WHERE keys.hash = ?`,
        hash,
      )
      memory.known.delete(hash)
      if (row === undefined) return null
      const { id, tier, email, key_id, expires, scope } = row
      const found = { account: { id, tier, email }, id: key_id, expires, scope, at: now }
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

  function recognise({ account, id, expires, scope }: KnownKey, now: number): KeyOwner | null {
    if (expires !== null && expires <= now) return null
    memory.used.set(id, now)
    return { account, keyId: id, scope }
  }
}
