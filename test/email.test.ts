import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { linkIn, type Mailbox, startMailbox } from './mailbox.ts'
import { verifies } from './verifies.ts'

const hourMs = 3_600_000
const address = 'ada@reader.test'

onEachDatabase((database) => {
  async function startWithMail(t: TestContext, mailbox?: Mailbox) {
    const box = mailbox ?? (await startMailbox(t))
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url, ...box.env } })
    return { app, box, url, caller: await newCaller(app) }
  }

  const emailOf = async (caller: Awaited<ReturnType<typeof newCaller>>) => {
    const { email, email_verified } = (await caller.get('/v1/me')).body
    return [email, email_verified]
  }

  describe('a mail address', () => {
    test('gets a link, and is confirmed by the button behind it', async (t) => {
      verifies('me.email', 'me.email-confirm', 'settings.smtp')
      const { app, box, caller } = await startWithMail(t)
      assert.deepEqual(await emailOf(caller), [null, false])
      const set = await caller.post('/v1/me/email', { email: address })
      assert.deepEqual([set.status, set.body], [200, { ok: true, email: address, verified: false }])
      assert.deepEqual(await emailOf(caller), [address, false])

      const mail = box.next()
      assert.deepEqual(mail.recipients, [address])
      assert.equal(mail.from?.address, 'plumbline@plumbline.test')
      assert.equal(mail.subject, 'Confirm your mail address for Plumbline')
      const link = linkIn(mail.text, app.url)
      assert.ok(mail.html?.includes(`<a href="${link}">`))
      const token = new URL(link).searchParams.get('token')!
      assert.ok(token.replace(/^confirm_/, '').length >= 22)

      for (let scan = 0; scan < 3; scan++) {
        const page = await fetch(link)
        assert.equal(page.status, 200)
        assert.match(page.headers.get('content-type')!, /^text\/html/)
        const text = await page.text()
        assert.ok(text.includes('<form method="post">') && text.includes(address))
      }
      assert.deepEqual(await emailOf(caller), [address, false], 'a scanner confirms nothing')
      const done = await fetch(link, { method: 'POST' })
      assert.deepEqual([done.status, /Confirmed/.test(await done.text())], [200, true])
      assert.deepEqual(await emailOf(caller), [address, true])
      for (const method of ['GET', 'POST']) {
        assert.equal((await fetch(link, { method })).status, 404, 'a link is good once')
      }
      const again = await caller.post('/v1/me/email', { email: address })
      assert.deepEqual(again.body, { ok: true, email: address, verified: true })
      assert.equal(box.mails.length, 1)
      const dump = JSON.stringify(app.log)
      assert.ok(!dump.includes(token), 'the log holds no link')
    })

    test('is replaced by another, and removed', async (t) => {
      verifies('me.email', 'me.email-confirm')
      const { app, box, caller } = await startWithMail(t)
      await caller.post('/v1/me/email', { email: address })
      const first = linkIn(box.next().text, app.url)
      await caller.post('/v1/me/email', { email: 'other@reader.test' })
      const second = linkIn(box.next().text, app.url)
      assert.equal((await fetch(first, { method: 'POST' })).status, 404)
      assert.deepEqual(await emailOf(caller), ['other@reader.test', false])
      assert.equal((await fetch(second, { method: 'POST' })).status, 200)
      assert.deepEqual(await emailOf(caller), ['other@reader.test', true])
      await caller.post('/v1/me/email', { email: address })
      assert.deepEqual(await emailOf(caller), [address, false])
      const third = linkIn(box.next().text, app.url)
      const removed = await caller.post('/v1/me/email', { email: null })
      assert.deepEqual(removed.body, { ok: true, email: null, verified: false })
      assert.equal((await fetch(third, { method: 'POST' })).status, 404)
      assert.deepEqual(await emailOf(caller), [null, false])
      assert.equal(box.mails.length, 3, 'a removal is told nobody')
    })

    test('is confirmed for 24 hours, on any node', async (t) => {
      verifies('me.email-confirm')
      const { app, box, url, caller } = await startWithMail(t)
      await caller.post('/v1/me/email', { email: address })
      const late = linkIn(box.next().text, app.url)
      app.advance(24 * hourMs)
      assert.equal((await fetch(late, { method: 'POST' })).status, 404)
      await app.running.runDue()
      await caller.post('/v1/me/email', { email: address })
      const link = new URL(linkIn(box.next().text, app.url))
      app.advance(24 * hourMs - 1)
      await app.running.stop()
      const other = await start(t, { env: { DATABASE_URL: url, ...box.env } })
      other.advance(48 * hourMs - 1)
      const answer = await fetch(other.url + link.pathname + link.search, { method: 'POST' })
      assert.equal(answer.status, 200)
      assert.deepEqual(await emailOf(caller.at(other)), [address, true])
    })

    test('that is none, or that nothing can be sent to, is refused', async (t) => {
      verifies('me.email')
      const { app, box, caller } = await startWithMail(t)
      for (const email of [
        undefined,
        '',
        'x',
        'a@b',
        'a b@c.test',
        'a@b.test\r\nbcc: x@y.test',
        7,
      ]) {
        const { status, body } = await caller.post('/v1/me/email', { email })
        assert.deepEqual([status, body.error], [400, 'bad_request'], String(email))
      }
      for (const token of ['', '?token=', '?token=confirm_x', '?token=a&token=b', '?x']) {
        assert.equal((await app.get(`/email/confirm${token}`)).status, 404)
      }
      assert.equal((await app.request('DELETE', '/email/confirm')).status, 405)
      assert.equal(box.mails.length, 0)
    })

    test('is written to only so often', async (t) => {
      const { app, box, caller } = await startWithMail(t)
      const statuses = []
      for (let time = 0; time < 6; time++) {
        statuses.push((await caller.post('/v1/me/email', { email: address })).status)
      }
      assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429])
      const other = await newCaller(app)
      const elsewhere = await other.post('/v1/me/email', { email: address.toUpperCase() })
      assert.deepEqual([elsewhere.status, elsewhere.body.error], [429, 'rate_limit'])
      assert.equal(elsewhere.headers.get('retry-after'), String(12 * 3600))
      assert.equal(box.mails.length, 5)
      app.advance(12 * hourMs)
      assert.equal((await other.post('/v1/me/email', { email: address })).status, 200)
    })

    test('of an account does not say whether another has it', async (t) => {
      const { app, box, caller } = await startWithMail(t)
      const other = await newCaller(app)
      const links = []
      for (const each of [caller, other]) {
        await each.post('/v1/me/email', { email: address })
        links.push(linkIn(box.next().text, app.url))
      }
      assert.equal((await fetch(links[0]!, { method: 'POST' })).status, 200)
      assert.deepEqual(await emailOf(caller), [address, true])
      assert.deepEqual(await emailOf(other), [address, false])
    })
  })

  describe('mail', () => {
    test('that is not configured is said so', async (t) => {
      verifies('me.email-unconfigured')
      const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
      const caller = await newCaller(app)
      for (const email of [address, null]) {
        const { status, body } = await caller.post('/v1/me/email', { email })
        assert.deepEqual([status, body.error], [501, 'not_configured'])
      }
      assert.deepEqual(await emailOf(caller), [null, false])
    })

    test('goes out with its credentials, and no answer or log repeats them', async (t) => {
      verifies('settings.smtp')
      const taken = await startMailbox(
        t,
        {
          authOptional: false,
          allowInsecureAuth: true,
          onAuth: ({ username, password }, _session, done) =>
            username === 'us@er' && password === 'pass:word'
              ? done(null, { user: username })
              : done(new Error('no')),
        },
        'us%40er:pass%3Aword@',
      )
      const { caller } = await startWithMail(t, taken)
      assert.equal((await caller.post('/v1/me/email', { email: address })).status, 200)
      assert.equal(taken.mails.length, 1)
    })

    test('that the server does not take is no address', async (t) => {
      const refusing = await startMailbox(
        t,
        { onRcptTo: (_to, _session, done) => done(new Error('hidden words')) },
        '',
      )
      const wrong = await startMailbox(
        t,
        { allowInsecureAuth: true, onAuth: (_auth, _session, done) => done(new Error('hidden')) },
        'user:hidden@',
      )
      const nobody = {
        ...refusing,
        env: { ...refusing.env, PLUMBLINE_SMTP_URL: 'smtp://127.0.0.1:1' },
      }
      for (const box of [refusing, wrong, nobody]) {
        const { app, caller } = await startWithMail(t, box)
        const once = { 'idempotency-key': 'once' }
        for (let time = 0; time < 2; time++) {
          const sent = await caller.post('/v1/me/email', { email: address }, once)
          assert.deepEqual([sent.status, sent.body.error], [503, 'unavailable'])
          assert.ok(Number(sent.headers.get('retry-after')) > 0)
          assert.doesNotMatch(sent.text + JSON.stringify(app.log), /hidden|127\.0\.0\.1:1\b/)
        }
        assert.equal(box.mails.length, 0)
      }
    })
  })
})
