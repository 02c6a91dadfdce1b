import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type Database, isUnavailable } from '../../src/storage/database/database.ts'
import { openDatabase } from '../../src/storage/database/open-database.ts'
import { databases, openFor } from '../backends.ts'
import { verifies } from '../verifies.ts'

const sqlite = databases.find(({ name }) => name === 'sqlite')!

async function openItems(t: TestContext, url?: string): Promise<Database> {
  const db = await openFor(t, url ?? (await sqlite.createUrl()))
  await db.run('CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT) STRICT')
  return db
}

const insert = (db: Database, id: number) => db.run('INSERT INTO items (id) VALUES (?)', id)

test('the file is written ahead, synced at each commit, and keeps foreign keys', async (t) => {
  const db = await openFor(t, await sqlite.createUrl())
  const read = (sql: string) => db.tx((tx) => tx.get(sql))
  assert.deepEqual(await read('PRAGMA journal_mode'), { journal_mode: 'wal' })
  assert.deepEqual(await read('PRAGMA synchronous'), { synchronous: 2 })
  assert.deepEqual(await read('PRAGMA foreign_keys'), { foreign_keys: 1 })
})

test('transactions run in the order they were asked for, however many there are', async (t) => {
  const db = await openItems(t)
  const order: number[] = []
  const ids = Array.from({ length: 600 }, (_, id) => id)
  await Promise.all(
    ids.map((id) =>
      db.tx(async (tx) => {
        order.push(id)
        await tx.run('INSERT INTO items (id) VALUES (?)', id)
      }),
    ),
  )
  assert.deepEqual(order, ids)
  assert.deepEqual(await db.get('SELECT COUNT(*) AS count FROM items'), { count: 600 })
})

test('transactions of one turn share a commit, and nobody is answered before it', async (t) => {
  const url = await sqlite.createUrl()
  const db = await openItems(t, url)
  const outside = await openFor(t, url)
  const counted = await Promise.all(
    [1, 2, 3].map(async (id) => {
      await insert(db, id)
      return outside.get('SELECT COUNT(*) AS count FROM items')
    }),
  )
  assert.deepEqual(counted, [{ count: 3 }, { count: 3 }, { count: 3 }])
})

test('in memory, readers wait for the batch', async (t) => {
  const db = await openItems(t, 'sqlite::memory:')
  const seen: Promise<unknown>[] = []
  const outcomes = await Promise.allSettled([
    db.tx(async (tx) => {
      await tx.run('INSERT INTO items (id) VALUES (1)')
      seen.push(db.get('SELECT COUNT(*) AS count FROM items'))
      await tx.get('SELECT 1')
      throw new Error('refused')
    }),
    insert(db, 2),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  assert.deepEqual(await Promise.all(seen), [{ count: 1 }])
})

test('a transaction that awaits something else fails alone', async (t) => {
  for (const url of [await sqlite.createUrl(), 'sqlite::memory:']) {
    const db = await openItems(t, url)
    const outcomes = await Promise.allSettled([
      insert(db, 1),
      db.tx(async (tx) => {
        await tx.run('INSERT INTO items (id) VALUES (2)')
        await new Promise(() => {})
      }),
      insert(db, 3),
    ])
    assert.match(String((outcomes[1] as PromiseRejectedResult).reason), /its own queries/)
    assert.deepEqual(await db.all('SELECT id FROM items'), [{ id: 1 }, { id: 3 }])
  }
})

test('reads outside a transaction cannot write', async (t) => {
  const db = await openItems(t)
  await assert.rejects(
    db.get('INSERT INTO items (id) VALUES (1) RETURNING id'),
    (error) => !isUnavailable(error),
  )
})

test('a commit that fails rejects everyone in it and leaves the database usable', async (t) => {
  const db = await openItems(t)
  await db.run(
    'CREATE TABLE parts (item INTEGER REFERENCES items (id) DEFERRABLE INITIALLY DEFERRED) STRICT',
  )
  const outcomes = await Promise.allSettled([
    insert(db, 1),
    db.run('INSERT INTO parts (item) VALUES (9)'),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await insert(db, 2)
  assert.deepEqual(await db.all('SELECT id FROM items'), [{ id: 2 }])
})

test('a full disk is unavailable for writing, readable, and recovers', async (t) => {
  const db = await openItems(t)
  const allow = (pages: number) => db.tx((tx) => tx.get(`PRAGMA max_page_count = ${pages}`))
  await allow(8)
  const fill = (id: number) =>
    db.run('INSERT INTO items (id, name) VALUES (?, ?)', id, 'x'.repeat(2_000))
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, id) => fill(id)))
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  assert.ok(refused.length > 0)
  for (const { reason } of refused) assert.ok(isUnavailable(reason), String(reason))
  assert.deepEqual(await db.get('SELECT COUNT(*) AS count FROM items'), {
    count: outcomes.length - refused.length,
  })
  await allow(1_000)
  await fill(100)
})

test('a read-only file is unavailable, and the file is opened anew for the next batch', async (t) => {
  const db = await openItems(t)
  await db.tx((tx) => tx.get('PRAGMA query_only = 1'))
  await assert.rejects(insert(db, 1), isUnavailable)
  await insert(db, 2)
  assert.deepEqual(await db.all('SELECT id FROM items'), [{ id: 2 }])
})

test('a lock held by another process is waited for, up to the limit', async (t) => {
  const url = await sqlite.createUrl()
  const db = await openItems(t, url)
  const other = new DatabaseSync(url.slice('sqlite:'.length))
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const patient = insert(db, 1)
  const hasty = db.tx((tx) => tx.run('INSERT INTO items (id) VALUES (2)'), { limitMs: 20 })
  await assert.rejects(hasty, isUnavailable)
  assert.deepEqual(await db.all('SELECT id FROM items'), [])
  other.exec('COMMIT')
  await patient
  assert.deepEqual(await db.all('SELECT id FROM items'), [{ id: 1 }])
})

test('of many that wait for a lock held elsewhere none waits longer than its limit', async (t) => {
  verifies('unavailable.bounded')
  const url = await sqlite.createUrl()
  const db = await openItems(t, url)
  const other = new DatabaseSync(url.slice('sqlite:'.length))
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const limitMs = 1_000
  const began = performance.now()
  const waits = await Promise.all(
    Array.from({ length: 1_000 }, async (_, id) => {
      const write = db.tx((tx) => tx.run('INSERT INTO items (id) VALUES (?)', id), { limitMs })
      await assert.rejects(write, isUnavailable)
      return performance.now() - began
    }),
  )
  // Generous to a loaded machine: each batch with a limit of its own took four times as long.
  assert.ok(
    Math.max(...waits) < 2.5 * limitMs,
    `the last was refused after ${Math.max(...waits)} ms`,
  )
  other.exec('ROLLBACK')
  await insert(db, 1)
  assert.deepEqual(await db.all('SELECT id FROM items'), [{ id: 1 }])
})

test('beyond a bound what comes is refused at once and what waits is not', async (t) => {
  verifies('unavailable.bounded')
  const url = await sqlite.createUrl()
  const db = await openItems(t, url)
  const other = new DatabaseSync(url.slice('sqlite:'.length))
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const limitMs = 60_000
  const write = (id: number) =>
    db.tx((tx) => tx.run('INSERT INTO items (id) VALUES (?)', id), { limitMs })
  const waiting = Array.from({ length: 10_000 }, (_, id) => write(id))
  await assert.rejects(write(10_000), isUnavailable)
  other.exec('ROLLBACK')
  await Promise.all(waiting)
  await write(10_000)
})

test('a statement that finds the file damaged tells of it', async (t) => {
  verifies('process.damage')
  const url = await sqlite.createUrl()
  const file = url.slice('sqlite:'.length)
  const sound = await openItems(t, url)
  await sound.run('INSERT INTO items (id, name) VALUES (1, ?)', 'x'.repeat(100_000))
  await sound.close()
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0xff, 4096))
  const told: string[] = []
  const db = await openDatabase(url, (says) => told.push(says))
  t.after(() => db.close())
  await assert.rejects(db.all('SELECT name FROM items'), /damaged.*restore/)
  assert.deepEqual(told, ['database disk image is malformed'])
})

test('several processes that make one new file at once all get it', async () => {
  for (const round of [1, 2, 3]) {
    const url = await sqlite.createUrl()
    mkdirSync(dirname(url.slice('sqlite:'.length)), { recursive: true })
    const program = `
      const { openDatabase } = await import('${import.meta.resolve('../../src/storage/database/open-database.ts')}')
      process.stdout.write('ready')
      await new Promise((go) => process.stdin.once('data', go))
      const db = await openDatabase('${url}')
      await db.run('CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY) STRICT')
      await db.close()
      process.exit()`
    const opened = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module', '--eval', program], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    )
    await Promise.all(opened.map(({ stdout }) => once(stdout, 'data')))
    for (const { stdin } of opened) stdin.write('go')
    const ended = await Promise.all(opened.map((each) => once(each, 'exit')))
    assert.deepEqual(
      ended.map(([code]) => code),
      [0, 0, 0, 0],
      `round ${round}`,
    )
  }
})

test('a path that cannot be opened is unavailable', async () => {
  const url = await sqlite.createUrl()
  mkdirSync(url.slice('sqlite:'.length), { recursive: true })
  await assert.rejects(openDatabase(url), isUnavailable)
})

/** Runs a module in a process of its own, with `db` open on `url`; answers what it printed. */
function runApart(
  url: string,
  body: string,
  before = '',
): { stdout: string; signal: string | null } {
  const program = `
    import { openDatabase } from '${import.meta.resolve('../../src/storage/database/open-database.ts')}'
    import { isUnavailable, mayBeStored } from '${import.meta.resolve('../../src/storage/database/database.ts')}'
    import { execFileSync } from 'node:child_process'
    const db = await openDatabase('${url}')
    ${body}`
  const node = `exec "$0" --input-type=module-typescript --eval "$1"`
  const { stdout, stderr, signal } = spawnSync(
    'sh',
    ['-c', `${before}${node}`, process.execPath, program],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(stderr, '')
  return { stdout, signal }
}

test('what was acknowledged survives a killed process, and nothing else does', async (t) => {
  const url = await sqlite.createUrl()
  const { stdout, signal } = runApart(
    url,
    `await db.run('CREATE TABLE items (id INTEGER PRIMARY KEY) STRICT')
     await Promise.all([1, 2, 3].map((id) => db.run('INSERT INTO items (id) VALUES (?)', id)))
     console.log('acknowledged')
     db.run('INSERT INTO items (id) VALUES (4)')
     db.tx(async () => process.kill(process.pid, 'SIGKILL'))
     setInterval(() => {}, 1000)`,
  )
  assert.deepEqual({ stdout, signal }, { stdout: 'acknowledged\n', signal: 'SIGKILL' })
  const db = await openFor(t, url)
  assert.deepEqual(await db.all('SELECT id FROM items'), [{ id: 1 }, { id: 2 }, { id: 3 }])
})

test('after an i/o error the file is opened anew and writes go on', {
  skip: whyNoFileLimit(),
}, async (t) => {
  verifies('unavailable.unknown')
  const url = await sqlite.createUrl()
  const { stdout } = runApart(
    url,
    `process.on('SIGXFSZ', () => {})
     await db.run('CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT) STRICT')
     const write = (id) => db.run('INSERT INTO items (id, name) VALUES (?, ?)', id, 'x'.repeat(50_000))
     const outcome = await write(1).then(() => 'written', (error) => [isUnavailable(error), mayBeStored(error), error.cause.errcode & 0xff])
     console.log(JSON.stringify([outcome, await db.all('SELECT id FROM items')]))
     execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])
     await write(2)
     console.log(JSON.stringify(await db.all('SELECT id FROM items')))
     await db.close()`,
    'ulimit -S -f 96; ',
  )
  const [failed, recovered] = stdout.trim().split('\n')
  assert.equal(failed, '[[true,true,10],[]]')
  assert.equal(recovered, '[{"id":2}]')
  const db = await openFor(t, url)
  assert.deepEqual(await db.get('PRAGMA integrity_check'), { integrity_check: 'ok' })
})

function whyNoFileLimit(): string | false {
  if (process.platform === 'linux' && existsSync('/usr/bin/prlimit')) return false
  return 'needs prlimit'
}

test('a new file and its log can be read by their owner alone', async (t) => {
  verifies('storage.file-private')
  const url = await sqlite.createUrl()
  const path = url.slice('sqlite:'.length)
  mkdirSync(dirname(path), { mode: 0o755 })
  await openItems(t, url)
  for (const suffix of ['', '-wal', '-shm']) {
    assert.equal(statSync(path + suffix).mode & 0o777, 0o600, suffix)
  }
})

test('text that was deleted is in no byte of the file or its log', async (t) => {
  verifies('storage.file-scrubbed')
  const url = await sqlite.createUrl()
  const path = url.slice('sqlite:'.length)
  const db = await openItems(t, url)
  const secret = 'hunter2'
  const names = Array.from({ length: 400 }, (_, id) => secret.repeat(1 + ((id * 37) % 1500)))
  await db.tx(async (tx) => {
    for (const [id, name] of names.entries()) {
      await tx.run('INSERT INTO items (id, name) VALUES (?, ?)', id, name)
    }
  })
  await db.run("UPDATE items SET name = 'x' WHERE id % 2 = 0")
  await db.run('DELETE FROM items WHERE id % 2 = 1')
  await db.scrub?.()
  for (const suffix of ['', '-wal']) {
    assert.ok(!readFileSync(path + suffix).includes(secret), `the file ${suffix}`)
  }
  assert.equal((await db.all('SELECT id FROM items')).length, 200)
})
