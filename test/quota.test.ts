import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import { operations } from '../src/operations/all.ts'
import type { Operation } from '../src/operations/gate/declaration.ts'
import { keyed } from '../src/operations/gate/operation.ts'
import { Refusal } from '../src/operations/gate/refusal.ts'
import { rateLimitRefusal } from '../src/operations/gate/refusals.ts'
import { databases, onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type Answer, type App, start } from './harness.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const hourMs = 3_600_000

/** An operation that accounts of tier `ground` have to pay for. */
const paid = keyed({
  name: 'test.paid',
  group: 'account',
  summary: 'Costs something.',
  http: { method: 'POST', path: '/v1/paid' },
  paid: { flag: 'alerts', detail: 'This is not for ground.' },
  input: z.unknown(),
  output: z.unknown(),
})(async () => ({}))

/** Status and the three headers of the quota. */
function limitsOf({ status, headers }: Answer) {
  const names = ['limit', 'remaining', 'reset']
  return [status, ...names.map((name) => headers.get(`x-ratelimit-${name}`))]
}

/** Reads and writes so far, as the account is told. */
async function usedBy(caller: Caller): Promise<[reads: number, writes: number]> {
  const { usage } = (await caller.get('/v1/me')).body
  return [usage.reads, usage.writes]
}

onEachDatabase((database) => {
  /** A service whose tier `ground` has 3 reads and 4 writes a day, and `solo` 6 of each. */
  async function startSmall(t: TestContext, url?: string): Promise<App> {
    const file = join(freshFolder(t), 'tiers.json')
    const tiers = { ground: { reads: 3, writes: 4 }, solo: { reads: 6, writes: 6 } }
    writeFileSync(file, JSON.stringify(tiers))
    return start(t, {
      env: { DATABASE_URL: url ?? (await database.createUrl()), PLUMBLINE_TIERS: file },
      operations: [...operations, paid] as readonly Operation[],
    })
  }

  const step = { goal: 'fix the login' }

  test('a GET is a read and everything else a write', async (t) => {
    verifies('quota.kinds', 'quota.headers')
    const caller = await newCaller(await startSmall(t), 'ground')
    const runs = '/v1/drift/runs'
    assert.deepEqual(limitsOf(await caller.get(runs)), [200, '3', '2', '43200'])
    assert.deepEqual(limitsOf(await caller.post('/v1/drift', step)), [200, '4', '3', '43200'])
    assert.deepEqual(limitsOf(await caller.request('HEAD', runs)), [200, '3', '1', '43200'])
    const gone = await caller.request('DELETE', '/v1/drift/run?run_id=run')
    assert.deepEqual(limitsOf(gone), [200, '4', '2', '43200'])
    assert.deepEqual(limitsOf(await caller.get(runs)), [200, '3', '0', '43200'])
    assert.deepEqual(limitsOf(await caller.get(runs)), [429, '3', '0', '43200'])
    assert.deepEqual(limitsOf(await caller.post('/v1/drift', step)), [200, '4', '1', '43200'])
    assert.deepEqual(await usedBy(caller), [3, 3])
  })

  test('past the quota the answer is 429 until midnight UTC', async (t) => {
    verifies('quota.429')
    const app = await startSmall(t)
    const caller = await newCaller(app, 'ground')
    for (let call = 0; call < 4; call++) await caller.log(step)
    app.advance(hourMs)
    const refused = await caller.post('/v1/drift', 'not even JSON')
    assert.deepEqual(limitsOf(refused), [429, '4', '0', '39600'])
    assert.equal(refused.headers.get('retry-after'), '39600')
    const { error, detail, retry_after_s, ...more } = refused.body
    assert.deepEqual([error, retry_after_s, more], ['rate_limit', 39_600, {}])
    assert.match(detail, /account .* 4 calls/)
    assert.equal((await caller.read('run')).run.steps, 4)
    app.advance(11 * hourMs)
    assert.deepEqual(limitsOf(await caller.post('/v1/drift', step)), [200, '4', '3', '86400'])
  })

  test('counts exactly, however many call at once', async (t) => {
    verifies('quota.429', 'quota.account')
    const caller = await newCaller(await startSmall(t), 'solo')
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => caller.post('/v1/drift', step)),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 6)
    assert.equal(answers.filter(({ status }) => status === 429).length, 34)
    assert.equal((await caller.read('run')).run.steps, 6)
  })

  test('is one for all keys of an account, and another for each account', async (t) => {
    verifies('quota.account')
    const app = await startSmall(t)
    const [one, other] = [await newCaller(app, 'ground'), await newCaller(app, 'ground')]
    const { key } = (await one.post('/v1/me/keys', {})).body
    for (const headers of [one.headers, { authorization: `Bearer ${key}` }, {}]) {
      await app.post(`/v1/drift?key=${key}`, step, headers)
    }
    const last = await app.post(`/v1/drift?key=${key}`, step)
    assert.deepEqual(limitsOf(last), [429, '4', '0', '43200'], 'making a key was a write')
    assert.equal((await one.post('/v1/drift', step)).status, 429)
    assert.equal((await other.post('/v1/drift', step)).headers.get('x-ratelimit-remaining'), '3')
  })

  test('is not used up by 401, 402, 404 and 429, and is by 400 and replays', async (t) => {
    verifies('quota.what-counts')
    const app = await startSmall(t)
    const caller = await newCaller(app, 'ground')
    const missing = '/v1/drift/run?run_id=missing'
    for (let call = 0; call < 10; call++) {
      assert.equal((await app.get(missing, { authorization: `${caller.key} x` })).status, 401)
      assert.deepEqual(limitsOf(await caller.get(missing)), [404, '3', '3', '43200'])
      assert.equal((await caller.request('DELETE', missing)).status, 404)
      const unpaid = await caller.post('/v1/paid', {})
      assert.deepEqual(limitsOf(unpaid), [402, null, null, null])
      assert.deepEqual([unpaid.body.error, unpaid.body.upgrade], ['upgrade_required', app.url])
      assert.equal((await caller.get('/v1/nothing')).status, 404)
      assert.equal((await caller.get('/v1/drift')).status, 405)
    }
    assert.deepEqual(await usedBy(caller), [0, 0])

    const once = { 'idempotency-key': 'once' }
    assert.equal((await caller.post('/v1/drift', 'nonsense')).status, 400)
    assert.equal((await caller.get('/v1/drift/runs?limit=0')).status, 400)
    assert.equal((await caller.post('/v1/drift', step, once)).status, 200)
    const replay = await caller.post('/v1/drift', step, once)
    assert.deepEqual(limitsOf(replay), [200, '4', '1', '43200'])
    assert.equal(replay.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(await usedBy(caller), [1, 3])
    assert.equal((await caller.post('/v1/drift', step, { 'idempotency-key': '' })).status, 400)
    assert.equal((await caller.post('/v1/drift', step)).status, 429)
  })

  test('is not used up by refusals when the tier rises', async (t) => {
    verifies('quota.what-counts')
    const app = await startSmall(t)
    const caller = await newCaller(app, 'ground')
    for (let call = 0; call < 20; call++) await caller.post('/v1/drift', step)
    assert.deepEqual(await usedBy(caller), [0, 4])
    await app.running.store.accounts.setTier(caller.account, 'solo')
    assert.deepEqual(await usedBy(caller), [0, 4])
    assert.deepEqual(limitsOf(await caller.post('/v1/drift', step)), [200, '6', '1', '43200'])
    await app.running.store.accounts.setTier(caller.account, 'ground')
    assert.deepEqual(limitsOf(await caller.post('/v1/drift', step)), [429, '4', '0', '43200'])
    assert.deepEqual(await usedBy(caller), [0, 4], 'never more than the limit')
  })

  test('is left alone by the routes that are not metered', async (t) => {
    verifies('quota.not-metered')
    const caller = await newCaller(await startSmall(t), 'ground')
    for (let call = 0; call < 4; call++) await caller.log(step)
    const unmetered = operations.filter(({ http }) =>
      ['/v1/me', '/v1/cost', '/v1/tiers', '/v1/upgrade'].includes(http.path),
    )
    assert.ok(unmetered.length >= 2)
    for (const { http } of unmetered) {
      for (let call = 0; call < 5; call++) {
        const answer = await caller.request(http.method, http.path)
        assert.deepEqual(limitsOf(answer).slice(1), [null, null, null], http.path)
        assert.notEqual(answer.status, 429)
      }
    }
    assert.deepEqual(await usedBy(caller), [0, 4])
  })

  test('counts every keyed route but those that are documented', () => {
    verifies('quota.not-metered')
    const unmetered = operations.filter(
      ({ access, refusals }) => access === 'keyed' && refusals?.includes(rateLimitRefusal) !== true,
    )
    assert.deepEqual(unmetered.map(({ http }) => `${http.method} ${http.path}`).sort(), [
      'DELETE /v1/me',
      'DELETE /v1/me/keys',
      'GET /v1/cost',
      'GET /v1/me',
      'GET /v1/upgrade',
      'POST /v1/me/keys/rotate',
      'POST /v1/session/first-key',
    ])
  })

  test('that is used up does not keep a key from being replaced or revoked', async (t) => {
    const caller = await newCaller(await startSmall(t), 'ground')
    for (let call = 0; call < 4; call++) await caller.log(step)
    assert.equal((await caller.post('/v1/me/keys', {})).status, 429)
    const rotated = await caller.post('/v1/me/keys/rotate', { id: caller.keyId, grace_hours: 1 })
    assert.equal(rotated.status, 201)
    const revoked = await caller.request('DELETE', `/v1/me/keys?id=${caller.keyId}`)
    assert.equal(revoked.status, 200)
  })

  test('is not spoken of where there is none', async (t) => {
    verifies('quota.headers')
    const caller = await newCaller(await startSmall(t), 'enterprise')
    assert.deepEqual(limitsOf(await caller.post('/v1/drift', step)), [200, null, null, null])
  })

  test('outlives a restart', async (t) => {
    verifies('quota.429')
    const url = await database.createUrl()
    const app = await startSmall(t, url)
    const caller = await newCaller(app, 'ground')
    for (let call = 0; call < 3; call++) await caller.log(step)
    await app.running.stop()
    const again = await startSmall(t, url)
    assert.deepEqual(await usedBy(caller.at(again)), [0, 3])
    assert.equal((await caller.at(again).post('/v1/drift', step)).status, 200)
    assert.equal((await caller.at(again).post('/v1/drift', step)).status, 429)
  })

  test('takes a count back on the day it was made', async (t) => {
    verifies('quota.what-counts')
    const late = keyed({
      name: 'test.late',
      group: 'account',
      summary: 'Ends after midnight.',
      http: { method: 'GET', path: '/v1/late' },
      input: z.unknown(),
      output: z.never(),
    })(async () => {
      app.advance(12 * hourMs)
      throw new Refusal(404, 'no_run')
    })
    const app = await start(t, {
      env: { DATABASE_URL: await database.createUrl() },
      operations: [...operations, late] as readonly Operation[],
    })
    const caller = await newCaller(app, 'ground')
    assert.equal((await caller.get('/v1/late')).status, 404)
    assert.equal((await caller.get('/v1/drift/runs')).headers.get('x-ratelimit-remaining'), '999')
  })
})

const postgres = databases.find(({ name }) => name === 'postgres')!

describe('nodes on one PostgreSQL', { skip: postgres.skip }, () => {
  test('share the quota of an account exactly', async (t) => {
    verifies('quota.account', 'process.nodes-equal')
    const file = join(freshFolder(t), 'tiers.json')
    writeFileSync(file, '{"solo":{"writes":25}}')
    const env = { DATABASE_URL: await postgres.createUrl(), PLUMBLINE_TIERS: file }
    const nodes = [await start(t, { env }), await start(t, { env })]
    const caller = await newCaller(nodes[0]!, 'solo')
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, call) =>
        caller.at(nodes[call % 2]!).post('/v1/drift', { goal: 'fix the login' }),
      ),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 25)
  })
})
