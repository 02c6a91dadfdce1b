import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { dayMs, hourMs, minuteMs } from '../src/core/time.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Browser, newBrowser } from './browser.ts'
import { type Caller, newCaller } from './caller.ts'
import { dumpTables } from './dump.ts'
import { type Answer, type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

const unknownKey = 'pl_live_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg_0rgtVP'
const step = { goal: 'fix the login form' }

/** Status and stable word of an answer. */
const wordOf = ({ status, body }: Answer) => [status, body?.error]

async function isSignedIn(browser: Browser): Promise<boolean> {
  return (await browser.get('/v1/session')).body.signed_in
}

onEachDatabase((database) => {
  interface Setting {
    app: App
    url: string
    caller: Caller
    browser: Browser
  }

  async function startSignedIn(t: TestContext, env: Record<string, string> = {}): Promise<Setting> {
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url, ...env } })
    const caller = await newCaller(app)
    const browser = newBrowser(app)
    assert.equal((await browser.signIn(caller.key)).status, 200)
    return { app, url, caller, browser }
  }

  /** Another node of the service; on SQLite there is one. */
  async function startBeside(t: TestContext, { app, url }: Setting): Promise<App> {
    return database.name === 'sqlite' ? app : start(t, { env: { DATABASE_URL: url } })
  }

  describe('a browser', () => {
    test('signs in with a key, and its session takes the place of the key', async (t) => {
      verifies('session.sign-in', 'session.cookie', 'session.read')
      const { caller, browser } = await startSignedIn(t)
      await browser.signIn(caller.key)
      const [cookie = ''] = browser.setCookies
      assert.match(
        cookie,
        /^plumbline_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
      )
      const read = await browser.get('/v1/session')
      assert.deepEqual(read.body, {
        signed_in: true,
        account: caller.account,
        tier: 'enterprise',
        email: null,
        csrf: read.body.csrf,
        sign_in: { provider: false, name: null },
        upgrade: false,
      })
      assert.equal(read.headers.get('cache-control'), 'no-store')
      assert.equal((await browser.post('/v1/drift', step)).status, 200)
      assert.equal((await browser.get('/v1/drift/run?run_id=run')).body.run.steps, 1)
      assert.equal((await browser.get('/v1/me')).body.account, caller.account)
      assert.equal((await browser.request('DELETE', '/v1/drift/run?run_id=run')).status, 200)
    })

    test('without a credential is told how to sign in', async (t) => {
      verifies('session.read')
      const { app, caller } = await startSignedIn(t)
      const stranger = {
        signed_in: false,
        sign_in: { provider: false, name: null },
        upgrade: false,
      }
      assert.deepEqual((await app.get('/v1/session')).body, stranger)
      for (const authorization of ['', 'Bearer x', `Bearer ${unknownKey}`]) {
        assert.deepEqual((await app.get('/v1/session', { authorization })).body, stranger)
      }
      const { body } = await caller.get('/v1/session')
      assert.deepEqual([body.signed_in, body.account, body.csrf], [true, caller.account, undefined])
    })

    test('is told clearly why a key does not sign it in', async (t) => {
      verifies('session.sign-in.refused')
      const { app, caller } = await startSignedIn(t)
      const browser = newBrowser(app)
      for (const key of ['', 'x', caller.key.slice(0, -1), unknownKey, `${caller.key}x`]) {
        const answer = await browser.signIn(key)
        assert.deepEqual(wordOf(answer), [401, 'bad_key'], key)
        assert.match(answer.body.detail, /^This key is not known here/)
      }
      for (const body of [{}, { key: null }, { key: 7 }, { key: [caller.key] }, 'x', null]) {
        assert.deepEqual(wordOf(await browser.post('/v1/session', body)), [400, 'bad_request'])
      }
      const { key } = (await caller.post('/v1/me/keys', { scope: 'hooks' })).body
      assert.deepEqual(wordOf(await browser.signIn(key)), [403, 'forbidden'])
      assert.equal(browser.cookies.size, 0)
      assert.equal((await browser.signIn(` ${caller.key}\n`)).status, 200, 'as it was copied')
    })

    test('signs out at once, on every node', async (t) => {
      verifies('session.sign-out')
      const setting = await startSignedIn(t)
      const { browser } = setting
      const beside = await startBeside(t, setting)
      const kept = newBrowser(beside, new Map(browser.cookies))
      assert.ok(await isSignedIn(kept))
      const out = await browser.request('DELETE', '/v1/session')
      assert.deepEqual([out.status, out.body], [200, { ok: true }])
      assert.match(browser.setCookies[0] ?? '', /^plumbline_session=; Path=\/; Max-Age=0;/)
      assert.equal(browser.cookies.size, 0)
      const late = await kept.get('/v1/me')
      assert.deepEqual(wordOf(late), [401, 'no_key'])
      assert.match(late.body.detail, /Sign in again/)
      assert.equal((await browser.request('DELETE', '/v1/session')).status, 200, 'twice')
    })

    test('gets a new session each time it signs in, and the old one ends', async (t) => {
      verifies('session.cookie')
      const { app, caller, browser } = await startSignedIn(t)
      const before = newBrowser(app, new Map(browser.cookies))
      await browser.signIn(caller.key)
      assert.notDeepEqual([...before.cookies], [...browser.cookies])
      assert.ok(await isSignedIn(browser))
      assert.ok(!(await isSignedIn(before)))
    })
  })

  describe('a session', () => {
    test('ends after 7 days without use and after 30 days with it', async (t) => {
      verifies('session.expiry')
      const { app, caller, browser } = await startSignedIn(t)
      app.advance(7 * dayMs - 1)
      assert.ok(await isSignedIn(browser))
      app.advance(7 * dayMs)
      assert.ok(!(await isSignedIn(browser)))
      assert.equal(browser.cookies.size, 0, 'the cookie is taken away')
      await browser.signIn(caller.key)
      for (let day = 0; day < 29; day += 1) {
        app.advance(dayMs)
        assert.ok(await isSignedIn(browser), `day ${day}`)
        if (day % 2 === 0) await app.running.store.sessions.saveUse()
      }
      app.advance(dayMs - 1)
      assert.ok(await isSignedIn(browser))
      app.advance(1)
      assert.ok(!(await isSignedIn(browser)))
      await app.running.runDue()
      assert.deepEqual(await app.running.store.db.all('SELECT hash FROM sessions'), [])
    })

    test('that is used outlives a restart', async (t) => {
      verifies('session.expiry')
      const { app, url, browser } = await startSignedIn(t)
      app.advance(6 * dayMs)
      assert.ok(await isSignedIn(browser))
      await app.running.stop()
      const again = await start(t, { env: { DATABASE_URL: url } })
      again.advance(13 * dayMs - 1)
      assert.ok(await isSignedIn(browser.at(again)))
    })

    test('ends with the key that made it', async (t) => {
      verifies('session.key')
      const setting = await startSignedIn(t)
      const { app, caller, browser } = setting
      const beside = await startBeside(t, setting)
      const other = (await caller.post('/v1/me/keys', {})).body
      const second = newBrowser(app)
      await second.signIn(other.key)
      assert.equal((await caller.request('DELETE', `/v1/me/keys?id=${other.id}`)).status, 200)
      assert.ok(!(await isSignedIn(second)))
      assert.ok(!(await isSignedIn(second.at(beside))))
      assert.ok(await isSignedIn(browser))
      const rotated = await caller.post('/v1/me/keys/rotate', { id: caller.keyId, grace_hours: 1 })
      assert.equal(rotated.status, 201)
      app.advance(hourMs)
      assert.ok(!(await isSignedIn(browser)), 'the grace of the key is over')
    })

    test('goes over to the new key if it replaces its own', async (t) => {
      verifies('session.key')
      const { app, caller, browser } = await startSignedIn(t)
      const thief = newBrowser(app)
      await thief.signIn(caller.key)
      const rotated = await browser.post('/v1/me/keys/rotate', {
        id: caller.keyId,
        grace_hours: 0,
      })
      assert.equal(rotated.status, 201)
      assert.ok(await isSignedIn(browser))
      assert.ok(!(await isSignedIn(thief)))
      const more = (await browser.post('/v1/me/keys', {})).body
      assert.equal((await browser.request('DELETE', `/v1/me/keys?id=${more.id}`)).status, 200)
      const gone = await browser.request('DELETE', `/v1/me/keys?id=${rotated.body.id}`)
      assert.deepEqual(wordOf(gone), [409, 'conflict'], 'the last key')
    })

    test('ends with its account, whose rows are erased', async (t) => {
      verifies('session.erased')
      const { app, caller, browser } = await startSignedIn(t)
      const kept = newBrowser(app, new Map(browser.cookies))
      const exported = await browser.get('/v1/me/export')
      assert.match(exported.text, /^\{"type":"session","key_id":"key_/m)
      const erased = await browser.request('DELETE', `/v1/me?confirm=${caller.account}`)
      assert.equal(erased.status, 200)
      assert.ok(!(await isSignedIn(kept)))
      await app.running.runDue()
      assert.deepEqual(await app.running.store.db.all('SELECT hash FROM sessions'), [])
    })

    test('is one of 50 of its account; one more ends the oldest', async (t) => {
      verifies('session.limit')
      const { app, caller, browser } = await startSignedIn(t)
      for (let more = 0; more < 49; more++) {
        app.advance(minuteMs)
        await newBrowser(app).signIn(caller.key)
      }
      assert.ok(await isSignedIn(browser))
      app.advance(minuteMs)
      await newBrowser(app).signIn(caller.key)
      assert.ok(!(await isSignedIn(browser)))
    })

    test('is stored as a hash, and stands in no log', async (t) => {
      verifies('session.stored')
      const { app, url, browser } = await startSignedIn(t)
      const read = await browser.get('/v1/session')
      await browser.post('/v1/drift', step, { 'x-plumbline-csrf': 'x' })
      const db = await openFor(t, url)
      const kept = JSON.stringify([await dumpTables(db), app.log])
      for (const secret of [...browser.cookies.values(), read.body.csrf]) {
        assert.ok(!kept.includes(secret))
      }
    })

    test('replays a secret answer to itself alone', async (t) => {
      verifies('session.replay')
      const { app, url, caller, browser } = await startSignedIn(t)
      const once = { 'idempotency-key': 'once' }
      const made = await browser.post('/v1/me/keys', {}, once)
      assert.equal(made.status, 201)
      const again = await browser.post('/v1/me/keys', {}, once)
      assert.equal(again.text, made.text)
      const db = await openFor(t, url)
      assert.ok(!JSON.stringify(await dumpTables(db)).includes(made.body.key))
      const other = newBrowser(app)
      await other.signIn(caller.key)
      for (const stranger of [other, caller]) {
        const refused = await stranger.post('/v1/me/keys', {}, once)
        assert.deepEqual(wordOf(refused), [409, 'idempotency_conflict'])
      }
    })
  })

  describe('another site', () => {
    test('cannot have a browser change anything', async (t) => {
      verifies('session.csrf')
      const { app, caller, browser } = await startSignedIn(t)
      const other = newBrowser(app)
      await other.signIn(caller.key)
      const { csrf } = (await browser.get('/v1/session')).body
      const foreign = (await other.get('/v1/session')).body.csrf
      assert.notEqual(csrf, foreign)
      const cookie = { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('') }
      const token = { 'x-plumbline-csrf': csrf }
      for (const headers of [
        {},
        { 'x-plumbline-csrf': '' },
        { 'x-plumbline-csrf': foreign },
        { 'x-plumbline-csrf': `${csrf}, ${csrf}` },
        { ...token, origin: 'https://evil.example' },
        { ...token, origin: 'null' },
        { ...token, origin: `${app.url}.evil.example` },
        { ...token, origin: app.url.replace(/\d+$/, '1') },
        { ...token, 'sec-fetch-site': 'cross-site' },
        { ...token, 'sec-fetch-site': 'same-site' },
        { ...token, 'sec-fetch-site': 'none' },
        { ...token, origin: app.url, 'sec-fetch-site': 'cross-site' },
      ] as Record<string, string>[]) {
        const sent = { headers: { ...cookie, ...headers }, body: JSON.stringify(step) }
        const said = JSON.stringify(headers)
        assert.deepEqual(wordOf(await app.request('POST', '/v1/drift', sent)), [403, 'csrf'], said)
        const erase = `/v1/me?confirm=${caller.account}`
        const bodiless = { headers: sent.headers }
        assert.deepEqual(wordOf(await app.request('DELETE', erase, bodiless)), [403, 'csrf'], said)
        const out = await app.request('DELETE', '/v1/session', bodiless)
        assert.deepEqual(wordOf(out), [403, 'csrf'], said)
      }
      assert.deepEqual((await browser.get('/v1/drift/runs')).body.runs, [])
      const fine = { headers: { ...cookie, ...token }, body: JSON.stringify(step) }
      assert.equal((await app.request('POST', '/v1/drift', fine)).status, 200)
    })

    test('cannot sign a browser in', async (t) => {
      verifies('session.csrf')
      const { app, caller } = await startSignedIn(t)
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
      ] as Record<string, string>[]) {
        const answer = await app.post('/v1/session', { key: caller.key }, headers)
        assert.deepEqual(wordOf(answer), [403, 'csrf'])
        assert.equal(answer.headers.get('set-cookie'), null)
      }
    })
  })

  test('a key in the request goes before the cookie', async (t) => {
    verifies('session.key-first')
    const { app, browser } = await startSignedIn(t)
    const other = await newCaller(app)
    for (const path of ['/v1/me', '/v1/session']) {
      assert.equal((await browser.get(path, other.headers)).body.account, other.account)
    }
    assert.equal((await browser.get(`/v1/me?key=${other.key}`)).body.account, other.account)
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('')
    const posted = await other.post('/v1/drift', step, { cookie })
    assert.equal(posted.status, 200, 'needs no csrf')
    for (const authorization of ['Bearer x', `Bearer ${unknownKey}`, '']) {
      assert.equal((await browser.get('/v1/me', { authorization })).status, 401, authorization)
    }
    assert.equal((await browser.get('/v1/me?key=')).status, 401)
  })

  test('the cookie counts for no tool, hook, export of telemetry or administration', async (t) => {
    verifies('session.operations-only')
    const token = 'the-token-of-the-operator'
    const { caller, browser } = await startSignedIn(t, { PLUMBLINE_ADMIN_TOKEN: token })
    const called = await browser.post(
      '/mcp',
      {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'resume_self', arguments: { identity: 'me' } },
      },
      { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    )
    assert.match(called.text, /no_key|key/)
    assert.doesNotMatch(called.text, new RegExp(caller.account))
    const event = { hook_event_name: 'UserPromptSubmit', session_id: 'a', prompt: 'fix the login' }
    const hook = await browser.post('/v1/hooks/claude-code', event)
    assert.match(hook.headers.get('x-plumbline-note') ?? '', /^no_key/)
    const json = { 'content-type': 'application/json' }
    for (const path of ['/v1/logs', '/v1/otlp/v1/traces']) {
      assert.deepEqual(wordOf(await browser.post(path, {}, json)), [401, 'no_key'], path)
    }
    assert.deepEqual(wordOf(await browser.get('/v1/admin/accounts')), [401, 'no_key'])
    assert.deepEqual((await browser.get('/v1/drift/runs')).body.runs, [])
  })
})

test('over HTTPS the cookie is one that no other host of the domain can set', async (t) => {
  verifies('session.cookie')
  const app = await start(t, { env: { PLUMBLINE_BASE_URL: 'https://plumbline.example' } })
  const { key, account } = await app.newAccount()
  const plain = await app.post('/v1/session', { key })
  assert.match(plain.headers.get('set-cookie') ?? '', /^plumbline_session=.*SameSite=Lax$/)
  const proxied = { 'x-forwarded-proto': 'https' }
  const secure = await app.post('/v1/session', { key }, proxied)
  const [cookie = ''] = secure.headers.getSetCookie()
  assert.match(
    cookie,
    /^__Host-plumbline=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
  )
  const [pair = ''] = cookie.split(';')
  const value = pair.split('=')[1]
  const read = (headers: Record<string, string>) => app.get('/v1/session', headers)
  assert.equal((await read({ ...proxied, cookie: pair })).body.account, account)
  for (const headers of [
    { ...proxied, cookie: `plumbline_session=${value}` },
    { cookie: pair },
    { ...proxied, cookie: `${pair}; __Host-plumbline=x` },
    { ...proxied, cookie: `x${pair}` },
    { ...proxied, cookie: `${pair}x` },
  ]) {
    assert.equal((await read(headers)).body.signed_in, false, JSON.stringify(headers))
  }
})
