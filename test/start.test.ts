import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { databases } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { freshFolder, spawnPlumbline, spawnServe } from './spawned.ts'
import { verifies } from './verifies.ts'

const postgres = databases.find(({ name }) => name === 'postgres')!

test('is the one server of its SQLite file', async (t) => {
  verifies('process.sqlite-one', 'process.sqlite-cli')
  const first = await spawnServe(t)
  const { folder } = first
  const second = spawnPlumbline(t, ['serve'], { folder, env: { PORT: '0' } })
  assert.equal(await second.ended, 2)
  assert.match(second.written.err, /^plumbline serve: A server already runs on .+\.\n$/)
  assert.equal(second.written.out, '')
  for (const args of [
    ['keys', 'list'],
    ['backup', 'copy.db'],
  ]) {
    const beside = spawnPlumbline(t, args, { folder })
    assert.equal(await beside.ended, 0, `${args}: ${beside.written.err}`)
  }
  assert.equal((await fetch(`${first.url}/readyz`)).status, 200)
  first.child.kill('SIGKILL')
  await first.ended
  const next = await spawnServe(t, { folder })
  assert.equal((await fetch(`${next.url}/readyz`)).status, 200)
})

for (const [fault, env, sentence] of [
  [
    'a file that is no database',
    { DATABASE_URL: `sqlite:${import.meta.filename}` },
    /no SQLite database.*restore/,
  ],
  [
    'a port in use',
    { DATABASE_URL: 'sqlite::memory:', PORT: 'taken' },
    /port \d+ of 127.0.0.1 is in use/,
  ],
  [
    'a host that is elsewhere',
    { DATABASE_URL: 'sqlite::memory:', HOST: '203.0.113.7' },
    /203.0.113.7 is not an address of this machine/,
  ],
  [
    'a host that nobody knows',
    { DATABASE_URL: 'sqlite::memory:', HOST: 'nowhere.invalid' },
    /nowhere.invalid is not an address/,
  ],
  [
    'a PostgreSQL that is away',
    { DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/x' },
    /ECONNREFUSED/,
  ],
  ...(postgres.skip
    ? []
    : ([
        [
          'a database that is not there',
          { DATABASE_URL: 'database' },
          /PostgreSQL refuses: database "nosuch" does not exist/,
        ],
        ['a role that is not there', { DATABASE_URL: 'role' }, /PostgreSQL refuses: .*nosuch/],
      ] as const)),
] as const) {
  test(`says in one sentence that it cannot start: ${fault}`, async (t) => {
    verifies('process.start-faults')
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    t.after(() => taken.close())
    const { port } = taken.address() as { port: number }
    const given: Record<string, string> = { PORT: '0', ...env }
    if (given.PORT === 'taken') given.PORT = String(port)
    if (given.DATABASE_URL === 'database' || given.DATABASE_URL === 'role') {
      const url = new URL(await postgres.createUrl())
      if (given.DATABASE_URL === 'database') url.pathname = '/nosuch'
      else [url.username, url.password] = ['nosuch', 'secret']
      given.DATABASE_URL = url.href
    }
    const { written, ended } = spawnPlumbline(t, ['serve'], { env: given })
    assert.equal(await ended, 2, written.err)
    assert.match(written.err, sentence)
    assert.match(written.err, /^plumbline serve: .+\n$/)
    assert.doesNotMatch(written.err, /secret/)
  })
}

test('is not ready on a damaged file, and says so once', async (t) => {
  verifies('process.damage')
  const file = join(freshFolder(t), 'x.db')
  const env = { DATABASE_URL: `sqlite:${file}` }
  const before = await start(t, { env })
  const me = await newCaller(before)
  const goal = 'fix the login form '.repeat(100)
  for (let at = 0; at < 600; at += 100) {
    await me.logAll(
      Array.from({ length: 100 }, (_, more) => ({ run_id: `run ${at + more}`, goal })),
    )
  }
  await before.running.stop()
  const bytes = readFileSync(file)
  const pageSize = bytes.readUInt16BE(16)
  const pages = bytes.length / pageSize
  assert.ok(pages > 250)
  // The first pages hold the schema and the roots of its tables.
  for (let page = 150; page < pages; page += 5)
    bytes.fill(0, page * pageSize, (page + 1) * pageSize)
  writeFileSync(file, bytes)

  const app = await start(t, { env })
  const errors = () => app.log.filter(({ msg }) => /doctor.*restore/.test(String(msg)))
  assert.deepEqual(
    errors().map(({ level }) => level),
    [50],
  )
  const ready = await app.get('/readyz')
  assert.deepEqual([ready.status, ready.body.error], [503, 'unavailable'])
  assert.match(ready.body.detail, /restore/)
  assert.equal((await app.get('/healthz')).status, 200)
  for (let at = 0; at < 600; at += 20) await me.at(app).get(`/v1/drift/run?run_id=run ${at}`)
  assert.equal(errors().length, 1)
})
