import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JobCount, NewJob, TakenJob } from '../../src/storage/database/jobs.ts'
import { migrate } from '../../src/storage/database/migrations.ts'
import { createStore, type OpenStore } from '../../src/storage/store.ts'
import { onEachDatabase, openFor } from '../backends.ts'

const noon = Date.UTC(2026, 0, 15, 12)
const leaseMs = 30_000

const job = (id: string, due = noon, more: Partial<NewJob> = {}): NewJob => ({
  id,
  kind: 'send',
  input: '',
  due,
  ...more,
})

const take = (store: OpenStore, now = noon, limit = 100, kind = 'send') =>
  store.tx(({ jobs }) => jobs.take(kind, now, leaseMs, limit))

const idsOf = (jobs: readonly TakenJob[]) => jobs.map(({ id }) => id)

async function takeOne(store: OpenStore, now = noon): Promise<TakenJob> {
  const [taken, ...more] = await take(store, now)
  assert.ok(taken !== undefined && more.length === 0)
  return taken
}

async function countSends(store: OpenStore, now = noon): Promise<JobCount> {
  const [count] = await store.jobs.count(now)
  return count ?? { kind: 'send', due: 0, later: 0, held: 0, gave_up: 0, oldest_due: null }
}

onEachDatabase((database) => {
  async function openStore(t: TestContext): Promise<OpenStore> {
    const db = await openFor(t, await database.createUrl())
    await migrate(db)
    return createStore(db)
  }

  test('what is due is taken, longest due first, then by id', async (t) => {
    const store = await openStore(t)
    await store.tx(async ({ jobs }) => {
      await jobs.add(job('c', noon - 1))
      await jobs.add(job('b', noon - 1, { input: '{"to":"x"}' }))
      await jobs.add(job('a', noon))
      await jobs.add(job('d', noon - 2))
      await jobs.add(job('e', noon + 1))
      await jobs.add(job('f', noon - 9, { kind: 'mail' }))
    })
    assert.deepEqual(await store.jobs.nextDue(['send', 'mail', 'none'], noon), [
      { kind: 'send', due: noon - 2 },
      { kind: 'mail', due: noon - 9 },
    ])
    assert.deepEqual(idsOf(await take(store, noon, 2)), ['d', 'b'])
    assert.deepEqual(await take(store, noon, 1), [
      { ...job('c', noon - 1), attempts: 1, held_until: noon + leaseMs },
    ])
    assert.deepEqual(idsOf(await take(store)), ['a'])
    assert.deepEqual(await take(store), [])
    assert.deepEqual(await store.jobs.nextDue(['send'], noon), [{ kind: 'send', due: noon + 1 }])
    assert.deepEqual(idsOf(await take(store, noon, 9, 'mail')), ['f'])
  })

  test('a job comes with its transaction or not at all, and wakes the one who waits for it', async (t) => {
    const store = await openStore(t)
    const undone = store.tx(async ({ jobs }) => {
      await jobs.add(job('a'))
      throw new Error('undone')
    })
    await assert.rejects(undone, /undone/)
    let woken = 0
    store.onJob(() => {
      woken += 1
    })
    await store.tx(({ jobs }) => jobs.add(job('b')))
    assert.equal(woken, 1)
    await store.jobs.add(job('c'))
    assert.equal(woken, 2)
    assert.deepEqual(idsOf(await take(store)), ['b', 'c'])
    assert.equal(woken, 2)
  })

  test('workers at once never take the same job', async (t) => {
    const url = await database.createUrl()
    const dbs = await Promise.all([1, 2, 3, 4].map(() => openFor(t, url)))
    await migrate(dbs[0]!)
    const stores = dbs.map(createStore)
    const ids = Array.from({ length: 400 }, (_, index) => `job ${index}`)
    await stores[0]!.tx(async ({ jobs }) => {
      for (const id of ids) await jobs.add(job(id))
    })
    const taken: string[] = []
    await Promise.all(
      stores.map(async (store) => {
        for (let idle = 0; idle < 3; ) {
          const some = await take(store, noon, 7)
          idle = some.length === 0 ? idle + 1 : 0
          for (const each of some) {
            taken.push(each.id)
            await store.tx(({ jobs }) => jobs.finish(each, null))
          }
        }
      }),
    )
    assert.deepEqual(taken.toSorted(), ids.toSorted())
    assert.deepEqual(await stores[1]!.jobs.count(noon), [])
  })

  test('the job of a lost worker is taken again after its lease, and the lost one cannot end it', async (t) => {
    const store = await openStore(t)
    await store.jobs.add(job('a'))
    const lost = await takeOne(store)
    assert.deepEqual(await take(store, noon + leaseMs - 1), [])
    await store.jobs.add(job('a'))
    const again = await takeOne(store, noon + leaseMs)
    assert.equal(again.attempts, 2)
    await store.tx(async ({ jobs }) => {
      assert.equal(await jobs.finish(lost, null), false)
      assert.equal(await jobs.finish(lost, noon), false)
      assert.equal(await jobs.fail(lost, 'late', noon), false)
      assert.equal(await jobs.giveUp(lost, 'late', noon), false)
      assert.equal(await jobs.release(lost), false)
    })
    assert.deepEqual(await take(store, noon + leaseMs), [])
    assert.equal(await store.tx(({ jobs }) => jobs.finish(again, null)), true)
    assert.deepEqual(await store.jobs.count(noon), [])
  })

  test('a job that recurs stays', async (t) => {
    const store = await openStore(t)
    await store.jobs.add(job('a'))
    const taken = await takeOne(store)
    await store.tx(({ jobs }) => jobs.finish(taken, noon + 60_000))
    assert.deepEqual(await take(store, noon + 59_999), [])
    assert.equal((await takeOne(store, noon + 60_000)).attempts, 1)
  })

  test('a failure waits for its retry, and counts', async (t) => {
    const store = await openStore(t)
    await store.jobs.add(job('a'))
    const first = await takeOne(store)
    await store.tx(({ jobs }) => jobs.fail(first, 'no answer', noon + 5_000))
    assert.deepEqual(await take(store, noon + 4_999), [])
    // Adding it again does not shorten the wait.
    await store.jobs.add(job('a', noon, { input: 'new' }))
    assert.deepEqual(await take(store, noon + 4_999), [])
    const second = await takeOne(store, noon + 5_000)
    assert.deepEqual([second.attempts, second.input], [2, 'new'])
    await store.tx(({ jobs }) => jobs.release(second))
    assert.equal((await takeOne(store, noon + 5_000)).attempts, 2)
  })

  test('one that gave up is kept, starts anew when it is added, and is forgotten in the end', async (t) => {
    const store = await openStore(t)
    await store.jobs.add(job('a'))
    const first = await takeOne(store)
    await store.tx(({ jobs }) => jobs.giveUp(first, 'gone', noon + 1))
    assert.deepEqual(await take(store, noon + 1e9), [])
    assert.equal((await countSends(store)).gave_up, 1)
    await store.jobs.add(job('a', noon + 2))
    const anew = await takeOne(store, noon + 2)
    assert.equal(anew.attempts, 1)
    await store.tx(({ jobs }) => jobs.giveUp(anew, 'gone', noon + 3))
    assert.equal(await store.tx(({ jobs }) => jobs.forget(noon + 3, 10)), 0)
    assert.equal(await store.tx(({ jobs }) => jobs.forget(noon + 4, 10)), 1)
    assert.deepEqual(await store.jobs.count(noon), [])
  })

  test('added while it waits, a job keeps the earlier time', async (t) => {
    const store = await openStore(t)
    await store.jobs.add(job('a', noon + 10))
    await store.jobs.add(job('a', noon + 20))
    assert.deepEqual(await store.jobs.nextDue(['send'], noon), [{ kind: 'send', due: noon + 10 }])
    await store.jobs.add(job('a', noon + 5))
    assert.deepEqual(await store.jobs.nextDue(['send'], noon), [{ kind: 'send', due: noon + 5 }])
  })

  test('added while it runs, a job runs once more, and never twice at once', async (t) => {
    const cases = [
      { end: 'finish', next: null, due: noon + 7 },
      { end: 'finish', next: noon + 60_000, due: noon + 7 },
      { end: 'finish', next: noon + 3, due: noon + 3 },
      { end: 'giveUp', next: null, due: noon + 7 },
    ] as const
    const store = await openStore(t)
    for (const { end, next, due } of cases) {
      await store.jobs.add(job('a'))
      const running = await takeOne(store)
      await store.jobs.add(job('a', noon + 9))
      await store.jobs.add(job('a', noon + 7, { input: 'more' }))
      await store.jobs.add(job('a', noon + 8, { input: 'most' }))
      assert.deepEqual(await take(store, noon + 9), [])
      await store.tx(({ jobs }) =>
        end === 'finish' ? jobs.finish(running, next) : jobs.giveUp(running, 'gone', noon),
      )
      assert.deepEqual(await take(store, due - 1), [])
      const rerun = await takeOne(store, due)
      assert.deepEqual([rerun.attempts, rerun.input], [1, 'most'])
      assert.equal(await store.tx(({ jobs }) => jobs.finish(rerun, null)), true)
      assert.deepEqual(await store.jobs.count(noon), [])
    }
  })

  test('the counts tell what waits for what', async (t) => {
    const store = await openStore(t)
    assert.deepEqual(await store.jobs.count(noon), [])
    for (const id of ['a', 'b', 'c', 'd']) await store.jobs.add(job(id, noon - 50))
    const [a, b] = await take(store, noon, 2)
    await store.tx(({ jobs }) => jobs.giveUp(a!, 'gone', noon))
    await store.tx(({ jobs }) => jobs.fail(b!, 'busy', noon + 9))
    await take(store, noon, 1)
    await store.jobs.add(job('z', noon + 99, { kind: 'mail' }))
    assert.deepEqual(await store.jobs.count(noon), [
      { kind: 'mail', due: 0, later: 1, held: 0, gave_up: 0, oldest_due: null },
      { kind: 'send', due: 1, later: 1, held: 1, gave_up: 1, oldest_due: noon - 50 },
    ])
  })

  if (database.name === 'postgres') {
    test('a job that another transaction is adding keeps nobody waiting', async (t) => {
      const store = await openStore(t)
      await store.jobs.add(job('a', noon + 1))
      await store.jobs.add(job('b'))
      await store.tx(async ({ jobs }) => {
        await jobs.add(job('a', noon))
        assert.deepEqual(idsOf(await take(store, noon + 1)), ['b'])
      })
      assert.deepEqual(idsOf(await take(store, noon + 1)), ['a'])
    })
  }
})
