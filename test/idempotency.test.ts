import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import { keyed } from '../src/operations/gate/operation.ts'
import { keyOfClaim } from '../src/storage/database/idempotency.ts'
import { databases, onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type Answer, type App, start } from './harness.ts'
import { startHook } from './hook.ts'
import { startMailbox } from './mailbox.ts'
import { verifies } from './verifies.ts'

const dayMs = 86_400_000
const once = { 'idempotency-key': 'once' }
const step = { goal: 'fix the login' }

/** Whether an answer is one that was given before. */
const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true'

async function stepsOf(caller: Caller, runId = 'run'): Promise<number> {
  return (await caller.read(runId)).run.steps
}

async function keysOf(caller: Caller): Promise<number> {
  return (await caller.get('/v1/me')).body.keys.length
}

onEachDatabase((database) => {
  async function startOn(t: TestContext, url?: string): Promise<App> {
    return start(t, { env: { DATABASE_URL: url ?? (await database.createUrl()) } })
  }

  describe('a POST that is sent again with its idempotency key', () => {
    test('is answered with the same bytes and does nothing twice', async (t) => {
      verifies('idempotency.replay')
      const caller = await newCaller(await startOn(t))
      for (const [path, body, count] of [
        ['/v1/drift', step, stepsOf],
        ['/v1/drift/batch', { steps: [step, step] }, stepsOf],
        ['/v1/me/keys', {}, keysOf],
        ['/v1/me/keys/rotate', { id: caller.keyId }, keysOf],
        ['/v1/drift/outcome', { run_id: 'run', outcome: 'success' }, stepsOf],
      ] as const) {
        const first = await caller.post(path, body, once)
        assert.ok(first.status < 300 && !replayed(first), path)
        const before = await count(caller)
        for (let again = 0; again < 3; again++) {
          const answer = await caller.post(path, body, once)
          assert.ok(replayed(answer), path)
          assert.deepEqual([answer.status, answer.text], [first.status, first.text])
          const [type, firstType] = [answer, first].map(({ headers }) =>
            headers.get('content-type'),
          )
          assert.equal(type, firstType)
        }
        assert.equal(await count(caller), before, path)
      }
    })

    test('is answered so for a day, and then worked again', async (t) => {
      verifies('idempotency.replay')
      const app = await startOn(t)
      const caller = await newCaller(app)
      const first = await caller.post('/v1/drift', step, once)
      app.advance(dayMs - 1)
      assert.equal((await caller.post('/v1/drift', step, once)).text, first.text)
      app.advance(1)
      const fresh = await caller.post('/v1/drift', step, once)
      assert.ok(!replayed(fresh))
      assert.equal(await stepsOf(caller), 2)
      assert.equal((await caller.post('/v1/drift', step, once)).text, fresh.text)
    })

    test('is answered so after a restart', async (t) => {
      verifies('idempotency.replay')
      const url = await database.createUrl()
      const app = await startOn(t, url)
      const caller = await newCaller(app)
      const asked = ['/v1/drift', '/v1/me/keys'] as const
      const first = await Promise.all(asked.map((path) => caller.post(path, step, once)))
      await app.running.stop()
      const again = caller.at(await startOn(t, url))
      for (const [at, path] of asked.entries()) {
        const answer = await again.post(path, step, once)
        assert.deepEqual([answer.text, replayed(answer)], [first[at]!.text, true])
      }
    })

    test('with another body is a conflict', async (t) => {
      verifies('idempotency.conflict')
      const caller = await newCaller(await startOn(t))
      const first = await caller.post('/v1/drift', step, once)
      for (const body of [
        { goal: 'something else' },
        { ...step, tokens: 1 },
        ' {"goal":"fix the login"}',
        '',
      ]) {
        const answer = await caller.post('/v1/drift', body, once)
        assert.deepEqual([answer.status, answer.body.error], [409, 'idempotency_conflict'])
        assert.match(answer.body.detail, /another body/)
      }
      assert.equal((await caller.post('/v1/drift', step, once)).text, first.text)
      assert.equal(await stepsOf(caller), 1)
    })

    test('is worked again when the first was refused', async (t) => {
      verifies('idempotency.only-2xx')
      const caller = await newCaller(await startOn(t))
      const outcome = { run_id: 'run', outcome: 'success' }
      assert.equal((await caller.post('/v1/drift/outcome', outcome, once)).status, 404)
      assert.equal((await caller.post('/v1/drift/outcome', {}, once)).status, 400)
      await caller.log(step)
      const good = await caller.post('/v1/drift/outcome', outcome, once)
      assert.deepEqual([good.status, replayed(good)], [200, false])
      assert.ok(replayed(await caller.post('/v1/drift/outcome', outcome, once)))
    })

    test('at the same time waits for the first', async (t) => {
      verifies('idempotency.waits', 'idempotency.replay')
      const caller = await newCaller(await startOn(t))
      for (const [path, count] of [
        ['/v1/drift', stepsOf],
        ['/v1/me/keys', keysOf],
      ] as const) {
        const answers = await Promise.all(
          Array.from({ length: 12 }, () => caller.post(path, step, once)),
        )
        assert.equal(new Set(answers.map(({ status, text }) => status + text)).size, 1)
        assert.ok(answers[0]!.status < 300)
        assert.equal(answers.filter(replayed).length, 11)
        assert.equal(await count(caller), path === '/v1/drift' ? 1 : 2)
      }
    })

    test('and another body at the same time is a conflict or comes first', async (t) => {
      verifies('idempotency.waits', 'idempotency.conflict')
      const caller = await newCaller(await startOn(t))
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          caller.post('/v1/drift', { goal: `goal ${at}` }, once),
        ),
      )
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(11).fill(409)])
      assert.equal(await stepsOf(caller), 1)
    })
  })

  test('an idempotency key is of one account and one route', async (t) => {
    verifies('idempotency.scope')
    const app = await startOn(t)
    const [one, other] = [await newCaller(app), await newCaller(app)]
    const answers = [
      await one.post('/v1/drift', step, once),
      await other.post('/v1/drift', step, once),
      await one.post('/v1/me/keys', step, once),
      await other.post('/v1/me/keys', step, once),
      await one.post('/v1/drift/batch', { steps: [step] }, once),
      await one.post('/v1/drift', step, { 'idempotency-key': 'Once' }),
    ]
    assert.ok(answers.every((answer) => answer.status < 300 && !replayed(answer)))
    assert.deepEqual([await stepsOf(one), await stepsOf(other)], [3, 1])
    assert.notEqual(answers[2]!.body.key, answers[3]!.body.key)
  })

  test('an answer with a secret is shown again to the credential that asked, and no other', async (t) => {
    verifies('idempotency.replay', 'key.hashed')
    const app = await startOn(t)
    const caller = await newCaller(app)
    const made = await caller.post('/v1/me/keys', {}, once)
    const query = await app.request('POST', `/v1/me/keys?key=${caller.key}`, {
      body: '{}',
      headers: once,
    })
    assert.deepEqual([query.text, replayed(query)], [made.text, true])
    const authorization = `Bearer ${made.body.key}`
    const another = await app.post('/v1/me/keys', {}, { ...once, authorization })
    assert.deepEqual([another.status, another.body.error], [409, 'idempotency_conflict'])
    assert.match(another.body.detail, /another credential/)
  })

  test('step_id does the same within account and run', async (t) => {
    verifies('idempotency.step-id')
    const app = await startOn(t)
    const [one, other] = [await newCaller(app), await newCaller(app)]
    const body = { ...step, run_id: 'a', step_id: 's1' }
    const first = await one.post('/v1/drift', body)
    const again = await one.post('/v1/drift', body)
    assert.deepEqual([again.text, replayed(again)], [first.text, true])
    const conflict = await one.post('/v1/drift', { ...body, goal: 'something else' })
    assert.deepEqual([conflict.status, conflict.body.error], [409, 'idempotency_conflict'])
    // However the field is spelled, it is the same; the body is not.
    const spelled = JSON.stringify(body).replace('step_id', 'step\\u005fid')
    assert.equal((await one.post('/v1/drift', spelled)).status, 409)
    for (const fresh of [
      await one.post('/v1/drift', { ...body, run_id: 'b' }),
      await one.post('/v1/drift', { ...body, step_id: 's2' }),
      await other.post('/v1/drift', body),
      await one.post('/v1/drift', body, { 'idempotency-key': 's1' }),
    ]) {
      assert.deepEqual([fresh.status, replayed(fresh)], [200, false])
    }
    assert.deepEqual(
      [await stepsOf(one, 'a'), await stepsOf(one, 'b'), await stepsOf(other, 'a')],
      [3, 1, 1],
    )
  })

  describe('a step_id in a batch', () => {
    const batch = (caller: Caller, steps: readonly object[], headers = {}) =>
      caller.post('/v1/drift/batch', { steps }, headers)
    const resultOf = (answer: Answer, at: number) => JSON.stringify(answer.body.results[at])

    test('that was used on a single step is answered as that was, and not stored again', async (t) => {
      verifies('idempotency.step-id-batch')
      const caller = await newCaller(await startOn(t))
      const sent = { ...step, step_id: 's1', tokens: 5, overhead: { deep: [1] } }
      const alone = await caller.post('/v1/drift', sent)
      const { overhead, ...rest } = sent
      const spelled = { overhead, unknown: 1, ...rest, goal: ' fix the login ', run_id: 'run' }
      for (const entry of [sent, spelled]) {
        const answer = await batch(caller, [{ goal: 'fix it' }, entry, { goal: 'fix more' }])
        assert.equal(answer.status, 200, answer.text)
        assert.equal(resultOf(answer, 1), alone.text)
      }
      const { run, trace } = await caller.read('run')
      assert.deepEqual(
        trace.map(({ goal }: { goal: string }) => goal),
        ['fix the login', 'fix it', 'fix more', 'fix it', 'fix more'],
      )
      assert.equal(run.tokens, 5)
    })

    test('that was used in a batch is answered as it was, alone and in a batch', async (t) => {
      verifies('idempotency.step-id-batch')
      const app = await startOn(t)
      const caller = await newCaller(app)
      const steps = ['a', 'b', 'a'].map((run_id, at) => ({ ...step, run_id, step_id: `s${at}` }))
      const first = await batch(caller, steps)
      for (const [at, entry] of steps.entries()) {
        const again = await caller.post('/v1/drift', entry)
        assert.deepEqual([again.body, replayed(again)], [first.body.results[at], true])
      }
      const again = await batch(caller, [steps[2]!, { ...step, run_id: 'b' }, steps[0]!])
      assert.deepEqual(
        [resultOf(again, 0), resultOf(again, 2)],
        [resultOf(first, 2), resultOf(first, 0)],
      )
      assert.equal(again.body.results[1].step, 2)
      assert.deepEqual([await stepsOf(caller, 'a'), await stepsOf(caller, 'b')], [2, 2])
      app.advance(dayMs)
      const fresh = await batch(caller, steps)
      assert.deepEqual(
        fresh.body.results.map(({ step }: { step: number }) => step),
        [3, 3, 4],
      )
    })

    test('twice is stored once, and both are answered the same', async (t) => {
      verifies('idempotency.step-id-batch')
      const caller = await newCaller(await startOn(t))
      const entry = { ...step, step_id: 's1' }
      const answer = await batch(caller, [
        entry,
        { goal: 'fix more' },
        entry,
        { ...entry, run_id: 'b' },
      ])
      assert.equal(answer.status, 200, answer.text)
      assert.equal(resultOf(answer, 0), resultOf(answer, 2))
      assert.deepEqual([await stepsOf(caller), await stepsOf(caller, 'b')], [2, 1])
    })

    test('with another body refuses the batch whole, naming the entry', async (t) => {
      verifies('idempotency.step-id-batch', 'idempotency.conflict')
      const caller = await newCaller(await startOn(t))
      await caller.post('/v1/drift', { ...step, step_id: 's1' })
      const other = { goal: 'something else', step_id: 's1' }
      const fresh = { ...step, step_id: 's2' }
      for (const [steps, index] of [
        [[fresh, { goal: 'fix more' }, other], 2],
        [[fresh, { ...fresh, tokens: 1 }], 1],
      ] as const) {
        const refused = await batch(caller, steps)
        assert.deepEqual([refused.status, refused.body.error], [409, 'idempotency_conflict'])
        assert.ok(refused.body.detail.startsWith(`steps[${index}]: `), refused.body.detail)
      }
      assert.equal(await stepsOf(caller), 1)
      const used = await caller.post('/v1/drift', fresh)
      assert.deepEqual([used.status, replayed(used)], [200, false], 'nothing was kept of it')
    })

    test('is looked at whether or not the batch has a key of its own', async (t) => {
      verifies('idempotency.step-id-batch', 'idempotency.replay')
      const caller = await newCaller(await startOn(t))
      const steps = [{ ...step, step_id: 's1' }, { goal: 'fix more' }]
      const first = await batch(caller, steps, once)
      assert.equal(first.status, 200, first.text)
      const again = await batch(caller, steps, once)
      assert.deepEqual([again.text, replayed(again)], [first.text, true])
      const apart = await batch(caller, [steps[0]!], { 'idempotency-key': 'twice' })
      assert.deepEqual([resultOf(apart, 0), replayed(apart)], [resultOf(first, 0), false])
      assert.equal(await stepsOf(caller), 2)
    })

    test('is stored once however many send it at the same time', async (t) => {
      verifies('idempotency.step-id-batch', 'idempotency.waits')
      const caller = await newCaller(await startOn(t))
      const steps = Array.from({ length: 20 }, (_, at) => ({
        goal: `part ${at}`,
        step_id: `s${at}`,
      }))
      const answers = await Promise.all([
        ...Array.from({ length: 6 }, (_, at) => batch(caller, at % 2 ? steps : steps.toReversed())),
        ...steps.map((entry) => caller.post('/v1/drift', entry)),
      ])
      for (const { status, text } of answers) assert.equal(status, 200, text)
      assert.equal(await stepsOf(caller), 20)
    })

    test('has 1 to 255 characters', async (t) => {
      verifies('idempotency.step-id-batch', 'drift.batch-refused')
      const caller = await newCaller(await startOn(t))
      for (const step_id of ['', 'x'.repeat(256), 5]) {
        const refused = await batch(caller, [step, { ...step, step_id }])
        assert.equal(refused.status, 400)
        assert.match(refused.body.detail, /^steps\[1\]: step_id/)
      }
      assert.equal((await batch(caller, [{ ...step, step_id: null }])).status, 200)
    })
  })

  test('an idempotency key has 1 to 255 characters', async (t) => {
    const caller = await newCaller(await startOn(t))
    const longest = 'x'.repeat(255)
    for (const [key, status] of [
      ['', 400],
      [`${longest}x`, 400],
      [longest, 200],
      ["'; DROP TABLE keys; --", 200],
    ] as const) {
      const headed = await caller.post('/v1/drift', step, { 'idempotency-key': key })
      assert.equal(headed.status, status, key)
      const stepped = await caller.post('/v1/drift', { ...step, step_id: key })
      assert.equal(stepped.status, status, key)
      if (status === 400) assert.match(stepped.body.detail, /^step_id .*1 to 255/)
    }
  })

  test('one that was claimed and never answered is free after a minute', async (t) => {
    verifies('idempotency.replay')
    const { store } = (await startOn(t)).running
    const noon = Date.UTC(2026, 0, 15, 12)
    const claimAt = (at: number) =>
      store.tx(async ({ idempotency }) => {
        const claim = { account: 'a', scope: '/v1/x', key: 'once', bodyHash: 'h', at }
        return (await idempotency.claim([claim])).get(keyOfClaim(claim))
      })
    assert.equal(await claimAt(noon), undefined)
    assert.equal((await claimAt(noon + 59_999))?.status, 0)
    assert.equal(await claimAt(noon + 60_000), undefined)
    const claim = { account: 'a', scope: '/v1/x', key: 'once', bodyHash: 'h', at: noon }
    await store.tx(({ idempotency }) => idempotency.release(claim))
    assert.equal(await claimAt(noon + 60_001), undefined)
    const answered = [{ claim, status: 200, answer: '{}' }]
    await store.tx(({ idempotency }) => idempotency.keep(answered))
    await store.tx(({ idempotency }) => idempotency.release(claim))
    assert.equal((await claimAt(noon + 200_000))?.status, 200)
  })

  test('GET and DELETE take no notice of one', async (t) => {
    const caller = await newCaller(await startOn(t))
    await caller.log(step)
    for (const limit of [1, 2]) {
      const path = `/v1/drift/runs?limit=${limit}`
      const answer = await caller.request('GET', path, undefined, once)
      assert.deepEqual([answer.status, replayed(answer)], [200, false])
    }
    const path = '/v1/drift/run?run_id=run'
    assert.equal((await caller.request('DELETE', path, undefined, once)).status, 200)
    assert.equal((await caller.request('DELETE', path, undefined, once)).status, 404)
  })
})

test('a keyed request whose work declares steps and logs none fails instead of hanging', async (t) => {
  const idle = keyed(
    {
      name: 'test.idle',
      group: 'detector',
      summary: 'Logs nothing.',
      http: { method: 'POST', path: '/v1/idle' },
      input: z.object({}),
      output: z.object({}),
    },
    { logs: true },
  )(async () => ({}))
  const app = await start(t, { operations: [idle] })
  const caller = await newCaller(app)
  const answer = await caller.post('/v1/idle', {}, once)
  assert.deepEqual([answer.status, answer.body.error], [500, 'internal'])
})

const postgres = databases.find(({ name }) => name === 'postgres')!

test('nodes on one PostgreSQL answer for each other', { skip: postgres.skip }, async (t) => {
  verifies('idempotency.waits', 'idempotency.replay', 'process.nodes-equal')
  const env = { DATABASE_URL: await postgres.createUrl() }
  const nodes = [await start(t, { env }), await start(t, { env })]
  const caller = await newCaller(nodes[0]!)
  for (const path of ['/v1/drift', '/v1/me/keys']) {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => caller.at(nodes[at % 2]!).post(path, step, once)),
    )
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal(answers.filter(replayed).length, 11)
  }
  assert.equal(await stepsOf(caller), 1)
})

test('what counts by itself works once too where the database is in memory', async (t) => {
  verifies('idempotency.replay')
  const [box, hook] = [await startMailbox(t), await startHook(t)]
  const app = await start(t, {
    env: { ...box.env, PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${hook.port}` },
  })
  const caller = await newCaller(app)
  await caller.post('/v1/alerts', { url: hook.url })
  await caller.post('/v1/digest', {
    cadence: 'daily',
    hour_utc: 7,
    channel: 'webhook',
    url: hook.url,
  })
  for (const [path, body] of [
    ['/v1/alerts/test', {}],
    ['/v1/digest/test', {}],
    ['/v1/me/email', { email: 'ada@reader.test' }],
  ] as const) {
    const answer = await caller.post(path, body, once)
    assert.deepEqual([answer.status, answer.body.ok], [200, true], path)
    assert.equal((await caller.post(path, body, once)).text, answer.text)
  }
})
