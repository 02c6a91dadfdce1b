import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runStates } from '../../src/core/runs/run-state.ts'
import { type DriftRequest, readDrift } from '../../src/core/runs/step-request.ts'
import type { Database, Queries, Value } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrations.ts'
import { createStore } from '../../src/storage/store.ts'
import { databases, openFor } from '../backends.ts'

const sqlite = databases.find(({ name }) => name === 'sqlite')!

/** What SQLite does for each statement that `work` asks of a store, by the statement. */
async function plansOf(
  db: Database,
  work: (store: ReturnType<typeof createStore>) => Promise<unknown>,
): Promise<Map<string, string[]>> {
  const asked = new Map<string, Value[]>()
  function watched(queries: Queries): Queries {
    const noting =
      <Answer>(ask: (sql: string, ...values: Value[]) => Answer) =>
      (sql: string, ...values: Value[]) => {
        asked.set(sql, values)
        return ask(sql, ...values)
      }
    return {
      all: noting(queries.all),
      get: noting(queries.get),
      run: noting(queries.run),
    } as Queries
  }
  const { kind, close } = db
  await work(
    createStore({
      ...watched(db),
      kind,
      close,
      tx: (inside, options) => db.tx((tx) => inside(watched(tx)), options),
    }),
  )
  const plans = new Map<string, string[]>()
  for (const [sql, values] of asked) {
    const rows = await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
    const tables = /^(SCAN|SEARCH) (runs|steps|agents|grounds|openings|contexts)\b/
    plans.set(
      sql,
      rows.map(({ detail }) => detail).filter((detail) => tables.test(detail)),
    )
  }
  return plans
}

// PostgreSQL plans by the sizes it finds, and a table of a test has none.
test('what is asked about one run never looks at another', async (t) => {
  const db = await openFor(t, await sqlite.createUrl())
  await migrate(db)
  const entry = (fields: object) => ({
    account: 'acct_a',
    request: readDrift({ run_id: 'a', goal: 'fix the login form', ...fields }) as DriftRequest,
    detector: 'meaning' as const,
    now: 1_000,
    retentionDays: 1,
  })
  const plans = await plansOf(db, async ({ log, runs, tx }) => {
    await log([entry({}), entry({ run_id: 'b', agent_id: 'x' })])
    await log([entry({ user_turn: true, goal: 'paint the shed' })])
    await runs.find('acct_a', 'a', 1_000)
    await runs.trace('acct_a', 'a', 0, 10)
    await runs.grounds('acct_a', 'a', 5, 10)
    await runs.subGrounds('acct_a', 'a', { agent_id: 'a', revision: 1 }, 10)
    await runs.subAgents('acct_a', 'a', '', 10)
    await runs.spark('acct_a', 'a', [1, 2])
    await runs.goals('acct_a', 'a', 0, 10)
    await runs.setOutcome('acct_a', 'a', 1_000, { outcome: 'success', score: 1, note: null })
    await tx((store) => store.runs.end('acct_a', 'a', 1_000))
    await log([entry({})])
  })
  assert.ok(plans.size > 15, `${plans.size} statements`)
  for (const [sql, plan] of plans) {
    for (const detail of plan) {
      assert.match(detail, /^SEARCH .*\(account=\? AND (run_id|context)=\?/, `${sql}\n${detail}`)
    }
  }
})

test('lists of runs look at those of the account alone', async (t) => {
  const db = await openFor(t, await sqlite.createUrl())
  await migrate(db)
  const plans = await plansOf(db, async ({ runs }) => {
    for (const kind of [null, ...runStates, 'finished'] as const) {
      await runs.list('acct_a', { kind, since: 0, until: 1_000 }, 50, null)
    }
    await runs.countListed('acct_a', 0)
    await runs.recent('acct_a', 0, 100)
    await runs.page('acct_a', 0, '', 500)
    await runs.paired('acct_a', 0, null, 10)
  })
  // The list of calm runs asks what the list of all asks.
  assert.equal(plans.size, 13)
  for (const [sql, plan] of plans) {
    assert.equal(plan.length, 1, sql)
    assert.match(plan[0]!, /^SEARCH runs USING INDEX \w+ \(account=\?/, sql)
    for (const [kind, condition] of [
      ['drifting', 'AND runs.drifting = 1'],
      ['uncertain', 'AND runs.uncertain = 1'],
      ['finished', 'AND runs.outcome IS NOT NULL'],
    ] as const) {
      if (!sql.includes(condition)) continue
      assert.match(plan[0]!, new RegExp(`INDEX runs_${kind} `), sql)
    }
  }
})
