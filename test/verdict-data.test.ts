import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase, openFor } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const astray = 'refund order 2093'

/** What a trace holds of a verdict by the same name. */
const kept = [
  ...['why', 'advice', 'confidence', 'drift_probability', 'uncertain', 'detector', 'evidence'],
  ...['words', 'swap', 'act', 'stands_on', 'coverage', 'parent_overlap', 'repetition'],
]

onEachDatabase(({ createUrl }) => {
  const startHere = async (t: TestContext) => {
    const url = await createUrl()
    const app = await start(t, { env: { DATABASE_URL: url } })
    return { app, url, me: await newCaller(app) }
  }

  test('what a verdict held is read with its step', async (t) => {
    verifies('verdict.stored')
    const { me } = await startHere(t)
    const steps = [
      { goal: errand, distance: 8 },
      { goal: 'look up the order', parent_goal: 'find order 1041' },
      { goal: astray },
      { goal: 'go on' },
      { goal: ' ' },
      { goal: errand, distance: 8 },
    ]
    const verdicts = []
    for (const step of steps) verdicts.push(await me.log({ run_id: 'r', ...step }))
    const { trace } = await me.read('r')
    for (const [place, stored] of trace.entries()) {
      for (const field of kept) {
        assert.deepEqual(stored[field], verdicts[place][field] ?? null, `${place} ${field}`)
      }
      assert.equal(stored.distance_reported, 'distance' in steps[place]!)
    }
    assert.equal(trace[5].repetition, 2)
    assert.ok(trace[1].parent_overlap > 0)
    assert.match(trace[2].why, /"1041" in the ground is "2093" in the goal/)
    assert.deepEqual(trace[2].words, { shared: ['refund', 'order'], missing: ['2093'] })
    assert.deepEqual(trace[2].stands_on, { kind: 'assignment', text: errand })
  })

  test('a step that was stored without it answers null', async (t) => {
    verifies('verdict.stored.old')
    const { me, url } = await startHere(t)
    await me.log({ run_id: 'r', goal: errand })
    await me.log({ run_id: 'r', goal: 'fetch the docs', agent_id: 'helper' })
    const db = await openFor(t, url)
    await db.run('UPDATE steps SET verdict = NULL')
    await db.run('UPDATE agents SET totals = NULL')
    await db.run('UPDATE runs SET uncertain = NULL, drift_tokens = NULL')
    const { run, trace } = await me.read('r')
    for (const field of [...kept, 'distance_reported']) assert.equal(trace[0][field], null, field)
    assert.deepEqual([run.uncertain, run.drift_tokens, run.plan], [null, null, null])
    const { ground, revision, first_step, tokens } = run.agents[0]
    assert.deepEqual([ground, revision, first_step, tokens], ['fetch the docs', 1, null, null])
    await me.log({ run_id: 'r', goal: 'read the docs', agent_id: 'helper', tokens: 5 })
    const later = (await me.read('r')).run
    assert.deepEqual([later.agents[0].steps, later.agents[0].tokens], [2, null])
    assert.deepEqual([later.tokens, later.drift_tokens], [5, null])
  })

  test('a sub-agent says which agent it works for', async (t) => {
    verifies('agents.parent', 'agents.parent.refused')
    const { app, url, me } = await startHere(t)
    const as = (agent_id: string | undefined, parent_agent_id?: unknown) => ({
      run_id: 'r',
      goal: errand,
      ...(agent_id === undefined ? {} : { agent_id }),
      ...(parent_agent_id === undefined ? {} : { parent_agent_id }),
    })
    const parents = async () =>
      (await me.read('r')).run.agents.map((agent: Record<string, unknown>) => [
        agent.agent_id,
        agent.parent_agent_id,
      ])
    await me.log(as(undefined, 'nobody'))
    await me.log(as('older'))
    await me.log(as('tester', 'lead'))
    await me.log(as('tester'))
    await me.logAll([as('writer', 'tester'), as('writer', null)])
    const before = [
      ['older', null],
      ['tester', 'lead'],
      ['writer', 'tester'],
    ]
    assert.deepEqual(await parents(), before)
    await app.running.stop()
    const { at } = me
    const again = at(await start(t, { env: { DATABASE_URL: url } }))
    await again.log(as('older', 'lead'))
    assert.deepEqual((await again.read('r')).run.agents[0].parent_agent_id, 'lead')
    for (const parent of ['', 'x'.repeat(201), 5, {}, 'tester']) {
      const refused = await again.post('/v1/drift', as('tester', parent))
      assert.deepEqual([refused.status, refused.body.error], [400, 'bad_request'])
      assert.match(refused.body.detail, /^parent_agent_id: /)
    }
    // It remembers nothing, and reads of each entry only what it judges.
    const steps = [as('tester', 'lead'), as('tester', 5)]
    assert.equal((await again.post('/v1/check', { steps })).status, 200)
  })

  test('the grounds of a run are those of all its agents', async (t) => {
    verifies('agents.grounds')
    const { me } = await startHere(t)
    await me.log({ run_id: 'r', goal: errand, agent_id: 'tester' })
    for (const [goal, agent_id] of [
      [errand, undefined],
      ['run the tests', 'builder'],
      ['water the plants', 'tester'],
      ['paint the shed', undefined],
    ]) {
      await me.log({ run_id: 'r', goal, agent_id, user_turn: true })
    }
    const { run } = await me.read('r')
    assert.deepEqual(
      run.grounds.map(({ agent_id, revision, goal, step }: Record<string, unknown>) => [
        agent_id,
        revision,
        goal,
        step,
      ]),
      [
        ['', 1, errand, 2],
        ['', 2, 'paint the shed', 5],
        ['builder', 1, 'run the tests', 3],
        ['tester', 1, errand, 1],
        ['tester', 2, 'water the plants', 4],
      ],
    )
    assert.equal(run.grounds_cursor, undefined)
  })

  test('a plan beside a ground is a claim: only the words of the user are trusted', async (t) => {
    verifies('rules.own-plan')
    const { me } = await startHere(t)
    const plan = ['look up the order', 'book a hotel room in Paris for five nights']
    for (const first of [{ ground: errand }, { ground: errand, user_turn: true }]) {
      const run_id = JSON.stringify(first)
      await me.log({ run_id, goal: 'look up the order', plan, ...first })
      const { uncertain, why } = await me.log({ run_id, goal: plan[1] })
      assert.ok(uncertain, why)
      assert.doesNotMatch(why, /restates an item/)
    }
  })

  test('a run says how much of it was drift, and since when', async (t) => {
    verifies('verdict.run', 'verdict.agents')
    const { me } = await startHere(t)
    const plan = ['find the order', 'x'.repeat(500)]
    await me.log({ run_id: 'r', goal: errand, tokens: 100, plan })
    await me.log({ run_id: 'r', goal: 'fetch the docs', agent_id: 'helper', tokens: 7 })
    await me.log({ run_id: 'r', goal: astray, tokens: 20 })
    await me.log({ run_id: 'r', goal: astray, tokens: 30 })
    await me.log({ run_id: 'r', goal: 'fetch the docs', agent_id: 'helper', progress: 'lost' })
    await me.log({ run_id: 'r', goal: 'fetch the docs', agent_id: 'helper', tokens: 3 })
    const { run } = await me.read('r')
    assert.deepEqual(
      [run.detector, run.uncertain, run.drift_tokens, run.first_drift_step],
      ['meaning', false, 50, 3],
    )
    assert.deepEqual(run.plan, [plan[0], `${'x'.repeat(239)}…`])
    assert.deepEqual(run.agents, [
      {
        agent_id: 'helper',
        parent_agent_id: null,
        ground: 'fetch the docs',
        revision: 1,
        steps: 3,
        drifting: false,
        last_reason: 'advancing',
        first_step: 2,
        last_step: 6,
        phi: 0,
        max_phi: 0,
        drifting_steps: 1,
        tokens: 10,
      },
    ])
    const { state, spark, swap, ...listed } = (await me.get('/v1/drift/runs')).body.runs[0]
    assert.deepEqual([listed, state, spark.length, swap], [run, 'drifting', 6, null])
    await me.log({ run_id: 'u', goal: errand })
    await me.log({ run_id: 'u', goal: 'eine große Suppe kochen' })
    const { run: unclear } = await me.read('u')
    assert.deepEqual([unclear.uncertain, unclear.first_drift_step], [true, null])
  })
})
