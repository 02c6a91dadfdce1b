import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Database, isUnavailable } from '../../src/storage/database/database.ts'
import { numberPlaceholders } from '../../src/storage/database/postgres.ts'
import { databases, openFor } from '../backends.ts'

const postgres = databases.find(({ name }) => name === 'postgres')!
const skip = postgres.skip

const PLACEHOLDERS: readonly [string, string][] = [
  ['SELECT 1', 'SELECT 1'],
  ['SELECT ?, ?', 'SELECT $1, $2'],
  [`SELECT '?', "?", ?`, `SELECT '?', "?", $1`],
  ["SELECT 'it''s ?', ?", "SELECT 'it''s ?', $1"],
  ['SELECT ? -- why?\n, ?', 'SELECT $1 -- why?\n, $2'],
]

for (const [given, expected] of PLACEHOLDERS) {
  test(`placeholders of ${JSON.stringify(given)}`, () => {
    assert.equal(numberPlaceholders(given), expected)
  })
}

async function readPid(queries: Pick<Database, 'get'>): Promise<number> {
  const row = await queries.get<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return row!.pid
}

async function terminate(db: Database, pid: number): Promise<void> {
  await db.all('SELECT pg_terminate_backend(?::int, 2000)', pid)
}

test('a connection that was killed while idle is replaced unnoticed', { skip }, async (t) => {
  const url = await postgres.createEmptyUrl()
  const [db, admin] = [await openFor(t, url), await openFor(t, url)]
  await db.run('CREATE TABLE items (id BIGINT)')
  for (const work of [
    () => db.run('INSERT INTO items (id) VALUES (1)'),
    () => db.all('SELECT id FROM items'),
    () =>
      db.tx(async (tx) => {
        const asked = [2, 3].map((id) => tx.run('INSERT INTO items (id) VALUES (?)', id))
        assert.deepEqual(await Promise.all(asked), [1, 1])
        await tx.run('INSERT INTO items (id) VALUES (4)')
      }),
  ]) {
    const before = await readPid(db)
    await terminate(admin, before)
    await work()
    assert.notEqual(await readPid(db), before)
  }
  assert.deepEqual(
    (await db.all<{ id: number }>('SELECT id FROM items ORDER BY id')).map(({ id }) => id),
    [1, 2, 3, 4],
  )
})

test('a transaction whose connection is killed is unavailable and leaves nothing', {
  skip,
}, async (t) => {
  const url = await postgres.createEmptyUrl()
  const [db, admin] = [await openFor(t, url), await openFor(t, url)]
  await db.run('CREATE TABLE items (id BIGINT)')
  const killed = db.tx(async (tx) => {
    await tx.run('INSERT INTO items (id) VALUES (1)')
    await terminate(admin, await readPid(tx))
    await tx.run('INSERT INTO items (id) VALUES (2)')
  })
  await assert.rejects(killed, isUnavailable)
  await db.run('INSERT INTO items (id) VALUES (3)')
  assert.deepEqual(await db.all('SELECT id FROM items'), [{ id: 3 }])
})

test('a transaction that hides a failed statement is not taken for committed', {
  skip,
}, async (t) => {
  const db = await openFor(t, await postgres.createEmptyUrl())
  await db.run('CREATE TABLE items (id BIGINT PRIMARY KEY)')
  const hiding = db.tx(async (tx) => {
    await tx.run('INSERT INTO items (id) VALUES (1)')
    await tx.run('INSERT INTO items (id) VALUES (1)').catch(() => {})
  })
  await assert.rejects(hiding, /duplicate key/)
  assert.deepEqual(await db.all('SELECT id FROM items'), [])
})

test('the limit of a transaction ends its statement and frees the pool', { skip }, async (t) => {
  const db = await openFor(t, await postgres.createEmptyUrl())
  const slow = () => db.tx((tx) => tx.all('SELECT pg_sleep(3)'), { limitMs: 100 })
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, slow))
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && isUnavailable(outcome.reason))
  }
  assert.deepEqual(await db.all('SELECT 1 AS one'), [{ one: 1 }])
})

test('a lock not had in time is unavailable', { skip }, async (t) => {
  const db = await openFor(t, await postgres.createEmptyUrl())
  await db.run('CREATE TABLE items (id BIGINT)')
  await db.tx(async (tx) => {
    await tx.run('LOCK TABLE items')
    const other = db.tx(async (second) => {
      await second.run("SET LOCAL lock_timeout = '20ms'")
      await second.run('LOCK TABLE items')
    })
    await assert.rejects(other, isUnavailable)
  })
})

test('statements prepared before another node migrated are prepared anew', { skip }, async (t) => {
  const url = await postgres.createEmptyUrl()
  const [db, other] = [await openFor(t, url), await openFor(t, url)]
  await db.run('CREATE TABLE items (id BIGINT)')
  assert.deepEqual(await db.all('SELECT * FROM items'), [])
  await other.run('ALTER TABLE items ADD COLUMN name TEXT')
  await other.run("INSERT INTO items (id, name) VALUES (1, 'a')")
  assert.deepEqual(await db.all('SELECT * FROM items'), [{ id: 1, name: 'a' }])
})

test('a server that is not there is unavailable at once', async (t) => {
  const db = await openFor(t, 'postgres://postgres@127.0.0.1:1/test')
  await assert.rejects(db.all('SELECT 1'), isUnavailable)
  await assert.rejects(
    db.tx((tx) => tx.all('SELECT 1')),
    isUnavailable,
  )
})

test('a transaction that goes on after its connection was not had is refused again at once', async (t) => {
  const db = await openFor(t, 'postgres://postgres@127.0.0.1:1/test')
  const stubborn = db.tx(async (tx) => {
    await assert.rejects(tx.all('SELECT 1'), isUnavailable)
    await assert.rejects(tx.all('SELECT 2'), isUnavailable)
  })
  await assert.rejects(stubborn, isUnavailable)
})

test('a wrong database name is no passing trouble', { skip }, async (t) => {
  const url = new URL(await postgres.createEmptyUrl())
  url.pathname = '/no_such_database'
  const db = await openFor(t, url.href)
  await assert.rejects(db.all('SELECT 1'), (error) => !isUnavailable(error))
})

/** A way to the server that can be made to swallow everything, as a broken network does. */
async function startProxy(t: TestContext, target: URL) {
  let silent = false
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => silent || to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => silent || to.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(target)
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return { url: url.href, silence: (on: boolean) => (silent = on) }
}

test('a connection gone silent is given up in time and replaced', { skip }, async (t) => {
  const proxy = await startProxy(t, new URL(await postgres.createEmptyUrl()))
  const db = await openFor(t, proxy.url)
  const limited = () => db.tx((tx) => tx.get('SELECT 1 AS one'), { limitMs: 300 })
  assert.deepEqual(await limited(), { one: 1 })
  proxy.silence(true)
  await assert.rejects(limited(), isUnavailable)
  proxy.silence(false)
  assert.deepEqual(await limited(), { one: 1 })
})
