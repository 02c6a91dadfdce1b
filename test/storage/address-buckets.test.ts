import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../backends.ts'
import { start } from '../harness.ts'
import { verifies } from '../verifies.ts'

const most = 100_000
const dayMs = 86_400_000
const day = Math.floor(Date.UTC(2026, 0, 15) / dayMs)

onEachDatabase((database) => {
  test('a day has buckets for 100,000 addresses and one for all further ones', async (t) => {
    verifies('check.counter.bounded')
    const url = await database.createUrl()
    const env = { DATABASE_URL: url, PLUMBLINE_CHECK_PER_DAY: '3' }
    let app = await start(t, { env })
    const body = { ground: 'fix the login page', goal: 'fix the login form' }
    const left = async (address: string) => {
      const { status, headers } = await app.post('/v1/check', body, { 'cf-connecting-ip': address })
      return status === 200 ? Number(headers.get('x-ratelimit-remaining')) : status
    }
    assert.equal(await left('192.0.2.1'), 2)
    // As if all others had come, but two.
    await app.running.store.counters.count('addresses', day, most - 3)
    assert.deepEqual(await Promise.all([left('192.0.2.2'), left('192.0.2.2')]), [2, 1])
    assert.equal(await left('192.0.2.3'), 2, 'the last one with a bucket of its own')
    assert.equal(await left('192.0.2.4'), 2)
    assert.equal(await left('192.0.2.5'), 1)
    assert.equal(await left('192.0.2.1'), 1, 'who has a bucket keeps it')
    assert.equal(await left('192.0.2.6'), 0)
    assert.equal(await left('192.0.2.7'), 429)
    const { headers } = await app.get('/v1/signal', { 'cf-connecting-ip': '192.0.2.7' })
    assert.equal(headers.get('x-ratelimit-remaining'), '2', 'each kind of call has its own')

    await app.running.stop()
    app = await start(t, { env })
    assert.equal(await left('192.0.2.8'), 429, 'a restart makes no room')
    assert.equal(await left('192.0.2.3'), 1)
    const holder = await app.newAccount('solo')
    const logged = await app.post('/v1/drift', { goal: 'fix the login' }, holder.headers)
    assert.equal(logged.status, 200, 'accounts are not counted by address')
    const rows = await app.running.store.db.all<{ bucket: string }>(
      "SELECT bucket FROM counters WHERE bucket LIKE 'check:%' ORDER BY bucket",
    )
    assert.deepEqual(
      rows.map(({ bucket }) => bucket),
      ['check:192.0.2.1', 'check:192.0.2.2', 'check:192.0.2.3', 'check:others'],
    )
    app.advance(dayMs)
    assert.equal(await left('192.0.2.8'), 2, 'the next day begins anew')
    assert.equal(await left('192.0.2.9'), 2)
  })
})
