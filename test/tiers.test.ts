import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { settle, startHook } from './hook.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

/** A file as PLUMBLINE_TIERS names it. */
function tierFile(t: TestContext, content: unknown): string {
  const file = join(freshFolder(t), 'tiers.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

test('GET /v1/tiers answers the table without a key', async (t) => {
  verifies('tiers.open', 'tiers.order', 'tiers.table', 'tiers.fields')
  const app = await start(t)
  const answer = await app.get('/v1/tiers')
  assert.equal(answer.status, 200)
  assert.deepEqual(Object.keys(answer.body), ['tiers'])
  const fields = ['reads', 'writes', 'retention_days', 'seats', 'alerts', 'digest', 'price_usd']
  for (const tier of answer.body.tiers) assert.deepEqual(Object.keys(tier), ['name', ...fields])
  assert.deepEqual(
    answer.body.tiers.map((tier: Record<string, unknown>) =>
      ['name', ...fields].slice(0, -1).map((field) => tier[field]),
    ),
    [
      ['ground', 1_000, 1_000, 1, 1, false, false],
      ['solo', 10_000, 10_000, 30, 1, true, true],
      ['group', 100_000, 100_000, 90, 10, true, true],
      ['pro', 1_000_000, 1_000_000, 180, 50, true, true],
      ['enterprise', null, null, 365, null, true, true],
    ],
  )
  for (const headers of [{ authorization: 'Bearer nobody' }, { authorization: 'Basic x' }]) {
    assert.equal((await app.get('/v1/tiers', headers)).text, answer.text)
    assert.equal((await app.get('/v1/tiers?key=x&limit=0', headers)).text, answer.text)
  }
})

test('PLUMBLINE_TIERS overrides the table', async (t) => {
  verifies('settings.tiers')
  const file = tierFile(t, { solo: { reads: 2, retention_days: 3 }, enterprise: { writes: 1 } })
  const app = await start(t, { env: { PLUMBLINE_TIERS: file } })
  const { tiers } = (await app.get('/v1/tiers')).body
  const [, solo, , , enterprise] = tiers
  assert.deepEqual(
    [solo.reads, solo.writes, solo.retention_days, enterprise.reads, enterprise.writes],
    [2, 10_000, 3, null, 1],
  )
  const caller = await newCaller(app, 'solo')
  const { usage } = (await caller.get('/v1/me')).body
  assert.deepEqual([usage.reads_limit, usage.writes_limit], [2, 10_000])
  const statuses = []
  for (let call = 0; call < 3; call++) statuses.push((await caller.get('/v1/drift/runs')).status)
  assert.deepEqual(statuses, [200, 200, 429])
})

test('the flags of the table say who may set alerts and digests, and who is sent them', async (t) => {
  verifies('settings.tiers', 'tiers.flags')
  const hook = await startHook(t)
  const table = {
    ground: { alerts: true },
    solo: { digest: false },
    pro: { alerts: false },
  }
  const env = { PLUMBLINE_TIERS: tierFile(t, table), PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.1' }
  const app = await start(t, { env })
  const { url } = hook
  const digest = { cadence: 'daily', hour_utc: 18, channel: 'webhook', url }
  const { tiers } = (await app.get('/v1/tiers')).body
  for (const { name, alerts, digest: digests } of tiers) {
    const caller = await newCaller(app, name)
    for (const [path, body, allowed] of [
      ['/v1/alerts', { url }, alerts],
      ['/v1/alerts/test', {}, alerts],
      ['/v1/digest', digest, digests],
      ['/v1/digest/test', {}, digests],
    ] as const) {
      const answer = await caller.post(path, body)
      const told = [answer.status, answer.body.error]
      assert.deepEqual(told, allowed ? [200, undefined] : [402, 'upgrade_required'], name + path)
    }
  }
  const caller = await newCaller(app, 'group')
  await caller.post('/v1/digest', digest)
  await app.running.store.accounts.setTier(caller.account, 'solo')
  const before = hook.sent.length
  app.advance(86_400_000)
  await settle(app)
  const told = hook.sent.slice(before).map(({ body }) => body.account)
  assert.equal(told.length, 3, 'group, pro and enterprise')
  assert.ok(!told.includes(caller.account))
})

test('a faulty table is reported whole, by file and field, and nothing starts', async (t) => {
  verifies('settings.tiers', 'settings.faults')
  const file = tierFile(t, [{ name: 'solo', reads: -1, colour: 1 }, { name: 'gold' }])
  const env = { PLUMBLINE_TIERS: file, PORT: 'x', DATABASE_URL: 'sqlite:./t.db' }
  const { written, ended } = spawnPlumbline(t, ['serve'], { env })
  assert.equal(await ended, 2)
  for (const fault of [
    'PORT: ',
    `PLUMBLINE_TIERS: ${file}: [0].reads: send a whole number`,
    `PLUMBLINE_TIERS: ${file}: [0].colour: there is no such field`,
    `PLUMBLINE_TIERS: ${file}: [1]: "gold" is no tier`,
  ]) {
    assert.ok(written.err.includes(fault), `${fault}\n${written.err}`)
  }
  for (const [content, says] of [
    ['{', /it cannot be read as JSON/],
    ['', /it cannot be read as JSON/],
    ['7', /send an object/],
  ] as const) {
    const read = readConfig({ PLUMBLINE_TIERS: tierFile(t, content) })
    assert.match('faults' in read ? read.faults.join() : '', says)
  }
  const missing = readConfig({ PLUMBLINE_TIERS: join(freshFolder(t), 'none.json') })
  assert.match('faults' in missing ? missing.faults.join() : '', /none\.json: .*ENOENT/)
})
