import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { exportRuns } from '../src/operations/steps/runs.ts'
import { onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type Answer, type App, start } from './harness.ts'
import { openSocket } from './raw.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const other = 'refund order 2093'
const dayMs = 86_400_000

const notTexts = [5, 0, true, false, {}, { goal: 'x' }, [], ['x']]

/** What a trace holds of verdicts, which other tests read. */
const keptOfVerdicts = [
  ...['why', 'advice', 'confidence', 'drift_probability', 'uncertain', 'detector', 'evidence'],
  ...['words', 'swap', 'act', 'stands_on', 'coverage', 'parent_overlap', 'repetition'],
  'distance_reported',
  'host',
  'goal_source',
  'acts',
  'failed_acts',
  'doing',
  'act_evidence',
  'unattended_ms',
]

onEachDatabase((database) => {
  /** A service on a database of its own, with an account. */
  async function startKeyed(t: TestContext): Promise<{ app: App; me: Caller }> {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    return { app, me: await newCaller(app) }
  }

  function assertRefused(answer: Answer, field: string): void {
    assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'], answer.text)
    assert.ok(answer.body.detail.startsWith(`${field}: `), answer.body.detail)
  }

  function assertNoRun(answer: Answer): void {
    assert.deepEqual([answer.status, answer.body.error], [404, 'no_run'], answer.text)
  }

  /** Ids of the runs that a list shows, all its pages together. */
  async function listAll(me: Caller, query = ''): Promise<string[]> {
    const ids: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const at = cursor === '' ? '' : `&cursor=${cursor}`
      const { status, text, body } = await me.get(`/v1/drift/runs?${query}${at}`)
      assert.equal(status, 200, text)
      ids.push(...body.runs.map(({ run_id }: { run_id: string }) => run_id))
      cursor = body.next_cursor
      assert.ok(ids.length <= 500, 'the list does not end')
    }
    return ids
  }

  /** The lines of an export, parsed. */
  async function exported(me: Caller) {
    let answer = await me.get('/v1/export')
    // One that was broken off ends a moment later.
    while (answer.status === 429) answer = await me.get('/v1/export')
    const { status, text } = answer
    assert.equal(status, 200)
    const lines = text.split('\n')
    assert.equal(lines.pop(), '', 'every line ends')
    return lines.map((line) => JSON.parse(line))
  }

  test('a run is read with its trace, by run_id or id', async (t) => {
    verifies('run.read', 'run.fields', 'run.trace-fields', 'run.main-agent', 'http.times')
    const { app, me } = await startKeyed(t)
    for (const step of [
      { goal: errand, distance: 8, tokens: 100 },
      { goal: 'fetch the docs', parent_goal: errand, agent_id: 'helper', overhead: 'yes' },
      { goal: other, progress: 'stuck', distance: 8, tokens: 20, overhead: true, pair: 'p' },
      { goal: `${errand} now`, distance: 8, arm: 'control' },
      { goal: `${errand} again`, distance: 8 },
      { goal: `${errand} still`, distance: 8 },
      { goal: `${errand} slowly`, distance: 8 },
    ]) {
      await me.log({ run_id: 'mine', ...step })
      app.advance(1_000)
    }
    const { run, trace, next_cursor, ...more } = (await me.get('/v1/drift/run?run_id=mine')).body
    assert.deepEqual([next_cursor, more], [null, {}])
    const { judgment, ...rest } = run
    assert.deepEqual(rest, {
      run_id: 'mine',
      ground: errand,
      revision: 1,
      grounds: [
        {
          revision: 1,
          goal: errand,
          by: 'first',
          at: '2026-01-15T12:00:00.000Z',
          step: 1,
          agent_id: '',
        },
        {
          revision: 1,
          goal: 'fetch the docs',
          by: 'first',
          at: '2026-01-15T12:00:01.000Z',
          step: 2,
          agent_id: 'helper',
        },
      ],
      assignment: [
        { text: errand, revision: 1, by: 'first', at: '2026-01-15T12:00:00.000Z', stands: true },
      ],
      last_person_at: null,
      unattended_ms: 6000,
      attended: null,
      created: '2026-01-15T12:00:00.000Z',
      updated: '2026-01-15T12:00:06.000Z',
      expires: '2027-01-15T12:00:06.000Z',
      steps: 7,
      drifting: false,
      drifting_steps: 0,
      last_reason: 'advancing',
      phi: 0.04,
      max_phi: 0.65,
      tokens: 120,
      overhead_tokens: 20,
      outcome: null,
      score: null,
      note: null,
      pair: 'p',
      arm: 'control',
      plan: null,
      detector: 'meaning',
      host: null,
      coverage: null,
      seen: null,
      last_event_at: null,
      session_ended_at: null,
      silent: null,
      uncertain: false,
      drift_tokens: 0,
      incident: null,
      first_drift_step: null,
      agents: [
        {
          agent_id: 'helper',
          parent_agent_id: null,
          ground: 'fetch the docs',
          revision: 1,
          steps: 1,
          drifting: false,
          last_reason: 'grounded',
          first_step: 2,
          last_step: 2,
          phi: 0,
          max_phi: 0,
          drifting_steps: 0,
          tokens: 0,
        },
      ],
    })
    assert.deepEqual(Object.keys(judgment).sort(), ['because', 'counsel', 'verdict'])
    assert.equal(judgment.verdict, 'narrow')
    const withoutVerdict = (step: object) => {
      const shown = Object.entries(step).filter(([field]) => !keptOfVerdicts.includes(field))
      return Object.fromEntries(shown)
    }
    assert.deepEqual(withoutVerdict(trace[1]), {
      step: 2,
      ts: '2026-01-15T12:00:01.000Z',
      agent_id: 'helper',
      goal: 'fetch the docs',
      parent_goal: errand,
      progress: 'advancing',
      distance: 5,
      reason: 'grounded',
      drifting: false,
      phi: 0,
      goal_score: 1,
      svcscore: '⟨docs|fetch⟩ advancing d5 ⊂ ⟨1041|ord|refund⟩',
      context: trace[1].context,
      overhead: true,
      revision: 1,
      user_message: null,
      user_effect: null,
      label: null,
    })
    const { context, ...third } = withoutVerdict(trace[2])
    assert.match(context, /^ctx_/)
    assert.deepEqual(third, {
      step: 3,
      ts: '2026-01-15T12:00:02.000Z',
      goal: other,
      progress: 'stuck',
      distance: 8,
      reason: 'self-report:stuck',
      drifting: false,
      phi: 0.65,
      goal_score: 0.5,
      svcscore: '⟨2093|ord|refund⟩ stuck d8',
      tokens: 20,
      overhead: true,
      revision: 1,
      user_message: null,
      user_effect: null,
      label: null,
    })
    assert.deepEqual(trace[6].judgment, judgment)
    assert.deepEqual((await me.get('/v1/drift/run?id=mine')).body, { run, trace, next_cursor })
    assert.equal((await me.get('/v1/drift/run?run_id=mine&id=nobody')).body.run.run_id, 'mine')
    assert.equal((await me.request('HEAD', '/v1/drift/run?run_id=mine')).status, 200)
  })

  test('a run has to be named, and to be there', async (t) => {
    verifies('run.missing', 'run.read', 'run.delete')
    const { me } = await startKeyed(t)
    await me.log({ run_id: 'mine', goal: errand })
    for (const method of ['GET', 'DELETE']) {
      const ask = (query: string) => me.request(method, `/v1/drift/run${query}`)
      for (const query of ['', '?', '?run=mine', '?run_id=', `?run_id=${'x'.repeat(201)}`]) {
        assertRefused(await ask(query), 'run_id')
      }
      assertRefused(await ask('?id='), 'id')
      for (const id of [
        'other',
        'Mine',
        'mine%20',
        '+mine',
        'min',
        'mine%00',
        'm%C3%ADn',
        '%25',
        '_',
        '%',
      ]) {
        assertNoRun(await ask(`?run_id=${id}`))
        assertNoRun(await ask(`?id=${id}`))
      }
    }
    assert.equal((await me.read('mine')).run.steps, 1)
  })

  test('a trace comes in pages', async (t) => {
    verifies('run.trace', 'run.read.after')
    const { me } = await startKeyed(t)
    await me.logAll(Array.from({ length: 1_203 }, (_, at) => ({ goal: `goal ${at}` })))
    const pageOf = async (query: string): Promise<[number, number, string | null]> => {
      const { status, text, body } = await me.get(`/v1/drift/run?run_id=run${query}`)
      assert.equal(status, 200, text)
      const steps = body.trace.map(({ step }: { step: number }) => step)
      assert.deepEqual(
        steps,
        steps.map((_: number, at: number) => steps[0] + at),
      )
      assert.equal(body.run.steps, 1_203)
      return [steps[0], steps.length, body.next_cursor]
    }
    const [, , cursor] = await pageOf('')
    assert.deepEqual(await pageOf(''), [1, 1_000, cursor])
    assert.deepEqual(await pageOf(`&cursor=${cursor}`), [1_001, 203, null])
    assert.deepEqual(await pageOf('&limit=1203'), [1, 1_203, null])
    assert.deepEqual(await pageOf('&limit=10000'), [1, 1_203, null])
    let at: string | null = ''
    const seen: number[] = []
    while (at !== null) {
      const [first, length, next] = await pageOf(`&limit=401${at === '' ? '' : `&cursor=${at}`}`)
      seen.push(first, length)
      at = next
    }
    assert.deepEqual(seen, [1, 401, 402, 401, 803, 401])
    assert.deepEqual(await pageOf('&after=1195'), [1_196, 8, null])
    const [first, , next] = await pageOf('&after=700&limit=2')
    assert.equal(first, 701)
    assert.deepEqual(await pageOf(`&after=700&limit=2&cursor=${next}`), [
      703,
      2,
      (await pageOf('&limit=704'))[2],
    ])
    assert.deepEqual(await pageOf('&after=0&limit=1'), [1, 1, (await pageOf('&limit=1'))[2]])
    for (const none of ['1203', '999999999']) {
      const { body } = await me.get(`/v1/drift/run?run_id=run&after=${none}`)
      assert.deepEqual([body.trace, body.next_cursor], [[], null])
    }
    for (const after of ['-1', '1.5', 'x', '', '1e3', ' 5', '9999999999']) {
      assertRefused(await me.get(`/v1/drift/run?run_id=run&after=${after}`), 'after')
    }
    for (const limit of ['0', '10001', '-1', '1.5', 'x', '', '1e3', ' 5', '99999999999']) {
      assertRefused(await me.get(`/v1/drift/run?run_id=run&limit=${limit}`), 'limit')
    }
    for (const cursor of ['x', '', '%00', 'e30', 'W10', 'bnVsbA', 'eyJhZnRlciI6LTF9', '💥']) {
      assertRefused(await me.get(`/v1/drift/run?run_id=run&cursor=${cursor}`), 'cursor')
    }
  })

  test('runs are listed by their last step, newest first', async (t) => {
    verifies('runs.list', 'list.cursor', 'list.limit')
    const { app, me } = await startKeyed(t)
    const ids = Array.from({ length: 60 }, (_, at) => `run ${at}`)
    for (const run_id of ids) {
      await me.log({ run_id, goal: errand })
      app.advance(1)
    }
    await me.log({ run_id: 'run 3', goal: errand })
    await me.post('/v1/drift/outcome', { run_id: 'run 0', outcome: 'success' })
    const order = ['run 3', ...ids.toReversed().filter((id) => id !== 'run 3')]
    assert.deepEqual(await listAll(me), order)
    assert.deepEqual(await listAll(me, 'limit=7'), order)
    assert.deepEqual(await listAll(me, 'limit=60'), order)
    const { runs, next_cursor } = (await me.get('/v1/drift/runs')).body
    assert.equal(runs.length, 50)
    assert.equal(typeof next_cursor, 'string')
    const { run } = await me.read('run 3')
    const { state, spark, swap, ...listed } = runs[0]
    assert.deepEqual([listed, state, spark.length, swap], [run, 'calm', 2, null])
    for (const limit of ['0', '201', '-1', '1.5', 'x', '', 'NaN']) {
      assertRefused(await me.get(`/v1/drift/runs?limit=${limit}`), 'limit')
    }
    for (const cursor of ['x', '', 'e30', 'bnVsbA', next_cursor.slice(1)]) {
      assertRefused(await me.get(`/v1/drift/runs?cursor=${cursor}`), 'cursor')
    }
  })

  test('runs of one moment are listed once each, page by page', async (t) => {
    verifies('list.cursor', 'id.length')
    const { app, me } = await startKeyed(t)
    const ids = [
      'a',
      'A',
      'á',
      'a ',
      'a\u0301',
      'B',
      'b',
      '_',
      '~',
      '界',
      '𠀀',
      '\uffee',
      'ab',
      '9',
    ]
    await me.logAll(ids.map((run_id) => ({ run_id, goal: errand })))
    for (const limit of [1, 2, 3, 5, 14]) {
      const listed = await listAll(me, `limit=${limit}`)
      assert.deepEqual(listed.toSorted(), ids.toSorted(), `limit ${limit}`)
      assert.deepEqual(listed, await listAll(me))
    }
    app.advance(1)
    const { next_cursor } = (await me.get('/v1/drift/runs?limit=5')).body
    const rest = await listAll(me, `limit=50&cursor=${next_cursor}`)
    await me.log({ run_id: 'new', goal: errand })
    assert.deepEqual(await listAll(me, `limit=50&cursor=${next_cursor}`), rest)
  })

  test('runs are filtered', async (t) => {
    verifies('runs.filters')
    const { app, me } = await startKeyed(t)
    const noon = Date.UTC(2026, 0, 15, 12)
    const times = new Map<string, number>()
    for (const [at, run_id] of ['a', 'b', 'c', 'd'].entries()) {
      times.set(run_id, noon + at * 1_000)
      await me.log({ run_id, goal: errand })
      if (at % 2 === 1) await me.log({ run_id, goal: other })
      app.advance(1_000)
    }
    await me.log({ run_id: 'a', goal: other, agent_id: 'helper', ground: errand })
    for (const [run_id, outcome] of [
      ['a', 'success'],
      ['b', 'failure'],
      ['c', 'success'],
    ]) {
      await me.post('/v1/drift/outcome', { run_id, outcome })
    }
    const since = (run_id: string, plus = 0) =>
      `since=${new Date(times.get(run_id)! + plus).toISOString()}`
    for (const [query, ids] of [
      ['drifting=true', ['d', 'b']],
      ['drifting=false', ['a', 'c']],
      ['outcome=success', ['a', 'c']],
      ['outcome=failure', ['b']],
      ['outcome=abandoned', []],
      ['outcome=unknown', ['d']],
      ['outcome=failure&drifting=true', ['b']],
      ['outcome=success&drifting=true', []],
      [since('c'), ['a', 'd', 'c']],
      [since('c', 1), ['a', 'd']],
      [since('d', 5_000), []],
      [`since=2026-01-15T13:00:02%2B01:00`, ['a', 'd', 'c']],
      [`since=1969-01-01T00:00:00Z`, ['a', 'd', 'c', 'b']],
      [`drifting=true&limit=1`, ['d', 'b']],
      ['drifting=false&limit=1&outcome=success', ['a', 'c']],
    ] as const) {
      assert.deepEqual(await listAll(me, query), ids, query)
    }
    for (const [query, field] of [
      ['drifting=yes', 'drifting'],
      ['drifting=', 'drifting'],
      ['outcome=Success', 'outcome'],
      ['outcome=', 'outcome'],
      ['since=yesterday', 'since'],
      ['since=1768478400000', 'since'],
      ['since=2026-02-30T00:00:00Z', 'since'],
      ['since=', 'since'],
      ['until=tomorrow', 'until'],
      ['until=', 'until'],
      ['state=Drifting', 'state'],
      ['state=', 'state'],
      [`q=${'x'.repeat(201)}`, 'q'],
    ] as const) {
      assertRefused(await me.get(`/v1/drift/runs?${query}`), field)
    }
  })

  test('the list holds every run within its retention, page by page', async (t) => {
    verifies('runs.index')
    const { app, me } = await startKeyed(t)
    const ids = Array.from({ length: 403 }, (_, at) => `run ${String(at).padStart(3, '0')}`)
    for (let at = 0; at < ids.length; at += 10) {
      const part = ids.slice(at, at + 10)
      await me.logAll(part.map((run_id, place) => ({ run_id, goal: at + place < 5 ? '' : errand })))
      app.advance(1)
    }
    const listed = await listAll(me, 'limit=200')
    assert.deepEqual(listed.toSorted(), ids)
    assert.deepEqual(await listAll(me, 'limit=70'), listed)
    assert.deepEqual((await listAll(me, 'drifting=true')).toSorted(), ids.slice(0, 5))
    assert.deepEqual((await listAll(me, 'drifting=true&limit=2')).toSorted(), ids.slice(0, 5))
    await me.log({ run_id: ids[0], goal: errand })
    assert.equal((await listAll(me))[0], ids[0])
  })

  test('an outcome is set without a step', async (t) => {
    verifies('outcome.set', 'drift.outcome-no-step', 'run.fields')
    const { app, me } = await startKeyed(t)
    await me.log({ run_id: 'mine', goal: errand })
    app.advance(1_000)
    const before = await me.read('mine')
    const set = async (body: object) => {
      const answer = await me.post('/v1/drift/outcome', { run_id: 'mine', ...body })
      assert.equal(answer.status, 200, answer.text)
      const { ok, run, ...more } = answer.body
      assert.deepEqual([ok, more], [true, {}])
      assert.deepEqual(run, (await me.read('mine')).run)
      const { outcome, score, note, ...rest } = run
      const { outcome: _, score: __, note: ___, ...same } = before.run
      assert.deepEqual(rest, same)
      return [outcome, score, note]
    }
    assert.deepEqual(await set({ outcome: 'success' }), ['success', null, null])
    assert.deepEqual(await set({ outcome: 'failure', score: 0.25, note: 'no' }), [
      'failure',
      0.25,
      'no',
    ])
    assert.deepEqual(await set({ outcome: 'abandoned', score: 0 }), ['abandoned', 0, 'no'])
    assert.deepEqual(await set({ outcome: 'unknown', note: '' }), ['unknown', 0, ''])
    assert.deepEqual(await set({ outcome: 'success', score: 1, note: '界'.repeat(4_000) }), [
      'success',
      1,
      '界'.repeat(4_000),
    ])
    assert.deepEqual((await me.read('mine')).trace, before.trace)
    assert.equal((await me.log({ run_id: 'mine', goal: errand })).step, 2)
    assert.equal((await me.read('mine')).run.outcome, 'success')
  })

  test('an outcome that does not exist is refused', async (t) => {
    verifies('outcome.refused')
    const { me } = await startKeyed(t)
    await me.log({ run_id: 'mine', goal: errand })
    const set = (body: unknown) => me.post('/v1/drift/outcome', body)
    const good = { run_id: 'mine', outcome: 'success' }
    for (const outcome of [undefined, null, '', 'Success', 'done', ...notTexts]) {
      assertRefused(await set({ ...good, outcome }), 'outcome')
    }
    for (const score of [-0.01, 1.01, 100, '0.5', true, [], {}]) {
      assertRefused(await set({ ...good, score }), 'score')
    }
    for (const note of ['x'.repeat(4_001), 5, {}]) {
      assertRefused(await set({ ...good, note }), 'note')
    }
    for (const run_id of [undefined, null, '', 'x'.repeat(201), 5]) {
      assertRefused(await set({ ...good, run_id }), 'run_id')
    }
    for (const body of ['', 'nonsense', 'null', '5', '[]']) {
      const answer = await set(body)
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'], body)
    }
    for (const run_id of ['nobody', 'Mine', 'mine ']) {
      assertNoRun(await set({ ...good, run_id }))
    }
    assert.equal((await me.read('mine')).run.outcome, null)
  })

  test('a run lives as long as its tier says, from its last step', async (t) => {
    verifies('retention.expires', 'run.missing')
    const { app } = await startKeyed(t)
    for (const [tier, days] of [
      ['ground', 1],
      ['solo', 30],
      ['group', 90],
      ['pro', 180],
      ['enterprise', 365],
    ] as const) {
      const me = await newCaller(app, tier)
      await me.log({ goal: errand })
      app.advance(days * dayMs - 1)
      assert.equal((await me.log({ goal: errand })).step, 2, tier)
      app.advance(days * dayMs - 1)
      assert.deepEqual(await listAll(me), ['run'], tier)
      assert.equal((await me.read('run')).run.steps, 2)
      app.advance(1)
      assertNoRun(await me.get('/v1/drift/run?run_id=run'))
      assert.deepEqual(await listAll(me), [], tier)
      assert.deepEqual(await exported(me), [])
      assertNoRun(await me.post('/v1/drift/outcome', { run_id: 'run', outcome: 'success' }))
      assertNoRun(await me.request('DELETE', '/v1/drift/run?run_id=run'))
    }
  })

  test('an expired run has left every list, and its id begins anew', async (t) => {
    verifies('retention.expires', 'cost.expired')
    const { app } = await startKeyed(t)
    const me = await newCaller(app, 'ground')
    await me.logAll(
      ['old', 'kept'].map((run_id) => ({
        run_id,
        goal: errand,
        tokens: 7,
        pair: 'p',
        arm: 'control',
      })),
    )
    await me.post('/v1/drift/outcome', { run_id: 'old', outcome: 'failure', score: 0.5, note: 'x' })
    app.advance(dayMs / 2)
    await me.log({ run_id: 'kept', goal: errand })
    app.advance(dayMs / 2)
    assert.deepEqual(await listAll(me), ['kept'])
    assert.deepEqual(
      (await exported(me)).map(({ type, run_id }) => [type, run_id]),
      [
        ['run', 'kept'],
        ['step', 'kept'],
        ['step', 'kept'],
      ],
    )
    const again = await me.log({ run_id: 'old', goal: other, agent_id: 'helper' })
    assert.deepEqual([again.step, again.reason, again.repetition], [1, 'grounded', undefined])
    const { run, trace } = await me.read('old')
    const goals = run.grounds.map(({ goal }: { goal: string }) => goal)
    assert.deepEqual([trace.length, run.steps, run.tokens, goals], [1, 1, 0, [other]])
    const { ground, outcome, score, note, pair, arm, created } = run
    assert.deepEqual([ground, outcome, score, note, pair, arm], Array(6).fill(null))
    assert.equal(created, '2026-01-16T12:00:00.000Z')
    assert.deepEqual(await listAll(me), ['old', 'kept'])
    const { recurrence } = await me.log({ run_id: 'old', goal: errand })
    assert.equal(recurrence, 1, 'the run of this name that expired is not counted')
  })

  test('an outcome keeps a run no longer', async (t) => {
    verifies('outcome.retention')
    const { app } = await startKeyed(t)
    const me = await newCaller(app, 'ground')
    await me.log({ goal: errand })
    const { expires } = (await me.read('run')).run
    app.advance(dayMs - 1)
    const answer = await me.post('/v1/drift/outcome', { run_id: 'run', outcome: 'success' })
    assert.deepEqual([answer.status, answer.body.run.expires], [200, expires])
    app.advance(1)
    assertNoRun(await me.get('/v1/drift/run?run_id=run'))
  })

  test('a clock that is set back takes nothing back', async (t) => {
    verifies('retention.expires', 'drift.order')
    const { app, me } = await startKeyed(t)
    await me.log({ goal: errand })
    const before = (await me.read('run')).run
    app.advance(-3_600_000)
    assert.equal((await me.log({ goal: errand })).step, 2)
    const { run, trace } = await me.read('run')
    assert.deepEqual(
      [run.created, run.updated, run.expires],
      [before.created, before.updated, before.expires],
    )
    assert.deepEqual(
      trace.map(({ step }: { step: number }) => step),
      [1, 2],
    )
  })

  test('a deleted run is gone at once, and its id begins anew', async (t) => {
    verifies('run.delete', 'run.missing')
    const { me } = await startKeyed(t)
    await me.logAll([
      ...Array(7).fill({ run_id: 'mine', goal: errand, tokens: 5 }),
      { run_id: 'mine', goal: other, agent_id: 'helper' },
      { run_id: 'other', goal: errand },
    ])
    const kept = await me.read('other')
    const remove = () => me.request('DELETE', '/v1/drift/run?id=mine')
    const answer = await remove()
    assert.deepEqual([answer.status, answer.body], [200, { ok: true, deleted: 8 }])
    assertNoRun(await remove())
    assertNoRun(await me.get('/v1/drift/run?run_id=mine'))
    assertNoRun(await me.post('/v1/drift/outcome', { run_id: 'mine', outcome: 'success' }))
    assert.deepEqual(await listAll(me), ['other'])
    assert.equal((await exported(me)).length, 2)
    const again = await me.log({ run_id: 'mine', goal: other })
    assert.deepEqual([again.step, again.reason, again.ground], [1, 'grounded', other])
    const { run, trace } = await me.read('mine')
    assert.deepEqual([run.steps, run.tokens, run.agents, trace.length], [1, 0, [], 1])
    assert.equal((await remove()).body.deleted, 1)
    assert.deepEqual(await me.read('other'), kept)
  })

  test('everything is exported as JSON lines', async (t) => {
    verifies('export.ndjson')
    const { me } = await startKeyed(t)
    assert.deepEqual(await exported(me), [])
    const ids = ['Z', 'a', 'á', 'line\nbreak', '"quoted"', '界', '𠀀', ' ']
    const broken = 'line\nbreak "quoted" \u2028 \ufeff 界'
    for (const run_id of ids) {
      await me.logAll(
        Array.from({ length: 3 }, (_, at) => ({
          run_id,
          goal: `${broken} ${at}`,
          agent_id: at === 1 ? 'helper' : undefined,
          tokens: at,
        })),
      )
    }
    await me.logAll(Array.from({ length: 1_001 }, (_, at) => ({ run_id: 'long', goal: `g ${at}` })))
    const answer = await me.get('/v1/export')
    assert.match(answer.headers.get('content-type') ?? '', /^application\/x-ndjson/)
    assert.equal(answer.headers.get('transfer-encoding'), 'chunked')
    const lines = await exported(me)
    assert.equal(lines.length, ids.length * 4 + 1_002)
    for (const run_id of [...ids, 'long']) {
      const { run, trace } = await me.read(run_id)
      const first = lines.findIndex((line) => line.run_id === run_id)
      assert.deepEqual(lines.slice(first, first + trace.length + 1), [
        { type: 'run', ...run },
        ...trace.map((step: object) => ({ type: 'step', run_id, ...step })),
      ])
    }
  })

  test('of a run with very many grounds and agents an answer shows some, and cursors the others', async (t) => {
    verifies('run.parts', 'run.grounds', 'export.parts')
    const { me } = await startKeyed(t)
    const [turns, agents] = [230, 220]
    await me.logAll([
      ...Array.from({ length: turns }, (_, at) => ({
        goal: `errand number${at}`,
        user_turn: true,
      })),
      ...Array.from({ length: agents }, (_, at) => ({
        goal: `part ${at}`,
        agent_id: `agent ${String(at).padStart(3, '0')}`,
      })),
    ])
    const revisions = (run: { grounds: { revision: number; agent_id: string }[] }) =>
      run.grounds.filter(({ agent_id }) => agent_id === '').map(({ revision }) => revision)
    const ofAgents = (run: { grounds: { agent_id: string }[] }) =>
      run.grounds.map(({ agent_id }) => agent_id).filter((id) => id !== '')
    const ids = (run: { agents: { agent_id: string }[] }) =>
      run.agents.map(({ agent_id }) => agent_id)
    const upTo = (last: number, count: number) =>
      Array.from({ length: count }, (_, at) => last - count + 1 + at)
    const read = async (query: string) => {
      const { status, text, body } = await me.get(`/v1/drift/run?run_id=run&limit=1${query}`)
      assert.equal(status, 200, text)
      return body.run
    }
    const all = Array.from({ length: agents }, (_, at) => `agent ${String(at).padStart(3, '0')}`)
    let run = await read('')
    assert.deepEqual([revisions(run), ids(run)], [upTo(230, 100), all.slice(0, 100)])
    run = await read(`&grounds_cursor=${run.grounds_cursor}&agents_cursor=${run.agents_cursor}`)
    assert.deepEqual([revisions(run), ids(run)], [upTo(130, 100), all.slice(100, 200)])
    run = await read(`&grounds_cursor=${run.grounds_cursor}&agents_cursor=${run.agents_cursor}`)
    assert.deepEqual([revisions(run), ids(run)], [upTo(30, 30), all.slice(200)])
    assert.deepEqual([ofAgents(run), run.agents_cursor], [all.slice(0, 70), undefined])
    run = await read(`&grounds_cursor=${run.grounds_cursor}`)
    assert.deepEqual([revisions(run), ofAgents(run)], [[], all.slice(70, 170)])
    run = await read(`&grounds_cursor=${run.grounds_cursor}`)
    assert.deepEqual([ofAgents(run), run.grounds_cursor], [all.slice(170), undefined])
    for (const query of ['grounds_cursor=x', 'agents_cursor=x']) {
      assertRefused(await me.get(`/v1/drift/run?run_id=run&${query}`), 'cursor')
    }
    const [listed] = (await me.get('/v1/drift/runs')).body.runs
    assert.deepEqual([revisions(listed), ids(listed)], [upTo(230, 20), all.slice(0, 20)])
    const next = await read(`&agents_cursor=${listed.agents_cursor}`)
    assert.deepEqual(ids(next), all.slice(20, 120))
    const set = await me.post('/v1/drift/outcome', { run_id: 'run', outcome: 'success' })
    assert.deepEqual([set.body.run.grounds.length, set.body.run.agents.length], [100, 100])

    const lines = await exported(me)
    const counts = [...Map.groupBy(lines, ({ type }) => type)].map(([type, own]) => [
      type,
      own.length,
    ])
    const expected = { run: 1, ground: 350, agent: 120, step: 450 }
    assert.deepEqual(counts, Object.entries(expected))
    assert.deepEqual(
      lines
        .filter(({ type }) => type === 'ground')
        .map(({ revision, agent_id }) => agent_id || revision),
      [...upTo(130, 130).reverse(), ...all],
    )
    assert.deepEqual(
      [
        ...ids(lines[0]),
        ...lines.filter(({ type }) => type === 'agent').map((each) => each.agent_id),
      ],
      all,
    )
  })

  test('one export of an account is under way at a time, however the one before ended', async (t) => {
    verifies('export.one')
    const { app, me } = await startKeyed(t)
    const goal = 'x'.repeat(4_000)
    for (let batch = 0; batch < 40; batch++) await me.logAll(Array(50).fill({ goal }))
    const { authorization } = me.headers
    const unread = await openSocket(app.url)
    unread.write(`GET /v1/export HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`)
    await once(unread, 'data')
    unread.pause()
    const usage = async () => (await me.get('/v1/me')).body.usage.reads
    const before = await usage()
    const refused = await me.get('/v1/export')
    assert.deepEqual(
      [refused.status, refused.body.error, refused.body.retry_after_s],
      [429, 'rate_limit', 10],
    )
    assert.equal(refused.headers.get('retry-after'), '10')
    assert.equal(await usage(), before, 'it does not count')
    const other = await newCaller(app)
    assert.deepEqual(await exported(other), [])
    unread.destroy()
    assert.equal((await exported(me)).length, 2_001)
  })

  test('an export leaves others their turn after each page', async (t) => {
    verifies('export.turns')
    const { app, me } = await startKeyed(t)
    await me.logAll(Array.from({ length: 1_000 }, (_, at) => ({ goal: `part ${at}` })))
    const { body } = await exportRuns.answer(app.running.service, {
      method: 'GET',
      address: 'here',
      credential: me.key,
      idempotencyKey: undefined,
      query: {},
      contentType: '',
      readBody: () => '',
      gone: () => new AbortController().signal,
      headers: {},
    })
    let turns = 0
    let isOver = false
    const count = () => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    for await (const _ of body as AsyncIterable<string>);
    isOver = true
    assert.ok(turns >= 10, `${turns} turns for 10 pages`)
  })

  test('an export of many runs is whole, and is sent as it is read', async (t) => {
    verifies('export.ndjson')
    const { app, me } = await startKeyed(t)
    const ids = Array.from({ length: 510 }, (_, at) => `run ${at}`)
    const filler = 'x'.repeat(3_500)
    for (let at = 0; at < ids.length; at += 60) {
      const part = ids.slice(at, at + 60)
      await me.logAll(part.map((run_id) => ({ run_id, goal: `${filler} ${run_id}` })))
    }
    const socket = await openSocket(app.url)
    const { authorization } = me.headers
    socket.write(`GET /v1/export HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`)
    const [first] = await once(socket, 'data')
    assert.match(String(first), /^HTTP\/1\.1 200 OK\r\n/)
    assert.ok(first.length < 1_000_000, 'the first part is not the whole')
    socket.destroy()
    const lines = await exported(me)
    const exportedIds = lines.filter(({ type }) => type === 'run').map(({ run_id }) => run_id)
    assert.deepEqual(exportedIds.toSorted(), ids.toSorted())
    assert.equal(lines.filter(({ type }) => type === 'step').length, ids.length)
  })
})
