import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { type Alerted, astray, errand, startAlerted } from './hook.ts'
import { verifies } from './verifies.ts'

const minuteMs = 60_000
/** The goals of a dialogue: what it is about, and what it strays to. */
const [topic, aside] = ['fix the login form', 'redesign the billing database']

const noon = '2026-01-15T12:00:00.000Z'

onEachDatabase((database) => {
  /** An account with incidents on. */
  async function startOn(t: TestContext, config: object = {}): Promise<Alerted> {
    const alerted = await startAlerted(t, { env: { DATABASE_URL: await database.createUrl() } })
    await alerted.set({ incidents: true, ...config })
    return alerted
  }

  /** What was sent so far: the reason, where the incident stands, and its steps. */
  function told({ hook }: Alerted): [string, string, number][] {
    return hook.sent.map(({ body: { reason, incident } }) => [
      reason,
      incident?.state ?? 'none',
      incident?.steps ?? 0,
    ])
  }

  async function incidents({ get }: Alerted, query = ''): Promise<Record<string, unknown>[]> {
    return (await get(`/v1/alerts/incidents${query}`)).body.incidents
  }

  test('a run that drifts for 200 steps sends two events: its incident opens and closes', async (t) => {
    verifies('alerts.log.all', 'events.structured')
    const alerted = await startOn(t)
    const { app, log, hook, settle, readLog, account } = alerted
    await log({ goal: errand })
    for (let step = 0; step < 200; step++) {
      await log({ goal: astray })
      if (step % 20 !== 0) continue
      // Moved on in the middle of an attempt, the clock would end its lease.
      await settle()
      app.advance(30_000)
    }
    await settle()
    assert.deepEqual(told(alerted), [['goal-drift', 'opened', 1]])
    const [open] = await incidents(alerted, '?open=true')
    assert.deepEqual([open!.steps, open!.closed], [200, null])
    await log({ goal: errand })
    await settle()
    assert.deepEqual(told(alerted), [
      ['goal-drift', 'opened', 1],
      ['goal-drift', 'closed', 200],
    ])
    const [first, last] = hook.sent.map(({ body }) => body)
    assert.equal(first.incident.id, last.incident.id)
    assert.deepEqual(last, {
      event: 'drift',
      account,
      run_id: 'run',
      goal: errand,
      reason: 'goal-drift',
      severity: 'critical',
      phi: 0,
      advice: 'The agent is back on its errand after 200 drifting steps in 5 min.',
      ts: '2026-01-15T12:05:00.000Z',
      ground: errand,
      why: 'The goal restates the ground. Nothing in it speaks for drift. The run is back on the errand.',
      step: 202,
      agent_id: '',
      drift_probability: 0.01,
      swap: null,
      incident: { id: last.incident.id, state: 'closed', steps: 200, opened: noon },
      state: 'closed',
    })
    const entries = await readLog()
    assert.equal(entries[0].delivered, true)
    assert.deepEqual(
      new Set(entries.slice(1).map(({ detail }) => detail)),
      new Set(['part of an open incident']),
    )
    assert.deepEqual(await incidents(alerted, '?open=true'), [])
    assert.deepEqual(await incidents(alerted), [
      {
        id: first.incident.id,
        run_id: 'run',
        reason: 'goal-drift',
        severity: 'critical',
        opened: noon,
        updated: '2026-01-15T12:05:00.000Z',
        closed: '2026-01-15T12:05:00.000Z',
        steps: 200,
        phi: 0.45,
        max_phi: 0.45,
      },
    ])
  })

  test('without incidents every drifting step sends an event', async (t) => {
    verifies('events.drift')
    const alerted = await startOn(t, { incidents: false })
    for (const goal of [errand, astray, astray, astray, errand]) await alerted.log({ goal })
    await alerted.settle()
    assert.deepEqual(
      told(alerted),
      [1, 2, 3].map(() => ['goal-drift', 'none', 0]),
    )
    assert.deepEqual(await incidents(alerted), [])
  })

  test('an event says whether its drift opens, continues or closes', async (t) => {
    verifies('events.state')
    const states = async (config: object, together: boolean) => {
      const { app, hook, set, log, logAll, post, settle } = await startOn(t, config)
      await set({ incidents: false, ...config })
      const goals = [errand, astray, astray, errand, astray, ' ', astray]
      const steps = goals.map((goal) => ({ goal }))
      if (together) await logAll(steps)
      else for (const step of steps) await log(step)
      for (let asked = 0; asked < 2; asked++) {
        await post('/v1/escalation', { run_id: 'run', reason: 'lost' })
      }
      for (const [turn, goal] of [topic, aside, aside].entries()) {
        const said = { agent: 'a', position: `I think ${goal}`, distance: 9 - turn }
        await post('/v1/dialogue', { conv_id: 'run', goal, ...said })
      }
      await settle()
      await app.running.stop()
      return hook.sent.map(({ body }) => `${body.reason} ${body.state}`)
    }
    const each = [
      ...['goal-drift opened', 'goal-drift continues', 'goal-drift opened'],
      ...['ungrammatical opened', 'goal-drift opened'],
      ...['escalation:lost opened', 'escalation:lost opened'],
      ...['topic-drift opened', 'topic-drift continues'],
    ]
    assert.deepEqual(await states({}, false), each)
    assert.deepEqual(await states({}, true), each)
    assert.deepEqual(await states({ incidents: true }, false), [
      ...['goal-drift opened', 'goal-drift closed', 'goal-drift opened'],
      ...['ungrammatical opened', 'escalation:lost opened', 'escalation:lost opened'],
      'topic-drift opened',
    ])
  })

  test('a run names the open incident of its main agent', async (t) => {
    verifies('verdict.run-incident')
    const alerted = await startOn(t)
    const { get, log, read } = alerted
    const ofRuns = async () => {
      const listed = (await get('/v1/drift/runs')).body.runs
      for (const { run_id, incident } of listed) {
        assert.equal(incident, (await read(run_id)).run.incident)
      }
      return listed.map(({ run_id, incident }: Record<string, unknown>) => [run_id, incident])
    }
    for (const agent_id of ['sub', undefined]) await log({ run_id: 'a', goal: errand, agent_id })
    await log({ run_id: 'a', goal: astray, agent_id: 'sub' })
    assert.deepEqual(await ofRuns(), [['a', null]])
    await log({ run_id: 'a', goal: astray })
    const [first] = await incidents(alerted, '?open=true')
    await log({ run_id: 'b', goal: errand })
    assert.deepEqual(await ofRuns(), [
      ['b', null],
      ['a', first!.id],
    ])
    await log({ run_id: 'a', goal: ' ' })
    const [second] = await incidents(alerted, '?open=true')
    assert.equal(second!.reason, 'ungrammatical')
    assert.equal((await read('a')).run.incident, second!.id)
    await log({ run_id: 'a', goal: errand })
    assert.equal((await read('a')).run.incident, null)
  })

  test('a step that is uncertain closes no incident', async (t) => {
    verifies('verdict.run-incident', 'events.uncertain')
    const alerted = await startOn(t)
    const { log, logAll, read } = alerted
    const [errand, astray, doubtful] = [
      'add rate limiting to the login endpoint',
      'remove rate limiting from the login endpoint',
      'add a token bucket to the login endpoint',
    ]
    for (const run_id of ['a', 'b']) {
      await logAll([errand, astray].map((goal) => ({ run_id, goal })))
      const open = (await read(run_id)).run.incident
      assert.ok(open)
      const { drifting, uncertain, reason } = await log({ run_id, goal: doubtful })
      assert.deepEqual([drifting, uncertain, reason], [false, true, 'advancing'])
      assert.equal((await read(run_id)).run.incident, open)
      // The drift that goes on is no other one.
      if (run_id === 'b') await log({ run_id, goal: astray })
      assert.equal((await read(run_id)).run.incident, open)
      await logAll([doubtful, errand].map((goal) => ({ run_id, goal })))
      assert.equal((await read(run_id)).run.incident, null)
    }
    const steps = (await incidents(alerted)).map((each) => each.steps)
    assert.deepEqual(steps, [2, 1])
  })

  test('incidents open and close in one batch as in many requests', async (t) => {
    verifies('events.drift')
    const alerted = await startOn(t)
    const goals = [errand, astray, astray, errand, errand, astray, errand, astray]
    await alerted.logAll(goals.map((goal) => ({ goal })))
    await alerted.settle()
    assert.deepEqual(told(alerted), [
      ['goal-drift', 'opened', 1],
      ['goal-drift', 'closed', 2],
      ['goal-drift', 'opened', 1],
      ['goal-drift', 'closed', 1],
      ['goal-drift', 'opened', 1],
    ])
    assert.deepEqual(
      (await incidents(alerted)).map(({ closed }) => closed),
      [null, noon, noon],
    )
  })

  test('each run, agent and reason has an incident of its own', async (t) => {
    verifies('events.drift')
    const alerted = await startOn(t)
    const { log, settle } = alerted
    for (const about of [{ run_id: 'a' }, { run_id: 'a', agent_id: 'sub' }, { run_id: 'b' }]) {
      for (const goal of [errand, astray, astray]) await log({ ...about, goal })
    }
    await log({ run_id: 'a', goal: ' ' })
    await settle()
    const open = await incidents(alerted, '?open=true')
    assert.deepEqual(
      open.map(({ run_id, agent_id, reason, steps }) => [run_id, agent_id, reason, steps]),
      [
        ['a', undefined, 'ungrammatical', 1],
        ['b', undefined, 'goal-drift', 2],
        ['a', 'sub', 'goal-drift', 2],
        ['a', undefined, 'goal-drift', 2],
      ],
    )
    await log({ run_id: 'a', goal: errand })
    await settle()
    const still = await incidents(alerted, '?open=true')
    assert.deepEqual(
      still.map(({ run_id, agent_id }) => [run_id, agent_id]),
      [
        ['b', undefined],
        ['a', 'sub'],
      ],
    )
    assert.equal(told(alerted).filter(([, state]) => state === 'closed').length, 2)
  })

  test('a report of being stuck closes no incident before it counts as drift', async (t) => {
    verifies('events.drift')
    const alerted = await startOn(t)
    const { log, settle } = alerted
    await log({ goal: errand })
    await log({ goal: astray })
    await log({ goal: errand, progress: 'stuck', distance: 9 })
    await settle()
    assert.equal((await incidents(alerted, '?open=true')).length > 0, true)
    await log({ goal: errand })
    await settle()
    assert.deepEqual(await incidents(alerted, '?open=true'), [])
  })

  test('an incident that goes on sends another event after renotify_minutes', async (t) => {
    verifies('events.drift')
    const alerted = await startOn(t, { renotify_minutes: 30 })
    const { app, log, settle } = alerted
    await log({ goal: errand })
    for (let step = 0; step < 8; step++) {
      await log({ goal: astray })
      // Moved on in the middle of an attempt, the clock would end its lease.
      await settle()
      app.advance(10 * minuteMs)
    }
    assert.deepEqual(told(alerted), [
      ['goal-drift', 'opened', 1],
      ['goal-drift', 'continues', 4],
      ['goal-drift', 'continues', 7],
    ])
  })

  test('an incident sends another event when its severity rises, and none when it falls', async (t) => {
    verifies('events.drift')
    const alerted = await startOn(t, { modes: { 'goal-drift': { severity: 'info' } } })
    const { log, set, settle, hook } = alerted
    await log({ goal: errand })
    await log({ goal: astray })
    for (const severity of ['warn', 'warn', 'critical', 'info']) {
      await set({ incidents: true, modes: { 'goal-drift': { severity } } })
      await log({ goal: astray })
    }
    await settle()
    assert.deepEqual(
      hook.sent.map(({ body }) => [body.severity, body.incident.steps]),
      [
        ['info', 1],
        ['warn', 2],
        ['critical', 4],
      ],
    )
  })

  test('a step that is muted or below min_phi opens no incident and closes none', async (t) => {
    verifies('alerts.state.muted', 'alerts.state.below')
    for (const config of [{ min_phi: 0.9 }, { modes: { 'goal-drift': { on: false } } }]) {
      const alerted = await startOn(t, config)
      for (const goal of [errand, astray, astray, errand]) await alerted.log({ goal })
      await alerted.settle()
      assert.deepEqual([told(alerted), await incidents(alerted)], [[], []])
      assert.equal((await alerted.readLog()).length, 2)
    }
  })

  test('an incident ends in silence when incidents were switched off or the config was deleted', async (t) => {
    verifies('alerts.delete')
    for (const off of ['replaced', 'deleted']) {
      const alerted = await startOn(t)
      const { log, set, request, settle } = alerted
      await log({ goal: errand })
      await log({ goal: astray })
      await settle()
      if (off === 'replaced') await set()
      else await request('DELETE', '/v1/alerts')
      await log({ goal: errand })
      await settle()
      assert.deepEqual(told(alerted), [['goal-drift', 'opened', 1]], off)
      assert.deepEqual(await incidents(alerted, '?open=true'), [])
      assert.equal((await incidents(alerted, '?open=false')).length, 1)
    }
  })

  test('every escalation sends an event, and the turns of a dialogue are one incident', async (t) => {
    verifies('events.escalation', 'events.dialogue')
    const alerted = await startOn(t)
    const { post, settle, hook } = alerted
    for (let asked = 0; asked < 3; asked++) {
      await post('/v1/escalation', { run_id: 'run', reason: 'stuck' })
    }
    for (const [turn, goal] of [topic, aside, aside, topic].entries()) {
      const said = { agent: 'a', position: `I think ${goal}`, distance: 9 - turn }
      await post('/v1/dialogue', { conv_id: 'talk', goal, ...said })
    }
    await settle()
    assert.deepEqual(told(alerted), [
      ['escalation:stuck', 'none', 0],
      ['escalation:stuck', 'none', 0],
      ['escalation:stuck', 'none', 0],
      ['topic-drift', 'opened', 1],
      ['topic-drift', 'closed', 2],
    ])
    assert.equal(hook.sent.at(-1)!.body.run_id, 'talk')
  })

  test('a run and a dialogue of one name have incidents of their own', async (t) => {
    verifies('events.dialogue')
    const alerted = await startOn(t)
    const { log, post, settle } = alerted
    const say = (goal: string, distance: number) =>
      post('/v1/dialogue', { conv_id: 'run', goal, agent: 'a', position: goal, distance })
    await log({ goal: errand })
    await say(topic, 9)
    await log({ goal: astray })
    await say(aside, 8)
    await say(topic, 7)
    await log({ goal: astray })
    await log({ goal: errand })
    await settle()
    assert.deepEqual(told(alerted), [
      ['goal-drift', 'opened', 1],
      ['topic-drift', 'opened', 1],
      ['topic-drift', 'closed', 1],
      ['goal-drift', 'closed', 2],
    ])
    const shown = (await incidents(alerted)).map(({ reason, dialogue }) => [reason, dialogue])
    assert.deepEqual(shown, [
      ['topic-drift', true],
      ['goal-drift', undefined],
    ])
  })

  test('the incident of a dialogue is deleted with the dialogue', async (t) => {
    verifies('events.dialogue')
    const alerted = await startOn(t)
    const { post, app, account } = alerted
    const { store } = app.running
    const say = (goal: string) =>
      post('/v1/dialogue', { conv_id: 'talk', goal, agent: 'a', position: goal, distance: 5 })
    for (const goal of [topic, aside]) await say(goal)
    const [open] = await incidents(alerted, '?open=true')
    assert.equal(open!.run_id, 'talk')
    for (const [deleted, end] of [
      ['begun anew', () => say(topic)],
      ['deleted', () => store.tx(({ conversations }) => conversations.expire(Date.now(), 10))],
    ] as const) {
      await say(aside)
      assert.equal((await incidents(alerted)).length, 1, deleted)
      await store.tx(({ conversations }) => conversations.end(account, 'talk', 0))
      await end()
      assert.deepEqual(await incidents(alerted), [], deleted)
    }
  })

  test('incidents are listed page by page, for their own account, and are deleted with their run', async (t) => {
    verifies('list.cursor', 'run.delete')
    const alerted = await startOn(t)
    const { app, get, drift, request, settle } = alerted
    for (const run of ['a', 'b', 'c']) await drift(run)
    const { body } = await get('/v1/alerts/incidents?limit=2')
    assert.deepEqual(
      body.incidents.map(({ run_id }: { run_id: string }) => run_id),
      ['c', 'b'],
    )
    const rest = await get(`/v1/alerts/incidents?limit=2&cursor=${body.next_cursor}`)
    assert.deepEqual([rest.body.incidents[0].run_id, rest.body.next_cursor], ['a', null])
    const other = await newCaller(app)
    assert.deepEqual((await other.get('/v1/alerts/incidents')).body.incidents, [])
    for (const query of ['open=maybe', 'limit=0', 'cursor=x']) {
      assert.equal((await get(`/v1/alerts/incidents?${query}`)).status, 400, query)
    }
    await request('DELETE', '/v1/drift/run?run_id=b')
    await settle()
    assert.deepEqual(
      (await incidents(alerted)).map(({ run_id }) => run_id),
      ['c', 'a'],
    )
    await alerted.logAll([errand, astray].map((goal) => ({ run_id: 'b', goal })))
    assert.deepEqual((await incidents(alerted)).at(0)!.run_id, 'b')
  })
})
