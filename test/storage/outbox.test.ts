import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readAlertConfig } from '../../src/core/alerts/alerts.ts'
import { suppressedEntry } from '../../src/core/alerts/outbox.ts'
import { nothingAllowed } from '../../src/core/alerts/public-url.ts'
import { type DriftRequest, readDrift } from '../../src/core/runs/step-request.ts'
import { dayMs } from '../../src/core/time.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrations.ts'
import { deleteExpiredRuns } from '../../src/storage/runs/expiry.ts'
import { createStore, type OpenStore } from '../../src/storage/store.ts'
import { onEachDatabase, openFor } from '../backends.ts'

const account = 'acct_a'
const at = 1_000

onEachDatabase((database) => {
  const entry = (goal: string) => ({
    account,
    request: readDrift({ run_id: 'run', goal }) as DriftRequest,
    detector: 'meaning' as const,
    now: at,
    retentionDays: 1,
  })

  /** Resolves when somebody waits for a row of this database. */
  async function somebodyWaits(db: Database): Promise<void> {
    if (database.name === 'sqlite') return
    const waiting = `SELECT 1 FROM pg_locks JOIN pg_class ON pg_class.oid = relation
      JOIN pg_stat_activity ON pg_stat_activity.pid = pg_locks.pid
      WHERE relnamespace = current_schema()::regnamespace AND wait_event_type = 'Lock'`
    while ((await db.get(waiting)) === undefined) await pause(5)
  }

  for (const [what, forget] of Object.entries({
    'runs that have expired': (store: OpenStore) =>
      store.db.tx((tx) => deleteExpiredRuns(tx, store.db.kind, at + 2 * dayMs, 500)),
    'events that are old': (store: OpenStore) =>
      store.tx(({ deliveries }) => deliveries.expire(at, 500)),
  })) {
    test(`${what} go while attempts of theirs are recorded, and neither gives way`, async (t) => {
      const db = await openFor(t, await database.createUrl())
      await migrate(db)
      const store = createStore(db)
      const config = readAlertConfig({ url: 'https://hooks.example.com/' }, at, nothingAllowed)
      await store.tx(({ alerts }) => alerts.setConfig(account, config, at))
      for (const goal of ['refund order 1041', 'refund order 2093', 'refund order 3377']) {
        await store.log([entry(goal)])
      }
      const [newer, older] = await store.deliveries.list(account, 'waiting', 2, null)
      assert.ok(newer !== undefined && older !== undefined)
      const forgetting: Promise<unknown>[] = []
      await store.tx(async ({ alerts, deliveries }) => {
        await alerts.addToLog(account, suppressedEntry(newer.value, at, 'recorded'))
        await deliveries.change(newer, { ...newer, state: 'delivered' }, null, 0)
        forgetting.push(forget(store))
        await somebodyWaits(db)
        await deliveries.change(older, { ...older, state: 'delivered' }, null, 0)
      })
      await forgetting[0]
      assert.deepEqual(await store.deliveries.list(account, null, 10, null), [])
    })
  }

  test('a run that begins anew and an attempt that is recorded wait for one another in order', async (t) => {
    const db = await openFor(t, await database.createUrl())
    await migrate(db)
    const store = createStore(db)
    const log = (goal: string) => store.log([entry(goal)])
    const config = readAlertConfig({ url: 'https://hooks.example.com/' }, at, nothingAllowed)
    await store.tx(({ alerts }) => alerts.setConfig(account, config, at))
    await log('refund order 1041')
    await log('refund order 2093')
    const [event] = await store.deliveries.list(account, 'waiting', 1, null)
    await store.tx(({ runs }) => runs.end(account, 'run', at))

    const anew: ReturnType<typeof log>[] = []
    await store.tx(async ({ alerts, deliveries }) => {
      await alerts.addToLog(account, suppressedEntry(event!.value, at, 'recorded'))
      anew.push(log('paint the shed'))
      await somebodyWaits(db)
      await deliveries.change(event!, { ...event!, state: 'delivered' }, null, 0)
    })
    const [logged] = (await anew[0])!
    assert.ok(logged !== undefined && logged !== 'damaged')
    assert.deepEqual([logged.step, logged.verdict.reason], [1, 'grounded'])
    assert.deepEqual(await store.deliveries.list(account, null, 10, null), [])
  })
})
