import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { nothingObserved } from '../src/core/hosts/observed.ts'
import { Refusal } from '../src/operations/gate/refusal.ts'
import { unavailable } from '../src/storage/database/database.ts'
import { onEachDatabase } from './backends.ts'
import { start } from './harness.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const session = 'session-one'
const runId = `claude-code:${session}`

const common = { session_id: session, cwd: '/home/kim/shop' }

function prompted(prompt: string, prompt_id: string) {
  return { ...common, hook_event_name: 'UserPromptSubmit', prompt, prompt_id }
}

/** The answers to one turn's calls of tools, as the host hands them over together. */
function batch(...calls: { tool: string; input: object; id: string; answer?: unknown }[]) {
  return {
    ...common,
    hook_event_name: 'PostToolBatch',
    tool_calls: calls.map(({ tool, input, id, answer = 'done' }) => ({
      tool_name: tool,
      tool_input: input,
      tool_use_id: id,
      tool_response: answer,
    })),
  }
}

const todos = (...items: [string, string][]) => ({
  tool: 'TodoWrite',
  input: { todos: items.map(([content, status]) => ({ content, status })) },
})

onEachDatabase((database) => {
  async function startOn(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { headers } = await app.newAccount()
    const post = async (host: string, body: unknown, more: Record<string, string> = headers) =>
      app.request('POST', `/v1/hooks/${host}`, {
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: more,
      })
    const run = async (id = runId) =>
      (await app.get(`/v1/drift/run?run_id=${encodeURIComponent(id)}`, headers)).body
    return { app: { ...app, keyed: headers }, post, run }
  }

  test('a session of a host is a run: its prompts, its plan and what it does', async (t) => {
    verifies('hosts.endpoint', 'hosts.durable', 'hosts.steps', 'hosts.once')
    const { post, run } = await startOn(t)
    const events = [
      prompted(errand, 'p-1'),
      batch({
        ...todos(['find the login route', 'in_progress'], ['limit it', 'pending']),
        id: 't-1',
      }),
      batch({ tool: 'Read', input: { file_path: '/home/kim/shop/src/login.js' }, id: 't-2' }),
      batch({
        ...todos(['find the login route', 'completed'], ['limit it', 'in_progress']),
        id: 't-3',
      }),
      batch({
        tool: 'Edit',
        input: { file_path: '/home/kim/shop/src/login.js', old_string: 'a', new_string: 'b' },
        id: 't-4',
      }),
      prompted('limit the sign-up endpoint too', 'p-2'),
    ]
    for (const event of [...events, ...events]) {
      const { status, body, headers } = await post('claude-code', event)
      assert.deepEqual([status, body, headers.get('x-plumbline-note')], [200, {}, null])
    }
    const { run: shown, trace } = await run()
    assert.deepEqual(
      trace.map(({ goal, user_message }: Record<string, unknown>) => [goal, user_message]),
      [
        [errand, errand],
        ['find the login route', null],
        ['limit it', null],
        ['limit the sign-up endpoint too', 'limit the sign-up endpoint too'],
      ],
    )
    assert.deepEqual(shown.plan, ['find the login route', 'limit it'])
    assert.deepEqual(
      shown.assignment.map(({ text }: { text: string }) => text),
      [errand, 'limit the sign-up endpoint too'],
    )
  })

  test('a sub-agent of a host is measured against its own task', async (t) => {
    verifies('hosts.agents')
    const { post, run } = await startOn(t)
    const task = 'compare token bucket libraries for Node'
    const input = { description: 'compare libraries', prompt: task, subagent_type: 'scout' }
    const child = { ...common, agent_id: 'a-1', agent_type: 'scout' }
    for (const event of [
      prompted(errand, 'p-1'),
      {
        ...common,
        hook_event_name: 'PreToolUse',
        tool_name: 'Agent',
        tool_input: input,
        tool_use_id: 't-1',
      },
      { ...child, hook_event_name: 'SubagentStart' },
      {
        ...child,
        ...batch({
          tool: 'Bash',
          input: { command: 'npm view limiter', description: 'look at a library' },
          id: 't-2',
        }),
        agent_id: 'a-1',
      },
      { ...child, hook_event_name: 'SubagentStop', last_assistant_message: 'none is needed' },
      batch({ tool: 'Agent', input, id: 't-1' }),
    ]) {
      assert.equal((await post('claude-code', event)).status, 200)
    }
    const { trace, run: shown } = await run()
    assert.deepEqual(
      trace.map(({ goal, agent_id }: Record<string, unknown>) => [goal, agent_id ?? '']),
      [
        [errand, ''],
        ['compare libraries', ''],
        ['look at a library', 'a-1'],
      ],
    )
    const own = shown.grounds.find(({ agent_id }: { agent_id?: string }) => agent_id === 'a-1')
    assert.equal(own.goal, task)
  })

  test('whatever is wrong, the answer is one that the host accepts', async (t) => {
    verifies('hosts.endpoint', 'hosts.note')
    const { post, app } = await startOn(t)
    const noteOf = async (host: string, body: unknown, headers?: Record<string, string>) => {
      const answer = await post(host, body, headers)
      assert.deepEqual([answer.status, answer.body], [200, {}])
      return answer.headers.get('x-plumbline-note')
    }
    assert.match(String(await noteOf('claude-code', 'no json')), /^bad_request; body: send/)
    assert.match(
      String(await noteOf('emacs', prompted(errand, 'p-1'))),
      /unknown host; send one of/,
    )
    assert.match(String(await noteOf('codex', prompted(errand, 'p-1'), {})), /^no_key; Send a key/)
    assert.equal(
      await noteOf('claude-code', { hook_event_name: 'SomethingNew', session_id: 'x' }),
      null,
    )
    assert.equal(await noteOf('claude-code', [1, 'two', null]), null)
    assert.match(String(await noteOf('claude-code', `"${'x'.repeat(1024 * 1024)}"`)), /too_large/)
    const cursor = await app.request('POST', '/v1/hooks/cursor/beforeSubmitPrompt', { body: 'x' })
    assert.deepEqual([cursor.status, cursor.body], [200, { continue: true }])
  })

  test('a step counts as one write, and an event without one as none', async (t) => {
    verifies('hosts.quota')
    const tiers = join(freshFolder(t), 'tiers.json')
    writeFileSync(tiers, JSON.stringify({ ground: { writes: 2 } }))
    const app = await start(t, {
      env: { DATABASE_URL: await database.createUrl(), PLUMBLINE_TIERS: tiers },
    })
    const { headers } = await app.newAccount('ground')
    const post = (body: unknown) =>
      app.request('POST', '/v1/hooks/claude-code', { body: JSON.stringify(body), headers })
    const left = async (body: unknown) => (await post(body)).headers.get('x-ratelimit-remaining')
    const end = (at: number) => ({
      ...common,
      hook_event_name: 'Stop',
      last_assistant_message: `${at}`,
    })
    assert.equal(await left(prompted(errand, 'p-1')), '1')
    assert.equal(await left(end(1)), null)
    assert.equal(await left(prompted('limit the sign-up endpoint too', 'p-2')), '0')
    assert.equal(await left(end(2)), null)
    const { status, headers: told } = await post(prompted('use port 8081 instead', 'p-3'))
    assert.deepEqual([status, told.get('x-plumbline-note')?.split(';')[0]], [200, 'rate_limit'])
    const url = `/v1/drift/run?run_id=${encodeURIComponent(runId)}`
    assert.equal((await app.get(url, headers)).body.trace.length, 2)
  })

  test('a loop is seen in what was done, and the run says how much belongs to the errand', async (t) => {
    verifies('hosts.evidence.verdict', 'hosts.coverage', 'hosts.clock', 'hosts.list')
    const { post, run, app } = await startOn(t)
    await post('claude-code', prompted(errand, 'p-1'))
    for (let nth = 1; nth <= 4; nth++) {
      const path = '/home/kim/shop/src/login/limit.js'
      const texts = { old_string: `${nth}`, new_string: `${nth + 1}` }
      await post(
        'claude-code',
        batch({ tool: 'Edit', input: { file_path: path, ...texts }, id: `e-${nth}` }),
      )
      await post('claude-code', {
        ...common,
        hook_event_name: 'PostToolUseFailure',
        tool_name: 'Bash',
        tool_input: { command: 'node --test' },
        tool_use_id: `t-${nth}`,
        error: `Exit code 1\nnot ok 1 - limits the login\nran ${nth} ms`,
      })
    }
    const { run: shown, trace } = await run()
    const last = trace.at(-1)
    const why = '"node --test" failed 4 times with the same 1 test; 3 edits in between.'
    assert.deepEqual([last.reason, last.why], ['stalled', why])
    assert.deepEqual(last.act_evidence, { kind: 'tests-stuck', gives: 'stalled', says: why })
    assert.deepEqual(
      [last.host, last.goal_source, last.failed_acts > 0],
      ['claude-code', 'act', true],
    )
    assert.deepEqual(last.doing.at(-1), 'run node --test')
    assert.equal(shown.host, 'claude-code')
    assert.deepEqual(shown.coverage, {
      known: true,
      acts: 8,
      skipped: 0,
      every: 1,
      share: 1,
      recent: 1,
      failed: 4,
      outcomes: 1,
      words: 'told',
    })
    assert.notEqual(shown.last_person_at, null)
    const listed = async (host: string) =>
      (await app.get(`/v1/drift/runs?host=${host}`, app.keyed)).body.runs.length
    assert.deepEqual([await listed('claude-code'), await listed('codex')], [1, 0])
    assert.equal((await app.get('/v1/drift/runs?host=emacs', app.keyed)).status, 400)
  })

  test('what no reader understands is counted by its name alone', async (t) => {
    verifies('hosts.unknown-events')
    const { post, app } = await startOn(t)
    const unknown = async () => (await app.get('/v1/hooks', app.keyed)).body.not_understood
    assert.deepEqual(await unknown(), [])
    await post('claude-code', { ...common, hook_event_name: 'TeaBreak', secret: 'a secret' })
    await post('claude-code', { ...common, hook_event_name: 'TeaBreak' })
    await post('claude-code', { ...common, hook_event_name: 'a secret told as a name' })
    await post('copilot/teaBreak', { sessionId: 's' })
    // What is known to say nothing is understood.
    await post('claude-code', { ...common, hook_event_name: 'PreToolUse', tool_name: 'Read' })
    await post('claude-code', prompted(errand, 'p-1'))
    const told = (await unknown()).map(
      ({ host, name, count }: Record<string, unknown>) => `${host} ${name} ${count}`,
    )
    assert.deepEqual(told, [
      'claude-code (no name) 1',
      'claude-code TeaBreak 2',
      'copilot teaBreak 1',
    ])
    for (let nth = 0; nth < 30; nth++) await post('codex', { hook_event_name: `Event${nth}` })
    await post('codex', { hook_event_name: 'Event3' })
    const ofCodex = (await unknown()).filter(({ host }: { host: string }) => host === 'codex')
    assert.equal(ofCodex.length, 20)
    assert.equal(ofCodex.find(({ name }: { name: string }) => name === 'Event3').count, 2)
    const stranger = (await app.newAccount()).headers
    assert.deepEqual((await app.get('/v1/hooks', stranger)).body.not_understood, [])
  })

  test('how long the hooks of a host waited is told to their account', async (t) => {
    verifies('hosts.answered')
    const { post, app } = await startOn(t)
    const answered = async (headers = app.keyed) =>
      (await app.get('/v1/hooks', headers)).body.answered
    assert.deepEqual(await answered(), [])
    await post('claude-code', prompted(errand, 'p-1'))
    await post('claude-code', prompted('thanks', 'p-2'))
    await post('codex', { hook_event_name: 'TeaBreak' })
    const [of, ...more] = await answered()
    assert.deepEqual([of.host, of.answers, more.length], ['claude-code', 2, 0])
    assert.ok(of.p50_ms <= of.p99_ms)
    assert.equal(of.last, new Date(app.running.service.now()).toISOString())
    assert.deepEqual(await answered((await app.newAccount()).headers), [])
  })

  test('a session in which nobody can speak is never attended', async (t) => {
    verifies('hosts.clock.never')
    const { post, run } = await startOn(t)
    await post('claude-code', { ...prompted(errand, 'p-1'), source: 'sdk' })
    assert.equal((await run()).run.attended, 'never')
    // The environment of its hooks tells it too, and the program behind them says it in the address.
    const other = { ...prompted(errand, 'p-9'), session_id: 'handed' }
    await post('claude-code/UserPromptSubmit?attended=never', other)
    assert.equal((await run('claude-code:handed')).run.attended, 'never')
    await post('claude-code', { ...prompted(errand, 'p-8'), session_id: 'typed' })
    assert.equal((await run('claude-code:typed')).run.attended, 'at_times')
    const client = { client: 'codex_exec', type: 'agent-turn-complete', 'thread-id': 'c' }
    await post('codex', { ...client, 'turn-id': 'u1', 'input-messages': [errand] })
    assert.equal((await run('codex:c')).run.attended, 'never')
  })

  test('the clock tells how often steps drift, by the time since a person was there', async (t) => {
    verifies('hosts.clock.bands')
    const { post, run, app } = await startOn(t)
    const clock = async () => (await app.get('/v1/drift/clock', app.keyed)).body
    await post('claude-code', { ...prompted(errand, 'p-1'), source: 'sdk' })
    assert.equal((await run()).run.attended, 'never')
    const edit = (nth: number) =>
      batch({
        tool: 'Edit',
        input: {
          file_path: `/home/kim/shop/src/login/${nth}.js`,
          old_string: 'a',
          new_string: 'b',
        },
        id: `e-${nth}`,
      })
    app.advance(6 * 60_000)
    for (let nth = 0; nth < 20; nth++) await post('claude-code', edit(nth))
    const { bands, ...all } = await clock()
    assert.deepEqual(all, { runs: 1, never_attended: 1 })
    assert.deepEqual(
      bands.map(({ from_ms, to_ms, steps }: Record<string, number>) => [from_ms, to_ms, steps]),
      [
        [0, 60_000, 1],
        [60_000, 300_000, 0],
        [300_000, 1_800_000, 20],
        [1_800_000, null, 0],
      ],
    )
    assert.deepEqual([bands[0].known, bands[0].share], [false, null])
    assert.deepEqual([bands[2].known, bands[2].share], [true, bands[2].drifting_steps / 20])
    await post('claude-code', {
      ...prompted('limit the sign-up endpoint too', 'p-2'),
      source: 'user',
    })
    assert.equal((await run()).run.attended, 'at_times')
    assert.deepEqual([(await clock()).never_attended, (await clock()).bands[0].steps], [0, 2])
    const other = (await app.newAccount()).headers
    assert.equal((await app.get('/v1/drift/clock', other)).body.runs, 0)
    await app.post('/v1/drift', { run_id: 'own', goal: errand }, app.keyed)
    assert.equal((await run('own')).run.attended, null)
  })

  test('of a storm of acts every k-th is read, and the failures, and the run says so', async (t) => {
    verifies('hosts.sampling')
    const { post, run, app } = await startOn(t)
    await post('claude-code', prompted(errand, 'p-1'))
    const read = (nth: number) => ({
      ...common,
      hook_event_name: nth % 100 === 99 ? 'PostToolUseFailure' : 'PostToolUse',
      tool_name: 'Read',
      tool_input: { file_path: `/home/kim/shop/src/login/${nth}.js` },
      tool_use_id: `r-${nth}`,
      ...(nth % 100 === 99 ? { error: 'no such file' } : { tool_response: 'x' }),
    })
    const storm = Array.from({ length: 600 }, (_, nth) => JSON.stringify(read(nth + 1)))
    assert.equal((await post('claude-code', storm.join('\n'))).status, 200)
    await post('claude-code', prompted('limit the sign-up endpoint too', 'p-2'))
    const { coverage, assignment } = (await run()).run
    // All of 200, every second of 200, every third of 200, and the four failures among the others.
    assert.equal(coverage.acts, 600)
    assert.equal(coverage.acts - coverage.skipped, 200 + 100 + 67 + 4)
    assert.deepEqual([coverage.every, coverage.failed, coverage.share], [3, 6, 1])
    assert.equal(assignment.at(-1).text, 'limit the sign-up endpoint too')
    app.advance(60_000)
    const more = [601, 602].map((nth) => JSON.stringify(read(nth)))
    await post('claude-code', more.join('\n'))
    await post('claude-code', prompted('and the reset endpoint', 'p-3'))
    const later = (await run()).run.coverage
    assert.deepEqual([later.acts, later.skipped], [602, coverage.skipped])
  })

  test('in the mode advise an agent that has left its errand is told so once', async (t) => {
    verifies('hosts.mode')
    const { post, run, app } = await startOn(t)
    const set = (body: object) => app.post('/v1/hooks', body, app.keyed)
    const read = async (query = '') => (await app.get(`/v1/hooks${query}`, app.keyed)).body.hooks
    assert.deepEqual(await read(), { mode: 'observe', remind: true })
    assert.deepEqual((await set({ mode: 'advise' })).body.hooks, { mode: 'advise', remind: true })
    await post('claude-code', prompted('refund order 1234 to the customer', 'p-1'))
    const act = (id: string, description: string) =>
      post('claude-code', batch({ tool: 'Bash', input: { command: 'refund', description }, id }))
    assert.deepEqual((await act('t-0', 'look up order 1234')).body, {})
    const told = (await act('t-1', 'refund order 9876 to the customer')).body.hookSpecificOutput
    assert.equal(told.hookEventName, 'PostToolBatch')
    assert.match(
      told.additionalContext,
      /^The errand in the user's words \(12:00 UTC\): "refund order 1234 to the customer"\./,
    )
    assert.match(told.additionalContext, /"1234" in the ground is "9876" in the goal/)
    assert.match(told.additionalContext, /\[plumbline\]$/)
    assert.ok(told.additionalContext.length <= 1000)
    // A host that sends an event again is answered as before, and nothing counts twice.
    const again = await act('t-1', 'refund order 9876 to the customer')
    assert.deepEqual(again.body.hookSpecificOutput, told)
    assert.equal((await run()).run.steps, 3)
    assert.deepEqual((await act('t-2', 'refund order 9876 to the customer now')).body, {})
    // A run may differ from its account.
    await set({ run_id: runId, mode: 'observe' })
    assert.deepEqual(
      [(await read()).mode, (await read(`?run_id=${runId}`)).mode],
      ['advise', 'observe'],
    )
    await set({ run_id: runId, mode: null, remind: false })
    assert.deepEqual(await read(`?run_id=${runId}`), { mode: 'advise', remind: false })
    assert.equal((await set({ mode: 'shout' })).status, 400)
  })

  test('in the mode advise a session that goes on is told at its beginning, where its host takes that', async (t) => {
    verifies('hosts.mode')
    const { post, app } = await startOn(t)
    const session = { session_id: 's-1', cwd: '/work/shop' }
    const prompt = 'refund order 1234 to the customer'
    const tool_input = { command: 'refund', description: 'refund order 9876 to the customer' }
    const starts = { ...session, hook_event_name: 'SessionStart', source: 'resume' }
    const acts = [
      { host: 'codex', asks: 'UserPromptSubmit', ends: 'PostToolUse', tool_name: 'Bash' },
      {
        host: 'gemini-cli',
        asks: 'BeforeAgent',
        ends: 'AfterTool',
        tool_name: 'run_shell_command',
      },
    ]
    for (const { host, asks, ends, tool_name } of acts) {
      await post(host, { ...session, hook_event_name: asks, turn_id: 't', prompt })
      const act = { tool_name, tool_use_id: 'c-1', tool_input, tool_response: 'done' }
      await post(host, { ...session, hook_event_name: ends, ...act })
      assert.deepEqual((await post(host, starts)).body, {})
    }
    await app.post('/v1/hooks', { mode: 'advise' }, app.keyed)
    starts.source = 'startup'
    for (const host of ['codex', 'gemini-cli']) {
      const { body } = await post(host, starts)
      assert.equal(body.hookSpecificOutput?.hookEventName, 'SessionStart', host)
      assert.match(body.hookSpecificOutput.additionalContext, /refund order 1234.*\[plumbline\]$/)
    }
  })

  test('in the mode gate a command that cannot be undone is held while the run drifts', async (t) => {
    verifies('hosts.mode')
    const { post, app } = await startOn(t)
    await app.post('/v1/hooks', { mode: 'gate' }, app.keyed)
    const before = (command: string) =>
      post('claude-code', {
        ...common,
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command },
        tool_use_id: command,
      })
    await post('claude-code', prompted('refund order 1234 to the customer', 'p-1'))
    assert.deepEqual((await before('git push --force')).body, {})
    await post(
      'claude-code',
      batch({
        tool: 'Bash',
        input: { command: 'refund', description: 'refund order 9876 to the customer' },
        id: 't-1',
      }),
    )
    const held = (await before('git push --force')).body.hookSpecificOutput
    assert.deepEqual([held.hookEventName, held.permissionDecision], ['PreToolUse', 'ask'])
    assert.match(held.permissionDecisionReason, /refund order 1234.*force-push/)
    assert.deepEqual((await before('git status')).body, {})
    await app.post('/v1/hooks', { mode: 'advise' }, app.keyed)
    assert.deepEqual((await before('git push --force')).body, {})
  })

  test('a key of the scope hooks reports events, and does nothing else', async (t) => {
    verifies('keys.scope')
    const { post, run, app } = await startOn(t)
    const body = { scope: 'hooks', label: 'laptop' }
    const made = await app.post('/v1/me/keys', body, app.keyed)
    assert.deepEqual([made.status, made.body.scope, made.body.label], [201, 'hooks', 'laptop'])
    const headers = { authorization: `Bearer ${made.body.key}` }
    const reported = await post('claude-code', prompted(errand, 'p-1'), headers)
    assert.deepEqual([reported.status, reported.headers.get('x-plumbline-note')], [200, null])
    assert.equal((await run()).trace.length, 1)
    for (const path of ['/v1/me', '/v1/drift/runs', '/v1/export']) {
      const refused = await app.get(path, headers)
      assert.deepEqual([refused.status, refused.body.error], [403, 'forbidden'])
    }
    const more = await app.post('/v1/me/keys', {}, headers)
    assert.deepEqual([more.status, more.body.error], [403, 'forbidden'])
    const step = await app.post('/v1/drift', { goal: errand }, headers)
    assert.deepEqual([step.status, step.body.error], [403, 'forbidden'])
    const { keys } = (await app.get('/v1/me', app.keyed)).body
    assert.deepEqual(
      keys.map(({ scope, label }: Record<string, unknown>) => `${scope} ${label}`).sort(),
      ['full null', 'hooks laptop'],
    )
    // A key that is replaced keeps what it may do.
    const rotated = await app.post('/v1/me/keys/rotate', { id: made.body.id }, app.keyed)
    assert.deepEqual([rotated.body.scope, rotated.body.label], ['hooks', 'laptop'])
    const bad = await app.post('/v1/me/keys', { scope: 'all' }, app.keyed)
    assert.deepEqual([bad.status, bad.body.detail], [400, 'scope: send full or hooks'])
    const last = keys.find(({ scope }: { scope: string }) => scope === 'full').id
    const refused = await app.request('DELETE', `/v1/me/keys?id=${last}`, { headers: app.keyed })
    assert.equal(refused.status, 409, 'the last key that can make another stays')
  })

  test('several events come as lines', async (t) => {
    verifies('hosts.endpoint')
    const { post, run } = await startOn(t)
    const lines = [
      prompted(errand, 'p-1'),
      batch({
        tool: 'Bash',
        input: { command: 'npm test', description: 'run the tests' },
        id: 't-1',
      }),
    ]
    await post('claude-code', lines.map((line) => JSON.stringify(line)).join('\n'))
    assert.equal((await run()).trace.length, 2)
  })

  test('nothing is kept of contents, outputs and values', async (t) => {
    verifies('hosts.private')
    const { app, post, run } = await startOn(t)
    const canary = 'canary-7f3a'
    const outside = `/srv/${canary}/notes.md`
    await post('claude-code', prompted(errand, 'p-1'))
    const calls = [
      { tool: 'Write', input: { file_path: '/home/kim/shop/a.js', content: canary } },
      { tool: 'Edit', input: { file_path: outside, old_string: canary, new_string: canary } },
      {
        tool: 'Bash',
        input: { command: `TOKEN=${canary} deploy --key=${canary} --password ${canary}` },
      },
      { tool: 'Bash', input: { command: `curl https://kim:${canary}@shop.test/a?key=${canary}` } },
      { tool: 'WebFetch', input: { url: `https://shop.test/b?key=${canary}` } },
      {
        tool: 'Grep',
        input: { pattern: 'login' },
        answer: { stdout: canary, file: { content: canary } },
      },
      { tool: 'Unheard', input: { anything: canary }, answer: canary },
    ]
    for (const [at, call] of calls.entries()) {
      await post('claude-code', batch({ ...call, id: `t-${at}` }))
    }
    const failed = { tool_name: 'Bash', tool_input: { command: 'npm test' }, tool_use_id: 't-9' }
    await post('claude-code', {
      ...common,
      hook_event_name: 'PostToolUseFailure',
      ...failed,
      error: canary,
    })
    const shown = await run()
    assert.ok(shown.trace.length > 3, JSON.stringify(shown.trace))
    assert.doesNotMatch(JSON.stringify(shown), new RegExp(canary))
    const { text } = await app.request('GET', '/v1/me/export', { headers: app.keyed })
    assert.match(text, /host_session/)
    assert.doesNotMatch(text, new RegExp(canary))
  })

  /** An act under one goal: the first opens a step, and every tenth after it another one. */
  const looks = (nth: number) =>
    batch({
      tool: 'Bash',
      input: { command: `cat notes-${nth}.txt`, description: 'read the notes on the limit' },
      id: `look-${nth}`,
      answer: `note ${nth}`,
    })

  test('acts that were answered are stored when the server stops', async (t) => {
    verifies('hosts.acts-soon', 'hosts.once')
    const url = await database.createUrl()
    const first = await start(t, { env: { DATABASE_URL: url } })
    const { headers } = await first.newAccount()
    await first.post('/v1/hooks/claude-code', prompted(errand, 'p-1'), headers)
    for (let nth = 0; nth < 10; nth++) {
      await first.post('/v1/hooks/claude-code', looks(nth), headers)
    }
    await first.running.stop()
    const second = await start(t, { env: { DATABASE_URL: url } })
    // What was told before the stop counts no second time.
    for (const nth of [9, 10]) await second.post('/v1/hooks/claude-code', looks(nth), headers)
    const run = await second.get(`/v1/drift/run?run_id=${encodeURIComponent(runId)}`, headers)
    assert.deepEqual(
      run.body.trace.map(({ acts }: { acts: number }) => acts),
      [0, 1, 10],
    )
  })

  test('acts that are not stored are told in the log, and a refusal is no fault', async (t) => {
    verifies('hosts.acts-lost')
    const { app } = await startOn(t)
    const { waitingActs } = app.running.service
    const said = { kind: 'say', text: 'x', runId, agentId: '', eventId: 'e' } as const
    const session = { events: [said, { ...said }], stored: nothingObserved, known: nothingObserved }
    const beyondQuota = new Refusal(429, 'rate_limit')
    waitingActs.keep('acct', 'beyond', session, () => Promise.reject(beyondQuota))
    await waitingActs.flush()
    assert.deepEqual(
      app.log
        .filter(({ msg }) => msg === 'acts were refused')
        .map(({ level, reason }) => [level, reason]),
      [[30, 'rate_limit']],
    )
    waitingActs.keep('acct', 'away', session, () => Promise.reject(unavailable('away')))
    await app.running.stop()
    const lost = app.log.filter(({ level }) => level === 50)
    assert.deepEqual(
      lost.map(({ acts, msg }) => [acts, msg]),
      [[2, 'acts were lost: the database was not available until the stop']],
    )
  })

  test('acts that wait go with their run', async (t) => {
    verifies('hosts.acts-soon')
    const { app, post, run } = await startOn(t)
    await post('claude-code', prompted(errand, 'p-1'))
    for (let nth = 0; nth < 5; nth++) await post('claude-code', looks(nth))
    const path = `/v1/drift/run?run_id=${encodeURIComponent(runId)}`
    assert.equal((await app.request('DELETE', path, { headers: app.keyed })).status, 200)
    await app.running.service.waitingActs.flush()
    const { text } = await app.request('GET', '/v1/me/export', { headers: app.keyed })
    assert.doesNotMatch(text, /host_session/)
    await post('claude-code', prompted(errand, 'p-2'))
    for (let nth = 0; nth < 2; nth++) await post('claude-code', looks(nth))
    assert.deepEqual(
      (await run()).trace.map(({ acts }: { acts: number }) => acts),
      [0, 1],
    )
  })

  test('the acts of a session that reports to several nodes all count, and once', {
    skip: database.name === 'sqlite' && 'a SQLite file has one server',
  }, async (t) => {
    verifies('hosts.acts-soon', 'hosts.once')
    const url = await database.createUrl()
    const nodes = [
      await start(t, { env: { DATABASE_URL: url } }),
      await start(t, { env: { DATABASE_URL: url } }),
    ] as const
    const [one, other] = nodes
    const { headers } = await one.newAccount()
    const post = (node: typeof one, body: unknown) =>
      node.post('/v1/hooks/claude-code', body, headers)
    await post(one, prompted(errand, 'p-1'))
    await post(one, looks(0))
    // Neither node knows of the acts that wait at the other one, and both are told of the third.
    for (let nth = 1; nth <= 10; nth++) {
      await post(nth % 2 === 0 ? one : other, looks(nth))
      if (nth === 3) await post(one, looks(nth))
    }
    for (const { running } of nodes) await running.service.waitingActs.flush()
    const run = await one.get(`/v1/drift/run?run_id=${encodeURIComponent(runId)}`, headers)
    assert.deepEqual(
      run.body.trace.map(({ acts }: { acts: number }) => acts),
      [0, 1, 10],
    )
  })

  test('after a compaction the errand is told again', async (t) => {
    verifies('hosts.remind')
    const { post } = await startOn(t)
    await post('claude-code', prompted(errand, 'p-1'))
    await post(
      'claude-code',
      batch({
        ...todos(['find the login route', 'completed'], ['limit it', 'pending']),
        id: 't-1',
      }),
    )
    const { body } = await post('claude-code', {
      ...common,
      hook_event_name: 'SessionStart',
      source: 'compact',
    })
    assert.deepEqual(body, {
      hookSpecificOutput: {
        hookEventName: 'SessionStart',
        additionalContext: `The errand in the user's words: "${errand}". Open in the plan: limit it. [plumbline]`,
      },
    })
  })
})
