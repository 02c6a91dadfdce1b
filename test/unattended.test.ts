import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { astray, errand, startAlerted } from './hook.ts'
import { verifies } from './verifies.ts'

const minuteMs = 60_000

onEachDatabase((database) => {
  test('a label, a decision and a look are a person who is there', async (t) => {
    verifies('hosts.clock.person', 'hosts.clock.look', 'hosts.clock.step')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const me = await newCaller(app)
    const other = await newCaller(app)
    await me.logAll([errand, astray].map((goal) => ({ run_id: 'run', goal })))
    const run = async () => (await me.read('run')).run
    assert.equal((await run()).last_person_at, null)
    const acts: (() => Promise<{ status: number; text: string }>)[] = [
      () => me.post('/v1/drift/label', { run_id: 'run', step: 2, label: 'useful' }),
      async () => {
        const asked = await me.post('/v1/escalation', { run_id: 'run', reason: 'drift' })
        return me.post('/v1/escalation/decide', { id: asked.body.esc_id, decision: 'return' })
      },
      () => me.post('/v1/drift/look', { run_id: 'run' }),
    ]
    for (const act of acts) {
      app.advance(10 * minuteMs)
      await me.log({ run_id: 'run', goal: errand })
      assert.equal((await run()).unattended_ms, 10 * minuteMs)
      assert.equal((await me.read('run')).trace.at(-1).unattended_ms, 10 * minuteMs)
      const { status, text } = await act()
      assert.equal(status, 200, text)
      const { last_person_at, unattended_ms } = await run()
      assert.equal(last_person_at, new Date(app.running.service.now()).toISOString())
      assert.equal(unattended_ms, 0)
    }
    app.advance(minuteMs)
    await me.log({ run_id: 'run', goal: errand })
    assert.equal((await run()).unattended_ms, minuteMs)
    for (const [caller, run_id] of [
      [me, 'no such run'],
      [other, 'run'],
    ] as const) {
      const refused = await caller.post('/v1/drift/look', { run_id })
      assert.deepEqual([refused.status, refused.body.error], [404, 'no_run'])
    }
    assert.equal((await me.post('/v1/drift/look', {})).status, 400)
  })

  test('an agent that works alone is told once, until a person was there', async (t) => {
    verifies('alerts.unattended', 'alerts.unattended.once')
    const alerted = await startAlerted(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { app, hook, log, post, settle } = alerted
    await alerted.set({ min_phi: 0.9, incidents: true, unattended: { minutes: 30, acts: 4 } })
    const work = async (minutes: number) => {
      app.advance(minutes * minuteMs)
      await log({ goal: errand })
      await settle()
    }
    const told = () => hook.sent.map(({ body }) => [body.reason, body.step])
    await work(0)
    // Long, and few acts; then many acts as well.
    await work(40)
    await work(1)
    assert.deepEqual(told(), [])
    await work(1)
    assert.deepEqual(told(), [['unattended', 4]])
    const { severity, why, phi, state, incident } = hook.sent[0]!.body
    assert.equal(why, 'No person was there for 42 min and 4 acts.')
    assert.deepEqual([severity, phi, state, incident], ['warn', 1, 'opened', undefined])
    await work(60)
    assert.equal(told().length, 1)
    await post('/v1/drift/look', { run_id: 'run' })
    for (const minutes of [10, 10, 5, 4]) await work(minutes)
    assert.equal(told().length, 1)
    await work(1)
    assert.deepEqual(told().at(-1), ['unattended', 10])
    const { body } = await alerted.get('/v1/alerts/incidents')
    assert.deepEqual(body.incidents, [])
  })

  test('the limit of an agent that works alone is off by default and read leniently', async (t) => {
    verifies('alerts.unattended.off')
    const alerted = await startAlerted(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { app, hook, log, post, get, settle } = alerted
    await alerted.set()
    await log({ goal: errand })
    app.advance(600 * minuteMs)
    await log({ goal: errand })
    await settle()
    assert.equal(hook.sent.length, 0)
    const rows: [unknown, object | undefined][] = [
      [
        { minutes: 30, acts: 20 },
        { minutes: 30, acts: 20 },
      ],
      [{ minutes: '45' }, { minutes: 45, acts: 1 }],
      [
        { minutes: 1e9, acts: 1e9 },
        { minutes: 10_080, acts: 100_000 },
      ],
      [{ minutes: 0.5, acts: 3 }, undefined],
      [{ acts: 3 }, undefined],
      [null, undefined],
      ['30', undefined],
    ]
    for (const [unattended, stored] of rows) {
      const { body } = await post('/v1/alerts', { url: hook.url, unattended })
      assert.deepEqual(body.alert.unattended, stored)
      assert.deepEqual((await get('/v1/alerts')).body.alert.unattended, stored)
    }
  })
})
