import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { readConfig } from '../src/config.ts'
import { vocabulary } from '../src/core/field.ts'
import { dayMs, hourMs } from '../src/core/time.ts'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { dumpTables } from './dump.ts'
import { type App, start } from './harness.ts'
import { sendRaw } from './raw.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const onErrand = 'write rate limiting for the login endpoint'
const astray = 'remove rate limiting from the login endpoint'
const elsewhere = 'redesign the company logo'
const eras = { '2025-11-25': 'legacy', '2026-07-28': 'auto' } as const
type Era = keyof typeof eras

/** A client of the SDK that is connected in the given era; a proxy names its address unless told otherwise. */
async function connect(
  t: TestContext,
  app: App,
  era: Era,
  headers: Record<string, string> = { 'cf-connecting-ip': '203.0.113.200' },
): Promise<{ client: Client; transport: StreamableHTTPClientTransport; call: Call }> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: eras[era] } },
  )
  const transport = new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), {
    requestInit: { headers },
  })
  await client.connect(transport)
  t.after(() => client.close())
  return {
    client,
    transport,
    async call(name, args = {}) {
      const result = await client.callTool({ name, arguments: args })
      const [content] = result.content as { type: string; text: string }[]
      const said = JSON.parse(content?.text ?? 'null')
      if (result.isError) return { isError: true, ...said }
      assert.deepEqual(result.structuredContent, said, 'text and structure say the same')
      return said
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Call = (name: string, args?: Record<string, unknown>) => Promise<any>

const step = (goal: string, more: Record<string, unknown> = {}) => ({
  goal,
  progress: 'advancing',
  distance: 5,
  ...more,
})

for (const era of Object.keys(eras) as Era[]) {
  test(`a client of ${era} does a whole run: ground, errand, drift, reset`, async (t) => {
    verifies('mcp.tools', 'mcp.revisions', 'mcp.check-state', 'mcp.get-history', 'mcp.reset-task')
    const app = await start(t)
    const { client, call } = await connect(t, app, era)
    assert.equal(client.getNegotiatedProtocolVersion(), era)
    const { tools } = await client.listTools()
    assert.deepEqual(tools.map(({ name }) => name).sort(), [
      'analyze_language',
      'ask_alice',
      'check_dialogue',
      'check_state',
      'compare_phrasings',
      'drift_grammar',
      'field_vocabulary',
      'forget_self',
      'get_history',
      'modulate',
      'read_field',
      'remember_self',
      'reset_dialogue',
      'reset_task',
      'resume_self',
      'speak_to_field',
    ])
    const grounded = await call('check_state', step(errand, { distance: 8 }))
    assert.deepEqual(
      [grounded.reason, grounded.run, grounded.step, grounded.ground],
      ['grounded', 'mcp:default', 1, errand],
    )
    assert.equal((await call('check_state', step(onErrand))).reason, 'advancing')
    const drifted = await call('check_state', step(astray))
    assert.deepEqual([drifted.reason, drifted.drifting, drifted.step], ['goal-drift', true, 3])
    const reset = await call('reset_task', { goal: elsewhere })
    assert.deepEqual(reset, {
      ok: true,
      run: 'mcp:default',
      ground: elsewhere,
      suspended: [errand],
    })
    const after = await call('check_state', step('redesign the logo'))
    assert.deepEqual([after.reason, after.ground], ['advancing', elsewhere])
    const history = await call('get_history', { limit: 2 })
    assert.deepEqual(
      [history.steps, history.drifting, history.trace.map(({ step }: { step: number }) => step)],
      [5, 1, [4, 5]],
    )
    assert.equal((await call('get_history')).trace.length, 5)
  })
}

test('every tool says what it takes and gives, and what a model may expect of it', async (t) => {
  verifies('mcp.schemas')
  const app = await start(t)
  const { client } = await connect(t, app, '2026-07-28')
  for (const tool of (await client.listTools()).tools) {
    assert.ok((tool.title ?? '').length > 5 && (tool.description ?? '').length > 50, tool.name)
    assert.deepEqual(
      Object.keys(tool.annotations ?? {}).sort(),
      ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint', 'title'],
      tool.name,
    )
    assert.equal(tool.inputSchema.type, 'object')
    assert.equal(tool.outputSchema?.type, 'object', tool.name)
    assert.ok(Object.hasOwn(tool.inputSchema.properties ?? {}, 'key'), tool.name)
    assert.ok(!/\$ref/.test(JSON.stringify(tool.inputSchema)), 'a model cannot resolve references')
    assert.ok(!/"type":\[/.test(JSON.stringify(tool)), 'some hosts want one type')
  }
})

test('an unknown progress is a verdict, faults name the field, and texts are counted for claims', async (t) => {
  verifies('mcp.check-state')
  const app = await start(t)
  const { call } = await connect(t, app, '2025-11-25')
  await call('check_state', step(errand))
  const odd = await call('check_state', step(onErrand, { progress: 'sideways' }))
  assert.deepEqual([odd.reason, odd.drifting, odd.isError], ['ungrammatical', true, undefined])
  const plain = await call('check_state', step(onErrand))
  assert.ok(!Object.hasOwn(plain, 'claims'))
  const claimed = await call('check_state', step(onErrand, { doing: 'I ran it', next: 'because' }))
  assert.deepEqual(claimed.claims, { claims: 1, observations: 1, grounded: 0.5 })
  const parent_goal = 'write a token bucket for the login endpoint'
  const parent = await call('check_state', step('install the redis client', { parent_goal }))
  assert.deepEqual([parent.reason, parent.parent_overlap], ['excursion', 0.25])
  const turned = await call('check_state', step(elsewhere, { user_turn: true }))
  assert.deepEqual([turned.reason, turned.revision], ['grounded', 2])
  for (const [args, field] of [
    [{}, 'goal'],
    [step('x'.repeat(4001)), 'goal'],
    [step('x', { distance: {} }), 'distance'],
    [step('x', { session: '' }), 'session'],
    [step('x', { user_turn: 'yes' }), 'user_turn'],
  ] as const) {
    const refused = await call('check_state', args)
    assert.deepEqual([refused.isError, refused.error], [true, 'bad_request'])
    assert.match(refused.detail, new RegExp(`${field}: `))
  }
})

onEachDatabase(({ createUrl }) => {
  test('a ground put aside comes back, eight are kept, and a user turn puts aside too', async (t) => {
    verifies('mcp.reset-task', 'mcp.resumed-ground')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const { call } = await connect(t, app, '2025-11-25')
    await call('check_state', step(errand))
    const reset = await call('reset_task')
    assert.deepEqual([reset.ground, reset.suspended], [null, [errand]])
    const next = await call('check_state', step(elsewhere))
    assert.deepEqual([next.reason, next.ground], ['grounded', elsewhere])
    const back = await call('check_state', step(onErrand))
    assert.deepEqual([back.resumed_ground, back.ground, back.reason], [errand, errand, 'advancing'])
    const again = await call('check_state', step(elsewhere))
    assert.equal(again.resumed_ground, elsewhere)
    await call('check_state', step('book a flight to Oslo', { user_turn: true }))
    assert.equal((await call('check_state', step(elsewhere))).resumed_ground, elsewhere)
    for (let task = 0; task < 10; task++) {
      await call('reset_task', { goal: `task number${task} about topic${task}` })
    }
    const { suspended } = await call('reset_task')
    assert.equal(suspended.length, 8)
    assert.equal(suspended.at(-1), 'task number9 about topic9')
  })

  test('a step that is reported during a reset comes before or after it', async (t) => {
    verifies('mcp.reset-task', 'mcp.resumed-ground')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const { call } = await connect(t, app, '2025-11-25')
    await call('check_state', step(errand))
    for (let round = 0; round < 12; round++) {
      const [reset] = await Promise.all([
        call('reset_task', { goal: elsewhere }),
        call('check_state', step(onErrand)),
      ])
      assert.equal(reset.ground, elsewhere)
    }
  })

  test('with a key too a connection has a run of its own unless session names one', async (t) => {
    verifies('mcp.own-run', 'mcp.check-state.fields')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const caller = await newCaller(app)
    const one = await connect(t, app, '2025-11-25', caller.headers)
    const two = await connect(t, app, '2025-11-25', caller.headers)
    const plan = ['write a token bucket']
    const first = await one.call('check_state', { goal: onErrand, ground: errand, plan })
    assert.deepEqual([first.step, first.ground], [1, errand])
    const other = await two.call('check_state', { goal: elsewhere })
    assert.deepEqual([other.step, other.ground], [1, elsewhere])
    assert.notEqual(other.run, first.run)
    assert.match(first.run, /^mcp:[\w-]{22}$/)
    const again = await one.call('check_state', { goal: plan[0], distance: 4 })
    assert.deepEqual([again.step, again.run, again.ground], [2, first.run, errand])
    assert.equal((await two.call('get_history')).steps, 1)
    const shared = await one.call('check_state', step(errand, { session: 'shared' }))
    const same = await two.call('check_state', step(onErrand, { session: 'shared' }))
    assert.deepEqual([shared.run, same.run, same.step], ['mcp:shared', 'mcp:shared', 2])
    const modern = await connect(t, app, '2026-07-28', caller.headers)
    assert.equal((await modern.call('check_state', { goal: errand })).run, 'mcp:default')
    const { tools } = await one.client.listTools()
    const listed = tools.find(({ name }) => name === 'check_state')
    const properties = listed?.inputSchema.properties as Record<string, { enum?: string[] }>
    assert.deepEqual(properties.progress?.enum, ['advancing', 'stuck', 'circling'])
    assert.deepEqual(listed?.inputSchema.required, ['goal'])
    const odd = await one.call('check_state', step(errand, { progress: 'in progress' }))
    assert.equal(odd.reason, 'ungrammatical')
  })

  test('the first plan of an agent is a claim', async (t) => {
    verifies('rules.own-plan')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const caller = await newCaller(app)
    const { call } = await connect(t, app, '2025-11-25', caller.headers)
    const plan = ['book a hotel room in Paris for five nights', 'buy tickets for the museum']
    await call('check_state', { goal: onErrand, ground: errand, plan })
    const { why } = await call('check_state', { goal: plan[0] })
    assert.doesNotMatch(why, /restates an item/)
  })

  test('check_state reads the words of the user and what they do', async (t) => {
    verifies('user.message', 'mcp.check-state.fields')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const caller = await newCaller(app)
    const { call } = await connect(t, app, '2025-11-25', caller.headers)
    await call('check_state', { goal: onErrand, ground: errand })
    const thanked = await call('check_state', step(onErrand, { user_message: 'thanks, go on!' }))
    assert.deepEqual([thanked.ground, thanked.revision], [errand, 1])
    const added = await call('check_state', {
      goal: 'open the sign-up form',
      user_message: 'also limit the sign-up form please',
    })
    assert.equal(added.ground, `${errand}\nalso limit the sign-up form please`)
    const stated = await call('check_state', {
      goal: elsewhere,
      user_message: elsewhere,
      user_effect: 'replaces',
    })
    assert.deepEqual([stated.ground, stated.revision], [elsewhere, 3])
    for (const [args, field] of [
      [step('x', { user_message: 'x'.repeat(4001) }), 'user_message'],
      [step('x', { user_message: 7 }), 'user_message'],
      [step('x', { user_message: 'x', user_effect: 'moves' }), 'user_effect'],
    ] as const) {
      const refused = await call('check_state', args)
      assert.deepEqual([refused.isError, refused.error], [true, 'bad_request'])
      assert.match(refused.detail, new RegExp(`${field}: `))
    }
  })

  test('with a key the state is the run mcp:<session> of the account', async (t) => {
    verifies('mcp.state-keyed')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const caller = await newCaller(app)
    const { call } = await connect(t, app, '2026-07-28', caller.headers)
    await call('check_state', step(errand))
    await call('check_state', step(elsewhere, { session: 'other' }))
    const { call: keyless } = await connect(t, app, '2026-07-28')
    const named = await keyless('check_state', step(onErrand, { key: caller.key }))
    assert.deepEqual([named.step, named.reason], [2, 'advancing'])
    const { runs } = (await caller.get('/v1/drift/runs')).body
    assert.deepEqual(
      runs.map(({ run_id, steps }: { run_id: string; steps: number }) => [run_id, steps]).sort(),
      [
        ['mcp:default', 2],
        ['mcp:other', 1],
      ],
    )
    const { trace } = await caller.read('mcp:default')
    assert.ok(!JSON.stringify(trace).includes(caller.key), 'the key is stored nowhere')
    const { usage } = (await caller.get('/v1/me')).body
    assert.equal(usage.writes, 3)
    assert.equal((await keyless('get_history')).steps, 0)
    const bad = await keyless('get_history', { key: 'nobody' })
    assert.deepEqual([bad.isError, bad.error], [true, 'bad_key'])
  })

  test('without a key nobody reaches the state of another by guessing a name', async (t) => {
    verifies('mcp.state-keyless', 'mcp.session-id')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const from = (address: string) => ({ 'cf-connecting-ip': address })
    const one = await connect(t, app, '2025-11-25', from('203.0.113.1'))
    assert.match(one.transport.sessionId ?? '', /^session_\w{22}\.[\w-]{43}$/)
    await one.call('check_state', step(errand, { session: 'shared' }))
    const two = await connect(t, app, '2025-11-25', from('203.0.113.1'))
    assert.notEqual(two.transport.sessionId, one.transport.sessionId)
    assert.equal((await two.call('get_history', { session: 'shared' })).steps, 0)
    assert.equal((await one.call('get_history', { session: 'shared' })).steps, 1)

    const modern = await connect(t, app, '2026-07-28', from('203.0.113.2'))
    assert.equal(modern.transport.sessionId, undefined)
    await modern.call('check_state', step(errand))
    const same = await connect(t, app, '2026-07-28', from('203.0.113.2'))
    assert.equal((await same.call('get_history')).steps, 1, 'the address and the session')
    const other = await connect(t, app, '2026-07-28', from('203.0.113.3'))
    assert.equal((await other.call('get_history')).steps, 0)
  })

  test('without key, session and address nothing is kept, and the answer says so', async (t) => {
    verifies('mcp.state-none')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const one = await connect(t, app, '2026-07-28', {})
    const other = await connect(t, app, '2026-07-28', { 'cf-connecting-ip': 'unknown' })
    const first = await one.call('check_state', step(errand, { session: 'shared' }))
    assert.deepEqual(
      [first.reason, first.step, first.revision, first.ground, first.run],
      ['grounded', 1, 1, errand, 'mcp:shared'],
    )
    assert.match(first.note, /keeps nothing.*key.*mcp-session-id.*proxy/)
    const foreign = await other.call('check_state', step(elsewhere, { session: 'shared' }))
    assert.deepEqual([foreign.reason, foreign.ground, foreign.step], ['grounded', elsewhere, 1])
    const odd = await one.call('check_state', step(errand, { progress: 'sideways', doing: 'x' }))
    assert.deepEqual([odd.reason, odd.claims.claims], ['ungrammatical', 0])
    for (const { call } of [one, other]) {
      const { note, ...history } = await call('get_history', { session: 'shared' })
      assert.deepEqual(history, {
        run: 'mcp:shared',
        ground: null,
        steps: 0,
        drifting: 0,
        trace: [],
      })
      assert.equal(note, first.note)
      const reset = await call('reset_task', { goal: elsewhere })
      assert.deepEqual(reset, { ok: true, run: 'mcp:default', ground: null, suspended: [], note })
      const style = { team: 'deep-search', role: 'explorer' }
      const modulated = await call('modulate', { goal: errand, ...style })
      assert.deepEqual(
        [modulated.step, modulated.reason, modulated.modulation.return, modulated.note],
        [1, 'grounded', false, note],
      )
      assert.match((await call('modulate', { goal: errand, team: 'x' })).detail, /team: send/)
      const turn = await call('check_dialogue', { agent: 'a', goal: errand, ...style })
      assert.deepEqual(
        [turn.turn, turn.reason, turn.modulation.return, turn.note],
        [1, 'grounded', false, note],
      )
      assert.deepEqual(await call('reset_dialogue'), { ok: true, cleared: false, note })
      assert.equal((await call('ask_alice', { situation: 'what now?' })).source, 'rules')
    }
    const { contents } = await one.client.readResource({ uri: 'plumbline://tasks/shared' })
    assert.equal(JSON.parse((contents[0] as { text: string }).text).steps, 0)
    const tables = await dumpTables(app.running.store.db)
    for (const [table, rows] of Object.entries(tables)) {
      assert.doesNotMatch(JSON.stringify(rows), /login|logo|mcp:|anon_/, table)
    }

    const session = await connect(t, app, '2025-11-25', {})
    await session.call('check_state', step(errand))
    const kept = await session.call('get_history')
    assert.deepEqual([kept.steps, kept.note], [1, undefined], 'a session is somebody')
  })

  test('past what the server stores a day for callers without a key, those with one go on', async (t) => {
    verifies('mcp.state-ceiling')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const { call } = await connect(t, app, '2025-11-25')
    await call('check_state', step(errand))
    const day = Math.floor(Date.UTC(2026, 0, 15) / dayMs)
    const { counters } = app.running.store
    const once = await counters.used('keyless:bytes', day)
    assert.ok(once > errand.length && once < 10_000, `${once} bytes`)
    await counters.count('keyless:bytes', day, 256 * 1024 * 1024 - 2 * once)
    assert.equal((await call('check_state', step(errand))).step, 2)
    for (const [name, args] of [
      ['check_state', step(errand)],
      ['reset_task', { goal: elsewhere }],
      ['modulate', { goal: errand }],
      ['check_dialogue', { agent: 'a', goal: errand }],
    ] as const) {
      const refused = await call(name, args)
      assert.deepEqual(
        [refused.isError, refused.error, refused.retry_after_s],
        [true, 'rate_limit', 43_200],
      )
      assert.match(refused.detail, /without a key.*Send a key/)
    }
    assert.equal((await call('get_history')).steps, 2, 'what is there can be read')
    const caller = await newCaller(app)
    assert.equal((await call('check_state', step(errand, { key: caller.key }))).step, 1)
    app.advance(dayMs / 2)
    assert.equal((await call('check_state', step(errand))).step, 3)
  })

  test('keyless state is kept for a day and bounded', async (t) => {
    verifies('mcp.state-kept')
    const app = await start(t, {
      env: { DATABASE_URL: await createUrl(), PLUMBLINE_TOOLS_PER_DAY: '0' },
    })
    const { call } = await connect(t, app, '2026-07-28')
    for (let task = 0; task < 103; task++) {
      app.advance(1)
      await call('check_state', step(errand, { session: `s${task}` }))
    }
    assert.equal((await call('get_history', { session: 's2' })).steps, 0)
    assert.equal((await call('get_history', { session: 's3' })).steps, 1)
    app.advance(dayMs - hourMs)
    assert.equal((await call('get_history', { session: 's102' })).steps, 1)
    app.advance(hourMs)
    assert.equal((await call('get_history', { session: 's102' })).steps, 0)
    await app.running.runDue()
    const rows = await app.running.store.db.all('SELECT * FROM runs')
    assert.deepEqual(rows, [])
  })
})

test('a session may be left out, and one that was not given out here is refused', async (t) => {
  verifies('mcp.session-id')
  const app = await start(t)
  const ask = (headers: Record<string, string>) =>
    app.request('POST', '/mcp', {
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        ...headers,
      },
    })
  const { transport } = await connect(t, app, '2025-11-25')
  const token = transport.sessionId ?? ''
  assert.equal((await ask({})).status, 200)
  assert.equal((await ask({ 'mcp-session-id': token })).status, 200)
  for (const forged of ['x', `${token}x`, `session_0.${token.split('.')[1]}`, `${token}.`]) {
    assert.equal((await ask({ 'mcp-session-id': forged })).status, 404, forged)
  }
})

test('only the server’s own host and origin are accepted', async (t) => {
  verifies('mcp.origin')
  const app = await start(t, { env: { PLUMBLINE_BASE_URL: 'https://plumb.example' } })
  const { port } = new URL(app.url)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  const ask = async (headers: Record<string, string>) => {
    const lines = Object.entries({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': String(body.length),
      connection: 'close',
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`)
    const [answer] = await sendRaw(app.url, `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
    return answer?.status
  }
  const local = `127.0.0.1:${port}`
  for (const [host, origin, expected] of [
    [local, undefined, 200],
    [local, `http://${local}`, 200],
    [`localhost:${port}`, `http://localhost:${port}`, 200],
    ['plumb.example', 'https://plumb.example', 200],
    [local, 'https://plumb.example', 200],
    [local, 'https://evil.example', 403],
    [local, 'null', 403],
    [local, `http://localhost:${port}`, 403],
    ['evil.example', undefined, 403],
    ['evil.example', 'http://evil.example', 403],
    [`plumb.example.evil:${port}`, undefined, 403],
  ] as const) {
    const headers = { host, ...(origin === undefined ? {} : { origin }) }
    assert.equal(await ask(headers), expected, `${host} ${origin}`)
  }
})

test('keyless tool calls have an address bucket of their own', async (t) => {
  verifies('settings.tools-per-day')
  const app = await start(t, {
    env: { PLUMBLINE_TOOLS_PER_DAY: '2', PLUMBLINE_CHECK_PER_DAY: '1' },
  })
  const { call } = await connect(t, app, '2026-07-28')
  await call('field_vocabulary')
  await call('check_state', {})
  const refused = await call('field_vocabulary')
  assert.deepEqual([refused.isError, refused.error], [true, 'rate_limit'])
  assert.ok(refused.retry_after_s > 0)
  assert.match(refused.detail, /operator .* PLUMBLINE_TOOLS_PER_DAY\.$/)
  assert.equal((await app.get('/v1/signal')).status, 200)
  const caller = await newCaller(app)
  const { call: keyed } = await connect(t, app, '2026-07-28', caller.headers)
  assert.equal((await keyed('field_vocabulary')).words_required, 8)
  const defaults = readConfig({})
  assert.ok(!('faults' in defaults))
  assert.equal(defaults.toolsPerDay, 1000)
})

test('modulate, dialogue, self, grammar and field answer as their routes do', async (t) => {
  verifies('mcp.modulate', 'mcp.dialogue', 'mcp.self', 'mcp.grammar', 'mcp.field')
  const app = await start(t)
  const caller = await newCaller(app)
  const { call } = await connect(t, app, '2025-11-25', caller.headers)

  await call('modulate', { goal: errand })
  const styled = { goal: astray, team: 'deep-search', role: 'explorer' }
  const tool = await call('modulate', styled)
  await caller.post('/v1/modulate', { goal: errand, run_id: 'r' })
  const route = (await caller.post('/v1/modulate', { ...styled, run_id: 'r' })).body
  assert.deepEqual(
    { ...tool, run_id: 'r', recurrence: 0, ceiling: 0 },
    { ...route, recurrence: 0, ceiling: 0 },
  )
  assert.equal(tool.modulation.return, true)
  const unknown = await call('modulate', { ...styled, role: 'nobody' })
  assert.match(unknown.detail, /explorer, checker/)

  const turn = { agent: 'a', goal: errand, said: onErrand, distance: 5 }
  const said = await call('check_dialogue', turn)
  const body = { agent: 'a', goal: errand, position: onErrand, distance: 5, conv_id: 'c' }
  assert.deepEqual({ ...said, conv_id: 'c' }, (await caller.post('/v1/dialogue', body)).body)
  assert.equal(said.reason, 'grounded')
  assert.equal((await call('check_dialogue', turn)).turn, 2)
  assert.deepEqual(await call('reset_dialogue'), { ok: true, cleared: true })
  assert.deepEqual(await call('reset_dialogue'), { ok: true, cleared: false })
  assert.equal((await call('check_dialogue', turn)).turn, 1)

  const kept = await call('remember_self', { purpose: 'guard the login', note: 'n' })
  assert.equal(kept.self.purpose, 'guard the login')
  assert.deepEqual(await call('resume_self'), (await caller.get('/v1/self')).body)
  assert.deepEqual(await call('forget_self'), { ok: true })
  assert.equal((await call('resume_self')).self, null)
  const { call: keyless } = await connect(t, app, '2025-11-25')
  assert.equal((await keyless('remember_self', { purpose: 'x' })).error, 'no_key')
  assert.equal((await keyless('resume_self', { key: caller.key })).self, null)

  assert.deepEqual(await call('drift_grammar'), (await app.get('/v1/grammar')).body)

  const { reading, ...signal } = await call('read_field')
  assert.deepEqual(signal, (await app.get('/v1/signal')).body)
  assert.match(reading, /^It is winter: /)
  const spoken = await call('speak_to_field', { words: vocabulary.change.slice(0, 8) })
  assert.deepEqual(spoken.signal, (await app.get('/v1/signal')).body)
  assert.match(spoken.reply, /^The field /)
  assert.match((await call('speak_to_field', { words: 'fire' })).detail, /send exactly 8/)
  const { ground, wind, form, change } = await call('field_vocabulary')
  assert.deepEqual({ ground, wind, form, change }, vocabulary)
})

test('texts are analysed and compared', async (t) => {
  verifies('mcp.analyze', 'mcp.compare')
  const app = await start(t)
  const { call } = await connect(t, app, '2026-07-28')
  const measured = await call('analyze_language', { text: 'The roof leaks because it is old.' })
  assert.deepEqual(
    [measured.words, measured.sentences, measured.claims, measured.observations, measured.shape],
    [7, 1, 1, 0, 'short'],
  )
  for (const field of ['variety', 'repetition', 'readability']) {
    assert.equal(typeof measured[field], 'number', field)
  }
  const compared = await call('compare_phrasings', {
    a: 'Mend the roof.',
    b: 'I think we should probably mend the roof since it seems to be leaking, so that it will work.',
  })
  verifies('mcp.compare.vague')
  const precise = 'add rate limiting to the login endpoint'
  for (const [a, b, clearer] of [
    ['fix login', precise, 'b'],
    [precise, 'fix login', 'a'],
  ]) {
    const { why, ...said } = await call('compare_phrasings', { a, b })
    assert.equal(said.clearer, clearer)
    assert.match(why, /more things named/)
  }
  assert.deepEqual(Object.keys(compared), ['a', 'b', 'overlap', 'clearer', 'why'])
  assert.equal(compared.clearer, 'a')
  assert.ok(compared.overlap > 0 && compared.overlap < 1)
})

test('resources and the prompt are listed and read', async (t) => {
  const app = await start(t)
  const { client, call } = await connect(t, app, '2026-07-28')
  await call('check_state', step(errand, { session: 'a b' }))
  const { resources } = await client.listResources()
  assert.deepEqual(
    resources.map(({ uri }) => uri),
    ['plumbline://grammar'],
  )
  const textOf = async (uri: string) => {
    const { contents } = await client.readResource({ uri })
    return JSON.parse((contents[0] as { text: string }).text)
  }
  assert.equal((await textOf('plumbline://grammar')).immutable, true)
  const { resourceTemplates } = await client.listResourceTemplates()
  assert.equal(resourceTemplates[0]?.uriTemplate, 'plumbline://tasks/{session}')
  assert.equal((await textOf('plumbline://tasks/a%20b')).ground, errand)
  const { prompts } = await client.listPrompts()
  assert.equal(prompts[0]?.name, 'report_step')
  const { messages } = await client.getPrompt({ name: 'report_step', arguments: { errand } })
  const [message] = messages
  assert.ok(message?.content.type === 'text' && message.content.text.includes(errand))
})
