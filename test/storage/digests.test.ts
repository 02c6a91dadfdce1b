import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Queries, Value } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrations.ts'
import { createDigests } from '../../src/storage/digests.ts'
import { databases, openFor } from '../backends.ts'
import { verifies } from '../verifies.ts'

const sqlite = databases.find(({ name }) => name === 'sqlite')!

test('a digest reads the steps of the runs it names, not all of the account', async (t) => {
  verifies('digest.linear')
  const db = await openFor(t, await sqlite.createUrl())
  await migrate(db)
  const plans: string[] = []
  const explained: Queries = {
    ...db,
    async all<Row>(sql: string, ...values: Value[]): Promise<Row[]> {
      const plan = await db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
      plans.push(plan.map(({ detail }) => detail).join('\n'))
      return db.all<Row>(sql, ...values)
    },
  }
  const part = { run_id: 'a', since: 1, until: 10, drifted: false }
  await createDigests(explained, 'sqlite').sumParts('acct_a', [part], { from: 0, to: 1 })
  assert.equal(plans.length, 2)
  for (const plan of plans) {
    assert.match(plan, /SEARCH steps .*\(account=\? AND run_id=\? AND step>\? AND step<\?\)/, plan)
    // The parts lead, so each step is read once however many steps the account has.
    assert.ok(plan.indexOf('json_each') < plan.indexOf('SEARCH steps'), plan)
  }
})
