import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const other = 'refund order 2093'

onEachDatabase((database) => {
  async function startKeyed(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    return { app, me: await newCaller(app) }
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async function modulate(me: Caller, step: object): Promise<any> {
    const answer = await me.post('/v1/modulate', step)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  test('the answer is the step result with what the role makes of it', async (t) => {
    verifies('modulate.answer', 'modulate.unstyled')
    const { app, me } = await startKeyed(t)
    const keyless = await app.post('/v1/modulate', { goal: errand })
    assert.deepEqual([keyless.status, keyless.body.error], [401, 'no_key'])

    // Another account logs the same, so that neither has what the other brought about.
    const beside = await newCaller(app)
    const logged = []
    const plain = []
    for (const goal of [errand, errand, other]) {
      logged.push(await modulate(me, { run_id: 'a', goal, progress: 'advancing', distance: 6 }))
      plain.push(await beside.log({ run_id: 'a', goal, progress: 'advancing', distance: 6 }))
    }
    for (const [at, { modulation, ...step }] of logged.entries()) {
      assert.deepEqual(step, plain[at])
      assert.deepEqual(Object.keys(modulation).sort(), [
        'advice',
        'basis',
        'return',
        'role',
        'team',
      ])
      const { advice, ...rest } = modulation
      assert.deepEqual(rest, { return: at === 2, basis: 'unstyled', team: null, role: null })
      assert.notEqual(advice, '')
    }
    const { run, trace } = await me.read('a')
    assert.deepEqual([run.steps, run.last_reason, trace[2].goal], [3, 'goal-drift', other])
  })

  test('without a run_id the state is the run modulate', async (t) => {
    verifies('modulate.run')
    const { me } = await startKeyed(t)
    await me.log({ goal: other })
    assert.deepEqual(
      [
        await modulate(me, { goal: errand }),
        await modulate(me, { goal: errand, run_id: null }),
      ].map(({ run_id, step, reason, ground }) => [run_id, step, reason, ground]),
      [
        ['modulate', 1, 'grounded', errand],
        ['modulate', 2, 'advancing', errand],
      ],
    )
    assert.equal((await me.log({ run_id: 'modulate', goal: errand })).step, 3)
    assert.equal((await me.read('run')).run.steps, 1)
  })

  test('a step_id is kept with the run modulate when none is named', async (t) => {
    verifies('modulate.run', 'idempotency.step-id')
    const { me } = await startKeyed(t)
    const step = { goal: errand, step_id: 's' }
    assert.equal((await modulate(me, step)).step, 1)
    assert.equal((await modulate(me, { ...step, run_id: 'run' })).step, 1)
    const named = await me.post('/v1/modulate', { ...step, run_id: 'modulate' })
    assert.deepEqual([named.status, named.body.error], [409, 'idempotency_conflict'])
    assert.equal((await modulate(me, step)).step, 1)
    assert.equal((await me.read('modulate')).run.steps, 1)
  })

  test('each depth returns for its own modes', async (t) => {
    verifies('modulate.depths')
    const { me } = await startKeyed(t)
    const roles = ['deep', 'balanced', 'tight'].map((recurse) => ({ role: recurse, recurse }))
    await me.post('/v1/recursion-team', { name: 'own', task: 'try', roles })
    const lookup = 'look up order 1041'
    const feature = 'add rate limiting to the login endpoint'
    const bucket = 'write a token bucket for the login endpoint'
    const detour = 'install the redis client'
    const still = Array(9).fill({ goal: errand, distance: 5 })
    /** The steps that lead to a reason, and which depths return for it: deep, balanced, tight. */
    const scenarios: [reason: string, steps: object[], returns: string][] = [
      ['grounded', [{ goal: errand }], '000'],
      ['advancing', [{ goal: errand }, { goal: errand, distance: 4 }], '000'],
      ['ungrammatical', [{ goal: errand }, { goal: ' ' }], '111'],
      ['ungrammatical', [{ goal: errand, progress: 'done' }], '111'],
      ['goal-drift', [{ goal: errand }, { goal: other }], '111'],
      ['excursion', [{ goal: feature }, { goal: detour, parent_goal: bucket }], '000'],
      ['self-report:stuck', [{ goal: errand }, { goal: errand, progress: 'stuck' }], '011'],
      ['self-report:circling', [{ goal: errand }, { goal: errand, progress: 'circling' }], '011'],
      ['stalled', still, '001'],
      [
        'oscillating',
        [errand, lookup, errand, lookup, errand, lookup].map((goal) => ({ goal, distance: 5 })),
        '001',
      ],
    ]
    for (const [at, [reason, steps, returns]] of scenarios.entries()) {
      const told: string[] = []
      for (const role of ['deep', 'balanced', 'tight']) {
        let last = await Promise.resolve({ reason: '', modulation: { return: false, basis: '' } })
        for (const step of steps) {
          last = await modulate(me, { ...step, run_id: `${at} ${role}`, team: 'own', role })
        }
        assert.deepEqual([last.reason, last.modulation.basis], [reason, role])
        told.push(last.modulation.return ? '1' : '0')
      }
      assert.equal(told.join(''), returns, reason)
    }
  })

  test('the built-in teams style their roles', async (t) => {
    verifies('modulate.answer', 'modulate.depths')
    const { me } = await startKeyed(t)
    const cases: [team: string, role: string, basis: string, returns: boolean][] = [
      ['deep-search', 'explorer', 'deep', false],
      ['deep-search', 'checker', 'tight', true],
      ['iterative-refinement', 'drafter', 'balanced', true],
      ['iterative-refinement', 'critic', 'modes', false],
      ['adversarial-deliberation', 'advocate-a', 'deep', false],
      ['adversarial-deliberation', 'advocate-b', 'deep', false],
      ['adversarial-deliberation', 'synthesizer', 'tight', true],
    ]
    for (const [team, role, basis, returns] of cases) {
      const run_id = `${team} ${role}`
      await modulate(me, { run_id, goal: errand, team, role })
      const { reason, drifting, modulation } = await modulate(me, {
        run_id,
        goal: errand,
        progress: 'stuck',
        team,
        role,
      })
      // The first sign only warns, and a role that acts on it returns all the same.
      assert.deepEqual([reason, drifting], ['self-report:stuck', false])
      assert.deepEqual(
        [modulation.return, modulation.basis, modulation.team, modulation.role],
        [returns, basis, team, role],
      )
    }
  })

  test('an unknown team or role is refused with the valid names, and nothing is stored', async (t) => {
    verifies('modulate.unknown')
    const { me } = await startKeyed(t)
    await me.post('/v1/recursion-team', {
      name: 'own',
      task: 'try',
      roles: [{ role: 'one', recurse: 'deep' }],
    })
    const teams = 'team: send deep-search, iterative-refinement, adversarial-deliberation, own'
    const cases: [object, string][] = [
      [{ team: 'nobody' }, teams],
      [{ team: 'Deep-Search', role: 'explorer' }, teams],
      [{ team: 5 }, teams],
      [{ team: '', role: 'one' }, teams],
      [{ team: 'own', role: 'nobody' }, 'role: send one'],
      [{ team: 'own' }, 'role: send one'],
      [{ team: 'own', role: ['one'] }, 'role: send one'],
      [{ team: 'deep-search', role: 'one' }, 'role: send explorer, checker'],
      [{ team: 'nobody', goal: undefined }, `goal: send a text; ${teams}`],
    ]
    for (const [fields, detail] of cases) {
      const answer = await me.post('/v1/modulate', { goal: errand, ...fields })
      assert.deepEqual(
        [answer.status, answer.body.error, answer.body.detail],
        [400, 'bad_request', detail],
      )
    }
    for (const body of ['', '[]', '{}', { goal: null }, { goal: errand, tokens: -1 }]) {
      assert.equal((await me.post('/v1/modulate', body)).status, 400)
    }
    assert.equal((await me.get('/v1/drift/run?run_id=modulate')).status, 404)
    const stranger = await newCaller(me.app)
    const foreign = await stranger.post('/v1/modulate', { goal: errand, team: 'own', role: 'one' })
    assert.equal(foreign.status, 400)
  })
})
