import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

const dayMs = 86_400_000

onEachDatabase((database) => {
  async function startKeyed(
    t: TestContext,
    tier: 'ground' | 'solo' | 'enterprise' = 'enterprise',
  ): Promise<{ app: App; me: Caller }> {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    return { app, me: await newCaller(app, tier) }
  }

  async function costOf(me: Caller) {
    const { status, body, text } = await me.get('/v1/cost')
    assert.equal(status, 200, text)
    return body
  }

  test('the cost of an account without runs is nothing', async (t) => {
    verifies('cost.key', 'cost.always', 'cost.tier')
    const { app, me } = await startKeyed(t, 'solo')
    assert.deepEqual(await costOf(me), {
      tier: 'solo',
      runs: 0,
      runs_with_tokens: 0,
      steps: 0,
      tokens: 0,
      overhead_tokens: 0,
      work_tokens: 0,
      overhead_fraction: 0,
      tokens_per_step: 0,
    })
    assert.equal((await app.get('/v1/cost')).body.error, 'no_key')
    assert.equal((await app.get(`/v1/cost?key=${me.key}`)).status, 200)
  })

  test('it adds up tokens and overhead over the steps of all agents', async (t) => {
    verifies('cost.runs', 'cost.runs-with-tokens', 'cost.steps', 'cost.tokens', 'cost.overhead')
    const { me } = await startKeyed(t)
    await me.logAll([
      { run_id: 'a', goal: 'fix the login', tokens: 100 },
      { run_id: 'a', goal: 'fix the login page', tokens: 50, overhead: 'yes' },
      { run_id: 'a', goal: 'read the docs', agent_id: 'helper', tokens: 25, overhead: 0 },
      { run_id: 'a', goal: 'fix the login', overhead: true },
      { run_id: 'b', goal: 'paint the shed' },
      { run_id: 'c', goal: 'count to zero', tokens: 0 },
    ])
    assert.deepEqual(await costOf(me), {
      tier: 'enterprise',
      runs: 3,
      runs_with_tokens: 2,
      steps: 6,
      tokens: 175,
      overhead_tokens: 50,
      work_tokens: 125,
      overhead_fraction: 50 / 175,
      tokens_per_step: 175 / 6,
    })
  })

  test('it looks at the 100 most recent runs', async (t) => {
    verifies('cost.scanned')
    const { app, me } = await startKeyed(t)
    for (let run = 0; run < 101; run++) {
      app.advance(1000)
      await me.log({ run_id: `run ${run}`, goal: 'fix the login', tokens: run === 0 ? 5000 : 1 })
    }
    const before = await costOf(me)
    assert.deepEqual([before.runs, before.tokens], [100, 100])
    app.advance(1000)
    await me.log({ run_id: 'run 0', goal: 'fix the login' })
    const after = await costOf(me)
    assert.deepEqual([after.runs, after.tokens, after.steps], [100, 5099, 101])
  })

  test('expired runs are skipped, and reading it is not counted', async (t) => {
    verifies('cost.expired', 'cost.not-metered')
    const { app, me } = await startKeyed(t, 'ground')
    await me.log({ run_id: 'old', goal: 'fix the login', tokens: 10 })
    app.advance(dayMs - 1000)
    await me.log({ run_id: 'new', goal: 'fix the login', tokens: 1 })
    const both = await costOf(me)
    assert.deepEqual([both.runs, both.tokens], [2, 11])
    app.advance(2000)
    const one = await costOf(me)
    assert.deepEqual([one.runs, one.tokens], [1, 1])
    const answer = await me.get('/v1/cost')
    assert.equal(answer.headers.get('x-ratelimit-limit'), null)
    assert.equal((await me.get('/v1/me')).body.usage.reads, 0)
  })

  test('an experiment compares the arms of the account’s own pairs', async (t) => {
    verifies('experiment.pairs', 'experiment.totals', 'experiment.test', 'experiment.interval')
    const { app, me } = await startKeyed(t)
    const steps = Array.from({ length: 6 }, (_, place) =>
      (['treatment', 'control'] as const).map((arm) => ({
        run_id: `${arm} ${place}`,
        goal: 'fix the login',
        pair: `pair ${place}`,
        arm,
        tokens: arm === 'treatment' ? 100 + place : 200,
      })),
    ).flat()
    await me.logAll([
      ...steps,
      { run_id: 'treatment 0', goal: 'fix the login', tokens: 10 },
      { run_id: 'lonely', goal: 'fix the login', pair: 'pair x', arm: 'control', tokens: 7 },
      { run_id: 'unsaid', goal: 'fix the login', pair: 'pair x', arm: 'treatment' },
      { run_id: 'unpaired', goal: 'fix the login', tokens: 1_000_000 },
    ])
    await me.post('/v1/drift/outcome', { run_id: 'treatment 1', outcome: 'success', score: 0.9 })
    const { status, body, text } = await me.get('/v1/experiment')
    assert.equal(status, 200, text)
    assert.equal(body.complete_pairs, 6)
    assert.equal(body.incomplete_pairs, 1)
    assert.equal(body.treatment_tokens, 600 + 15 + 10)
    assert.equal(body.control_tokens, 1200)
    assert.equal(body.net_tokens, 625 - 1200)
    // All six differences are negative: two of the 64 ways to choose their signs are as extreme.
    assert.equal(body.p_value, 2 / 64)
    assert.equal(body.verdict, 'less')
    assert.ok(body.ci95[0] <= body.mean_delta && body.mean_delta <= body.ci95[1])
    assert.deepEqual(body.pairs[1], {
      pair: 'pair 1',
      treatment: {
        run_id: 'treatment 1',
        run_ids: ['treatment 1'],
        tokens: 101,
        score: 0.9,
        outcome: 'success',
      },
      control: {
        run_id: 'control 1',
        run_ids: ['control 1'],
        tokens: 200,
        score: null,
        outcome: null,
      },
      delta_tokens: -99,
    })
    const other = await newCaller(app)
    assert.equal((await other.get('/v1/experiment')).body.verdict, 'too few')
    assert.equal(body.next_cursor, null)
    assert.equal((await me.get('/v1/experiment')).text, text)
  })

  test('a page of an experiment tells some pairs, and its numbers are over all of them', async (t) => {
    verifies('experiment.page')
    const { me } = await startKeyed(t)
    // More runs than are read at once, several to an arm, and none of them by the order of its pair.
    const steps = Array.from({ length: 1_203 }, (_, place) => ({
      run_id: `run ${place}`,
      goal: 'fix the login',
      pair: `pair ${(place * 7) % 401}`,
      arm: place % 2 === 0 ? 'treatment' : 'control',
      tokens: 100 + place,
    }))
    await me.logAll(steps)
    const { pairs, next_cursor, ...numbers } = (await me.get('/v1/experiment')).body
    assert.deepEqual([pairs.length, next_cursor], [401, null])
    assert.equal(numbers.complete_pairs, 401)
    assert.equal(
      numbers.treatment_tokens + numbers.control_tokens,
      steps.reduce((sum, { tokens }) => sum + tokens, 0),
    )
    const told = []
    let cursor = ''
    do {
      const { body } = await me.get(`/v1/experiment?limit=150${cursor}`)
      const { pairs: page, next_cursor: next, ...same } = body
      assert.deepEqual(same, numbers)
      told.push(...page)
      cursor = next === null ? '' : `&cursor=${next}`
    } while (cursor !== '')
    assert.deepEqual(told, pairs)
    assert.equal((await me.get('/v1/experiment?limit=1001')).status, 400)
    assert.equal((await me.get('/v1/experiment?cursor=x')).status, 400)
  })
})
