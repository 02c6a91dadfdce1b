import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { dayMs } from '../src/core/time.ts'
import { onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { start } from './harness.ts'
import { startHook } from './hook.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const astray = 'refund order 2093'

onEachDatabase((database) => {
  async function startHere(t: TestContext) {
    const hook = await startHook(t)
    const env = { DATABASE_URL: await database.createUrl(), PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.1' }
    const app = await start(t, { env })
    const me = await newCaller(app)
    await me.post('/v1/alerts', { url: hook.url })
    return { app, me, hook }
  }

  async function set(me: Caller, budget: object | null) {
    const answer = await me.request('PUT', '/v1/budget', JSON.stringify(budget))
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  async function drift(me: Caller, runId: string): Promise<void> {
    for (const goal of [errand, astray, astray, errand]) await me.log({ run_id: runId, goal })
  }

  test('a budget is set, shown and removed', async (t) => {
    verifies('budget.set')
    const { me } = await startHere(t)
    const none = { budget: null, threshold: null, held: 0 }
    assert.deepEqual((await me.get('/v1/budget')).body, none)
    for (const budget of [{ per_1000_steps: 5 }, { per_day: 0.5 }]) {
      assert.deepEqual(await set(me, budget), { budget, threshold: 0, held: 0 })
      assert.deepEqual((await me.get('/v1/budget')).body.budget, budget)
    }
    for (const body of ['', '{}', '[]', '5', '{"per_day":0}', '{"per_day":1e9}', 'null!']) {
      const { status, text } = await me.request('PUT', '/v1/budget', body)
      assert.equal(status, 400, body)
      assert.match(text, /per_1000_steps|per_day: send a number above 0, up to 10000/, body)
    }
    for (const both of [{ per_day: 1, per_1000_steps: 1 }, { per_1000_steps: 1_001 }]) {
      assert.equal((await me.request('PUT', '/v1/budget', both)).status, 400)
    }
    assert.deepEqual(await set(me, null), none)
  })

  test('alarms beyond the budget are held, counted and told in the digest', async (t) => {
    verifies('budget.held', 'budget.never-held')
    const { app, me, hook } = await startHere(t)
    await set(me, { per_1000_steps: 1 })
    for (const runId of ['a', 'b', 'c', 'd']) await drift(me, runId)
    await me.post('/v1/escalation', { run_id: 'd', reason: 'lost' })
    await app.running.runDue()
    const { log } = (await me.get('/v1/alerts/log')).body
    const held = log.filter(({ detail }: { detail?: string }) => detail === 'held by your budget')
    assert.deepEqual(
      held.map(({ run_id }: { run_id: string }) => run_id),
      ['d', 'd', 'c', 'c'],
      'what a drift begins with decides for all of it',
    )
    const { deliveries } = (await me.get('/v1/alerts/deliveries')).body
    assert.deepEqual(
      deliveries.map(({ run_id, reason }: { run_id: string; reason: string }) => [run_id, reason]),
      [
        ['d', 'escalation:lost'],
        ['b', 'goal-drift'],
        ['b', 'goal-drift'],
        ['a', 'goal-drift'],
        ['a', 'goal-drift'],
      ],
    )
    assert.equal((await me.get('/v1/budget')).body.held, 2)
    assert.equal((await me.get('/v1/quality')).body.alarms, 4)
    assert.equal((await me.read('d')).trace[1].drifting, true)
    app.advance(1_000)
    const digest = { cadence: 'daily', hour_utc: 6, channel: 'webhook', url: hook.url }
    await me.post('/v1/digest', digest)
    await me.post('/v1/digest/test', {})
    assert.equal(hook.sent.at(-1)?.body.held_alarms, 2)
    await set(me, null)
    await drift(me, 'e')
    const after = (await me.get('/v1/alerts/deliveries')).body.deliveries
    assert.equal(after[0].run_id, 'e')
  })

  test('a drift that goes on after an uncertain step costs the budget once', async (t) => {
    verifies('budget.held')
    const { me } = await startHere(t)
    await set(me, { per_1000_steps: 1 })
    const [ground, other, doubtful] = [
      'add rate limiting to the login endpoint',
      'remove rate limiting from the login endpoint',
      'add a token bucket to the login endpoint',
    ]
    const goals = { a: [ground, other, doubtful, other], b: [ground, other], c: [ground, other] }
    for (const [run_id, own] of Object.entries(goals)) {
      for (const goal of own) await me.log({ run_id, goal })
    }
    const { log } = (await me.get('/v1/alerts/log')).body
    const held = log.filter(({ detail }: { detail?: string }) => detail === 'held by your budget')
    assert.deepEqual(
      held.map(({ run_id }: { run_id: string }) => run_id),
      ['c'],
    )
  })

  test('a budget begins with what the account has done', async (t) => {
    verifies('budget.start')
    const { me } = await startHere(t)
    for (let run = 0; run < 10; run++) {
      await me.logAll(Array.from({ length: 20 }, () => ({ run_id: `r${run}`, goal: errand })))
    }
    const { threshold } = await set(me, { per_1000_steps: 100 })
    assert.ok(threshold > 0 && threshold < 0.5, `${threshold}`)
    assert.equal((await set(me, { per_1000_steps: 1 })).threshold, 0, 'too few to say')
    await set(me, { per_1000_steps: 100 })
    await me.log({ run_id: 'r0', goal: errand })
    assert.notEqual((await me.get('/v1/budget')).body.threshold, threshold)
  })

  test('the day on which a budget is set counts as one day, and only when it is over', async (t) => {
    verifies('budget.days')
    const { app, me } = await startHere(t)
    const paceOf = async () => {
      const state = await app.running.store.budgets.of(me.account)
      return [state?.days, state?.today]
    }
    await me.logAll(Array.from({ length: 30 }, () => ({ run_id: 'a', goal: errand })))
    app.advance(dayMs)
    await me.logAll(Array.from({ length: 6 }, () => ({ run_id: 'b', goal: errand })))
    await set(me, { per_day: 3 })
    assert.deepEqual(await paceOf(), [[30], 6])
    await me.log({ run_id: 'b', goal: errand })
    assert.deepEqual(await paceOf(), [[30], 7])
    app.advance(dayMs)
    await me.log({ run_id: 'c', goal: errand })
    assert.deepEqual(await paceOf(), [[30, 7], 1])
  })
})
