import type { Subscription } from '../core/accounts/subscription.ts'
import type { Queries } from './database/database.ts'

/** What accounts pay for, as the payment provider tells it. */
export interface Subscriptions {
  find(subscription: string): Promise<Subscription | null>
  of(account: string): Promise<Subscription[]>
  /** Adds a subscription, or replaces it. */
  set(subscription: Subscription): Promise<void>
  /** Notes an event of the provider, and returns false if it was noted before. */
  addEvent(id: string, at: number): Promise<boolean>
  /** Deletes at most `limit` events noted before `at` and returns their number. */
  expireEvents(at: number, limit: number): Promise<number>
}

type Row = Omit<Subscription, 'live' | 'ending' | 'over'> & {
  live: number
  ending: number
  over: number
}

const columns = 'subscription, account, customer, tier, live, ending, over, version'

/** Creates the subscriptions on a database or a transaction. */
export function createSubscriptions(db: Queries): Subscriptions {
  return {
    async find(subscription) {
      const row = await db.get<Row>(
        `SELECT ${columns} FROM subscriptions WHERE subscription = ?`,
        subscription,
      )
      return row === undefined ? null : fromRow(row)
    },
    async of(account) {
      const rows = await db.all<Row>(
        `SELECT ${columns} FROM subscriptions WHERE account = ? ORDER BY version DESC`,
        account,
      )
      return rows.map(fromRow)
    },
    async set({ subscription, account, customer, tier, live, ending, over, version }) {
      await db.run(
        `INSERT INTO subscriptions (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (subscription) DO UPDATE SET
           account = excluded.account,
           customer = COALESCE(excluded.customer, subscriptions.customer),
           tier = excluded.tier, live = excluded.live, ending = excluded.ending,
           over = excluded.over, version = excluded.version`,
        subscription,
        account,
        customer,
        tier,
        Number(live),
        Number(ending),
        Number(over),
        version,
      )
    },
    async addEvent(id, at) {
      const rows = await db.run(
        'INSERT INTO payment_events (id, at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
        id,
        at,
      )
      return rows > 0
    },
    expireEvents: (at, limit) =>
      db.run(
        `DELETE FROM payment_events WHERE id IN (
           SELECT id FROM payment_events WHERE at < ? ORDER BY at LIMIT ?
         )`,
        at,
        limit,
      ),
  }
}

function fromRow({ live, ending, over, ...row }: Row): Subscription {
  return { ...row, live: live === 1, ending: ending === 1, over: over === 1 }
}
