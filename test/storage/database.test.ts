import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUnavailable, storable, unavailable } from '../../src/storage/database/database.ts'
import { openDatabase } from '../../src/storage/database/open-database.ts'
import { onEachDatabase, openFor } from '../backends.ts'

onEachDatabase((database, openFresh) => {
  async function openItems(t: Parameters<typeof openFresh>[0]) {
    const db = await openFresh(t)
    await db.run('CREATE TABLE items (id BIGINT PRIMARY KEY, name TEXT, weight DOUBLE PRECISION)')
    return db
  }

  test('rows come back as they went in', async (t) => {
    const db = await openItems(t)
    const at = 1_763_635_200_123
    assert.equal(
      await db.run('INSERT INTO items (id, name, weight) VALUES (?, ?, ?)', at, 'a', 0.1),
      1,
    )
    await db.run('INSERT INTO items (id, name, weight) VALUES (?, ?, ?)', -1, null, null)
    assert.deepEqual(await db.all('SELECT id, name, weight FROM items ORDER BY id'), [
      { id: -1, name: null, weight: null },
      { id: at, name: 'a', weight: 0.1 },
    ])
    assert.equal(await db.get('SELECT id FROM items WHERE name = ?', 'b'), undefined)
    assert.deepEqual(
      await db.get('SELECT COUNT(*) AS count, SUM(id) AS sum, MAX(id) AS max FROM items'),
      { count: 2, sum: at - 1, max: at },
    )
    assert.equal(await db.run('UPDATE items SET name = ?', 'c'), 2)
    assert.equal(await db.run('DELETE FROM items WHERE name = ?', 'd'), 0)
  })

  test('a question mark inside quotes is text', async (t) => {
    const db = await openItems(t)
    await db.run("INSERT INTO items (id, name) VALUES (?, 'it''s ? or ''?''')", 1)
    assert.deepEqual(
      await db.get(`SELECT name AS "?" FROM items WHERE id = ? AND name LIKE '%?%'`, 1),
      {
        '?': "it's ? or '?'",
      },
    )
  })

  test('text that no database can hold becomes the replacement character', async (t) => {
    const db = await openItems(t)
    await db.run('INSERT INTO items (id, name) VALUES (?, ?)', 1, 'nul \0 half \ud83d whole 😀')
    assert.deepEqual(await db.get('SELECT name FROM items WHERE name LIKE ?', 'nul \0%'), {
      name: 'nul \ufffd half \ufffd whole 😀',
    })
  })

  test('a transaction answers what its work answers', async (t) => {
    const db = await openItems(t)
    const row = await db.tx(async (tx) => {
      assert.equal(await tx.run('INSERT INTO items (id, name) VALUES (?, ?)', 1, 'a'), 1)
      return tx.get('UPDATE items SET name = ? WHERE id = ? RETURNING name', 'b', 1)
    })
    assert.deepEqual(row, { name: 'b' })
  })

  test('a refused transaction undoes itself and nothing else', async (t) => {
    const db = await openItems(t)
    const insert = (id: number, refuse: boolean) =>
      db.tx(async (tx) => {
        await tx.run('INSERT INTO items (id) VALUES (?)', id)
        if (refuse) throw new Error(`no ${id}`)
        return id
      })
    const outcomes = await Promise.allSettled([
      insert(1, false),
      insert(2, true),
      insert(3, false),
      db.run('INSERT INTO items (id, nothing) VALUES (?, ?)', 4, 4),
      insert(5, false),
    ])
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    )
    assert.match(String((outcomes[1] as PromiseRejectedResult).reason), /no 2/)
    assert.equal(isUnavailable((outcomes[3] as PromiseRejectedResult).reason), false)
    assert.deepEqual(await db.all('SELECT id FROM items ORDER BY id'), [
      { id: 1 },
      { id: 3 },
      { id: 5 },
    ])
  })

  test('readers see a transaction when it is over, and then all of it', async (t) => {
    const db = await openItems(t)
    const count = async () =>
      (await db.get<{ count: number }>('SELECT COUNT(*) AS count FROM items'))?.count
    const seen: Promise<number | undefined>[] = []
    const written = db.tx(async (tx) => {
      await tx.run('INSERT INTO items (id) VALUES (1)')
      seen.push(count())
      await tx.run('INSERT INTO items (id) VALUES (2)')
      seen.push(count())
    })
    await written
    for (const number of await Promise.all(seen)) assert.ok(number === 0 || number === 2)
    assert.equal(await count(), 2)
  })

  test('queries asked for together inside a transaction run in that order', async (t) => {
    const db = await openItems(t)
    await db.tx(async (tx) => {
      await Promise.all([
        tx.run('INSERT INTO items (id, name) VALUES (1, ?)', 'a'),
        tx.run('UPDATE items SET name = name || ? WHERE id = 1', 'b'),
        tx.run('UPDATE items SET name = name || ? WHERE id = 1', 'c'),
      ])
    })
    assert.deepEqual(await db.get('SELECT name FROM items'), { name: 'abc' })
  })

  test('queries asked for together all count for nothing when one of them fails', async (t) => {
    const db = await openItems(t)
    await db.run('CREATE UNIQUE INDEX items_by_id ON items (id)')
    const insert = 'INSERT INTO items (id) VALUES (?)'
    const together = db.tx((tx) => Promise.all([1, 2, 1, 3].map((id) => tx.run(insert, id))))
    await assert.rejects(together, /unique/i)
    assert.equal(await db.run(insert, 1), 1)
    assert.deepEqual(await db.all('SELECT id FROM items'), [{ id: 1 }])
  })

  test('a query that nobody waits for is part of its transaction, and fails it', async (t) => {
    const db = await openItems(t)
    await db.run('CREATE UNIQUE INDEX items_by_id ON items (id)')
    const leave = (...ids: number[]) =>
      db.tx(async (tx) => {
        for (const id of ids) tx.run('INSERT INTO items (id) VALUES (?)', id).catch(() => {})
        return ids.length
      })
    assert.equal(await leave(1, 2), 2)
    const outcomes = await Promise.allSettled([leave(3), leave(4, 1, 5), leave(6)])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.match(String((outcomes[1] as PromiseRejectedResult).reason), /unique/i)
    assert.deepEqual(
      (await db.all<{ id: number }>('SELECT id FROM items ORDER BY id')).map(({ id }) => id),
      [1, 2, 3, 6],
    )
  })

  test('a transaction fails with what failed first, waited for or not', async (t) => {
    const db = await openItems(t)
    await db.run('CREATE UNIQUE INDEX items_by_id ON items (id)')
    const failing = db.tx(async (tx) => {
      const insert = () => tx.run('INSERT INTO items (id) VALUES (1)')
      await insert()
      insert().catch(() => {})
      await tx.all('SELECT id FROM items')
      throw new Error('not this')
    })
    await assert.rejects(failing, /unique/i)
    assert.deepEqual(await db.all('SELECT id FROM items'), [])
  })

  test('a transaction that asks nothing answers what its work answers', async (t) => {
    const db = await openItems(t)
    assert.equal(await db.tx(async () => 1), 1)
    await assert.rejects(
      db.tx(async () => {
        throw new Error('no')
      }),
      /no/,
    )
    assert.deepEqual(await db.all('SELECT id FROM items'), [])
  })

  test('queries after the end of their transaction are refused', async (t) => {
    const db = await openItems(t)
    const tx = await db.tx(async (tx) => tx)
    await assert.rejects(tx.run('INSERT INTO items (id) VALUES (1)'), /over/)
  })

  test('a closed database is unavailable, and keeps what was asked before', async (t) => {
    const url = await database.createEmptyUrl()
    const db = await openDatabase(url)
    await db.run('CREATE TABLE items (id BIGINT)')
    const asked = [1, 2, 3].map((id) => db.run('INSERT INTO items (id) VALUES (?)', id))
    await db.close()
    await Promise.all(asked)
    await db.close()
    await assert.rejects(db.run('INSERT INTO items (id) VALUES (4)'), isUnavailable)
    await assert.rejects(db.all('SELECT id FROM items'), isUnavailable)
    const again = await openFor(t, url)
    assert.deepEqual(await again.get('SELECT COUNT(*) AS count FROM items'), { count: 3 })
  })
})

test('any other url is refused without repeating it', () => {
  for (const url of ['mysql://me:secret@host/db', 'secret', '', 'sqlite:']) {
    assert.throws(
      () => openDatabase(url),
      (error) => error instanceof Error && !error.message.includes('secret'),
    )
  }
})

test('unavailable errors keep their cause', () => {
  const cause = new Error('disk full')
  assert.equal(isUnavailable(unavailable(cause)), true)
  assert.match(unavailable(cause).message, /disk full/)
  assert.equal(unavailable(cause).cause, cause)
  for (const other of [cause, null, undefined, 'database_unavailable']) {
    assert.equal(isUnavailable(other), false)
  }
})

test('storable leaves good text alone', () => {
  assert.equal(storable('plain 😀 \n'), 'plain 😀 \n')
})
