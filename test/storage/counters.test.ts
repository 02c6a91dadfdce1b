import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCounters } from '../../src/storage/counters.ts'
import { type Database, isUnavailable } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrations.ts'
import { onEachDatabase, openFor } from '../backends.ts'
import { verifies } from '../verifies.ts'

const DAY = 20_412

function oneTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

function ascending(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b)
}

function readUsed(db: Database): Promise<{ bucket: string; day: number; used: number }[]> {
  return db.all('SELECT bucket, day, used FROM counters ORDER BY bucket, day')
}

onEachDatabase((database) => {
  async function openMigrated(t: TestContext): Promise<Database> {
    const db = await openFor(t, await database.createUrl())
    await migrate(db)
    return db
  }

  test('two hundred calls at once get the numbers one to two hundred', async (t) => {
    const counters = createCounters(await openMigrated(t))
    const numbers = await Promise.all(oneTo(200).map(() => counters.count('a', DAY)))
    assert.deepEqual(ascending(numbers), oneTo(200))
    assert.equal(await counters.count('a', DAY), 201)
    await counters.close()
  })

  test('buckets and days have counts of their own', async (t) => {
    const counters = createCounters(await openMigrated(t))
    const calls = [
      counters.count('a', DAY),
      counters.count('b', DAY),
      counters.count('a', DAY + 1),
      counters.count('a', DAY),
      counters.count('1 a', DAY),
    ]
    assert.deepEqual(await Promise.all(calls), [1, 1, 1, 2, 1])
    await counters.close()
  })

  test('a restart keeps the counts', async (t) => {
    const db = await openMigrated(t)
    const before = createCounters(db)
    await Promise.all(oneTo(5).map(() => before.count('a', DAY)))
    await before.count('b', DAY)
    await before.close()
    const after = createCounters(db)
    const numbers = await Promise.all(oneTo(3).map(() => after.count('a', DAY)))
    assert.deepEqual(ascending(numbers), [6, 7, 8])
    await after.close()
    assert.deepEqual(await readUsed(db), [
      { bucket: 'a', day: DAY, used: 8 },
      { bucket: 'b', day: DAY, used: 1 },
    ])
  })

  test('flush stores what was counted', async (t) => {
    const db = await openMigrated(t)
    const counters = createCounters(db)
    for (const number of oneTo(3)) {
      await counters.count('a', DAY)
      await counters.flush()
      assert.deepEqual(await readUsed(db), [{ bucket: 'a', day: DAY, used: number }])
    }
    await counters.close()
  })

  test('expired days are forgotten', async (t) => {
    const db = await openMigrated(t)
    const counters = createCounters(db)
    await Promise.all([DAY - 2, DAY - 1, DAY].map((day) => counters.count('a', day)))
    await counters.flush()
    assert.equal(await counters.expire(DAY - 1, 10), 1)
    await counters.flush()
    assert.deepEqual(
      (await readUsed(db)).map(({ day }) => day),
      [DAY - 1, DAY],
    )
    assert.equal(await counters.count('a', DAY), 2)
    assert.equal(await counters.count('a', DAY - 2), 1)
    await counters.close()
  })

  test('any text names a bucket and spoils no other', async (t) => {
    const counters = createCounters(await openMigrated(t))
    const names = ['', ' ', '\0', '\ud800', '"', "'", '\\', '?', '😀', 'x'.repeat(2_000)]
    const numbers = await Promise.all(names.map((name) => counters.count(name, DAY)))
    // Both unstorable characters become the same replacement character.
    assert.deepEqual(ascending(numbers), [...oneTo(names.length - 1).map(() => 1), 2])
    await counters.close()
  })

  test('the first count of a bucket while the database is away', async (t) => {
    verifies('counters.outage')
    const db = await openFor(t, await database.createUrl())
    await migrate(db)
    const counters = createCounters(db)
    await db.close()
    if (database.name === 'sqlite') {
      await assert.rejects(counters.count('a', DAY), isUnavailable)
    } else {
      assert.deepEqual([await counters.count('a', DAY), await counters.count('a', DAY)], [1, 2])
    }
    await counters.close()
  })

  if (database.name === 'postgres') {
    test('nodes share their counts', async (t) => {
      const url = await database.createUrl()
      const nodes = await Promise.all([1, 2, 3].map(() => openFor(t, url)))
      await migrate(nodes[0]!)
      const counters = nodes.map(createCounters)
      const buckets = ['a', 'b', 'c', 'd']
      const calls = oneTo(50).flatMap(() =>
        counters.flatMap((node, index) => {
          const order = index % 2 === 0 ? buckets : buckets.toReversed()
          return order.map(async (bucket) => ({ bucket, number: await node.count(bucket, DAY) }))
        }),
      )
      const answers = await Promise.all(calls)
      for (const bucket of buckets) {
        const numbers = answers
          .filter((answer) => answer.bucket === bucket)
          .map(({ number }) => number)
        assert.deepEqual(ascending(numbers), oneTo(150))
      }
    })

    test('a node counts on while the database is read-only, and adds it when it is back', async (t) => {
      verifies('counters.outage')
      const db = await openMigrated(t)
      let readOnly = false
      const counters = createCounters({
        ...db,
        tx: (work, options) =>
          db.tx(async (tx) => {
            if (readOnly) await tx.run('SET TRANSACTION READ ONLY')
            return work(tx)
          }, options),
      })
      await counters.count('a', DAY)
      readOnly = true
      for (const number of [2, 3, 4]) assert.equal(await counters.count('a', DAY), number)
      assert.equal(await counters.count('a', DAY, -1), 3)
      assert.equal(await counters.used('a', DAY), 3)
      await assert.rejects(counters.flush(), isUnavailable)
      assert.deepEqual(await readUsed(db), [{ bucket: 'a', day: DAY, used: 1 }])
      readOnly = false
      await counters.flush()
      assert.deepEqual(await readUsed(db), [{ bucket: 'a', day: DAY, used: 3 }])
      assert.equal(await counters.count('a', DAY), 4)
      await counters.close()
    })
  } else {
    test('counting goes on while the disk is full, and is stored afterwards', async (t) => {
      const db = await openMigrated(t)
      const counters = createCounters(db)
      await counters.count('a', DAY)
      await counters.flush()
      const allow = (pages: number) => db.tx((tx) => tx.get(`PRAGMA max_page_count = ${pages}`))
      await allow(1)
      await Promise.all(oneTo(300).map((n) => counters.count(`${'x'.repeat(300)}${n}`, DAY)))
      assert.equal(await counters.count('a', DAY), 2)
      await assert.rejects(counters.flush(), isUnavailable)
      await allow(10_000)
      await counters.flush()
      assert.equal((await readUsed(db)).length, 301)
      assert.equal((await readUsed(db))[0]?.used, 2)
      await counters.close()
    })

    test('counts are written behind without being asked', async (t) => {
      const db = await openMigrated(t)
      const counters = createCounters(db)
      t.after(() => counters.close())
      for (const number of oneTo(2)) {
        await counters.count('a', DAY)
        while ((await readUsed(db))[0]?.used !== number) await new Promise(setImmediate)
      }
    })
  }
})
