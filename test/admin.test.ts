import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { operations } from '../src/operations/all.ts'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { dumpTables } from './dump.ts'
import { type Answer, type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

const token = 'the-token-of-the-operator'
const hourMs = 3_600_000
const noon = '2026-01-15T12:00:00.000Z'

const adminRoutes = [
  ...operations.filter(({ access }) => access === 'admin').map(({ http }) => http),
  { method: 'GET', path: '/v1/admin/openapi.json' },
]

const wordOf = ({ status, body }: Answer) => [status, body?.error]

/** The operator, asking a service. */
function operatorOf(app: App, credential = token) {
  const authorization = `Bearer ${credential}`
  const ask = (method: string, path: string, body?: unknown, headers = {}) =>
    app.request(method, path, {
      headers: { authorization, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    ask,
    get: (path: string) => ask('GET', path),
    post: (path: string, body: unknown, headers = {}) => ask('POST', path, body, headers),
  }
}

onEachDatabase((database) => {
  async function startWith(t: TestContext): Promise<App> {
    const url = await database.createUrl()
    return start(t, { env: { DATABASE_URL: url, PLUMBLINE_ADMIN_TOKEN: token } })
  }

  test('makes accounts, whose key works', async (t) => {
    const app = await startWith(t)
    const { post } = operatorOf(app)
    const made = await post('/v1/admin/accounts', { tier: 'group', email: 'a@example.com' })
    assert.equal(made.status, 201)
    const { account, key } = made.body
    assert.deepEqual(made.body, {
      account,
      tier: 'group',
      email: 'a@example.com',
      key: {
        id: key.id,
        key: key.key,
        prefix: key.key.slice(0, 14),
        created: noon,
        expires: null,
        scope: 'full',
        label: null,
      },
    })
    const me = await app.get('/v1/me', { authorization: `Bearer ${key.key}` })
    assert.deepEqual(
      [me.body.account, me.body.tier, me.body.email],
      [account, 'group', 'a@example.com'],
    )
    for (const email of [undefined, null]) {
      const { status, body } = await post('/v1/admin/accounts', { tier: 'ground', email })
      assert.deepEqual([status, body.email], [201, null])
    }
  })

  test('lists accounts, newest first, a page at a time', async (t) => {
    verifies('list.limit', 'list.cursor', 'http.times')
    const app = await startWith(t)
    const { get, post } = operatorOf(app)
    assert.deepEqual((await get('/v1/admin/accounts')).body, { accounts: [], next_cursor: null })
    const made: string[] = []
    for (let more = 0; more < 120; more++) {
      // Two of each three are made in the same millisecond.
      if (more % 3 === 0) app.advance(1)
      made.push((await post('/v1/admin/accounts', { tier: 'solo' })).body.account)
    }
    const first = await get('/v1/admin/accounts')
    assert.equal(first.body.accounts.length, 50)
    assert.deepEqual(first.body.accounts.at(-1).tier, 'solo')
    assert.match(first.body.accounts[0].created, /^2026-01-15T12:00:00\.040Z$/)
    for (const limit of [1, 7, 40, 119, 120, 200]) {
      const pages: string[][] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const { body } = await get(`/v1/admin/accounts?limit=${limit}${cursor}`)
        pages.push(body.accounts.map(({ account }: { account: string }) => account))
        cursor = body.next_cursor === null ? null : `&cursor=${body.next_cursor}`
        if (limit === 1 && pages.length === 5) break
      }
      const listed = pages.flat()
      assert.ok(pages.every((page) => page.length > 0 && page.length <= limit))
      assert.equal(new Set(listed).size, listed.length)
      if (limit > 1) assert.deepEqual(listed.toSorted(), made.toSorted())
      const order = listed.map((account) => Math.floor(made.indexOf(account) / 3))
      assert.deepEqual(
        order,
        order.toSorted((a, b) => b - a),
      )
    }
    for (const query of [
      ...['0', '201', '-1', '1.5', 'x', '', '1e2', '+5', ' 5'].map((limit) => `limit=${limit}`),
      ...['x', 'e30', '%00', 'bnVsbA', 'eyJhY2NvdW50Ijo1fQ'].map((cursor) => `cursor=${cursor}`),
    ]) {
      const answer = await get(`/v1/admin/accounts?${query}`)
      assert.deepEqual(wordOf(answer), [400, 'bad_request'], query)
      assert.match(answer.body.detail, /^(limit|cursor): /)
    }
  })

  test('moves an account to another tier at once', async (t) => {
    const app = await startWith(t)
    const { post } = operatorOf(app)
    const caller = await newCaller(app, 'ground')
    await caller.get('/v1/drift/runs')
    const moved = await post('/v1/admin/accounts/tier', { account: caller.account, tier: 'pro' })
    assert.deepEqual(moved.body, { ok: true, account: caller.account, tier: 'pro' })
    const { tier, usage } = (await caller.get('/v1/me')).body
    assert.deepEqual([tier, usage.reads, usage.reads_limit], ['pro', 1, 1_000_000])
    const missing = await post('/v1/admin/accounts/tier', { account: 'acct_x', tier: 'pro' })
    assert.deepEqual(wordOf(missing), [404, 'no_account'])
  })

  test('makes, lists and revokes the keys of an account, the last one too', async (t) => {
    verifies('key.several')
    const app = await startWith(t)
    const { ask, get, post } = operatorOf(app)
    const [one, other] = [await newCaller(app), await newCaller(app)]
    app.advance(hourMs)
    const made = await post('/v1/admin/keys', { account: one.account })
    assert.equal(made.status, 201)
    const authorization = `Bearer ${made.body.key}`
    assert.equal((await app.get('/v1/me', { authorization })).body.account, one.account)

    const own = (await one.get('/v1/me')).body.keys
    const listed = await get(`/v1/admin/keys?account=${one.account}`)
    assert.deepEqual(
      listed.body.keys.map(({ id }: { id: string }) => id),
      [made.body.id, one.keyId],
    )
    assert.deepEqual(listed.body.keys, own)

    const revoke = (account: string, id: string) =>
      ask('DELETE', `/v1/admin/keys?account=${account}&id=${id}`)
    assert.deepEqual(wordOf(await revoke(other.account, one.keyId)), [404, 'not_found'])
    for (const id of [one.keyId, made.body.id]) {
      assert.deepEqual((await revoke(one.account, id)).body, { ok: true })
      assert.deepEqual(wordOf(await revoke(one.account, id)), [404, 'not_found'])
    }
    assert.equal((await one.get('/v1/me')).status, 401)
    assert.equal((await app.get('/v1/me', { authorization })).status, 401)
    assert.deepEqual((await get(`/v1/admin/keys?account=${one.account}`)).body, { keys: [] })
    assert.equal((await other.get('/v1/me')).status, 200)
    for (const answer of [
      await get('/v1/admin/keys?account=acct_x'),
      await post('/v1/admin/keys', { account: 'acct_x' }),
    ]) {
      assert.deepEqual(wordOf(answer), [404, 'no_account'])
    }
  })

  test('names what to send', async (t) => {
    const { ask, get, post } = operatorOf(await startWith(t))
    for (const [answer, field] of [
      [await post('/v1/admin/accounts', {}), 'tier'],
      [await post('/v1/admin/accounts', { tier: 'gold' }), 'tier'],
      [await post('/v1/admin/accounts', { tier: 'solo', email: 'nobody' }), 'email'],
      [
        await post('/v1/admin/accounts', { tier: 'solo', email: `a@${'b'.repeat(300)}.c` }),
        'email',
      ],
      [await post('/v1/admin/accounts/tier', { account: 5, tier: 'solo' }), 'account'],
      [await post('/v1/admin/accounts/tier', { account: 'x', tier: 'SOLO' }), 'tier'],
      [await post('/v1/admin/keys', {}), 'account'],
      [await get('/v1/admin/keys'), 'account'],
      [await ask('DELETE', '/v1/admin/keys?account=x'), 'id'],
      [await ask('POST', '/v1/admin/accounts'), 'tier'],
      [await post('/v1/admin/accounts', []), 'body'],
    ] as const) {
      assert.deepEqual(wordOf(answer), [400, 'bad_request'])
      assert.match(answer.body.detail, new RegExp(`^${field}: send`))
    }
  })

  test('makes nothing twice for one idempotency key, and stores no key', async (t) => {
    const app = await startWith(t)
    const { get, post } = operatorOf(app)
    const once = { 'idempotency-key': 'once' }
    const made = await post('/v1/admin/accounts', { tier: 'solo' }, once)
    const again = await post('/v1/admin/accounts', { tier: 'solo' }, once)
    assert.equal(again.text, made.text)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal((await get('/v1/admin/accounts')).body.accounts.length, 1)
    const rows = JSON.stringify(await dumpTables(app.running.store.db))
    assert.ok(!rows.includes(made.body.key.key.slice(14, 51)))
    assert.ok(!rows.includes(token))
  })
})

test('the administrative routes do not exist while no credential is set', async (t) => {
  verifies('settings.admin-token')
  const app = await start(t)
  const { key } = await app.newAccount()
  const seen = async (method: string, path: string, headers: Record<string, string>) => {
    const answer = await app.request(method, path, { headers })
    const own = ['x-request-id', 'date']
    const alike = [...answer.headers].filter(([name]) => !own.includes(name))
    return [answer.status, answer.text, alike]
  }
  for (const headers of [
    {},
    { authorization: `Bearer ${token}` },
    { authorization: `Bearer ${key}` },
  ]) {
    for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'OPTIONS']) {
      const unknown = await seen(method, '/v1/nothing/here', headers)
      assert.equal(unknown[0], 404)
      for (const path of ['/v1/admin', ...adminRoutes.map(({ path }) => path)]) {
        assert.deepEqual(await seen(method, path, headers), unknown, `${method} ${path}`)
      }
    }
  }
})

test('they take the credential in the header, and nothing else', async (t) => {
  verifies('admin.credential', 'settings.admin-token')
  const app = await start(t, { env: { PLUMBLINE_ADMIN_TOKEN: token } })
  const { key } = await app.newAccount()
  assert.equal(adminRoutes.length, 8)
  for (const { method, path } of adminRoutes) {
    const ask = (headers: Record<string, string>, query = '') =>
      app.request(method, path + query, { headers })
    for (const [headers, query] of [
      [{}, ''],
      [{}, `?key=${token}`],
      [{ authorization: '' }, ''],
      [{ authorization: token }, ''],
      [{ authorization: `Basic ${token}` }, ''],
    ] as const) {
      const answer = await ask(headers as Record<string, string>, query)
      assert.deepEqual(wordOf(answer), [401, 'no_key'], path)
      assert.match(answer.body.detail, /Authorization: Bearer/)
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
    for (const credential of [key, `${token}x`, token.slice(1), token.toUpperCase(), 'x']) {
      const answer = await ask({ authorization: `Bearer ${credential}` }, `?key=${token}`)
      assert.deepEqual([answer.status, answer.text], [401, '{"error":"bad_key"}'], path)
    }
    const good = await ask({ authorization: `bearer  ${token} ` })
    assert.ok([200, 400].includes(good.status), path)
    assert.equal(good.headers.get('x-ratelimit-limit'), null)
    const wrong = await app.request('PUT', path)
    assert.deepEqual(wordOf(wrong), [405, 'method_not_allowed'], 'before any credential')
  }
  for (const path of ['/v1/me', '/v1/drift/runs']) {
    const answer = await app.get(path, { authorization: `Bearer ${token}` })
    assert.deepEqual(wordOf(answer), [401, 'bad_key'])
  }
})

test('they are described apart from the public routes', async (t) => {
  verifies('admin.credential', 'openapi.tags')
  const app = await start(t, { env: { PLUMBLINE_ADMIN_TOKEN: token } })
  const shared = (await app.get('/v1/openapi.json')).text
  assert.ok(!shared.includes('admin'))
  const { body } = await operatorOf(app).get('/v1/admin/openapi.json')
  assert.equal(body.openapi, '3.1.0')
  const described = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, tags }]) => {
      assert.deepEqual([security, tags], [[{ admin: [] }], ['admin']])
      return `${method.toUpperCase()} ${path}`
    }),
  )
  const served = adminRoutes.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(described.toSorted(), served.toSorted())
  assert.ok(!(await app.get('/v1/openapi.json')).text.includes(token))
})
