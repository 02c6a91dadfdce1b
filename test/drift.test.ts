import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type App, published, start } from './harness.ts'
import { setMemory } from './set-memory.ts'
import { spawnServe } from './spawned.ts'
import { verifies } from './verifies.ts'

// The same words with another number are another errand at once.
const errand = 'refund order 1041'
const other = 'refund order 2093'
const third = 'refund order 3377'

const notTexts = [5, 0, true, false, {}, { goal: 'x' }, [], ['x']]

/** What a step result of the default detector holds whatever it says. */
const resultFields = [
  'act',
  'advice',
  'confidence',
  'context',
  'coverage',
  'detector',
  'distance',
  'drift_probability',
  'drifting',
  'evidence',
  'goal',
  'goal_score',
  'ground',
  'phi',
  'progress',
  'reason',
  'svcscore',
  'uncertain',
  'why',
  'stands_on',
  'swap',
  'words',
]

/** Texts that databases, paths and JSON treat in their own ways, and no two of which are one. */
const oddTexts = [
  'Run',
  'run ',
  ' run',
  'run\n',
  'rün',
  'ru\u0308n',
  'RUN',
  '0',
  '00',
  '1e3',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  "'; DROP TABLE runs; --",
  '"',
  '\\',
  '%',
  '_',
  '%00',
  'a/b?c=d&e#f+g',
  '../..',
  '修复登录',
  '𠀀𠀁',
  '👩‍👩‍👧',
  '\u202eabc',
  '\ufeffrun',
  '\u0001\u001f\u007f',
  'x'.repeat(200),
  '界'.repeat(200),
]

onEachDatabase((database) => {
  /** A service on a database of its own, with an account. */
  async function startKeyed(
    t: TestContext,
    more: Record<string, string> = {},
  ): Promise<{ app: App; me: Caller; url: string }> {
    const url = await database.createUrl()
    const env = { DATABASE_URL: url, PLUMBLINE_CHECK_PER_DAY: '0', ...more }
    const app = await start(t, { env })
    return { app, me: await newCaller(app), url }
  }

  test('a step needs a key, and the run remembers its ground', async (t) => {
    verifies('drift.stateful', 'drift.result')
    const { app, me } = await startKeyed(t)
    const keyless = await app.post('/v1/drift', { goal: errand })
    assert.deepEqual([keyless.status, keyless.body.error], [401, 'no_key'])

    const first = await me.log({ run_id: 'a', goal: errand, distance: 8 })
    assert.deepEqual(
      Object.keys(first).sort(),
      [...resultFields, 'revision', 'run_id', 'step'].sort(),
    )
    const { run_id, step, revision, reason, drifting, ground } = first
    assert.deepEqual(
      { run_id, step, revision, reason, drifting, ground },
      { run_id: 'a', step: 1, revision: 1, reason: 'grounded', drifting: false, ground: errand },
    )
    const later = await me.log({ run_id: 'a', goal: other })
    assert.deepEqual(
      [later.step, later.reason, later.drifting, later.ground, later.goal_score, later.revision],
      [2, 'goal-drift', true, errand, 0.5, 1],
    )
    const elsewhere = await me.log({ run_id: 'b', goal: other })
    assert.deepEqual([elsewhere.step, elsewhere.reason], [1, 'grounded'])
    assert.equal((await me.log({ run_id: 'a', goal: errand })).step, 3)
  })

  test('the run is named run when no name is given', async (t) => {
    verifies('drift.run-default')
    const { me } = await startKeyed(t)
    assert.equal((await me.log({ goal: errand })).run_id, 'run')
    assert.equal((await me.log({ run_id: null, goal: errand })).step, 2)
    assert.equal((await me.log({ run_id: 'run', goal: errand })).step, 3)
    assert.equal((await me.read('run')).run.steps, 3)
  })

  test('an id is any text of 1 to 200 characters, and two that differ are two', async (t) => {
    verifies('id.length')
    const { me } = await startKeyed(t)
    for (const run_id of oddTexts) {
      const { step, ...answer } = await me.log({
        run_id,
        goal: errand,
        agent_id: run_id,
        pair: run_id,
      })
      assert.deepEqual([answer.run_id, answer.agent_id, step], [run_id, run_id, 1], run_id)
    }
    for (const run_id of oddTexts) {
      const { run, trace } = await me.read(run_id)
      assert.deepEqual([run.run_id, run.pair, run.steps], [run_id, run_id, 1], run_id)
      assert.deepEqual([run.agents[0].agent_id, trace[0].agent_id], [run_id, run_id])
    }
    const { runs } = (await me.get('/v1/drift/runs?limit=200')).body
    assert.deepEqual(
      runs.map(({ run_id }: { run_id: string }) => run_id).sort(),
      oddTexts.toSorted(),
    )
    for (const field of ['run_id', 'agent_id', 'pair']) {
      for (const bad of ['', 'x'.repeat(201), ...notTexts]) {
        const answer = await me.post('/v1/drift', { goal: errand, [field]: bad })
        assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'])
        assert.ok(answer.body.detail.startsWith(`${field}: `), answer.body.detail)
      }
    }
  })

  test('NUL and lone surrogates become U+FFFD in every text', async (t) => {
    verifies('drift.goal-trimmed', 'id.length')
    const { me } = await startKeyed(t)
    const broken = 'a\0b\ud800c\udfffd'
    const mended = 'a\ufffdb\ufffdc\ufffdd'
    const step = {
      run_id: broken,
      goal: broken,
      ground: broken,
      parent_goal: broken,
      progress: broken,
      agent_id: broken,
      pair: broken,
      step_id: broken,
      plan: [broken],
    }
    const { run_id, goal, progress, agent_id } = await me.log(step)
    assert.deepEqual([run_id, goal, progress, agent_id], Array(4).fill(mended))
    await me.log({ run_id: mended, goal: 'on', agent_id: mended })
    const { run, trace } = await me.read(mended)
    assert.deepEqual([run.pair, run.agents[0].agent_id, run.steps], [mended, mended, 2])
    const [first] = trace
    assert.deepEqual(
      [first.goal, first.progress, first.parent_goal, first.agent_id],
      Array(4).fill(mended),
    )
    const note = { run_id: broken, outcome: 'failure', note: broken }
    assert.equal((await me.post('/v1/drift/outcome', note)).body.run.note, mended)
    const deleted = await me.request('DELETE', `/v1/drift/run?run_id=${encodeURIComponent('a\0b')}`)
    assert.equal(deleted.status, 404)
  })

  test('progress and distance are read as in the sequence form of the check', async (t) => {
    verifies('drift.readings')
    const { app, me } = await startKeyed(t)
    const distances: unknown[] = [
      ...[0, 7, 10, 7.9, '7', '7.9', ' 7 ', '8abc', '3,5', '0x1F', 1e21, -3, '-3', 11, '99'],
      ...[undefined, null, true, '', ' ', 'Infinity', 'abc', [], [7], [2, 3], {}, { valueOf: 7 }],
    ]
    const progresses = ['stuck', 'circling', 'done', 'Stuck', '', ' advancing', null, ...notTexts]
    const steps = [
      ...distances.map((distance) => ({ goal: errand, distance })),
      ...progresses.map((progress) => ({ goal: errand, progress })),
    ]
    await assertSameAsCheck(app, me, steps)
    const { trace } = await me.read('run')
    assert.deepEqual(
      trace.slice(0, 15).map(({ distance }: { distance: number }) => distance),
      [0, 7, 10, 7, 7, 7, 7, 8, 3, 0, 1, 0, 0, 10, 10],
    )
  })

  test('a run gets the verdicts that the same sequence gets from the check', async (t) => {
    verifies('drift.same-as-check', 'drift.repetition')
    const { app } = await startKeyed(t)
    const step = fc.record(
      {
        goal: fc.oneof(
          fc.constantFrom(
            errand,
            `${errand} now`,
            'write a token bucket',
            other,
            'the',
            '修复登录',
          ),
          fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
        ),
        progress: fc.constantFrom('advancing', 'advancing', 'stuck', 'circling', 'sideways'),
        distance: fc.integer({ min: 0, max: 10 }),
      },
      { requiredKeys: ['goal'] },
    )
    const sequence = fc.array(
      step.filter(({ goal }) => goal.trim() !== ''),
      { minLength: 2, maxLength: 40, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(sequence, fc.boolean(), async (steps, atOnce) => {
        await assertSameAsCheck(app, await newCaller(app), steps, atOnce)
      }),
      { numRuns: 12 },
    )
  })

  /** A fresh account's run of these steps against the check's answer; what was answered is what is stored. */
  async function assertSameAsCheck(
    app: App,
    caller: Caller,
    steps: readonly object[],
    atOnce = false,
  ): Promise<void> {
    const checked = await app.post('/v1/check', { steps })
    assert.equal(checked.status, 200, checked.text)
    const logged = atOnce ? await caller.logAll(steps) : []
    if (!atOnce) for (const step of steps) logged.push(await caller.log(step))
    const verdicts = logged.map(({ run_id: _, step: __, revision: ___, ...verdict }) => verdict)
    assert.deepEqual(verdicts, checked.body.steps)
    const { trace } = await caller.read('run')
    for (const [index, stored] of trace.entries()) {
      const {
        step,
        ts: _,
        distance_reported: __,
        revision,
        user_message,
        user_effect,
        unattended_ms: ___,
        ...told
      } = stored
      assert.deepEqual([step, user_message], [index + 1, null])
      assert.deepEqual([revision, user_effect], [logged[index]?.revision, null])
      for (const [field, value] of Object.entries(told)) {
        assert.deepEqual(value, verdicts[index][field] ?? null, field)
      }
    }
  }

  test('a goal that is no text is refused, and nothing is stored', async (t) => {
    verifies('drift.goal-missing', 'run.missing')
    const { me } = await startKeyed(t)
    for (const goal of [undefined, null, ...notTexts]) {
      const answer = await me.post('/v1/drift', { goal })
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'])
      assert.match(answer.body.detail, /goal: send a text/)
    }
    for (const body of ['', 'nonsense', 'null', '5', '"text"', '[]', `[{"goal":"${errand}"}]`]) {
      const answer = await me.post('/v1/drift', body)
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'], body)
    }
    const read = await me.get('/v1/drift/run?run_id=run')
    assert.deepEqual([read.status, read.body.error], [404, 'no_run'])
  })

  test('a step that cannot be spelled gets a verdict', async (t) => {
    verifies('drift.ungrammatical', 'drift.revision-zero', 'drift.blank-fields')
    const { me } = await startKeyed(t)
    const told = []
    for (const step of [
      { goal: '' },
      { goal: errand, progress: 'sideways' },
      { goal: errand },
      { goal: ' \t\n\u3000' },
      { goal: errand, progress: 'Advancing' },
    ]) {
      const { reason, drifting, phi, svcscore, ground, revision, goal_score, context } =
        await me.log(step)
      if (reason === 'ungrammatical') assert.deepEqual([drifting, phi, svcscore], [true, 0, null])
      told.push([reason, ground, revision, goal_score, context === null])
    }
    assert.deepEqual(told, [
      ['ungrammatical', null, 0, 1, true],
      ['ungrammatical', null, 0, 1, false],
      ['grounded', errand, 1, 1, false],
      ['ungrammatical', errand, 1, 0, true],
      ['ungrammatical', errand, 1, 1, false],
    ])
    const { run, trace } = await me.read('run')
    assert.deepEqual([run.steps, run.drifting_steps, run.revision], [5, 4, 1])
    assert.deepEqual([trace[3].goal, trace[3].context, trace[3].svcscore], ['', null, null])
  })

  test('texts are measured, answered and stored trimmed', async (t) => {
    verifies('drift.goal-trimmed')
    const { me } = await startKeyed(t)
    const { goal, ground } = await me.log({
      goal: ` \n${errand}\t`,
      ground: `\u3000${errand}\ufeff`,
      parent_goal: `  ${other}\n`,
    })
    assert.deepEqual([goal, ground], [errand, errand])
    const { run, trace } = await me.read('run')
    assert.deepEqual([run.ground, run.grounds[0].goal], [errand, errand])
    assert.deepEqual([trace[0].goal, trace[0].parent_goal], [errand, other])
  })

  test('a text has at most 4,000 characters', async (t) => {
    verifies('drift.goal-trimmed', 'drift.plan')
    const { me } = await startKeyed(t)
    // No two words alike, so that the longest spelling and memory are stored.
    const words = Array.from({ length: 800 }, (_, at) => (at + 1_296).toString(36)).join(' 界')
    const longest = words.slice(0, 4_000).trim().padEnd(4_000, 'x')
    const fields = ['goal', 'ground', 'parent_goal', 'progress']
    const step = Object.fromEntries(fields.map((field) => [field, longest]))
    for (const [run_id, progress] of ['stuck', longest].entries()) {
      const { goal } = await me.log({ ...step, run_id: `long ${run_id}`, progress })
      assert.equal(goal, longest)
    }
    const { run, trace } = await me.read('long 0')
    assert.deepEqual([run.ground, trace[0].goal, trace[0].parent_goal], Array(3).fill(longest))
    assert.equal((await me.read('long 1')).trace[0].progress, longest)
    assert.equal((await me.log({ goal: `\n ${longest}\t` })).goal, longest)
    for (const field of fields) {
      const answer = await me.post('/v1/drift', { goal: errand, [field]: `${longest}x` })
      assert.equal(answer.status, 400)
      assert.match(answer.body.detail, new RegExp(`^${field}: has 4001 characters.*4000`))
    }
  })

  test('a ground on the first step is the ground, and the goal is measured against it at once', async (t) => {
    verifies('drift.ground', 'run.grounds')
    const { me } = await startKeyed(t)
    const first = await me.log({ goal: other, ground: errand })
    const { reason, ground, revision, goal_score, phi, drifting } = first
    assert.deepEqual(
      { reason, ground, revision, goal_score, phi, drifting },
      {
        reason: 'goal-drift',
        ground: errand,
        revision: 1,
        goal_score: 0.5,
        phi: 0.45,
        drifting: true,
      },
    )
    const later = await me.log({ goal: errand, ground: other })
    assert.deepEqual([later.reason, later.ground, later.revision], ['advancing', errand, 1])
    const { run } = await me.read('run')
    assert.deepEqual(
      run.grounds.map(
        ({ at: _, step: __, agent_id: ___, ...ground }: Record<string, unknown>) => ground,
      ),
      [{ revision: 1, goal: errand, by: 'first' }],
    )
    assert.equal((await me.log({ run_id: 'b', goal: errand, ground: errand })).reason, 'advancing')
    for (const none of [undefined, null, '', ' \n']) {
      const answer = await me.log({ run_id: `none ${none}`, goal: other, ground: none })
      assert.deepEqual([answer.reason, answer.ground], ['grounded', other])
    }
    for (const ground of notTexts) {
      const answer = await me.post('/v1/drift', { goal: errand, ground })
      assert.equal(answer.status, 400)
      assert.match(answer.body.detail, /^ground: /)
    }
  })

  test('only a turn of the user moves the ground', async (t) => {
    verifies(
      'drift.user-turn',
      'drift.user-turn-same',
      'drift.user-turn-ground',
      'drift.revision-zero',
      'run.grounds',
    )
    const { app, me } = await startKeyed(t)
    const told = []
    for (const step of [
      { goal: errand },
      { goal: other },
      { goal: other, user_turn: false },
      { goal: other, user_turn: true },
      { goal: 'Refunding: the orders 2093', user_turn: true },
      { goal: '', user_turn: true },
      { goal: errand, progress: 'sideways', user_turn: true },
      { goal: errand, ground: ` ${other} `, user_turn: true },
      { goal: errand, ground: third, user_turn: true },
      { goal: third, ground: '', user_turn: null },
      { goal: errand, ground: ' ', user_turn: true },
    ]) {
      app.advance(1_000)
      const { reason, ground, revision, goal_score } = await me.log(step)
      told.push([reason, ground, revision, goal_score])
    }
    assert.deepEqual(told, [
      ['grounded', errand, 1, 1],
      ['goal-drift', errand, 1, 0.5],
      ['goal-drift', errand, 1, 0.5],
      ['grounded', other, 2, 1],
      ['advancing', other, 2, 1],
      ['ungrammatical', other, 2, 0],
      ['ungrammatical', other, 2, 0.5],
      ['goal-drift', other, 2, 0.5],
      ['goal-drift', third, 3, 0.5],
      ['advancing', third, 3, 1],
      ['grounded', errand, 4, 1],
    ])
    const { run } = await me.read('run')
    assert.deepEqual([run.ground, run.revision], [errand, 4])
    assert.deepEqual(run.grounds, [
      {
        revision: 1,
        goal: errand,
        by: 'first',
        at: '2026-01-15T12:00:01.000Z',
        step: 1,
        agent_id: '',
      },
      {
        revision: 2,
        goal: other,
        by: 'user',
        at: '2026-01-15T12:00:04.000Z',
        step: 4,
        agent_id: '',
      },
      {
        revision: 3,
        goal: third,
        by: 'user',
        at: '2026-01-15T12:00:09.000Z',
        step: 9,
        agent_id: '',
      },
      {
        revision: 4,
        goal: errand,
        by: 'user',
        at: '2026-01-15T12:00:11.000Z',
        step: 11,
        agent_id: '',
      },
    ])
    await me.log({ run_id: 'b', goal: errand, user_turn: true })
    assert.equal((await me.read('b')).run.grounds[0].by, 'user')
    for (const user_turn of ['true', 'yes', 1, 0, [], {}]) {
      const answer = await me.post('/v1/drift', { goal: errand, user_turn })
      assert.equal(answer.status, 400)
      assert.match(answer.body.detail, /^user_turn: /)
    }
  })

  test('after a move everything is measured anew, as in a run of its own', async (t) => {
    verifies('drift.after-move')
    const { app, me } = await startKeyed(t)
    const before = [
      { goal: errand, distance: 7 },
      ...Array.from({ length: 9 }, (_, at) => ({ goal: `${errand} part${at}`, distance: 7 })),
      ...Array(4).fill({ goal: third, distance: 9, progress: 'stuck' }),
    ]
    const after = [
      { goal: `${other} now`, distance: 7 },
      ...[7, 7, 7].map((distance, at) => ({ goal: `${other} piece${at}`, distance })),
      { goal: `${other} last`, distance: 6, progress: 'circling' },
      { goal: `paint ${third}`, distance: 6 },
    ]
    const [first, ...more] = after
    const moved = await me.logAll([...before, { ...first, user_turn: true }, ...more])
    assert.ok(moved.some(({ reason }) => reason === 'stalled'))
    assert.ok('judgment' in moved[before.length - 1])
    const fresh = await (await newCaller(app)).logAll(after)
    assert.deepEqual(
      moved
        .slice(before.length)
        .map(({ step: _, revision: __, assignment: ___, ...verdict }) => verdict),
      fresh.map(({ step: _, revision: __, ...verdict }) => verdict),
    )
    assert.deepEqual(
      moved.slice(before.length).map(({ revision }) => revision),
      Array(after.length).fill(2),
    )
  })

  test('a declared parent is compared, and a detour that serves it is an excursion', async (t) => {
    verifies('drift.parent', 'drift.excursion')
    const { me } = await startKeyed(t, published)
    const errand = 'add rate limiting to the login endpoint'
    const other = 'redesign the company logo'
    const detour = 'translate the privacy policy'
    assert.equal(
      (await me.log({ goal: errand, parent_goal: 'add rate limits' })).parent_overlap,
      0.6,
    )
    const told = []
    for (const parent_goal of [errand, `${errand} quickly and quietly`, other, 'the', '', null]) {
      const { reason, drifting, parent_overlap } = await me.log({ goal: detour, parent_goal })
      told.push([reason, drifting, parent_overlap])
    }
    assert.deepEqual(told, [
      ['excursion', false, 1],
      ['excursion', false, 0.71],
      ['goal-drift', true, 0],
      ['goal-drift', true, 0],
      ['goal-drift', true, undefined],
      ['goal-drift', true, undefined],
    ])
    const { trace } = await me.read('run')
    assert.deepEqual(
      trace.map(({ parent_goal }: { parent_goal?: string }) => parent_goal),
      [
        'add rate limits',
        errand,
        `${errand} quickly and quietly`,
        other,
        'the',
        undefined,
        undefined,
      ],
    )
    for (const parent_goal of notTexts) {
      const answer = await me.post('/v1/drift', { goal: errand, parent_goal })
      assert.equal(answer.status, 400)
      assert.match(answer.body.detail, /^parent_goal: /)
    }
  })

  test('a sub-agent has a ground of its own and never touches that of another', async (t) => {
    verifies(
      'drift.agents',
      'drift.step-counts-all',
      'drift.repetition',
      'run.main-agent',
      'run.fields',
    )
    const { me } = await startKeyed(t)
    const told = []
    for (const step of [
      { goal: errand },
      { goal: third, agent_id: 'a' },
      { goal: third, agent_id: 'b', ground: other },
      { goal: errand, agent_id: 'a' },
      { goal: errand, agent_id: 'a', user_turn: true },
      { goal: errand },
      { goal: errand, agent_id: 'a' },
      { goal: '', agent_id: 'b' },
    ]) {
      const { step: number, agent_id, reason, ground, revision, repetition } = await me.log(step)
      told.push([number, agent_id, reason, ground, revision, repetition])
    }
    assert.deepEqual(told, [
      [1, undefined, 'grounded', errand, 1, undefined],
      [2, 'a', 'grounded', third, 1, undefined],
      [3, 'b', 'goal-drift', other, 1, undefined],
      [4, 'a', 'goal-drift', third, 1, undefined],
      [5, 'a', 'grounded', errand, 2, 2],
      [6, undefined, 'advancing', errand, 1, 2],
      [7, 'a', 'advancing', errand, 2, 3],
      [8, 'b', 'ungrammatical', other, 1, undefined],
    ])
    const { run, trace } = await me.read('run')
    assert.deepEqual(
      [run.ground, run.revision, run.drifting, run.last_reason, run.phi, run.steps],
      [errand, 1, false, 'advancing', 0, 8],
    )
    assert.deepEqual([run.drifting_steps, run.max_phi, run.grounds.length], [3, 0, 4])
    assert.deepEqual(
      run.agents.map((agent: Record<string, unknown>) => [
        ...[agent.agent_id, agent.ground, agent.revision, agent.steps, agent.drifting],
        ...[agent.last_reason, agent.first_step, agent.last_step, agent.drifting_steps],
      ]),
      [
        ['a', errand, 2, 4, false, 'advancing', 2, 7, 1],
        ['b', other, 1, 2, true, 'ungrammatical', 3, 8, 2],
      ],
    )
    assert.deepEqual(
      trace.map(({ agent_id }: { agent_id?: string }) => agent_id),
      [undefined, 'a', 'b', 'a', 'a', undefined, 'a', 'b'],
    )
  })

  test('agents that share a run are judged as if each were alone', async (t) => {
    verifies('drift.agents', 'drift.step-counts-all')
    const { app } = await startKeyed(t)
    const agents = [undefined, 'a', 'b'] as const
    const step = fc.record({
      agent_id: fc.constantFrom(...agents),
      goal: fc.constantFrom(errand, `${errand} now`, other, third, 'the', ''),
      progress: fc.constantFrom('advancing', 'advancing', 'stuck', 'circling'),
      distance: fc.integer({ min: 0, max: 10 }),
      user_turn: fc.constantFrom(false, false, false, true),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 40 }), async (steps) => {
        const together = await (await newCaller(app)).logAll(steps)
        assert.deepEqual(
          together.map(({ step }) => step),
          steps.map((_, index) => index + 1),
        )
        for (const agent of agents) {
          const own = steps.filter(({ agent_id }) => agent_id === agent)
          if (own.length === 0) continue
          const alone = await (await newCaller(app)).logAll(own)
          assert.deepEqual(
            together
              .filter(({ agent_id }) => agent_id === agent)
              .map(({ step: _, ...rest }) => rest),
            alone.map(({ step: _, ...rest }) => rest),
          )
        }
      }),
      { numRuns: 8 },
    )
  })

  test('tokens are a number of 0 or more, and add up', async (t) => {
    verifies('drift.tokens', 'drift.overhead', 'run.fields')
    const { me } = await startKeyed(t)
    for (const tokens of [-1, -0.001, '5', '', true, false, [], [5], {}]) {
      const answer = await me.post('/v1/drift', { goal: errand, tokens })
      assert.equal(answer.status, 400, JSON.stringify(tokens))
      assert.match(answer.body.detail, /^tokens: /)
    }
    assert.equal((await me.post('/v1/drift', `{"goal":"${errand}","tokens":1e400}`)).status, 400)
    for (const step of [
      { tokens: 0 },
      { tokens: 120 },
      { tokens: 80, overhead: true },
      { tokens: null, overhead: true },
      { tokens: 2.5, overhead: false },
      {},
    ]) {
      await me.log({ goal: errand, ...step })
    }
    const { run, trace } = await me.read('run')
    assert.deepEqual([run.tokens, run.overhead_tokens], [202.5, 80])
    assert.deepEqual(
      trace.map(({ tokens }: { tokens?: number }) => tokens),
      [0, 120, 80, undefined, 2.5, undefined],
    )
  })

  test('sums of tokens stay finite however large', async (t) => {
    verifies('drift.tokens')
    const { me } = await startKeyed(t)
    const most = Number.MAX_SAFE_INTEGER
    const steps = Array(500).fill({ goal: errand, tokens: most, overhead: true })
    for (let round = 1; round <= 5; round++) {
      await me.logAll(steps)
      const { run } = (await me.get('/v1/drift/run?run_id=run&limit=1')).body
      for (const sum of [run.tokens, run.overhead_tokens]) {
        assert.ok(Math.abs(sum / (round * 500 * most) - 1) < 1e-12, String(sum))
      }
    }
    assert.equal((await me.get('/v1/drift/runs')).body.runs[0].run_id, 'run')
    assert.equal((await me.post('/v1/drift', { goal: errand, tokens: most + 1 })).status, 400)
  })

  test('overhead is stored as truthy or not', async (t) => {
    verifies('drift.overhead', 'run.trace-fields')
    const { me } = await startKeyed(t)
    const truthy = [true, 1, -1, 'no', '0', {}, []]
    const falsy = [false, 0, '', null]
    await me.logAll(
      [...truthy, ...falsy].map((overhead) => ({ goal: errand, overhead, tokens: 1 })),
    )
    await me.log({ goal: errand, tokens: 1 })
    const { run, trace } = await me.read('run')
    assert.deepEqual(
      trace.map(({ overhead }: { overhead?: boolean }) => overhead),
      [...truthy.map(() => true), ...falsy.map(() => false), undefined],
    )
    assert.deepEqual([run.tokens, run.overhead_tokens], [12, 7])
  })

  test('a plan is a list of at most 50 texts', async (t) => {
    verifies('drift.plan')
    const { me } = await startKeyed(t)
    const text = 'write a token bucket'
    for (const plan of [[text], [], Array(50).fill(text), ['', text.repeat(100)], null]) {
      await me.log({ goal: errand, plan })
    }
    for (const plan of [
      Array(51).fill(text),
      text,
      {},
      5,
      true,
      [5],
      [null],
      [[text]],
      [text, {}],
    ]) {
      const answer = await me.post('/v1/drift', { goal: errand, plan })
      assert.equal(answer.status, 400, JSON.stringify(plan))
      assert.match(answer.body.detail, /^plan: .*50/)
    }
    const tooLong = await me.post('/v1/drift', { goal: errand, plan: ['x'.repeat(4_001)] })
    assert.match(tooLong.body.detail, /^plan: .*4000/)
  })

  test('an arm is treatment or control, and the last one given is the run’s', async (t) => {
    verifies('drift.arm', 'run.fields')
    const { me } = await startKeyed(t)
    const arms = []
    for (const step of [
      {},
      { pair: 'p', arm: 'control' },
      { pair: null, arm: null },
      { arm: 'treatment' },
      { pair: 'q', agent_id: 'a' },
    ]) {
      await me.log({ goal: errand, ...step })
      const { pair, arm } = (await me.read('run')).run
      arms.push([pair, arm])
    }
    assert.deepEqual(arms, [
      [null, null],
      ['p', 'control'],
      ['p', 'control'],
      ['p', 'treatment'],
      ['q', 'treatment'],
    ])
    for (const arm of ['', 'Control', 'placebo', ...notTexts]) {
      const answer = await me.post('/v1/drift', { goal: errand, arm })
      assert.equal(answer.status, 400)
      assert.match(answer.body.detail, /^arm: .*treatment.*control/)
    }
  })

  test('the detector is that of the first step, and has to exist at every one', async (t) => {
    verifies('drift.detector')
    const { me } = await startKeyed(t)
    for (const detector of ['overlap', null, undefined, 'overlap']) {
      assert.equal((await me.log({ goal: errand, detector })).detector, 'overlap')
    }
    for (const run_id of ['run', 'new']) {
      for (const detector of ['', 'Overlap', 'nothing', 'constructor', ...notTexts]) {
        const answer = await me.post('/v1/drift', { run_id, goal: errand, detector })
        assert.equal(answer.status, 400)
        assert.match(answer.body.detail, /^detector: .*overlap/)
      }
    }
  })

  test('the answer counts the earlier runs that opened a context, and says how close they came', async (t) => {
    verifies('drift.recurrence', 'drift.ceiling')
    const { app, me } = await startKeyed(t)
    const seen = async (step: object, caller = me) => {
      const { recurrence, ceiling } = await caller.log({ goal: errand, ...step })
      return [recurrence, ceiling]
    }
    const none = [undefined, undefined]
    assert.deepEqual(await seen({ run_id: 'one', distance: 7 }), none)
    assert.deepEqual(await seen({ run_id: 'one', distance: 4 }), none)
    assert.deepEqual(await seen({ run_id: 'one', distance: 6, agent_id: 'a' }), none)
    assert.deepEqual(await seen({ run_id: 'two', distance: 9 }), [1, 4])
    assert.deepEqual(await seen({ run_id: 'two', goal: other }), none)
    assert.deepEqual(await seen({ run_id: 'two', distance: 3 }), [1, 4])
    assert.deepEqual(await seen({ run_id: 'three', goal: `ORDERS to refund: ${errand}` }), [2, 3])
    assert.deepEqual(await seen({ run_id: 'three', goal: '' }), none)
    assert.deepEqual(await seen({ run_id: 'three', progress: 'sideways', distance: 0 }), none)
    assert.deepEqual(await seen({ run_id: 'four', goal: other }), [1, 5])
    assert.deepEqual(await seen({ run_id: 'four' }), [3, 3])
    assert.deepEqual(await seen({ run_id: 'one' }, await newCaller(app)), none)
    const batch = ['five', 'six', 'five'].map((run_id) => ({ run_id, goal: errand, distance: 2 }))
    const results = await me.logAll(batch)
    assert.deepEqual(
      results.map(({ recurrence, ceiling }) => [recurrence, ceiling]),
      [
        [4, 3],
        [5, 2],
        [5, 2],
      ],
    )
  })

  test('a goal that two earlier runs could not close is to be abandoned', async (t) => {
    verifies('drift.abandon-history')
    const { me } = await startKeyed(t)
    const judgmentOf = async (run_id: string, distances: number[]) => {
      let last: { judgment?: { verdict: string; because: string } } = {}
      for (const [at, distance] of distances.entries()) {
        last = await me.log({ run_id, goal: at === 0 ? `${errand} ${run_id}` : errand, distance })
      }
      return last.judgment
    }
    assert.equal(await judgmentOf('one', [8, 8, 7]), undefined)
    assert.equal(await judgmentOf('two', [8, 8, 8]), undefined)
    const judgment = await judgmentOf('three', [8, 8, 8])
    assert.equal(judgment?.verdict, 'abandon')
    assert.match(judgment?.because ?? '', /2 earlier runs .* 7/)
    assert.equal((await me.read('three')).run.judgment.verdict, 'abandon')
    assert.equal(await judgmentOf('four', [8, 8, 6]), undefined)
    assert.equal((await me.read('four')).run.judgment, null)
  })

  test('fields that do not exist are ignored, however deep', async (t) => {
    verifies('drift.result', 'drift.overhead')
    const { me } = await startKeyed(t)
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
    const answer = await me.post(
      '/v1/drift',
      `{"goal":"${errand}","overhead":${deep},"more":${deep},"__proto__":{"run_id":"x"},
        "account":"acct_other","tier":"ground","step":7,"ts":1,"reason":"stalled","expires":1}`,
    )
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual([answer.body.step, answer.body.reason], [1, 'grounded'])
    const { run, trace } = await me.read('run')
    assert.equal(trace[0].overhead, true)
    assert.equal(run.expires, '2027-01-15T12:00:00.000Z')
  })

  test('a run goes on where it was after a restart', async (t) => {
    verifies('drift.stateful', 'drift.durable')
    const { app, me, url } = await startKeyed(t)
    const steps = Array.from({ length: 12 }, (_, at) => ({
      goal: at % 3 === 2 ? other : `${errand} part${at % 5}`,
      distance: 6,
    }))
    const whole = await (await newCaller(app)).logAll(steps)
    const logged = []
    let node = app
    for (const [at, step] of steps.entries()) {
      logged.push(await me.at(node).log(step))
      if (at % 4 !== 3) continue
      await node.running.stop()
      node = await start(t, { env: { DATABASE_URL: url } })
    }
    assert.deepEqual(logged, whole)
  })

  test('an answered step outlives a killed process', async (t) => {
    verifies('drift.durable')
    const url = await database.createUrl()
    const env = { DATABASE_URL: url }
    const before = await start(t, { env })
    const me = await newCaller(before)
    await before.running.stop()
    const { child, url: address } = await spawnServe(t, { env })
    const send = (step: object) =>
      fetch(`${address}/v1/drift`, {
        method: 'POST',
        headers: me.headers,
        body: JSON.stringify(step),
      })
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => send({ run_id: `run ${at % 4}`, goal: `goal ${at}` })),
    )
    child.kill('SIGKILL')
    await once(child, 'exit')
    for (const answer of answers) assert.equal(answer.status, 200)
    const after = me.at(await start(t, { env }))
    for (let run = 0; run < 4; run++) {
      const { trace } = await after.read(`run ${run}`)
      assert.deepEqual(
        trace.map(({ step }: { step: number }) => step),
        Array.from({ length: 10 }, (_, at) => at + 1),
      )
    }
  })

  test('damage to the stored memory of a run breaks that run and no other', async (t) => {
    verifies('drift.stateful', 'run.read', 'runs.list')
    const { me, url } = await startKeyed(t)
    const db = await openFor(t, url)
    const memories = [
      '',
      '{',
      'null',
      '5',
      '[]',
      '{}',
      '{"v":2}',
      '{"v":1,"detector":"gone"}',
      '{"v":1,"detector":"overlap"}',
      '{"v":1,"detector":"overlap","ground":5,"spellings":null}',
    ]
    await me.logAll([...memories.keys()].map((at) => ({ run_id: `run ${at}`, goal: errand })))
    await me.log({ run_id: 'good', goal: errand })
    for (const [at, memory] of memories.entries()) {
      const run = `run ${at}`
      await setMemory(db, run, memory, '')
      const [bad, good, beside] = await Promise.all([
        me.post('/v1/drift', { run_id: run, goal: errand }),
        me.post('/v1/drift', { run_id: 'good', goal: errand }),
        me.post('/v1/drift', { run_id: run, goal: errand, agent_id: 'beside' }),
      ])
      assert.deepEqual([bad.status, bad.body.error], [500, 'internal'], memory)
      assert.doesNotMatch(bad.text, /acct_|agents|memory|TypeError|\.ts/)
      assert.deepEqual([good.status, beside.status], [200, 200], memory)
    }
    assert.equal((await me.read('good')).run.steps, memories.length + 1)
    for (const at of memories.keys()) {
      const { run, trace } = await me.read(`run ${at}`)
      assert.deepEqual([run.steps, trace.length, run.ground], [2, 2, errand])
    }
    await db.run("UPDATE agents SET memory = '{' WHERE agent_id = 'beside'")
    await db.run("UPDATE runs SET judgment = '{' WHERE run_id <> 'good'")
    await db.run("UPDATE steps SET judgment = '{' WHERE run_id <> 'good'")
    const list = await me.get('/v1/drift/runs')
    assert.equal(list.body.runs.length, memories.length + 1)
    assert.equal((await me.get('/v1/export')).text.split('\n').length, 3 * memories.length + 13)
    assert.equal((await me.request('DELETE', '/v1/drift/run?run_id=run 0')).body.deleted, 2)
    assert.equal((await me.log({ run_id: 'run 0', goal: errand })).step, 1)
  })
})
