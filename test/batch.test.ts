import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type App, start } from './harness.ts'
import { setMemory } from './set-memory.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const other = 'refund order 2093'

onEachDatabase((database) => {
  /** A service on a database of its own, with an account. */
  async function startKeyed(t: TestContext): Promise<{ app: App; me: Caller; url: string }> {
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url } })
    return { app, me: await newCaller(app), url }
  }

  /** The detail of the 400 that a batch gets. */
  async function refuse(me: Caller, body: unknown): Promise<string> {
    const answer = await me.post('/v1/drift/batch', body)
    assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'], answer.text)
    return answer.body.detail
  }

  /** The ids of an account's runs. */
  async function runIds(me: Caller): Promise<string[]> {
    const { runs } = (await me.get('/v1/drift/runs?limit=200')).body
    return runs.map(({ run_id }: { run_id: string }) => run_id)
  }

  test('a batch holds 1 to 500 steps', async (t) => {
    verifies('drift.batch')
    const { me } = await startKeyed(t)
    for (const steps of [[], undefined, null, {}, 'text', 5, Array(501).fill({ goal: errand })]) {
      assert.match(await refuse(me, { steps }), /^steps: .*500/)
    }
    for (const body of ['', 'nonsense', 'null', '5', '"text"', '[]', `[{"goal":"${errand}"}]`]) {
      assert.match(await refuse(me, body), /^steps: .*500/)
    }
    assert.deepEqual(await runIds(me), [])
    const [only] = await me.logAll([{ goal: errand }])
    assert.deepEqual([only.run_id, only.step, only.reason], ['run', 1, 'grounded'])
    const results = await me.logAll(
      Array.from({ length: 500 }, (_, at) => ({ goal: `${errand} part${at}` })),
    )
    assert.deepEqual(
      results.map(({ goal, step }) => [goal, step]),
      Array.from({ length: 500 }, (_, at) => [`${errand} part${at}`, at + 2]),
    )
    const { run, trace } = await me.read('run')
    assert.deepEqual([run.steps, trace.length], [501, 501])
  })

  test('a batch answers what its steps would be answered one by one', async (t) => {
    verifies('drift.batch')
    const { app } = await startKeyed(t)
    const step = fc.record({
      run_id: fc.constantFrom('a', 'b', 'c'),
      agent_id: fc.constantFrom(undefined, undefined, 'x', 'y'),
      goal: fc.constantFrom(errand, `${errand} now`, other, 'the', ''),
      progress: fc.constantFrom('advancing', 'advancing', 'stuck', 'circling', 'sideways'),
      distance: fc.integer({ min: 0, max: 10 }),
      user_turn: fc.constantFrom(false, false, false, true),
      ground: fc.constantFrom(undefined, undefined, errand),
      parent_goal: fc.constantFrom(undefined, undefined, errand),
      tokens: fc.constantFrom(undefined, 10),
      overhead: fc.constantFrom(undefined, true),
    })
    const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        cuts,
        async (steps, cuts) => {
          const [alone, batched] = [await newCaller(app), await newCaller(app)]
          const single = []
          for (const each of steps) single.push(await alone.log(each))
          const together = []
          let from = 0
          for (const length of [...cuts, steps.length]) {
            const part = steps.slice(from, from + length)
            if (part.length > 0) together.push(...(await batched.logAll(part)))
            from += length
          }
          assert.deepEqual(together, single)
          for (const { run_id } of steps) {
            assert.deepEqual(await batched.read(run_id), await alone.read(run_id))
          }
        },
      ),
      { numRuns: 8 },
    )
  })

  test('several runs in one batch are each kept in order', async (t) => {
    verifies('drift.batch', 'drift.order')
    const { me } = await startKeyed(t)
    const steps = Array.from({ length: 400 }, (_, at) => ({
      run_id: `run ${(at * 7) % 40}`,
      goal: `${errand} part${at}`,
      tokens: 1,
    }))
    const results = await me.logAll(steps)
    assert.deepEqual(
      results.map(({ run_id, goal }) => ({ run_id, goal, tokens: 1 })),
      steps,
    )
    for (let run = 0; run < 40; run++) {
      const run_id = `run ${run}`
      const { run: read, trace } = await me.read(run_id)
      assert.deepEqual([read.steps, read.tokens], [10, 10])
      assert.deepEqual(
        trace.map(({ goal, step }: { goal: string; step: number }) => [goal, step]),
        steps.filter((step) => step.run_id === run_id).map(({ goal }, at) => [goal, at + 1]),
      )
    }
  })

  test('a bad entry refuses the whole batch and is named', async (t) => {
    verifies('drift.batch-refused')
    const { me } = await startKeyed(t)
    await me.log({ run_id: 'old', goal: errand })
    const before = await me.read('old')
    const good = (at: number) => ({ run_id: at % 2 === 0 ? 'old' : 'new', goal: `goal ${at}` })
    const bad: [unknown, RegExp][] = [
      [null, /body/],
      [5, /body/],
      ['text', /body/],
      [[], /body/],
      [{}, /goal/],
      [{ goal: 5 }, /goal/],
      [{ goal: 'x'.repeat(4_001) }, /goal/],
      [{ goal: errand, run_id: '' }, /run_id/],
      [{ goal: errand, run_id: 'x'.repeat(201) }, /run_id/],
      [{ goal: errand, agent_id: 5 }, /agent_id/],
      [{ goal: errand, tokens: -1 }, /tokens/],
      [{ goal: errand, user_turn: 'yes' }, /user_turn/],
      [{ goal: errand, plan: 'x' }, /plan/],
      [{ goal: errand, arm: 'x' }, /arm/],
      [{ goal: errand, detector: 'x' }, /detector/],
    ]
    for (const [at, [entry, field]] of bad.entries()) {
      const index = (at * 37) % 50
      const steps: unknown[] = Array.from({ length: 50 }, (_, at) => good(at))
      const detail = await refuse(me, { steps: steps.with(index, entry) })
      assert.ok(detail.startsWith(`steps[${index}]: `), detail)
      assert.match(detail, field)
    }
    assert.match(await refuse(me, { steps: [good(0), {}, 5] }), /^steps\[1\]: /)
    const long = { steps: [...Array(499).fill(good(0)), { goal: null }] }
    assert.match(await refuse(me, long), /^steps\[499\]: goal/)
    assert.deepEqual(await runIds(me), ['old'])
    assert.deepEqual(await me.read('old'), before)
    const { recurrence } = await me.log({ run_id: 'fresh', goal: 'goal 1' })
    assert.equal(recurrence, undefined, 'what was refused opened no context')
  })

  test('a batch with a damaged run stores nothing', async (t) => {
    verifies('drift.batch-refused')
    const { me, url } = await startKeyed(t)
    await me.logAll(['good', 'bad'].map((run_id) => ({ run_id, goal: errand })))
    const db = await openFor(t, url)
    const before = await me.read('good')
    for (const memory of ['{', '{"v":1,"detector":"overlap"}']) {
      await setMemory(db, 'bad', memory)
      const steps = ['good', 'fresh', 'bad', 'good'].map((run_id) => ({ run_id, goal: other }))
      for (const headers of [{}, { 'idempotency-key': `key ${memory.length}` }] as const) {
        const [answer, beside] = await Promise.all([
          me.post('/v1/drift/batch', { steps }, headers),
          me.post('/v1/drift/batch', { steps: [{ run_id: 'beside', goal: errand }] }),
        ])
        assert.deepEqual([answer.status, answer.body.error], [500, 'internal'])
        assert.equal(beside.status, 200)
      }
    }
    assert.deepEqual(await me.read('good'), before)
    assert.equal((await me.get('/v1/drift/run?run_id=fresh')).status, 404)
    assert.equal((await me.read('beside')).run.steps, 4)
    const { recurrence } = await me.log({ run_id: 'fresh', goal: other })
    assert.equal(recurrence, undefined, 'what was not stored opened no context')
  })

  test('a batch over 256 KiB is refused whole', async (t) => {
    verifies('drift.batch')
    const { me } = await startKeyed(t)
    const answer = await me.post('/v1/drift/batch', {
      steps: Array(100).fill({ goal: 'x'.repeat(3_000) }),
    })
    assert.deepEqual([answer.status, answer.body.error], [413, 'payload_too_large'])
    assert.deepEqual(await runIds(me), [])
  })

  test('a batch goes on with expired and deleted runs as with new ones', async (t) => {
    verifies('drift.batch', 'retention.expires')
    const { app, me } = await startKeyed(t)
    const steps = (count: number) =>
      Array.from({ length: count }, (_, at) => ({
        run_id: ['expired', 'deleted', 'kept'][at % 3],
        goal: at < 3 ? errand : `${errand} part${at}`,
        distance: 5,
      }))
    await me.logAll(steps(9))
    app.advance(300 * 86_400_000)
    await me.log({ run_id: 'kept', goal: errand, distance: 5 })
    await me.log({ run_id: 'deleted', goal: errand })
    assert.equal((await me.request('DELETE', '/v1/drift/run?run_id=deleted')).body.deleted, 4)
    app.advance(100 * 86_400_000)
    const results = await me.logAll(steps(6))
    assert.deepEqual(
      results.map(({ run_id, step, reason }) => [run_id, step, reason]),
      [
        ['expired', 1, 'grounded'],
        ['deleted', 1, 'grounded'],
        ['kept', 5, 'advancing'],
        ['expired', 2, 'advancing'],
        ['deleted', 2, 'advancing'],
        ['kept', 6, 'advancing'],
      ],
    )
    for (const run_id of ['expired', 'deleted']) {
      const { run, trace } = await me.read(run_id)
      assert.deepEqual([run.steps, run.grounds.length, trace.length], [2, 1, 2])
      assert.equal(run.created, run.updated)
    }
  })
})
