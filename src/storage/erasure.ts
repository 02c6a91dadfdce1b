import { lockOutbox } from './alerts/outbox.ts'
import type { Database, Queries } from './database/database.ts'
import { deleteOwned, type OwnedRow, type OwnedTable, ownedTables, readOwned } from './owned.ts'

/** Counts of the rows erased with an account. */
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

/** The rows of accounts, in every table. */
export interface Erasure {
  count(account: string): Promise<Erased>
  /**
   * Deletes at most `limit` rows of a deleted account and returns whether there may be more. Call it in a
   * transaction.
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

/** Creates the erasure on a database or a transaction. */
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

  /** Counters have the id of the account as name, or as prefix of the name. */
  async function deleteCounters(account: string): Promise<void> {
    for (const counter of counters) {
      const name = `${counter}:${account}`
      await db.run('DELETE FROM counters WHERE bucket = ?', name)
      await db.run('DELETE FROM counters WHERE bucket > ? AND bucket < ?', `${name}:`, `${name};`)
    }
  }
}

/** The counters of an account. */
const counters = ['reads', 'writes', 'alert-tests', 'digest-tests', 'email-links', 'upgrades']

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
