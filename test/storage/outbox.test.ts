import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readAlertConfig } from '../../src/core/alerts.ts'
import { type DriftRequest, readDrift } from '../../src/core/drift.ts'
import { suppressedEntry } from '../../src/core/outbox.ts'
import { nothingAllowed } from '../../src/core/public-url.ts'
import { migrate } from '../../src/storage/migrations.ts'
import { createStore } from '../../src/storage/store.ts'
import { onEachDatabase, openFor } from '../backends.ts'

const account = 'acct_a'
const at = 1_000

onEachDatabase((database) => {
  test('a run that begins anew and an attempt that is recorded wait for one another in order', async (t) => {
    const db = await openFor(t, await database.createUrl())
    await migrate(db)
    const store = createStore(db)
    const log = (goal: string) =>
      store.log([
        {
          account,
          request: readDrift({ run_id: 'run', goal }) as DriftRequest,
          detector: 'overlap',
          now: at,
          retentionDays: 1,
        },
      ])
    const config = readAlertConfig({ url: 'https://hooks.example.com/' }, at, nothingAllowed)
    await store.tx(({ alerts }) => alerts.setConfig(account, config, at))
    await log('fix the login form')
    await log('redesign the billing database')
    const [event] = await store.deliveries.list(account, 'waiting', 1, null)
    await store.tx(({ runs }) => runs.end(account, 'run', at))

    /** Resolves when somebody waits for a row of this database. */
    async function somebodyWaits(): Promise<void> {
      if (database.name === 'sqlite') return
      const waiting = `SELECT 1 FROM pg_locks JOIN pg_class ON pg_class.oid = relation
        JOIN pg_stat_activity ON pg_stat_activity.pid = pg_locks.pid
        WHERE relnamespace = current_schema()::regnamespace AND wait_event_type = 'Lock'`
      while ((await db.get(waiting)) === undefined) await pause(5)
    }

    const anew: ReturnType<typeof log>[] = []
    await store.tx(async ({ alerts, deliveries }) => {
      await alerts.addToLog(account, suppressedEntry(event!.value, at, 'recorded'))
      anew.push(log('paint the shed'))
      await somebodyWaits()
      await deliveries.change(event!, { ...event!, state: 'delivered' }, null)
    })
    const [logged] = (await anew[0])!
    assert.ok(logged !== undefined && logged !== 'damaged')
    assert.deepEqual([logged.step, logged.verdict.reason], [1, 'grounded'])
    assert.deepEqual(await store.deliveries.list(account, null, 10, null), [])
  })
})
