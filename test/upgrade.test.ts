import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import type { TierName } from '../src/core/accounts/tiers.ts'
import { dayMs, minuteMs } from '../src/core/time.ts'
import { onEachDatabase } from './backends.ts'
import { type Browser, newBrowser } from './browser.ts'
import { type Caller, newCaller } from './caller.ts'
import { type Answer, type App, start } from './harness.ts'
import { spawnPlumbline } from './spawned.ts'
import { checkedOut, type StandIn, startStripe, subscribed } from './stripe.ts'
import { verifies } from './verifies.ts'

const wordOf = ({ status, body }: Answer) => [status, body?.error]
const paid = { url: 'https://hook.example/x' }
const visit = { 'sec-fetch-mode': 'navigate', accept: 'text/html' }

/** The status of a GET, and where it leads. `fetch` would say itself how it was called. */
function visitAs(
  { cookies }: Browser,
  url: string,
  headers: Record<string, string>,
): Promise<[number | undefined, string | undefined]> {
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { cookie, ...headers } }, (answer) => {
      answer.resume()
      resolve([answer.statusCode, answer.headers.location])
    })
    asked.on('error', reject).end()
  })
}

onEachDatabase((database) => {
  interface Setting {
    app: App
    url: string
    stripe: StandIn
    caller: Caller
    tier(): Promise<TierName>
  }

  async function startSelling(
    t: TestContext,
    tier: TierName = 'ground',
    more: Record<string, string> = {},
  ): Promise<Setting> {
    const stripe = await startStripe(t)
    const url = await database.createUrl()
    const env = { DATABASE_URL: url, ...stripe.env, ...more }
    const app = await start(t, { env })
    const caller = await newCaller(app, tier)
    return { app, url, stripe, caller, tier: async () => (await caller.get('/v1/me')).body.tier }
  }

  describe('/v1/upgrade', () => {
    test('answers a checkout of a tier', async (t) => {
      verifies('upgrade.link', 'upgrade.answer', 'upgrade.402', 'settings.payment')
      const { app, stripe, caller } = await startSelling(t)
      const refused = await caller.post('/v1/alerts', paid)
      assert.deepEqual([refused.status, refused.body.upgrade], [402, `${app.url}/v1/upgrade`])
      const next = await caller.get('/v1/upgrade')
      const url = 'https://pay.example/v1/checkout/sessions'
      assert.deepEqual([next.status, next.body], [200, { url: `${url}/1`, tier: 'solo' }])
      const pro = await caller.get('/v1/upgrade?tier=pro')
      assert.deepEqual(pro.body, { url: `${url}/2`, tier: 'pro' })
      const [, { key, fields } = { key: '', fields: {} }] = stripe.asked
      assert.equal(key, `Bearer ${stripe.env.PLUMBLINE_STRIPE_KEY}`)
      assert.deepEqual(fields, {
        mode: 'subscription',
        'line_items[0][price]': 'price_pro',
        'line_items[0][quantity]': '1',
        client_reference_id: caller.account,
        'metadata[account]': caller.account,
        'metadata[tier]': 'pro',
        'subscription_data[metadata][account]': caller.account,
        'subscription_data[metadata][tier]': 'pro',
        success_url: `${app.url}/app/settings`,
        cancel_url: `${app.url}/app/settings`,
      })
      assert.equal((await app.get('/v1/session')).body.upgrade, true)
    })

    test('refuses a tier that is unknown, not sold or not higher', async (t) => {
      verifies('upgrade.unknown-tier', 'upgrade.refused')
      const { caller, stripe } = await startSelling(t, 'group')
      for (const tier of ['x', '', 'Solo', '__proto__']) {
        const answer = await caller.get(`/v1/upgrade?tier=${tier}`)
        assert.deepEqual(wordOf(answer), [400, 'bad_request'], tier)
        assert.match(answer.body.detail, /^tier: send ground, solo/)
      }
      const unsold = await caller.get('/v1/upgrade?tier=enterprise')
      assert.deepEqual(wordOf(unsold), [400, 'bad_request'])
      assert.match(unsold.body.detail, /^tier: send solo, group, pro$/)
      for (const tier of ['ground', 'solo', 'group']) {
        assert.deepEqual(wordOf(await caller.get(`/v1/upgrade?tier=${tier}`)), [409, 'conflict'])
      }
      assert.equal((await caller.get('/v1/upgrade')).body.tier, 'pro')
      assert.equal(stripe.asked.length, 1)
    })

    test('leads a browser to the page, and to the sign-in first', async (t) => {
      verifies('upgrade.browser')
      const { app, caller } = await startSelling(t)
      const browser = newBrowser(app)
      const led = (path: string, headers: Record<string, string> = visit) =>
        visitAs(browser, app.url + path, headers)
      const back = '/signin?to=%2Fv1%2Fupgrade%3Ftier%3Dpro'
      assert.deepEqual(await led('/v1/upgrade?tier=pro'), [303, back])
      await browser.signIn(caller.key)
      const page = 'https://pay.example/v1/checkout/sessions/1'
      assert.deepEqual(await led('/v1/upgrade?tier=pro'), [303, page])
      assert.deepEqual(await led('/v1/upgrade?tier=x'), [400, undefined])
      assert.deepEqual(await led('/v1/upgrade', { accept: 'text/html,*/*' }), [
        303,
        page.replace(/1$/, '2'),
      ])
      const scripted = { ...visit, 'sec-fetch-mode': 'cors' }
      assert.deepEqual(await led('/v1/upgrade', scripted), [200, undefined])
    })

    test('says so if the provider fails, and repeats nothing of it', async (t) => {
      verifies('upgrade.provider-down')
      const { app, stripe, caller } = await startSelling(t)
      stripe.status = 401
      const answer = await caller.get('/v1/upgrade')
      assert.deepEqual(wordOf(answer), [503, 'unavailable'])
      assert.ok(Number(answer.headers.get('retry-after')) > 0)
      const lines = app.log.filter(({ msg }) => msg === 'the payment provider failed')
      assert.equal(lines.length, 1)
      assert.doesNotMatch(JSON.stringify(app.log) + answer.text, /sk_test|whsec/)
    })

    test('asks the provider for ten pages a minute at most, and its count goes with the account', async (t) => {
      verifies('upgrade.rate', 'me.delete')
      const { app, stripe, caller } = await startSelling(t)
      for (let count = 0; count < 10; count++) {
        assert.equal((await caller.get('/v1/upgrade')).status, 200)
      }
      const refused = await caller.get('/v1/upgrade')
      assert.deepEqual(wordOf(refused), [429, 'rate_limit'])
      assert.equal(refused.headers.get('retry-after'), String(refused.body.retry_after_s))
      assert.equal(stripe.asked.length, 10)
      app.advance(minuteMs)
      assert.equal((await caller.get('/v1/upgrade')).status, 200)
      const { store } = app.running
      await caller.request('DELETE', `/v1/me?confirm=${caller.account}`)
      await store.counters.flush()
      await app.running.runDue()
      assert.deepEqual(
        await store.db.all("SELECT * FROM counters WHERE bucket LIKE 'upgrades%'"),
        [],
      )
    })

    test('leads a customer to the subscription, not to a second one', async (t) => {
      verifies('upgrade.customer')
      const { app, stripe, caller } = await startSelling(t)
      await stripe.send(app, checkedOut(caller.account, 'solo'))
      const answer = await caller.get('/v1/upgrade?tier=pro')
      const url = 'https://pay.example/v1/billing_portal/sessions/1'
      assert.deepEqual(answer.body, { url, tier: 'pro' })
      assert.equal(stripe.asked[0]!.fields.customer, `cus_${caller.account}`)
      await stripe.send(app, subscribed(caller.account, 'price_solo', { kind: 'deleted' }))
      assert.match((await caller.get('/v1/upgrade')).body.url, /checkout/)
      assert.equal(stripe.asked[1]!.fields.customer, `cus_${caller.account}`, 'the same customer')
    })
  })

  describe('an event of the provider', () => {
    test('moves the tier', async (t) => {
      verifies('upgrade.webhook', 'upgrade.moves')
      const { app, stripe, caller, tier } = await startSelling(t)
      const { account } = caller
      const send = async (event: object) => {
        const answer = await stripe.send(app, event)
        assert.deepEqual([answer.status, answer.body], [200, { received: true }], answer.text)
        return tier()
      }
      assert.equal(await send(checkedOut(account, 'solo')), 'solo')
      assert.equal((await caller.post('/v1/alerts', paid)).status, 200, 'at once')
      assert.equal(await send(subscribed(account, 'price_solo', { at: 101 })), 'solo')
      assert.equal(await send(subscribed(account, 'price_pro', { at: 300 })), 'pro')
      assert.equal(
        await send(subscribed(account, 'price_pro', { at: 301, status: 'past_due' })),
        'pro',
        'the provider still tries',
      )
      assert.equal(
        await send(subscribed(account, 'price_pro', { at: 302, status: 'unpaid' })),
        'ground',
      )
      assert.equal(await send(subscribed(account, 'price_group', { at: 303 })), 'group')
      assert.equal(
        await send(
          subscribed(account, 'price_group', { at: 304, kind: 'deleted', status: 'canceled' }),
        ),
        'ground',
      )
      const moved = app.log.filter(
        ({ msg, action }) => msg === 'changed' && action === 'upgrade.event',
      )
      assert.deepEqual(
        moved.map(({ account: moved, tier }) => [moved === account, tier]),
        [
          [true, 'solo'],
          [true, 'pro'],
          [true, 'ground'],
          [true, 'group'],
          [true, 'ground'],
        ],
      )
    })

    test('that is forged, old or no event changes nothing', async (t) => {
      verifies('upgrade.forged')
      const { app, stripe, caller, tier } = await startSelling(t)
      const event = checkedOut(caller.account, 'pro')
      const body = JSON.stringify(event)
      const post = (headers: Record<string, string>, sent: string | Uint8Array = body) =>
        app.request('POST', '/v1/stripe/webhook', { body: sent, headers })
      const now = Math.floor(app.running.service.now() / 1000)
      for (const answer of [
        await stripe.send(app, event, { secret: 'whsec_another' }),
        await stripe.send(app, event, { ageS: 301 }),
        await post({}),
        await post({ 'stripe-signature': '' }),
        await post({ 'stripe-signature': `t=${now},v1=${'0'.repeat(64)}` }),
        await post({ 'stripe-signature': `t=${now}` }),
        await post({ 'stripe-signature': 'é'.repeat(3) }),
        await post({ 'stripe-signature': `t=${now},v1=x` }, new Uint8Array([0xff, 0xfe])),
        await post({ ...caller.headers }),
      ]) {
        assert.deepEqual(wordOf(answer), [400, 'bad_signature'])
        assert.doesNotMatch(answer.text, /whsec/)
      }
      for (const other of [
        { id: 'evt_x', type: 'invoice.paid', created: 1, data: { object: {} } },
        { id: 'evt_y', type: 'customer.subscription.updated', created: 1, data: {} },
        checkedOut('acct_nobody', 'pro'),
        checkedOut(caller.account, 'pro', { paid: 'unpaid' }),
        checkedOut(caller.account, 'sultan', { subscription: 'sub_2' }),
      ]) {
        assert.equal((await stripe.send(app, other)).status, 200)
      }
      assert.equal(await tier(), 'ground')
      assert.equal((await stripe.send(app, event, { ageS: 299 })).status, 200)
      assert.equal(await tier(), 'pro')
    })

    test('that comes again changes nothing, also at the same time', async (t) => {
      verifies('upgrade.once')
      const { app, stripe, caller, tier } = await startSelling(t)
      const { store } = app.running
      const event = checkedOut(caller.account, 'pro')
      const answers = await Promise.all(Array.from({ length: 6 }, () => stripe.send(app, event)))
      assert.ok(answers.every(({ status }) => status === 200))
      assert.equal(await tier(), 'pro')
      await store.accounts.setTier(caller.account, 'solo')
      await stripe.send(app, event)
      assert.equal(await tier(), 'solo')
      app.advance(31 * dayMs)
      await app.running.runDue()
      assert.deepEqual(await store.db.all('SELECT id FROM payment_events'), [])
    })

    test('that comes late changes nothing', async (t) => {
      verifies('upgrade.order')
      const { app, stripe, caller, tier } = await startSelling(t)
      const { account } = caller
      const upgraded = subscribed(account, 'price_pro', { at: 300 })
      const older = subscribed(account, 'price_solo', { at: 200, kind: 'created' })
      for (const event of [upgraded, older, checkedOut(account, 'solo', { at: 300 })]) {
        await stripe.send(app, event)
        assert.equal(await tier(), 'pro')
      }
      const created = { at: 300, kind: 'created', status: 'incomplete' }
      await stripe.send(app, subscribed(account, 'price_solo', created))
      assert.equal(await tier(), 'pro', 'of one second the beginning counts less')
      await stripe.send(app, subscribed(account, 'price_pro', { at: 400, kind: 'deleted' }))
      assert.equal(await tier(), 'ground')
      for (const at of [350, 400, 500]) {
        await stripe.send(app, subscribed(account, 'price_pro', { at }))
        assert.equal(await tier(), 'ground', `${at}: what has ended does not come back`)
      }
      const again = { subscription: 'sub_2', at: 600 }
      await stripe.send(app, checkedOut(account, 'group', again))
      assert.equal(await tier(), 'group')
    })

    test('does not lower a tier that the operator has given', async (t) => {
      verifies('upgrade.operator')
      const { app, stripe, caller, tier } = await startSelling(t)
      const { account } = caller
      await stripe.send(app, checkedOut(account, 'solo'))
      await app.running.store.accounts.setTier(account, 'enterprise')
      await stripe.send(app, subscribed(account, 'price_pro', { at: 300 }))
      assert.equal(await tier(), 'enterprise')
      await stripe.send(app, subscribed(account, 'price_pro', { at: 400, kind: 'deleted' }))
      assert.equal(await tier(), 'enterprise')
    })

    test('of one subscription leaves another alone', async (t) => {
      verifies('upgrade.moves')
      const { app, stripe, caller, tier } = await startSelling(t)
      const { account } = caller
      await stripe.send(app, checkedOut(account, 'solo', { subscription: 'sub_1' }))
      await stripe.send(app, checkedOut(account, 'pro', { subscription: 'sub_2' }))
      assert.equal(await tier(), 'pro')
      const end = { kind: 'deleted', status: 'canceled' }
      await stripe.send(app, subscribed(account, 'price_pro', { subscription: 'sub_2', ...end }))
      assert.equal(await tier(), 'solo')
      const other = await newCaller(app, 'ground')
      await stripe.send(app, subscribed(other.account, 'price_pro', { at: 500 }))
      assert.equal((await other.get('/v1/me')).body.tier, 'ground', 'sub_1 is another’s')
    })

    test('at a price of last year keeps the tier that was bought', async (t) => {
      verifies('upgrade.moves')
      const { app, stripe, caller, tier } = await startSelling(t)
      await stripe.send(app, checkedOut(caller.account, 'group'))
      const renewed = subscribed(caller.account, 'price_old', { at: 300, tier: 'group' })
      await stripe.send(app, renewed)
      assert.equal(await tier(), 'group')
    })
  })

  test('the operator who erases an account that goes on paying is told what to end', async (t) => {
    verifies('upgrade.erase-operator', 'command.accounts-delete')
    const token = 'the-token-of-the-operator'
    const { app, url, stripe, caller } = await startSelling(t, 'ground', {
      PLUMBLINE_ADMIN_TOKEN: token,
    })
    const { account } = caller
    const ending = { subscription: 'sub_2', ending: true }
    await stripe.send(app, checkedOut(account, 'solo'))
    await stripe.send(app, subscribed(account, 'price_solo', ending))
    const headers = { authorization: `Bearer ${token}` }
    const path = `/v1/admin/accounts?account=${account}`
    const erased = await app.request('DELETE', path, { headers })
    assert.deepEqual([erased.status, erased.body.unended_subscriptions], [200, ['sub_1']])
    const warned = app.log.filter(({ level }) => level === 40)
    assert.deepEqual(
      warned.map(({ account, subscriptions }) => [account, subscriptions]),
      [[account, ['sub_1']]],
    )
    const other = await newCaller(app, 'ground')
    await stripe.send(app, checkedOut(other.account, 'solo', { subscription: 'sub_3' }))
    const command = spawnPlumbline(t, ['accounts', 'delete', other.account, '--yes'], {
      env: { DATABASE_URL: url },
    })
    assert.equal(await command.ended, 0)
    assert.match(command.written.err, /^The subscription sub_3 goes on: end it at/)
  })

  test('an account that goes on paying is not erased, until the subscription ends', async (t) => {
    verifies('upgrade.erase')
    const { app, stripe, caller } = await startSelling(t)
    const { account } = caller
    await stripe.send(app, checkedOut(account, 'solo'))
    const erase = () => caller.request('DELETE', `/v1/me?confirm=${account}`)
    const refused = await erase()
    assert.deepEqual(wordOf(refused), [409, 'conflict'])
    assert.match(refused.body.detail, /\/v1\/upgrade/)
    const exported = await caller.get('/v1/me/export')
    assert.match(exported.text, /^\{"type":"subscription","subscription":"sub_1"/m)
    await stripe.send(app, subscribed(account, 'price_solo', { at: 300, ending: true }))
    assert.equal((await erase()).status, 200)
    await app.running.runDue()
    const { db } = app.running.store
    assert.deepEqual(await db.all('SELECT subscription FROM subscriptions'), [])
    const late = await stripe.send(app, subscribed(account, 'price_pro', { at: 400 }))
    assert.equal(late.status, 200)
    assert.deepEqual(await db.all('SELECT subscription FROM subscriptions'), [])
  })
})

test('without a provider /v1/upgrade is the configured address, or not configured', async (t) => {
  verifies('upgrade.unconfigured', 'upgrade.answer', 'settings.payment')
  const none = await start(t)
  const stranger = await newCaller(none, 'ground')
  assert.deepEqual(wordOf(await stranger.get('/v1/upgrade')), [501, 'not_configured'])
  assert.deepEqual(wordOf(await none.get('/v1/upgrade')), [401, 'no_key'])
  const event = await none.post('/v1/stripe/webhook', {}, { 'stripe-signature': 't=1,v1=x' })
  assert.deepEqual(wordOf(event), [501, 'not_configured'])
  const url = 'https://plumbline.example/upgrade'
  const app = await start(t, { env: { PLUMBLINE_UPGRADE_URL: url } })
  const [ground, top] = [await newCaller(app, 'ground'), await newCaller(app)]
  assert.deepEqual((await ground.get('/v1/upgrade')).body, { url, tier: 'solo' })
  assert.deepEqual((await ground.get('/v1/upgrade?tier=pro')).body, { url, tier: 'pro' })
  assert.deepEqual((await top.get('/v1/upgrade')).body, { url, tier: 'enterprise' })
  assert.equal((await app.get('/v1/session')).body.upgrade, true)
})

test('/v1/upgrade does not count', async (t) => {
  verifies('upgrade.not-metered')
  const app = await start(t, { env: { PLUMBLINE_UPGRADE_URL: 'https://plumbline.example' } })
  const caller = await newCaller(app, 'ground')
  const answer = await caller.get('/v1/upgrade')
  assert.equal(answer.headers.get('x-ratelimit-limit'), null)
  assert.equal((await caller.get('/v1/me')).body.usage.reads, 0)
})
