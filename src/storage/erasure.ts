import { lockOutbox } from './alerts/outbox.ts'
import type { Database, Queries } from './database/database.ts'
import { deleteOwned, type OwnedRow, type OwnedTable, ownedTables, readOwned } from './owned.ts'

/** How much of what an account has is erased with it. */
export interface Erased {
  keys: number
  runs: number
  steps: number
  conversations: number
  escalations: number
  selves: number
  templates: number
  alerts: number
}

/** What belongs to accounts, whatever it is. */
export interface Erasure {
  count(account: string): Promise<Erased>
  /**
   * In a transaction: deletes at most `limit` rows of an account that is gone; answers whether there may
   * be more.
   */
  slice(account: string, limit: number): Promise<boolean>
  /** As `readOwned`. */
  read(
    table: OwnedTable,
    account: string,
    after: OwnedRow | null,
    limit: number,
  ): Promise<OwnedRow[]>
}

/** What belongs to accounts, in a database or one of its transactions. */
export function createErasure(db: Queries, kind: Database['kind']): Erasure {
  return {
    async count(account) {
      const counts = counted.map(
        ([name, table, what]) => `(SELECT ${what} FROM ${table} WHERE account = ?) AS ${name}`,
      )
      const erased = await db.get<Erased>(
        `SELECT ${counts.join(', ')}`,
        ...counted.map(() => account),
      )
      if (erased === undefined) throw new Error('a count without a row')
      return erased
    },
    async slice(account, limit) {
      await lockOutbox(db, kind, [account])
      for (const table of ownedTables) {
        if (table.table === 'teams') await dissolveTeams(account)
        if ((await deleteOwned(db, table, account, limit)) >= limit) return true
      }
      await deleteCounters(account)
      return false
    },
    read: (table, account, after, limit) => readOwned(db, table, account, after, limit),
  }

  async function dissolveTeams(account: string): Promise<void> {
    for (const table of ['team_invites', 'team_seats']) {
      await db.run(
        `DELETE FROM ${table} WHERE team IN (SELECT id FROM teams WHERE account = ?)`,
        account,
      )
    }
  }

  /** A counter is named after the account, and one of a stretch of time has that behind it. */
  async function deleteCounters(account: string): Promise<void> {
    for (const counter of counters) {
      const name = `${counter}:${account}`
      await db.run('DELETE FROM counters WHERE bucket = ?', name)
      await db.run('DELETE FROM counters WHERE bucket > ? AND bucket < ?', `${name}:`, `${name};`)
    }
  }
}

/** What counts an account's calls. */
const counters = ['reads', 'writes', 'alert-tests', 'digest-tests', 'email-links']

const counted: readonly (readonly [keyof Erased, string, string])[] = [
  ['keys', 'keys', 'COUNT(*)'],
  ['runs', 'runs', 'COUNT(*)'],
  ['steps', 'runs', 'COALESCE(SUM(steps), 0)'],
  ['conversations', 'conversations', 'COUNT(*)'],
  ['escalations', 'escalations', 'COUNT(*)'],
  ['selves', 'selves', 'COUNT(*)'],
  ['templates', 'templates', 'COUNT(*)'],
  ['alerts', 'alert_events', 'COUNT(*)'],
]
