import assert from 'node:assert/strict'
import { request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { makeLocalLink } from '../src/operations/account/local-link.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { newBrowser } from './browser.ts'
import { dumpTables } from './dump.ts'
import { type App, start } from './harness.ts'
import { freshFolder, spawnPlumbline, spawnServe } from './spawned.ts'
import { surfaceOf } from './surface.ts'
import { verifies } from './verifies.ts'

const minuteMs = 60_000

/** The path of a new link to an account. */
async function linkTo(app: App, account: string): Promise<string> {
  const { url } = await makeLocalLink(app.running.service, account, app.url)
  return url.slice(app.url.length)
}

/** The status of a GET under another host, and where it leads. */
function getUnder(host: string, url: string): Promise<[number | undefined, string | undefined]> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host } }, (answer) => {
      answer.resume()
      resolve([answer.statusCode, answer.headers.location])
    })
    asked.on('error', reject).end()
  })
}

onEachDatabase((database) => {
  async function startOn(t: TestContext) {
    const url = await database.createUrl()
    return { url, app: await start(t, { env: { DATABASE_URL: url } }) }
  }

  test('a link signs the person at this machine in, once', async (t) => {
    verifies('local-link.once')
    const { app } = await startOn(t)
    const { account } = await app.newAccount()
    const link = await linkTo(app, account)
    const browser = newBrowser(app)
    const head = await browser.request('HEAD', link)
    assert.equal(head.status, 405, 'a look at the link does not use it up')
    const followed = await browser.get(link)
    assert.deepEqual([followed.status, followed.headers.get('location')], [302, '/app'])
    const { body } = await browser.get('/v1/session')
    assert.deepEqual([body.signed_in, body.account], [true, account])
    const second = newBrowser(app)
    const again = await second.get(link)
    assert.deepEqual([again.status, again.headers.get('location')], [302, '/signin?error=expired'])
    assert.equal(second.cookies.size, 0)
    assert.equal((await browser.get('/v1/session')).body.signed_in, true)
  })

  test('of two that follow it at once one is signed in', async (t) => {
    verifies('local-link.once')
    const { app } = await startOn(t)
    const link = await linkTo(app, (await app.newAccount()).account)
    const browsers = Array.from({ length: 8 }, () => newBrowser(app))
    await Promise.all(browsers.map((browser) => browser.get(link)))
    assert.equal(browsers.filter(({ cookies }) => cookies.has('plumbline_session')).length, 1)
  })

  test('a fault while it is followed leaves it as it was', async (t) => {
    verifies('local-link.whole')
    const { app, url } = await startOn(t)
    const link = await linkTo(app, (await app.newAccount()).account)
    const browser = newBrowser(app)
    const db = await openFor(t, url)
    await db.run('ALTER TABLE sessions RENAME TO sessions_away')
    assert.equal((await browser.get(link)).status, 500)
    assert.equal(browser.cookies.size, 0)
    await db.run('ALTER TABLE sessions_away RENAME TO sessions')
    assert.equal((await browser.get(link)).headers.get('location'), '/app')
    assert.equal((await browser.get('/v1/session')).body.signed_in, true)
  })

  test('it is good for 15 minutes', async (t) => {
    verifies('local-link.expiry')
    const { app } = await startOn(t)
    const { account } = await app.newAccount()
    const [early, late] = [await linkTo(app, account), await linkTo(app, account)]
    app.advance(15 * minuteMs - 1)
    assert.equal((await newBrowser(app).get(early)).headers.get('location'), '/app')
    app.advance(1)
    const browser = newBrowser(app)
    assert.equal((await browser.get(late)).headers.get('location'), '/signin?error=expired')
    assert.equal(browser.cookies.size, 0)
    await linkTo(app, account)
    app.advance(60 * minuteMs)
    await app.running.runDue()
    const rows = await app.running.store.db.all('SELECT hash FROM sign_in_links')
    assert.deepEqual(rows, [])
  })

  test('it leads nowhere without its token, or without its account', async (t) => {
    verifies('local-link.once')
    const { app, url } = await startOn(t)
    const { account, headers } = await app.newAccount()
    const link = await linkTo(app, account)
    const db = await openFor(t, url)
    const token = link.split('=')[1]!
    assert.ok(!JSON.stringify([await dumpTables(db), app.log]).includes(token))
    for (const path of ['', '?token=', '?token=x', `?token=${token}&token=${token}`, '?x']) {
      const { status, headers } = await newBrowser(app).get(`/auth/local${path}`)
      assert.deepEqual([status, headers.get('location')], [302, '/signin?error=expired'], path)
    }
    await app.request('DELETE', `/v1/me?confirm=${account}`, { headers })
    const gone = await newBrowser(app).get(link)
    assert.equal(gone.headers.get('location'), '/signin?error=expired')
  })
})

test('no other machine can follow it, and no proxy lead there', async (t) => {
  verifies('local-link.loopback')
  const app = await start(t)
  const { account } = await app.newAccount()
  const link = await linkTo(app, account)
  const surface = surfaceOf(app)
  t.after(() => surface.close())
  for (const remoteAddress of ['203.0.113.7', '192.168.1.7', 'fe80::1', '::ffff:10.0.0.1']) {
    const { statusCode, body } = await surface.inject({
      url: link,
      remoteAddress,
      headers: { host: '127.0.0.1:8787' },
    })
    assert.deepEqual([statusCode, JSON.parse(body).error], [403, 'forbidden'], remoteAddress)
  }
  for (const host of [
    'plumbline.example',
    'localhost.evil.example',
    '10.0.0.1',
    '127.0.0.1.nip.io',
  ]) {
    assert.deepEqual(await getUnder(host, app.url + link), [403, undefined], host)
  }
  for (const name of ['x-forwarded-for', 'forwarded', 'cf-connecting-ip', 'x-real-ip', 'via']) {
    const { status } = await newBrowser(app).get(link, { [name]: '203.0.113.7' })
    assert.equal(status, 403, name)
  }
  const port = new URL(app.url).port
  const others = [await linkTo(app, account), await linkTo(app, account), link]
  for (const host of [`localhost:${port}`, '[::1]', '127.0.0.2']) {
    assert.deepEqual(await getUnder(host, app.url + others.pop()), [302, '/app'], host)
  }
})

test('the first start prints such a link, and a later one none', async (t) => {
  verifies('command.start-link', 'command.start-page')
  const first = await spawnServe(t)
  const printed = /^ {2}(http:\/\/127\.0\.0\.1:\d+\/auth\/local\?token=[\w-]{43})$/m
  const link = printed.exec(first.written.out)?.[1] ?? ''
  assert.ok(link.startsWith(first.url), first.written.out)
  const browser = newBrowser(first)
  assert.equal((await browser.get(link)).headers.get('location'), '/app')
  const { body } = await browser.get('/v1/me')
  assert.equal(body.tier, 'enterprise')
  first.child.kill('SIGTERM')
  await first.ended
  assert.ok(!first.written.err.includes(link.slice(-43)), 'the log does not hold it')
  const later = await spawnServe(t, { folder: first.folder })
  assert.doesNotMatch(later.written.out, /auth\/local/)
})

test('plumbline signin prints one while the server runs', async (t) => {
  verifies('command.signin')
  const { url, folder } = await spawnServe(t)
  const { port } = new URL(url)
  const run = async (env: Record<string, string>, ...args: string[]) => {
    const { ended, written } = spawnPlumbline(t, ['signin', ...args], { folder, env })
    return { code: await ended, ...written }
  }
  const printed = await run({ PORT: port })
  assert.equal(printed.code, 0, printed.err)
  const link = /http:\S+/.exec(printed.out)?.[0] ?? ''
  const browser = newBrowser({ url })
  assert.equal((await browser.get(link)).headers.get('location'), '/app')
  const { account } = (await browser.get('/v1/me')).body
  const json = JSON.parse((await run({ PORT: port }, '--json', '--account', account)).out)
  assert.equal(json.account, account)
  assert.ok(Date.parse(json.expires) > Date.now())
  assert.equal((await newBrowser({ url }).get(json.url)).headers.get('location'), '/app')
  for (const [env, args, fault] of [
    [{ PORT: port }, ['--account', 'acct_x'], /there is no account "acct_x"/],
    [{ PORT: port }, ['x'], /unexpected argument "x"/],
    [{ PORT: '0' }, [], /HOST or PORT/],
    [{ HOST: '192.0.2.1' }, [], /sign in with a key/],
  ] as const) {
    const { code, err } = await run(env, ...args)
    assert.equal(code, 2)
    assert.match(err, fault)
  }
  const empty = spawnPlumbline(t, ['signin'], { folder: freshFolder(t) })
  assert.equal(await empty.ended, 2)
  assert.match(empty.written.err, /there is no account yet/)
})
