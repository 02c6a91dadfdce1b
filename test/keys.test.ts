import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import { operations } from '../src/operations/all.ts'
import type { Operation } from '../src/operations/gate/declaration.ts'
import { keyed } from '../src/operations/gate/operation.ts'
import { databases, onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { dumpTables } from './dump.ts'
import { type Answer, type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

/** What a key may do unless its owner says otherwise. */
const fullKey = { scope: 'full', label: null }

const hourMs = 3_600_000
const noon = '2026-01-15T12:00:00.000Z'
const unknownKey = 'pl_live_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg_0rgtVP'

/** A key that was just made, as its header. */
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** Status and stable word of an answer. */
const wordOf = ({ status, body }: Answer) => [status, body?.error]

async function makeKey(caller: Caller): Promise<{ id: string; key: string; caller: Caller }> {
  const made = await caller.post('/v1/me/keys', {})
  assert.equal(made.status, 201, made.text)
  return { ...made.body, caller: withKey(caller, made.body.key) }
}

/** The same account, asking with another key. */
function withKey(caller: Caller, key: string): Caller {
  const ask: Caller['request'] = (method, path, body, headers = {}) =>
    caller.request(method, path, body, { ...bearer(key), ...headers })
  return {
    ...caller,
    key,
    headers: bearer(key),
    request: ask,
    get: (path) => ask('GET', path),
    post: (path, body, headers) => ask('POST', path, body, headers),
    at: (app) => withKey(caller.at(app), key),
  }
}

async function idsOf(caller: Caller): Promise<string[]> {
  const { body } = await caller.get('/v1/me')
  return body.keys.map(({ id }: { id: string }) => id)
}

onEachDatabase((database) => {
  async function startOn(t: TestContext): Promise<App> {
    return start(t, { env: { DATABASE_URL: await database.createUrl() } })
  }

  describe('a keyed request', () => {
    test('takes its key from the header or from the parameter', async (t) => {
      verifies('key.header', 'key.query')
      const app = await startOn(t)
      const { account, key } = await app.newAccount()
      for (const authorization of [
        `Bearer ${key}`,
        `bearer ${key}`,
        `BEARER ${key}`,
        `Bearer   ${key}  `,
      ]) {
        const answer = await app.get('/v1/me', { authorization })
        assert.deepEqual([answer.status, answer.body.account], [200, account], authorization)
      }
      assert.equal((await app.get(`/v1/me?key=${key}`)).body.account, account)
      assert.equal((await app.get(`/v1/drift/runs?limit=5&key=${key}`)).status, 200)
      const goal = JSON.stringify({ goal: 'fix the login' })
      const posted = await app.request('POST', `/v1/drift?key=${key}`, { body: goal })
      assert.equal(posted.status, 200)
      const deleted = await app.request('DELETE', `/v1/drift/run?run_id=run&key=${key}`)
      assert.equal(deleted.status, 200)
    })

    test('without a key is told how to send one', async (t) => {
      verifies('key.no-key')
      const app = await startOn(t)
      const { key } = await app.newAccount()
      for (const headers of [
        {},
        { authorization: '' },
        { authorization: 'Bearer' },
        { authorization: 'Bearer ' },
        { authorization: key },
        { authorization: `Basic ${btoa(`x:${key}`)}` },
        { authorization: `Bearer ${key} ${key}` },
        { authorization: `Bearer key=${key}, x` },
        { 'x-api-key': key },
      ]) {
        const answer = await app.get('/v1/me', headers as Record<string, string>)
        assert.deepEqual(wordOf(answer), [401, 'no_key'], JSON.stringify(headers))
        assert.match(answer.body.detail, /Authorization: Bearer/)
        assert.deepEqual(Object.keys(answer.body), ['error', 'detail'])
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
      }
      for (const query of ['key=', `key=${key}&key=${key}`, `KEY=${key}`, `key[]=${key}`, 'key']) {
        assert.deepEqual(wordOf(await app.get(`/v1/me?${query}`)), [401, 'no_key'], query)
      }
    })

    test('with an unknown key is told no more than that', async (t) => {
      verifies('key.bad-key')
      const app = await startOn(t)
      await app.newAccount()
      for (const key of [
        unknownKey,
        'x',
        'null',
        'pl_live_',
        '%00',
        'é',
        "'--",
        'x'.repeat(5_000),
      ]) {
        const headed = await app.get('/v1/me', bearer(encodeURI(key)))
        const asked = await app.get(`/v1/me?key=${encodeURIComponent(key)}`)
        for (const answer of [headed, asked]) {
          assert.deepEqual([answer.status, answer.text], [401, '{"error":"bad_key"}'], key)
          assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
        }
      }
      for (const query of ['key=%', 'key=%zz', 'key=%ff%fe', 'key=\\u0000', 'key=a+b']) {
        assert.deepEqual(wordOf(await app.get(`/v1/me?${query}`)), [401, 'bad_key'], query)
      }
    })

    test('with a header is judged by the header alone', async (t) => {
      verifies('key.header-alone')
      const app = await startOn(t)
      const [one, other] = [await app.newAccount(), await app.newAccount()]
      for (const [header, parameter, expected] of [
        [`Bearer ${one.key}`, other.key, [200, one.account]],
        [`Bearer ${one.key}`, unknownKey, [200, one.account]],
        [`Bearer ${unknownKey}`, one.key, [401, 'bad_key']],
        [`Basic ${one.key}`, one.key, [401, 'no_key']],
        ['', one.key, [401, 'no_key']],
      ] as const) {
        const { status, body } = await app.get(`/v1/me?key=${parameter}`, { authorization: header })
        assert.deepEqual([status, body.account ?? body.error], expected, header)
      }
    })

    test('with a mistyped key is refused without a look-up', async (t) => {
      verifies('key.checksum')
      const app = await startOn(t)
      const { key } = await app.newAccount()
      const { db } = app.running.store
      t.after(() => db.close())
      const last = key.at(-1) === '0' ? '1' : '0'
      const mistyped = key.slice(0, -1) + last
      await app.running.store.close()
      assert.deepEqual(wordOf(await app.get('/v1/me', bearer(mistyped))), [401, 'bad_key'])
      assert.equal((await app.get('/v1/me', bearer(key))).status, 503, 'a good one is looked up')
    })

    test('is looked at after its route and its method', async (t) => {
      verifies('http.before-key')
      const app = await startOn(t)
      for (const headers of [{}, bearer(unknownKey)]) {
        for (const path of ['/v1/nothing', '/v1/me/', '/v1/me/keys/x', '/v1/drift/run/x', '/v1']) {
          for (const method of ['GET', 'POST', 'DELETE']) {
            const answer = await app.request(method, path, { headers })
            assert.deepEqual(wordOf(answer), [404, 'not_found'], `${method} ${path}`)
          }
        }
        for (const [method, path, allow] of [
          ['POST', '/v1/me', 'DELETE, GET, HEAD'],
          ['GET', '/v1/me/keys', 'DELETE, POST'],
          ['PUT', '/v1/me/keys', 'DELETE, POST'],
          ['GET', '/v1/drift', 'POST'],
          ['DELETE', '/v1/tiers', 'GET, HEAD'],
        ] as const) {
          const answer = await app.request(method, path, { headers })
          assert.deepEqual(wordOf(answer), [405, 'method_not_allowed'], `${method} ${path}`)
          assert.equal(answer.headers.get('allow'), allow)
        }
      }
    })
  })

  describe('GET /v1/me', () => {
    test('answers the account, its keys and its usage', async (t) => {
      verifies('me.fields', 'me.usage', 'me.usage-fields', 'key.opaque-account', 'http.times')
      const app = await startOn(t)
      const { account, key, keyId, headers } = await app.newAccount('solo')
      await app.post('/v1/drift', { goal: 'fix the login' }, headers)
      await app.get('/v1/drift/runs', headers)
      await app.get('/v1/drift/runs', headers)
      app.advance(1_500)
      const answer = await app.get('/v1/me', headers)
      const used = '2026-01-15T12:00:01.500Z'
      assert.deepEqual(answer.body, {
        account,
        tier: 'solo',
        email: null,
        email_verified: false,
        keys: [
          {
            id: keyId,
            prefix: key.slice(0, 14),
            created: noon,
            last_used: used,
            expires: null,
            ...fullKey,
          },
        ],
        team: null,
        usage: {
          date: '2026-01-15',
          reads: 2,
          writes: 1,
          reads_limit: 10_000,
          writes_limit: 10_000,
          resets_in_s: 43_199,
        },
      })
      assert.match(account, /^acct_[0-9A-Za-z]{22}$/)
      assert.match(keyId, /^key_[0-9A-Za-z]{22}$/)
      assert.equal(answer.headers.get('x-ratelimit-limit'), null)
    })

    test('counts what an unlimited account uses, and begins anew each day', async (t) => {
      verifies('me.usage', 'me.usage-fields')
      const app = await startOn(t)
      const caller = await newCaller(app, 'enterprise')
      await caller.get('/v1/drift/runs')
      await caller.get('/v1/drift/run?run_id=missing')
      await caller.log({ goal: 'fix the login' })
      const before = (await caller.get('/v1/me')).body.usage
      assert.deepEqual([before.reads, before.writes], [1, 1])
      assert.deepEqual([before.reads_limit, before.writes_limit], [null, null])
      app.advance(12 * hourMs)
      const { date, reads, writes, resets_in_s } = (await caller.get('/v1/me')).body.usage
      assert.deepEqual([date, reads, writes, resets_in_s], ['2026-01-16', 0, 0, 86_400])
    })

    test('says when a key was last used, also after a restart', async (t) => {
      verifies('me.fields')
      const url = await database.createUrl()
      const app = await start(t, { env: { DATABASE_URL: url } })
      const caller = await newCaller(app)
      const spare = await makeKey(caller)
      const unused = (await caller.get('/v1/me')).body.keys.find(
        ({ id }: { id: string }) => id === spare.id,
      )
      assert.equal(unused.last_used, null)
      app.advance(hourMs)
      await spare.caller.get('/v1/me')
      await app.running.stop()
      const again = await start(t, { env: { DATABASE_URL: url } })
      const { body } = await caller.at(again).get('/v1/me')
      const used = Object.fromEntries(
        body.keys.map(({ id, last_used }: Record<string, string>) => [id, last_used]),
      )
      assert.equal(used[spare.id], '2026-01-15T13:00:00.000Z')
      assert.equal(used[caller.keyId], noon)
    })
  })

  describe('the keys of an account', () => {
    test('are made, listed and revoked', async (t) => {
      verifies('key.several', 'key.format')
      const app = await startOn(t)
      const caller = await newCaller(app)
      app.advance(1_000)
      const made = await caller.post('/v1/me/keys', {})
      assert.equal(made.status, 201)
      const { id, key, ...rest } = made.body
      assert.deepEqual(rest, {
        prefix: key.slice(0, 14),
        created: '2026-01-15T12:00:01.000Z',
        expires: null,
        ...fullKey,
      })
      assert.match(key, /^pl_live_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
      assert.match(id, /^key_/)
      assert.deepEqual(await idsOf(caller), [id, caller.keyId], 'newest first')

      const other = withKey(caller, key)
      assert.equal((await other.get('/v1/me')).body.account, caller.account)
      const revoked = await caller.request('DELETE', `/v1/me/keys?id=${id}`)
      assert.deepEqual([revoked.status, revoked.body], [200, { ok: true }])
      const answer = await other.get('/v1/me')
      assert.deepEqual([answer.status, answer.text], [401, '{"error":"bad_key"}'])
      assert.deepEqual(await idsOf(caller), [caller.keyId])
      const again = await caller.request('DELETE', `/v1/me/keys?id=${id}`)
      assert.deepEqual(wordOf(again), [404, 'not_found'])
    })

    test('are made whatever the body holds', async (t) => {
      verifies('key.several')
      const caller = await newCaller(await startOn(t))
      for (const body of ['', '{}', 'null', 'nonsense', '{"tier":"enterprise","id":"mine"}']) {
        const made = await caller.post('/v1/me/keys', body)
        assert.equal(made.status, 201, body)
        assert.match(made.body.id, /^key_[0-9A-Za-z]{22}$/)
      }
    })

    test('can revoke each other and themselves, but the last stays', async (t) => {
      verifies('key.several')
      const caller = await newCaller(await startOn(t))
      const second = await makeKey(caller)
      const ended = await second.caller.request('DELETE', `/v1/me/keys?id=${second.id}`)
      assert.equal(ended.status, 200)
      const last = await caller.request('DELETE', `/v1/me/keys?id=${caller.keyId}`)
      assert.deepEqual(wordOf(last), [409, 'conflict'])
      assert.match(last.body.detail, /POST \/v1\/me\/keys.*rotate/)
      assert.equal((await caller.get('/v1/me')).status, 200)
    })

    test('never all revoke each other at once', async (t) => {
      verifies('key.several')
      const caller = await newCaller(await startOn(t))
      const holders = [{ id: caller.keyId, caller }]
      for (let more = 0; more < 5; more++) holders.push(await makeKey(caller))
      const answers = await Promise.all(
        holders.map(({ caller }, at) =>
          caller.request('DELETE', `/v1/me/keys?id=${holders[(at + 1) % holders.length]!.id}`),
        ),
      )
      assert.ok(answers.every(({ status }) => [200, 401, 409].includes(status)))
      const left = await Promise.all(holders.map(({ caller }) => caller.get('/v1/me')))
      const good = [...answers, ...left].filter(({ status }) => status === 200)
      assert.equal(good.length, holders.length, 'each was either revoked or is still valid')
      assert.ok(left.some(({ status }) => status === 200))
    })

    test('are at most 50, however many are asked for at once', async (t) => {
      const caller = await newCaller(await startOn(t))
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => caller.post('/v1/me/keys', {})),
      )
      assert.equal(answers.filter(({ status }) => status === 201).length, 49)
      const refused = answers.filter(({ status }) => status !== 201)
      for (const answer of refused) assert.deepEqual(wordOf(answer), [409, 'conflict'])
      assert.match(refused[0]!.body.detail, /50 keys/)
      const rotated = (grace_hours: number) =>
        caller.post('/v1/me/keys/rotate', { id: caller.keyId, grace_hours })
      assert.deepEqual(wordOf(await rotated(1)), [409, 'conflict'])
      assert.equal((await rotated(0)).status, 201, 'one for one')
    })

    test('name what to send', async (t) => {
      const caller = await newCaller(await startOn(t))
      for (const query of ['', '?id=', '?ids=x']) {
        const answer = await caller.request('DELETE', `/v1/me/keys${query}`)
        assert.deepEqual(wordOf(answer), [400, 'bad_request'])
        assert.match(answer.body.detail, /^id: /)
      }
      for (const body of [
        'nonsense',
        {},
        { id: 5 },
        { id: '' },
        ...[-1, 721, '24', null, Number.MAX_VALUE, {}].map((grace_hours) => ({
          id: caller.keyId,
          grace_hours,
        })),
      ]) {
        const answer = await caller.post('/v1/me/keys/rotate', body)
        assert.deepEqual(wordOf(answer), [400, 'bad_request'], JSON.stringify(body))
        assert.match(answer.body.detail, /^(id|grace_hours|body): /)
      }
      assert.deepEqual(await idsOf(caller), [caller.keyId])
    })

    test('of another account are as unknown as those that do not exist', async (t) => {
      verifies('tenant.isolation')
      const app = await startOn(t)
      const [one, other] = [await newCaller(app), await newCaller(app)]
      await makeKey(one)
      const before = (await one.get('/v1/me')).body.keys
      for (const ask of [
        (id: string) => other.request('DELETE', `/v1/me/keys?id=${id}`),
        (id: string) => other.post('/v1/me/keys/rotate', { id, grace_hours: 0 }),
      ]) {
        const foreign = await ask(one.keyId)
        assert.deepEqual(wordOf(foreign), [404, 'not_found'])
        assert.equal((await ask('key_missing')).text, foreign.text)
      }
      assert.deepEqual((await one.get('/v1/me')).body.keys, before)
      assert.deepEqual(await idsOf(other), [other.keyId])
    })
  })

  describe('a rotated key', () => {
    test('lives for its grace beside the new one, and then is unknown', async (t) => {
      verifies('key.rotate')
      const app = await startOn(t)
      const caller = await newCaller(app)
      const rotated = await caller.post('/v1/me/keys/rotate', { id: caller.keyId, grace_hours: 2 })
      assert.equal(rotated.status, 201)
      assert.deepEqual(Object.keys(rotated.body), [
        'id',
        'key',
        'prefix',
        'created',
        'expires',
        'scope',
        'label',
      ])
      assert.equal(rotated.body.expires, null)
      const fresh = withKey(caller, rotated.body.key)
      const { body } = await fresh.get('/v1/me')
      assert.deepEqual(
        body.keys.map(({ id, expires }: Record<string, string>) => [id, expires]).sort(),
        [
          [caller.keyId, '2026-01-15T14:00:00.000Z'],
          [rotated.body.id, null],
        ].sort(),
      )
      app.advance(2 * hourMs - 1)
      assert.equal((await caller.get('/v1/me')).status, 200)
      app.advance(1)
      assert.deepEqual(wordOf(await caller.get('/v1/me')), [401, 'bad_key'])
      assert.deepEqual(await idsOf(fresh), [rotated.body.id])
      const again = await fresh.post('/v1/me/keys/rotate', { id: caller.keyId })
      assert.deepEqual(wordOf(again), [404, 'not_found'])
    })

    test('has a day of grace unless told otherwise, and none with 0', async (t) => {
      verifies('key.rotate')
      const app = await startOn(t)
      const caller = await newCaller(app)
      const first = await caller.post('/v1/me/keys/rotate', { id: caller.keyId })
      const fresh = withKey(caller, first.body.key)
      app.advance(24 * hourMs - 1)
      assert.equal((await caller.get('/v1/me')).status, 200)
      app.advance(1)
      assert.equal((await caller.get('/v1/me')).status, 401)

      const second = await fresh.post('/v1/me/keys/rotate', { id: first.body.id, grace_hours: 0 })
      assert.deepEqual(wordOf(await fresh.get('/v1/me')), [401, 'bad_key'])
      assert.deepEqual(await idsOf(withKey(caller, second.body.key)), [second.body.id])
    })

    test('that is rotated again ends no later', async (t) => {
      verifies('key.rotate')
      const app = await startOn(t)
      const caller = await newCaller(app)
      const rotate = (grace_hours: number) =>
        caller.post('/v1/me/keys/rotate', { id: caller.keyId, grace_hours })
      const fresh = withKey(caller, (await rotate(1)).body.key)
      await rotate(720)
      app.advance(hourMs)
      assert.equal((await caller.get('/v1/me')).status, 401)
      assert.equal((await idsOf(fresh)).length, 2)
    })

    test('is no reason to lose the last that stays', async (t) => {
      verifies('key.rotate', 'key.several')
      const caller = await newCaller(await startOn(t))
      const { body } = await caller.post('/v1/me/keys/rotate', { id: caller.keyId })
      const refused = await caller.request('DELETE', `/v1/me/keys?id=${body.id}`)
      assert.deepEqual(wordOf(refused), [409, 'conflict'])
      const ended = await caller.request('DELETE', `/v1/me/keys?id=${caller.keyId}`)
      assert.equal(ended.status, 200, 'its grace can be cut short')
      assert.equal((await caller.get('/v1/me')).status, 401)
    })
  })

  test('a revoked key is refused at once, however often it asks meanwhile', async (t) => {
    verifies('key.several')
    const caller = await newCaller(await startOn(t))
    for (let round = 0; round < 10; round++) {
      const { id, caller: doomed } = await makeKey(caller)
      const meanwhile = Array.from({ length: 20 }, () => doomed.get('/v1/drift/runs'))
      const revoked = await caller.request('DELETE', `/v1/me/keys?id=${id}`)
      assert.equal(revoked.status, 200)
      const after = await Promise.all(Array.from({ length: 20 }, () => doomed.get('/v1/me')))
      assert.ok(after.every(({ status }) => status === 401))
      for (const { status } of await Promise.all(meanwhile)) assert.match(`${status}`, /200|401/)
    }
  })

  test('only the hash of a key is stored', async (t) => {
    verifies('key.hashed')
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url } })
    const caller = await newCaller(app)
    const keys = [caller.key]
    const once = { 'idempotency-key': 'once' }
    for (const [path, body] of [
      ['/v1/me/keys', {}],
      ['/v1/me/keys/rotate', { id: caller.keyId }],
    ] as const) {
      const made = await caller.post(path, body, once)
      const replayed = await caller.post(path, body, once)
      assert.deepEqual([made.status, replayed.text], [201, made.text])
      keys.push(made.body.key)
    }
    await app.get(`/v1/me?key=${keys[1]}`)
    const rows = JSON.stringify(await dumpTables(app.running.store.db))
    const shown = (await caller.get('/v1/me')).text
    for (const key of keys) {
      const secret = key.slice(14, 51)
      assert.ok(rows.includes(app.running.service.hash(key)))
      assert.ok(!rows.includes(secret), 'in a table')
      assert.ok(!shown.includes(secret), 'in an answer')
      if (database.name === 'postgres') continue
      const folder = dirname(url.slice('sqlite:'.length))
      for (const file of readdirSync(folder)) {
        assert.ok(!readFileSync(join(folder, file)).includes(secret), file)
      }
    }
  })

  test('a key appears in no log line and no answer', async (t) => {
    verifies('process.log.no-key', 'http.500')
    const failing = keyed({
      name: 'test.fail',
      group: 'account',
      summary: 'Fails.',
      http: { method: 'POST', path: '/v1/fail' },
      input: z.unknown(),
      output: z.unknown(),
    })(async () => {
      throw new Error('a fault of ours')
    })
    const app = await start(t, {
      env: {
        DATABASE_URL: await database.createUrl(),
        LOG_LEVEL: 'trace',
        PLUMBLINE_ADMIN_TOKEN: 'the-token-of-the-operator',
      },
      operations: [...operations, failing] as readonly Operation[],
    })
    const { key, headers } = await app.newAccount()
    const mistyped = `${key.slice(0, -6)}000000`
    const marks = [key.slice(14, 51), unknownKey.slice(14, 51), 'the-token-of-the-operator']
    const seen: string[] = []
    const sent = [
      { headers },
      { headers: bearer(mistyped) },
      { headers: { authorization: `Basic ${key}`, referer: `http://x/?key=${key}` } },
      { headers: bearer('the-token-of-the-operator') },
      { headers: { 'idempotency-key': key, ...headers } },
      { headers: {} },
    ]
    // The answer of a stream has no end.
    const routes = [...operations, failing]
      .map(({ http }) => http)
      .filter(({ path }) => path !== '/v1/stream')
    const more = [
      { method: 'GET', path: '/v1/nothing' },
      { method: 'PUT', path: '/v1/me' },
      { method: 'GET', path: '/v1/%' },
      { method: 'GET', path: `/v1/${key}` },
      { method: 'GET', path: '/v1/openapi.json' },
      { method: 'GET', path: '/v1/admin/openapi.json' },
      { method: 'GET', path: '/' },
      { method: 'GET', path: '/docs/migration' },
    ]
    const body = JSON.stringify({ id: key, key, account: key, email: key, tier: key })
    for (const { method, path } of [...routes, ...more]) {
      for (const options of sent) {
        for (const query of [
          '',
          `?key=${key}`,
          `?key=${unknownKey}&id=${key}&account=${key}&limit=${key}&cursor=${key}`,
          `?key=${key}&run_id=%`,
        ]) {
          const answer = await app.request(method, path + query, {
            ...options,
            ...(method === 'POST' ? { body } : {}),
          })
          seen.push(answer.text, JSON.stringify([...answer.headers]))
        }
      }
    }
    seen.push((await app.get('/metrics')).text)
    const lines = app.log.map((line) => JSON.stringify(line))
    assert.ok(lines.length > 500 && lines.some((line) => line.includes('a fault of ours')))
    assert.ok(seen.some((text) => text.includes('"internal"')))
    for (const mark of marks) {
      assert.deepEqual(
        lines.filter((line) => line.includes(mark)),
        [],
        'in the log',
      )
      assert.deepEqual(
        seen.filter((text) => text.includes(mark)),
        [],
        'in an answer',
      )
    }
  })
})

const postgres = databases.find(({ name }) => name === 'postgres')!

describe('two nodes on one PostgreSQL', { skip: postgres.skip }, () => {
  async function startTwo(t: TestContext): Promise<[App, App]> {
    const env = { DATABASE_URL: await postgres.createUrl() }
    return [await start(t, { env }), await start(t, { env })]
  }

  test('know the same keys, and forget a revoked one within 5 seconds', async (t) => {
    verifies('key.several', 'process.nodes-equal')
    const [here, there] = await startTwo(t)
    const caller = await newCaller(here)
    const { id, caller: doomed } = await makeKey(caller)
    assert.equal((await doomed.at(there).get('/v1/me')).status, 200, 'known at once')
    await caller.request('DELETE', `/v1/me/keys?id=${id}`)
    assert.equal((await doomed.get('/v1/me')).status, 401, 'refused here at once')
    there.advance(5_000)
    assert.deepEqual(wordOf(await doomed.at(there).get('/v1/me')), [401, 'bad_key'])
  })

  test('forget it also when the clock was set back', async (t) => {
    const [here, there] = await startTwo(t)
    const caller = await newCaller(here)
    const { id, caller: doomed } = await makeKey(caller)
    assert.equal((await doomed.at(there).get('/v1/me')).status, 200)
    await caller.request('DELETE', `/v1/me/keys?id=${id}`)
    there.advance(-hourMs)
    assert.equal((await doomed.at(there).get('/v1/me')).status, 401)
  })

  test('end a rotated key at the same time', async (t) => {
    verifies('key.rotate', 'process.nodes-equal')
    const [here, there] = await startTwo(t)
    const caller = await newCaller(here)
    assert.equal((await caller.at(there).get('/v1/me')).status, 200)
    await caller.post('/v1/me/keys/rotate', { id: caller.keyId, grace_hours: 1 })
    for (const app of [here, there]) app.advance(hourMs - 1)
    assert.equal((await caller.at(there).get('/v1/me')).status, 200)
    for (const app of [here, there]) app.advance(1)
    assert.equal((await caller.at(there).get('/v1/me')).status, 401)
    assert.equal((await caller.get('/v1/me')).status, 401)
  })

  test('count the usage of one account together', async (t) => {
    verifies('quota.account', 'process.nodes-equal')
    const [here, there] = await startTwo(t)
    const caller = await newCaller(here)
    for (const app of [here, there, there]) await caller.at(app).get('/v1/drift/runs')
    for (const app of [here, there]) {
      assert.equal((await caller.at(app).get('/v1/me')).body.usage.reads, 3)
    }
  })
})

test('/v1/keys says where keys come from', async (t) => {
  verifies('keys.disabled', 'keys.disabled-open')
  const app = await start(t)
  for (const headers of [{}, bearer(unknownKey)]) {
    for (const method of ['GET', 'POST']) {
      const answer = await app.request(method, '/v1/keys', { headers })
      assert.deepEqual(wordOf(answer), [410, 'disabled'])
      assert.match(answer.body.detail, /plumbline keys create/)
      assert.doesNotMatch(answer.body.detail, /[Ss]ign in/)
      assert.equal(answer.headers.get('deprecation'), 'true')
    }
    const answer = await app.request('DELETE', '/v1/keys', { headers })
    assert.deepEqual(wordOf(answer), [405, 'method_not_allowed'])
  }
})
