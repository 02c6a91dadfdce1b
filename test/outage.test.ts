import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { databases } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { start } from './harness.ts'
import { type Line, lineTo } from './line.ts'
import { verifies } from './verifies.ts'

const postgres = databases.find(({ name }) => name === 'postgres')!
/** Of a step the first COMMIT is that of the daily count. */
const ofTheStep = 2
const step = { run_id: 'a', goal: 'fix the login form' }

describe('PostgreSQL away', { skip: postgres.skip, concurrency: 4 }, () => {
  /** A service whose line to its database can fail, and an account that has logged a step. */
  async function startOnLine(t: TestContext): Promise<{ line: Line; me: Caller }> {
    const line = await lineTo(t, await postgres.createUrl())
    const me = await newCaller(await start(t, { env: { DATABASE_URL: line.url } }))
    await me.log({ run_id: 'before', goal: step.goal })
    return { line, me }
  }

  for (const [named, body, headers] of [
    ['a header', step, { 'idempotency-key': 'k' }],
    ['a step_id', { ...step, step_id: 'k' }, {}],
  ] as const) {
    test(`a step whose commit is not confirmed is stored once when ${named} repeats it`, async (t) => {
      verifies('unavailable.unknown', 'idempotency.replay')
      const { line, me } = await startOnLine(t)
      line.swallowCommit(ofTheStep)
      const lost = await me.post('/v1/drift', body, headers)
      assert.deepEqual([lost.status, lost.body.error], [503, 'unavailable'], lost.text)
      assert.match(lost.body.detail, /may or may not have been stored.*same idempotency key/)
      assert.doesNotMatch(lost.body.detail, /Nothing was stored/)
      line.hear()
      const again = await me.post('/v1/drift', body, headers)
      assert.deepEqual([again.status, again.body.step], [200, 1], again.text)
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.equal((await me.read('a')).run.steps, 1)
    })
  }

  test('a step without a key is not said to be lost when its commit is not confirmed', async (t) => {
    verifies('unavailable.unknown')
    const { line, me } = await startOnLine(t)
    line.swallowCommit(ofTheStep)
    const lost = await me.post('/v1/drift', step)
    assert.equal(lost.status, 503, lost.text)
    assert.match(lost.body.detail, /may or may not have been stored/)
    line.hear()
    assert.equal((await me.read('a')).run.steps, 1, 'it was stored')
  })

  test('what needs no database is answered while it says nothing, and the rest within 5 s', async (t) => {
    verifies('counters.outage', 'unavailable.bounded')
    const { line, me } = await startOnLine(t)
    line.freeze()
    const began = performance.now()
    const asked = [
      me.post('/v1/drift', step),
      me.post('/v1/drift', step, { 'idempotency-key': 'k' }),
      me.post('/v1/drift/batch', { steps: [step, step] }),
      me.get('/v1/drift/run?run_id=before'),
      me.app.post('/v1/check', { ground: step.goal, goal: step.goal }),
    ]
    const waits = await Promise.all(asked.map((each) => each.then(() => performance.now() - began)))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    assert.deepEqual(statuses, [503, 503, 503, 503, 200])
    // Promised are 5 s; the rest is for a loaded machine.
    assert.ok(Math.max(...waits) < 5_500, `answered after ${waits}`)
    t.diagnostic(`slowest ${Math.max(...waits)} ms`)
  })

  test('a step that never reached the database is said not to be stored', async (t) => {
    verifies('unavailable.unknown')
    const { line, me } = await startOnLine(t)
    await line.cut()
    const lost = await me.post('/v1/drift', step)
    assert.equal(lost.status, 503)
    assert.match(lost.body.detail, /Nothing was stored/)
    await line.mend()
    assert.equal((await me.get('/v1/drift/run?run_id=a')).status, 404)
  })
})
