import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { type Caller, newCaller } from './caller.ts'
import { type App, start } from './harness.ts'
import { type Alerted, alertedOf, type Hook, settle, startHook } from './hook.ts'
import { verifies } from './verifies.ts'

const hangingNames = (count: number, prefix = 'hang') =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}.test`)

/** A service whose names hang when they begin with `hang`, beside one healthy receiver with a name. */
async function startBeside(t: TestContext, names: readonly string[]) {
  const hook = await startHook(t)
  const lookups = { begun: 0, ended: 0, most: 0 }
  let looked = () => {}
  const app = await start(t, {
    env: { PLUMBLINE_WEBHOOK_ALLOW: ['healthy.test', '127.0.0.1', ...names].join() },
    async resolve(name, signal) {
      if (!name.startsWith('hang')) return ['127.0.0.1']
      lookups.begun += 1
      lookups.most = Math.max(lookups.most, lookups.begun - lookups.ended)
      looked()
      await once(signal, 'abort').finally(() => {
        lookups.ended += 1
      })
      throw signal.reason
    },
  })
  const healthy = alertedOf(await newCaller(app), hook)
  await healthy.set({ url: `http://healthy.test:${hook.port}/` })
  return {
    app,
    hook,
    healthy,
    lookups,
    /** Waits until so many lookups of hanging names were begun. */
    async begun(count: number) {
      while (lookups.begun < count) await new Promise<void>((next) => (looked = next))
    },
  }
}

/** Accounts whose webhooks are at these addresses. */
async function accountsAt(app: App, hook: Hook, urls: readonly string[]): Promise<Alerted[]> {
  const accounts = []
  for (const url of urls) {
    const account = alertedOf(await newCaller(app), hook)
    await account.set({ url })
    accounts.push(account)
  }
  return accounts
}

const testOf = async (caller: Caller) => (await caller.post('/v1/alerts/test', {})).body

describe('a healthy account', () => {
  test('gets its events while the names of eight others hang', async (t) => {
    verifies('events.fair')
    const names = hangingNames(8)
    const { app, hook, healthy, lookups, begun } = await startBeside(t, names)
    const urls = names.map((name) => `https://${name}/`)
    for (const { drift } of await accountsAt(app, hook, urls)) await drift()
    await begun(8)
    await healthy.drift()
    await hook.wait(1)
    assert.deepEqual([lookups.begun, lookups.ended], [8, 0])
  })

  test('gets its tests through while those of eight others hang', async (t) => {
    verifies('events.fair')
    const names = hangingNames(8)
    const { app, hook, healthy, lookups, begun } = await startBeside(t, names)
    const others = await accountsAt(
      app,
      hook,
      names.map((name) => `https://${name}/`),
    )
    const hanging = others.map(testOf)
    await begun(8)
    assert.equal((await testOf(healthy)).delivered, true)
    assert.equal(lookups.ended, 0)
    await Promise.all(hanging)
  })

  test('waits for no others who post a new address before each event', async (t) => {
    verifies('events.fair')
    const [first, second] = [hangingNames(24, 'hanga'), hangingNames(24, 'hangb')]
    const { app, hook, healthy, lookups, begun } = await startBeside(t, [...first, ...second])
    const urls = first.map((name) => `https://${name}/`)
    const others = await accountsAt(app, hook, urls)
    for (const { drift } of others) await drift()
    await begun(24)
    while (lookups.ended < 24) await settle(app)
    lookups.most = 0
    for (const [at, { set, drift }] of others.entries()) {
      await set({ url: `https://${second[at]}/` })
      await drift('next')
    }
    await begun(32)
    await healthy.drift()
    await hook.wait(1)
    assert.equal(lookups.ended, 24, 'none of the second round has ended yet')
    assert.equal(lookups.most, 8)
  })

  test('gets its tests through beside those of accounts that were slow before', async (t) => {
    verifies('events.fair')
    const names = hangingNames(6)
    const { app, hook, healthy, lookups } = await startBeside(t, names)
    const others = await accountsAt(
      app,
      hook,
      names.map((name) => `https://${name}/`),
    )
    await Promise.all(others.map(testOf))
    lookups.most = 0
    const again = others.flatMap((other) => [1, 2, 3].map(() => testOf(other)))
    assert.equal((await testOf(healthy)).delivered, true)
    await Promise.all(again)
    assert.equal(lookups.most, 4)
  })

  test('is no longer counted among the slow ten minutes after it was', async (t) => {
    verifies('events.fair')
    const names = hangingNames(5)
    const { app, hook, lookups } = await startBeside(t, names)
    const urls = names.map((name) => `https://${name}/`)
    const others = await accountsAt(app, hook, urls)
    await Promise.all(others.map(testOf))
    app.advance(10 * 60_000)
    lookups.most = 0
    await Promise.all(others.map(testOf))
    assert.equal(lookups.most, 5)
  })

  test('gets its tests and its digest through beside tests that hang', async (t) => {
    verifies('events.fair', 'digest.fair')
    const names = Array.from({ length: 4 }, (_, at) => `slow${at}.test`)
    const { app, hook, healthy } = await startBeside(t, names)
    const slow = await startHook(t)
    slow.hang()
    await healthy.post('/v1/digest', {
      cadence: 'daily',
      hour_utc: 18,
      channel: 'webhook',
      url: `http://healthy.test:${hook.port}/digest`,
    })
    const urls = names.map((name) => `http://${name}:${slow.port}/`)
    const others = await accountsAt(app, slow, urls)
    const hanging = others.flatMap((other) => [1, 2, 3].map(() => testOf(other)))
    await slow.wait(8)
    assert.equal((await testOf(healthy)).delivered, true)
    app.advance(6 * 3_600_000)
    await app.running.runDue()
    assert.deepEqual(
      hook.sent.map(({ path }) => path),
      ['/', '/digest'],
    )
    slow.answer(200)
    slow.release()
    await Promise.all(hanging)
  })
})
