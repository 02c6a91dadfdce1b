import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { hourMs, minuteMs } from '../src/core/time.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Browser, newBrowser } from './browser.ts'
import { dumpTables } from './dump.ts'
import { type Answer, type App, start } from './harness.ts'
import {
  type IdentityProvider,
  locationOf,
  startProvider,
  visitProvider,
} from './identity-provider.ts'
import { verifies } from './verifies.ts'

const wordOf = ({ status, body }: Answer) => [status, body?.error]

onEachDatabase((database) => {
  interface Setting {
    app: App
    url: string
    provider: IdentityProvider
    browser: Browser
  }

  async function startWithProvider(t: TestContext): Promise<Setting> {
    const provider = await startProvider(t)
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url, ...provider.env } })
    provider.register(app.url)
    return { app, url, provider, browser: newBrowser(app) }
  }

  /** Signs in to the end and returns where it leads. */
  async function signIn({ browser, provider }: Setting, from = '/auth/start'): Promise<string> {
    return locationOf(await browser.get(await visitProvider(browser, provider, from)))
  }

  const accountsIn = async ({ app }: Setting) =>
    (await app.running.store.accounts.list(100, null)).length

  describe('a person', () => {
    test('signs in with the provider, and the first time gets an account and its key', async (t) => {
      verifies('sign-in.first', 'sign-in.first-key', 'keys.issued', 'keys.sign-in', 'settings.oidc')
      const setting = await startWithProvider(t)
      const { app, provider, browser } = setting
      const offered = (await app.get('/v1/session')).body
      assert.deepEqual(offered.sign_in, { provider: true, name: new URL(provider.url).host })
      assert.equal(await signIn(setting), '/welcome')
      const { body } = await browser.get('/v1/session')
      assert.deepEqual([body.signed_in, body.tier, body.email], [true, 'ground', 'ada@reader.test'])
      assert.equal((await browser.get('/v1/me')).body.email_verified, true)
      const shown = await browser.post('/v1/session/first-key')
      assert.equal(shown.status, 201)
      const me = await app.get('/v1/me', { authorization: `Bearer ${shown.body.key}` })
      assert.equal(me.body.account, body.account)
      const again = await browser.post('/v1/session/first-key')
      assert.deepEqual(wordOf(again), [409, 'already_shown'])
      assert.equal((await browser.get('/v1/me')).body.keys.length, 1)
    })

    test('comes back to the same account, and to the page that was asked for', async (t) => {
      verifies('sign-in.again')
      const setting = await startWithProvider(t)
      assert.equal(await signIn(setting), '/welcome')
      const { account } = (await setting.browser.get('/v1/session')).body
      assert.equal(await signIn(setting), '/welcome', 'the key was not shown yet')
      await setting.browser.post('/v1/session/first-key')
      const other = { ...setting, browser: newBrowser(setting.app) }
      const run = '/app/runs/a%20b?step=13&agent='
      assert.equal(await signIn(other, `/auth/start?to=${encodeURIComponent(run)}`), run)
      assert.equal((await other.browser.get('/v1/session')).body.account, account)
      assert.equal(await signIn(other), '/app')
      setting.provider.person = 'grace'
      assert.equal(await signIn(other), '/welcome')
      assert.notEqual((await other.browser.get('/v1/session')).body.account, account)
      assert.equal(await accountsIn(setting), 2)
    })

    test('whose address the provider does not confirm has none', async (t) => {
      verifies('sign-in.email')
      const setting = await startWithProvider(t)
      setting.provider.vouches = false
      await signIn(setting)
      assert.equal((await setting.browser.get('/v1/session')).body.email, null)
    })

    test('who signs in twice at once has one account', async (t) => {
      verifies('sign-in.first')
      const setting = await startWithProvider(t)
      const { app, provider } = setting
      const browsers = Array.from({ length: 4 }, () => newBrowser(app))
      const answers = await Promise.all(browsers.map((browser) => visitProvider(browser, provider)))
      await Promise.all(browsers.map((browser, at) => browser.get(answers[at]!)))
      assert.equal(await accountsIn(setting), 1)
      const shown = await Promise.all(
        browsers.map((browser) => browser.post('/v1/session/first-key')),
      )
      assert.deepEqual(shown.map(({ status }) => status).sort(), [201, 409, 409, 409])
    })

    test('who meets a fault of the server has no account, and signs in afterwards', async (t) => {
      verifies('local-link.whole')
      const setting = await startWithProvider(t)
      const { app, url, browser, provider } = setting
      const back = await visitProvider(browser, provider)
      const db = await openFor(t, url)
      await db.run('ALTER TABLE sessions RENAME TO sessions_away')
      assert.equal((await browser.get(back)).status, 500)
      assert.equal(await accountsIn(setting), 0)
      await db.run('ALTER TABLE sessions_away RENAME TO sessions')
      assert.equal(await signIn(setting), '/welcome')
      assert.equal((await app.get('/v1/session')).body.signed_in, false)
      assert.equal((await browser.get('/v1/session')).body.signed_in, true)
    })

    test('signs out, and the session is gone', async (t) => {
      verifies('session.sign-out')
      const setting = await startWithProvider(t)
      await signIn(setting)
      const { app, browser } = setting
      const kept = newBrowser(app, new Map(browser.cookies))
      await browser.request('DELETE', '/v1/session')
      assert.deepEqual(wordOf(await kept.get('/v1/me')), [401, 'no_key'])
    })

    test('whose account was erased gets a new one', async (t) => {
      verifies('sign-in.erased')
      const setting = await startWithProvider(t)
      const { browser } = setting
      await signIn(setting)
      await browser.post('/v1/session/first-key')
      const { account } = (await browser.get('/v1/session')).body
      const exported = await browser.get('/v1/me/export')
      assert.match(exported.text, /^\{"type":"identity","issuer":"http:[^"]+","subject":"ada"/m)
      await browser.request('DELETE', `/v1/me?confirm=${account}`)
      assert.equal((await browser.get('/v1/session')).body.signed_in, false)
      assert.equal(await signIn(setting), '/welcome')
      assert.notEqual((await browser.get('/v1/session')).body.account, account)
      assert.equal((await browser.post('/v1/session/first-key')).status, 201)
    })
  })

  describe('a sign-in', () => {
    /** A refused answer of the provider leads here, and signs nobody in. */
    async function assertFails(setting: Setting, answer: Answer, word: string): Promise<void> {
      assert.deepEqual([answer.status, locationOf(answer)], [302, `/signin?error=${word}`])
      assert.equal((await setting.browser.get('/v1/session')).body.signed_in, false)
      assert.equal(await accountsIn(setting), 0)
    }

    test('is bound to its browser by a cookie for ten minutes', async (t) => {
      verifies('sign-in.bound', 'sign-in.protocol')
      const setting = await startWithProvider(t)
      const { app, provider, browser } = setting
      const begun = new URL(locationOf(await browser.get('/auth/start')))
      assert.match(
        browser.setCookies[0] ?? '',
        /^plumbline_signin=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
      )
      const sent = Object.fromEntries(begun.searchParams)
      assert.deepEqual(
        [sent.response_type, sent.code_challenge_method, sent.redirect_uri, sent.scope],
        ['code', 'S256', `${app.url}/auth/callback`, 'openid email'],
      )
      for (const name of ['state', 'nonce', 'code_challenge'])
        assert.match(sent[name]!, /^[\w-]{43}$/)
      const callback = await visitProvider(browser, provider)
      const stranger = newBrowser(app)
      await assertFails({ ...setting, browser: stranger }, await stranger.get(callback), 'expired')
      app.advance(10 * minuteMs)
      await assertFails(setting, await browser.get(callback), 'expired')
      assert.equal(browser.cookies.size, 0)
      assert.equal(await signIn(setting), '/welcome')
    })

    test('with another state is refused', async (t) => {
      verifies('sign-in.state')
      const setting = await startWithProvider(t)
      const { browser, provider } = setting
      for (const change of [
        (url: URL) => url.searchParams.set('state', 'x'.repeat(43)),
        (url: URL) => url.searchParams.delete('state'),
        (url: URL) => url.searchParams.append('state', url.searchParams.get('state')!),
      ]) {
        const callback = new URL(await visitProvider(browser, provider), 'http://any')
        change(callback)
        await assertFails(setting, await browser.get(callback.pathname + callback.search), 'state')
      }
      const mine = await visitProvider(browser, provider)
      await browser.get('/auth/start')
      await assertFails(setting, await browser.get(mine), 'state')
    })

    test('whose flow is forged is refused', async (t) => {
      verifies('sign-in.bound')
      const setting = await startWithProvider(t)
      const { browser, provider } = setting
      for (const flow of ['', 'x', 'x'.repeat(400), Buffer.from('{}').toString('base64url')]) {
        const callback = await visitProvider(browser, provider)
        browser.cookies.set('plumbline_signin', flow)
        await assertFails(setting, await browser.get(callback), 'expired')
      }
    })

    test('with a code that was used before is refused', async (t) => {
      verifies('sign-in.replay')
      const setting = await startWithProvider(t)
      const { app, browser, provider } = setting
      const callback = await visitProvider(browser, provider)
      const thief = newBrowser(app, new Map(browser.cookies))
      assert.equal(locationOf(await browser.get(callback)), '/welcome')
      const replayed = await thief.get(callback)
      assert.equal(locationOf(replayed), '/signin?error=provider')
      assert.equal((await thief.get('/v1/session')).body.signed_in, false)
      assert.equal(locationOf(await browser.get(callback)), '/signin?error=expired')
    })

    test('with another nonce, code or challenge is refused', async (t) => {
      verifies('sign-in.protocol')
      const setting = await startWithProvider(t)
      const { browser, provider } = setting
      for (const name of ['nonce', 'code_challenge']) {
        const callback = await visitProvider(browser, provider, '/auth/start', (url) =>
          url.searchParams.set(name, 'x'.repeat(43)),
        )
        await assertFails(setting, await browser.get(callback), 'provider')
      }
      const callback = await visitProvider(browser, provider)
      const forged = callback.replace(/code=[^&]+/, 'code=x')
      await assertFails(setting, await browser.get(forged), 'provider')
      const foreign = (await visitProvider(browser, provider)).replace(/iss=[^&]+/, 'iss=http://x')
      await assertFails(setting, await browser.get(foreign), 'provider')
    })

    test('that the person declines says so', async (t) => {
      verifies('sign-in.denied')
      const setting = await startWithProvider(t)
      setting.provider.person = null
      const { browser, provider } = setting
      const callback = await visitProvider(browser, provider)
      await assertFails(setting, await browser.get(callback), 'denied')
      const failed = '/auth/callback?error=server_error&state='
      const begun = new URL(locationOf(await browser.get('/auth/start')))
      const state = begun.searchParams.get('state')
      await assertFails(setting, await browser.get(failed + state), 'provider')
    })

    test('fails while the provider is down, and works as soon as it is back', async (t) => {
      verifies('sign-in.provider-down')
      const setting = await startWithProvider(t)
      const { app, browser, provider } = setting
      await provider.stop()
      await assertFails(setting, await browser.get('/auth/start'), 'provider')
      await provider.resume()
      const callback = await visitProvider(browser, provider)
      await provider.stop()
      await assertFails(setting, await browser.get(callback), 'provider')
      await provider.resume()
      assert.equal(await signIn(setting), '/welcome')
      app.advance(2 * hourMs)
      await provider.stop()
      const late = await newBrowser(app).get('/auth/start')
      assert.equal(locationOf(late), '/signin?error=provider', 'what is known of it gets old')
      const lines = app.log.filter(({ msg }) => /identity provider/.test(String(msg)))
      assert.ok(lines.length >= 3)
      assert.match(JSON.stringify(lines), /ECONNREFUSED/)
      assert.equal((await app.get('/readyz')).status, 200)
    })

    test('leads to no other host', async (t) => {
      verifies('sign-in.landing')
      const setting = await startWithProvider(t)
      await signIn(setting)
      await setting.browser.post('/v1/session/first-key')
      for (const to of [
        'https://evil.example/',
        '//evil.example',
        '/\\evil.example',
        '\\\\evil.example',
        '/\t/evil.example',
        '/app\\..\\x',
        'javascript:alert(1)',
        'app',
        '',
        '/app\r\nset-cookie: x=y',
        `/${'x'.repeat(3_000)}`,
        '/é',
      ]) {
        const from = `/auth/start?to=${encodeURIComponent(to)}`
        assert.equal(await signIn(setting, from), '/app', to)
      }
      assert.equal(await signIn(setting, '/auth/start?to=/a&to=/b'), '/app')
    })

    test('leaves no secret in the database, the log or the address of a page', async (t) => {
      verifies('sign-in.private')
      const setting = await startWithProvider(t)
      const { app, url, browser, provider } = setting
      const callback = await visitProvider(browser, provider)
      const flow = browser.cookies.get('plumbline_signin')!
      await browser.get(callback)
      const { state, code } = Object.fromEntries(new URL(callback, 'http://any').searchParams)
      const db = await openFor(t, url)
      const kept = JSON.stringify([await dumpTables(db), app.log])
      const secret = provider.env.PLUMBLINE_OIDC_CLIENT_SECRET
      for (const each of [state, code, flow, secret, ...browser.cookies.values()]) {
        assert.ok(each !== undefined && !kept.includes(each))
      }
    })
  })

  test('a sign-in that begins at one node ends at another', async (t) => {
    verifies('sign-in.bound')
    const setting = await startWithProvider(t)
    const { app, url, provider, browser } = setting
    if (database.name === 'sqlite') return
    const base = { PLUMBLINE_BASE_URL: app.url }
    const beside = await start(t, { env: { DATABASE_URL: url, ...provider.env, ...base } })
    const callback = await visitProvider(browser, provider)
    assert.equal(locationOf(await browser.at(beside).get(callback)), '/welcome')
  })
})

test('without a provider nobody is led there, and an account of a key has no first key', async (t) => {
  verifies('sign-in.unconfigured', 'sign-in.first-key')
  const app = await start(t)
  for (const path of ['/auth/start', '/auth/start?to=/app', '/auth/callback?code=x&state=y']) {
    const answer = await app.get(path)
    assert.deepEqual(wordOf(answer), [501, 'not_configured'], path)
    assert.match(answer.body.detail, /Sign in with a key/)
  }
  const { headers } = await app.newAccount()
  const answer = await app.post('/v1/session/first-key', {}, headers)
  assert.deepEqual(wordOf(answer), [409, 'already_shown'])
  assert.deepEqual(wordOf(await app.post('/v1/session/first-key', {})), [401, 'no_key'])
  assert.doesNotMatch((await app.get('/v1/keys')).body.detail, /signin/)
})

test('a sign-in under another name of the server begins at its base address', async (t) => {
  verifies('sign-in.base')
  const provider = await startProvider(t)
  const base = 'http://plumbline.test:8787'
  const app = await start(t, { env: { ...provider.env, PLUMBLINE_BASE_URL: base } })
  provider.register(base)
  const browser = newBrowser(app)
  const moved = locationOf(await browser.get('/auth/start?to=/app/keys'))
  assert.equal(moved, `${base}/auth/start?to=%2Fapp%2Fkeys&moved=1`)
  const begun = locationOf(await browser.get(moved.slice(base.length)))
  assert.equal(new URL(begun).searchParams.get('redirect_uri'), `${base}/auth/callback`)
  assert.match((await app.get('/v1/keys')).body.detail, /http:\/\/plumbline\.test:8787\/signin/)
})

test('a provider that answers nonsense signs nobody in', async (t) => {
  verifies('sign-in.provider-hostile')
  let behave = (_path: string, response: ServerResponse): void => void response.end()
  const paths: string[] = []
  const server = createServer(({ url = '' }, response) => {
    paths.push(url)
    behave(url, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const app = await start(t, {
    env: { PLUMBLINE_OIDC_ISSUER: issuer, PLUMBLINE_OIDC_CLIENT_ID: 'plumbline' },
  })
  const json = { 'content-type': 'application/json' }
  const metadata = { issuer, authorization_endpoint: `${issuer}/auth` }
  const answers: Record<string, (path: string, response: ServerResponse) => void> = {
    'a fault': (_path, response) => response.writeHead(500).end('secret words'),
    'a page': (_path, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    'a redirect': (_path, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    'too much': (_path, response) =>
      response.writeHead(200, json).end(JSON.stringify({ ...metadata, x: 'x'.repeat(2_000_000) })),
    'another issuer': (_path, response) =>
      response
        .writeHead(200, json)
        .end(JSON.stringify({ ...metadata, issuer: 'http://x.example' })),
    'no endpoint': (_path, response) =>
      response.writeHead(200, json).end(JSON.stringify({ issuer })),
    'a reset': (_path, response) => response.destroy(),
  }
  for (const [name, answer] of Object.entries(answers)) {
    app.advance(2 * hourMs)
    behave = answer
    const begun = await newBrowser(app).get('/auth/start')
    assert.equal(locationOf(begun), '/signin?error=provider', name)
  }
  assert.ok(!paths.some((path) => path.startsWith('/elsewhere')))
  assert.doesNotMatch(JSON.stringify(app.log), /secret words/)
})
