import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase, openFor } from './backends.ts'
import { newCaller } from './caller.ts'
import { published, start } from './harness.ts'
import { setMemory } from './set-memory.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const further = 'limit the sign-up endpoint too'
const step = 'write a token bucket for the login endpoint'

onEachDatabase((database) => {
  async function startOn(t: TestContext) {
    const url = await database.createUrl()
    return { app: await start(t, { env: { DATABASE_URL: url } }), url }
  }

  test('the messages of a user move the assignment by their effect', async (t) => {
    verifies(
      'user.message',
      'user.assignment',
      'user.ground',
      'user.revision',
      'user.trace',
      'user.grounds',
      'user.first-message',
      'user.none',
    )
    const { app } = await startOn(t)
    const me = await newCaller(app)
    const told = []
    for (const user_message of [
      'hi',
      errand,
      'ok thanks, please go on',
      further,
      'use port 8081 instead',
      'why did you change the header?',
      'forget that, rather look at the billing bug',
    ]) {
      app.advance(1_000)
      const { revision, ground, user_effect, assignment } = await me.log({
        goal: user_message === 'hi' ? '' : step,
        user_message,
      })
      told.push([revision, user_effect, ground, assignment?.length])
    }
    const corrected = `${further}\nuse port 8081 instead`
    const billing = 'forget that, rather look at the billing bug'
    assert.deepEqual(told, [
      [0, 'none', null, undefined],
      [1, 'adds', errand, 1],
      [1, 'none', errand, undefined],
      [2, 'adds', `${errand}\n${further}`, 2],
      [3, 'refines', `${errand}\n${corrected}`, 2],
      [3, 'none', `${errand}\n${corrected}`, undefined],
      [4, 'replaces', billing, 3],
    ])
    const { run, trace } = await me.read('run')
    assert.equal(run.ground, billing)
    assert.deepEqual(run.assignment, [
      { text: errand, revision: 1, by: 'user', at: '2026-01-15T12:00:02.000Z', stands: false },
      { text: corrected, revision: 3, by: 'user', at: '2026-01-15T12:00:05.000Z', stands: false },
      { text: billing, revision: 4, by: 'user', at: '2026-01-15T12:00:07.000Z', stands: true },
    ])
    assert.equal(run.last_person_at, '2026-01-15T12:00:07.000Z')
    assert.equal(run.unattended_ms, 0)
    app.advance(5_000)
    await me.log({ goal: 'read the invoices' })
    assert.equal((await me.read('run')).run.unattended_ms, 5_000)
    assert.deepEqual(
      run.grounds.map(({ step, agent_id, by }: Record<string, unknown>) => [step, agent_id, by]),
      [2, 4, 5, 7].map((step) => [step, '', 'user']),
    )
    assert.deepEqual(
      trace.map((each: Record<string, unknown>) => [each.user_effect, each.revision]),
      told.map(([revision, effect]) => [effect, revision]),
    )
    assert.equal(trace[1].user_message, errand)
  })

  test('a correction of the first ground shows the assignment that it moved', async (t) => {
    verifies('user.assignment')
    const me = await newCaller((await startOn(t)).app)
    await me.log({ goal: step, ground: errand })
    const corrected = await me.log({ goal: step, user_message: 'no, use port 8081 instead' })
    assert.deepEqual([corrected.user_effect, corrected.revision], ['refines', 2])
    assert.deepEqual(
      corrected.assignment.map(({ text, stands }: Record<string, unknown>) => [text, stands]),
      [[`${errand}\nno, use port 8081 instead`, true]],
    )
  })

  test('a stated effect wins, and a step without a message has none', async (t) => {
    verifies('user.effect-stated', 'user.trace')
    const me = await newCaller((await startOn(t)).app)
    await me.log({ goal: step, user_message: errand })
    const stated = await me.log({ goal: step, user_message: further, user_effect: 'none' })
    assert.deepEqual([stated.user_effect, stated.revision], ['none', 1])
    const moved = await me.log({ goal: step, user_message: 'yes', user_effect: 'adds' })
    assert.deepEqual([moved.user_effect, moved.revision], ['adds', 2])
    assert.equal(moved.assignment[1].by, 'host')
    await me.log({ goal: step })
    const { trace } = await me.read('run')
    assert.deepEqual(
      [trace[3].user_message, trace[3].user_effect, trace[3].revision],
      [null, null, 2],
    )
  })

  test('a memory of an earlier release goes on with its ground as the one request', async (t) => {
    verifies('memory.older')
    const { app, url } = await startOn(t)
    const db = await openFor(t, url)
    const me = await newCaller(app)
    await me.log({ goal: errand })
    const [row] = await db.all<{ memory: string }>('SELECT memory FROM agents')
    const { assignment: _, ...older } = JSON.parse(row?.memory ?? '{}')
    await setMemory(db, 'run', JSON.stringify(older), '')
    const moved = await me.log({ goal: step, user_message: further })
    assert.equal(moved.ground, `${errand}\n${further}`)
    assert.deepEqual(
      moved.assignment.map(({ text, at, by }: Record<string, unknown>) => [text, at === null, by]),
      [
        [errand, true, 'first'],
        [further, false, 'user'],
      ],
    )
  })
})

test('a batch and the check give the same verdicts as single steps', async (t) => {
  verifies('user.message', 'user.effect-stated')
  const app = await start(t)
  const steps = [
    { goal: step, user_message: errand },
    { goal: 'write a poem about autumn leaves', user_message: 'thanks, go on' },
    { goal: 'limit the sign-up endpoint', user_message: further },
    { goal: 'look at the billing bug', user_message: 'billing', user_effect: 'replaces' },
  ]
  const { body } = await app.post('/v1/check', { steps })
  const batch = await (await newCaller(app)).logAll(steps)
  const verdicts = batch.map(
    ({ run_id: _, step: __, revision: ___, assignment: ____, ...verdict }) => verdict,
  )
  assert.deepEqual(verdicts, body.steps)
  assert.equal(body.ground, errand)
  assert.deepEqual(
    body.steps.map(({ user_effect }: { user_effect: string }) => user_effect),
    ['adds', 'none', 'adds', 'replaces'],
  )
})

test('a message that is no text, or too long, and an unknown effect are refused', async (t) => {
  verifies('user.message', 'user.effect-stated')
  const app = await start(t)
  const me = await newCaller(app)
  for (const [fields, detail] of [
    [{ user_message: 5 }, /user_message: send a text/],
    [{ user_message: 'x'.repeat(4_001) }, /user_message: has 4001 characters/],
    [{ user_message: errand, user_effect: 'moves' }, /user_effect: send none or/],
  ] as const) {
    const logged = await me.post('/v1/drift', { goal: step, ...fields })
    assert.deepEqual([logged.status, logged.body.error], [400, 'bad_request'])
    assert.match(logged.body.detail, detail)
    const batch = await me.post('/v1/drift/batch', { steps: [{ goal: step, ...fields }] })
    assert.match(batch.body.detail, detail)
    const checked = await app.post('/v1/check', {
      steps: [{ goal: step }, { goal: step, ...fields }],
    })
    assert.equal(checked.status, 400)
    assert.match(checked.body.detail, /^steps\[1\]\.user_/)
  }
  const longest = await me.log({ goal: step, user_message: `fix ${'x'.repeat(3_996)}` })
  assert.equal(longest.revision, 1)
})

test('a step that serves any request that stands is on the errand', async (t) => {
  verifies('user.adds')
  const me = await newCaller(await start(t))
  await me.log({ goal: step, ground: 'refund order 1234 to the customer' })
  const other = { run_id: 'other', ground: 'refund order 1234 to the customer' }
  assert.equal(
    (await me.log({ ...other, goal: 'refund order 9876 to the customer' })).drifting,
    true,
  )
  await me.log({
    goal: 'refund order 9876',
    user_message: 'also refund order 9876 to the customer',
  })
  for (const order of ['1234', '9876']) {
    const verdict = await me.log({ goal: `refund order ${order} to the customer` })
    assert.deepEqual(
      [verdict.drifting, verdict.uncertain, verdict.reason],
      [false, false, 'advancing'],
    )
  }
  const third = await me.log({ goal: 'refund order 5555 to the customer' })
  assert.equal(third.drifting, true)
})

test('a message alone is no goal of the agent', async (t) => {
  verifies('user.only-message')
  const me = await newCaller(await start(t))
  await me.log({ goal: errand, user_message: errand })
  for (let at = 0; at < 6; at++) {
    const { drifting, uncertain, reason, phi, user_effect } = await me.log({
      goal: 'ok thanks, please go on',
      user_message: 'ok thanks, please go on',
    })
    assert.deepEqual(
      [drifting, uncertain, reason, phi, user_effect],
      [false, false, 'advancing', 0, 'none'],
    )
  }
})

test('a user turn without content moves nothing under meaning', async (t) => {
  verifies('user.turn-without-content')
  const me = await newCaller(await start(t))
  await me.log({ goal: step, ground: errand })
  for (const goal of ['yes', 'ok thanks, please go on', '好的，继续', 'merci, continue']) {
    const { ground, revision } = await me.log({ goal, user_turn: true })
    assert.deepEqual([ground, revision], [errand, 1], goal)
  }
  const moved = await me.log({ goal: 'look at the billing bug', user_turn: true })
  assert.deepEqual([moved.ground, moved.revision], ['look at the billing bug', 2])
})

test('under overlap a message with an effect is a user turn with that ground', async (t) => {
  verifies('user.overlap')
  const app = await start(t, { env: published })
  const me = await newCaller(app)
  const other = await newCaller(app)
  await me.log({ goal: errand })
  await other.log({ goal: errand })
  const said = await me.log({ goal: step, user_message: further })
  const turned = await other.log({ goal: step, user_turn: true, ground: further })
  const { user_effect, ...verdict } = said
  assert.deepEqual(verdict, turned)
  assert.equal(user_effect, 'adds')
  const none = await me.log({ goal: step, user_message: 'yes' })
  assert.deepEqual([none.ground, none.revision, none.user_effect], [further, 2, 'none'])
})

test('beyond the bound the oldest request no longer stands, and the answer shows it', async (t) => {
  verifies('memory.assignment-bound')
  const me = await newCaller(await start(t))
  let last = await me.log({ goal: step, user_message: errand })
  for (let at = 0; at < 16; at++) {
    last = await me.log({ goal: step, user_message: `also check module ${at}` })
  }
  assert.deepEqual(
    last.assignment.map(({ stands }: { stands: boolean }) => stands),
    [false, ...Array(16).fill(true)],
  )
  assert.equal(last.assignment[0].text, errand)
})
