import type { BudgetState } from '../../core/alerts/budget.ts'
import { keyOf } from '../../core/text.ts'
import type { Database, Queries } from '../database/database.ts'
import { jsonRows } from '../database/rows.ts'
import { createTable } from '../database/table.ts'

/** How many alarms accounts are willing to hear. Call every method that writes in a transaction. */
export interface Budgets {
  /** Reads the budget of an account with its state; null without one. */
  of(account: string): Promise<BudgetState | null>
  /** Replaces the budget, or deletes it (null). */
  set(account: string, state: BudgetState | null): Promise<void>
  /** Counts the alarms that a budget held back from `from` until before `to`, milliseconds since 1970. */
  countHeld(account: string, from: number, to: number): Promise<number>
  /** Counts the steps of the runs last updated since a time, by the day of their update (days since 1970), oldest first. */
  stepsByDay(account: string, since: number): Promise<{ day: number; steps: number }[]>
}

/** Creates the budgets on a database or a transaction. */
export function createBudgets(db: Queries, kind: Database['kind']): Budgets {
  return {
    async of(account) {
      const [row] = await tables[kind].find(db, [{ account }])
      return row === undefined ? null : JSON.parse(String(row.state))
    },
    async set(account, state) {
      if (state === null) await db.run('DELETE FROM budgets WHERE account = ?', account)
      else await tables[kind].upsert(db, [{ account, state: JSON.stringify(state) }])
    },
    async countHeld(account, from, to) {
      const row = await db.get<{ count: number }>(
        `SELECT COUNT(*) AS count FROM alarms
         WHERE account = ? AND at >= ? AND at < ? AND held = 1`,
        account,
        from,
        to,
      )
      return row?.count ?? 0
    },
    stepsByDay: (account, since) =>
      db.all<{ day: number; steps: number }>(
        `SELECT day, SUM(steps) AS steps FROM (
           SELECT updated / 86400000 AS day, steps FROM runs WHERE account = ? AND updated >= ?
         ) AS kept GROUP BY day ORDER BY day`,
        account,
        since,
      ),
  }
}

/**
 * Locks the budgets of accounts until the transaction ends, and returns those that there are. The runs of the
 * transaction must be locked first.
 */
export async function lockBudgets(
  tx: Queries,
  kind: Database['kind'],
  accounts: readonly string[],
): Promise<Map<string, BudgetState>> {
  // A fixed order on every node prevents deadlocks.
  const keys = accounts.toSorted().map((account) => ({ account }))
  const rows = await tables[kind].lock(tx, keys)
  return new Map(rows.map(({ account, state }) => [String(account), JSON.parse(String(state))]))
}

/** Stores the states of locked budgets; need not be awaited. */
export function saveBudgets(
  tx: Queries,
  kind: Database['kind'],
  states: ReadonlyMap<string, BudgetState>,
): void {
  tables[kind].update(
    tx,
    [...states].map(([account, state]) => ({ account, state: JSON.stringify(state) })),
  )
}

/** Finds the agents whose last alarm was held back, by the key of the agent. */
export async function findHeldAgents(
  tx: Queries,
  kind: Database['kind'],
  agents: readonly { account: string; run_id: string; agent_id: string }[],
): Promise<Set<string>> {
  if (agents.length === 0) return new Set()
  const asked = agents.map(({ account, run_id, agent_id }) => ({ account, run_id, agent_id }))
  const rows = await tx.all<(typeof asked)[number]>(heldAmong[kind], JSON.stringify(asked))
  return new Set(rows.map(({ account, run_id, agent_id }) => keyOf(account, run_id, agent_id)))
}

const columns = { account: 'TEXT', state: 'TEXT' } as const

const tables = {
  sqlite: createTable('sqlite', 'budgets', ['account'], columns),
  postgres: createTable('postgres', 'budgets', ['account'], columns),
}

const heldAmong = { sqlite: heldIn('sqlite'), postgres: heldIn('postgres') }

function heldIn(kind: Database['kind']): string {
  const agentColumns = { account: 'TEXT', run_id: 'TEXT', agent_id: 'TEXT' } as const
  return `SELECT rows.account, rows.run_id, rows.agent_id FROM ${jsonRows(kind, agentColumns)}
    WHERE (
      SELECT held FROM alarms WHERE alarms.account = rows.account AND alarms.run_id = rows.run_id
        AND alarms.agent_id = rows.agent_id ORDER BY step DESC LIMIT 1
    ) = 1`
}
