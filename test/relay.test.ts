import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { type App, start } from './harness.ts'
import { localKey, relayTo } from './relay-under-test.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const common = { session_id: 's', cwd: '/home/kim/shop' }
const runId = 'claude-code:s'

function prompted(prompt: string, prompt_id: string) {
  return { ...common, hook_event_name: 'UserPromptSubmit', prompt, prompt_id }
}

function did(id: string, input: object, tool = 'Bash') {
  const call = { tool_name: tool, tool_input: input, tool_use_id: id, tool_response: 'done' }
  return { ...common, hook_event_name: 'PostToolBatch', tool_calls: [call] }
}

/** What the server has of the run, and the words of its steps. */
async function runOf(app: App, headers: Record<string, string>, id = runId) {
  const { body } = await app.get(`/v1/drift/run?run_id=${encodeURIComponent(id)}`, headers)
  const goals = body.trace?.map(({ goal }: { goal: string }) => goal) ?? []
  return { run: body.run, trace: body.trace, goals }
}

/** The files of a spool, as one text. */
function spoolOf(folder: string): string {
  const names = readdirSync(join(folder, 'relay')).filter((name) => name.startsWith('spool'))
  return names.map((name) => readFileSync(join(folder, 'relay', name), 'utf8')).join('')
}

onEachDatabase((database) => {
  async function startBoth(t: TestContext, more: Parameters<typeof relayTo>[2] = {}) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { key, headers } = await app.newAccount()
    return { app, headers, ...(await relayTo(t, { url: app.url, key }, more)) }
  }

  test('a relay answers at once, and the session becomes the run that it would be without it', async (t) => {
    verifies('hosts.relay', 'hosts.relay.endpoint')
    const { app, headers, hook, relay, folder } = await startBoth(t)
    const events = [prompted(errand, 'p-1')]
    const path = '/home/kim/shop/src/login.js'
    for (const event of [...events, did('t-1', { file_path: path, content: 'x' }, 'Write')]) {
      const { status, body, note } = await hook('claude-code/UserPromptSubmit', event)
      assert.deepEqual([status, body, note], [200, {}, null])
    }
    // Nothing has been sent: the answers came from the relay.
    assert.equal((await runOf(app, headers)).run, undefined)
    assert.equal(relay.status().waiting, 2)
    await relay.drain()
    const { run, goals } = await runOf(app, headers)
    assert.deepEqual([run.ground, goals], [errand, [errand, 'edit src/login.js']])
    assert.deepEqual([relay.status().waiting, relay.status().bytes], [0, 0])
    assert.equal(spoolOf(folder), '')
    // The same again is nothing new.
    await hook('claude-code', events[0])
    assert.equal(relay.status().waiting, 0)
  })

  test('a stricter level and another server reach a relay that is up, and what waits', async (t) => {
    verifies('hosts.relay.heeds', 'hosts.relay.withheld')
    const { app, headers, hook, relay, set, log, clock, folder } = await startBoth(t)
    const other = await app.newAccount()
    const away = { url: 'http://127.0.0.1:9', key: 'k' }
    set(away)
    await hook('claude-code', prompted(errand, 'p-1'))
    await relay.drain()
    assert.deepEqual([relay.status().waiting, relay.status().breaker], [1, 'closed'])
    // Before any event, the batch that is tried again finds the new level.
    set({ level: 'counts' })
    clock.advance(90_000)
    await relay.drain()
    assert.deepEqual([relay.status().waiting, relay.status().withheld], [0, 1])
    assert.doesNotMatch(spoolOf(folder), /rate/)
    assert.equal(log.filter((line) => line.includes('are dropped')).length, 1)
    await hook('claude-code', prompted('limit the sign-up endpoint too', 'p-2'))
    set({ url: app.url, key: other.key })
    await hook('claude-code', prompted('and a third one', 'p-3'))
    await relay.drain()
    const { runs } = (await app.get('/v1/drift/runs?host=claude-code', other.headers)).body
    assert.deepEqual([runs.length, runs[0].steps, relay.status().withheld], [1, 1, 2])
    assert.equal((await runOf(app, headers)).run, undefined)
    // A looser level reaches it too, and keeps what waits.
    set({ level: 'words' })
    await hook('claude-code', prompted('now in words', 'p-4'))
    await relay.drain()
    const told = await runOf(app, other.headers)
    assert.deepEqual([told.goals, relay.status().withheld], [['now in words'], 2])
  })

  test('what comes back late is told at the next event, once', async (t) => {
    verifies('hosts.relay.told')
    const { app, headers, hook, relay } = await startBoth(t)
    await app.post('/v1/hooks', { mode: 'gate' }, headers)
    await hook('claude-code', prompted('refund order 1234 to the customer', 'p-1'))
    const input = { command: 'refund', description: 'refund order 9876 to the customer' }
    assert.deepEqual((await hook('claude-code', did('t-1', input))).body, {})
    await relay.drain()
    const start = { ...common, hook_event_name: 'Stop' }
    assert.deepEqual((await hook('claude-code', start)).body, {}, 'this event takes no fact')
    const told = await hook('claude-code', did('t-2', { command: 'ls' }))
    const { hookEventName, additionalContext } = (
      told.body as { hookSpecificOutput: Record<string, string> }
    ).hookSpecificOutput
    assert.equal(hookEventName, 'PostToolBatch')
    assert.match(
      additionalContext!,
      /errand in the user's words \(\d\d:\d\d UTC\): "refund order 1234/,
    )
    assert.deepEqual((await hook('claude-code', did('t-3', { command: 'ls -l' }))).body, {})
    // Where somebody has chosen it, a command is held without asking the server.
    const before = {
      ...common,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'git push --force' },
      tool_use_id: 't-4',
    }
    const held = (await hook('claude-code', before)).body as {
      hookSpecificOutput: Record<string, string>
    }
    assert.equal(held.hookSpecificOutput.permissionDecision, 'ask')
    const compacted = { ...common, hook_event_name: 'SessionStart', source: 'compact' }
    const reminded = JSON.stringify((await hook('claude-code', compacted)).body)
    assert.match(reminded, /SessionStart.*refund order 1234 to the customer/)
  })

  test('what was answered to an earlier prompt is not told after a newer one', async (t) => {
    verifies('hosts.relay.told', 'hosts.relay.unknown')
    const { app, headers, hook, relay, clock } = await startBoth(t)
    await app.post('/v1/hooks', { mode: 'gate' }, headers)
    const strays = async (nth: number) => {
      const input = { command: 'refund', description: 'refund order 9876 to the customer' }
      await hook('claude-code', did(`t-${nth}`, input))
      clock.advance(1_000)
    }
    const force = {
      ...common,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'git push --force' },
    }
    await hook('claude-code', prompted('refund order 1234 to the customer', 'p-1'))
    await strays(1)
    await relay.drain()
    assert.match(JSON.stringify((await hook('claude-code', force)).body), /refund order 1234/)
    // The answer has come, and the user speaks before it is told.
    await hook('claude-code', prompted('forget that, rather refund order 9876', 'p-2'))
    assert.deepEqual((await hook('claude-code', force)).body, {})
    assert.deepEqual((await hook('claude-code', did('t-2', { command: 'ls' }))).body, {})
    // It comes while the user has spoken already.
    clock.advance(1_000)
    await hook('claude-code', prompted('forget that, rather refund order 1234', 'p-3'))
    await relay.drain()
    await strays(3)
    const sending = relay.drain()
    await hook('claude-code', prompted('forget that, rather refund order 9876', 'p-4'))
    await sending
    assert.deepEqual((await hook('claude-code', did('t-4', { command: 'ls -l' }))).body, {})
    assert.deepEqual((await hook('claude-code', force)).body, {})
    // Names that no reader knows are counted here, and go nowhere.
    for (const _ of [1, 2]) await hook('claude-code', { ...common, hook_event_name: 'TeaBreak' })
    const known = { host: 'claude-code', name: 'TeaBreak', count: 2 }
    assert.deepEqual(relay.status().not_understood, [known])
    await relay.drain()
    const { not_understood } = (await app.get('/v1/hooks', headers)).body
    assert.deepEqual(not_understood, [])
  })

  test('at the level hashes evidence, coverage and verdicts on words stay, and no path is told', async (t) => {
    verifies('hosts.privacy.levels', 'hosts.coverage', 'hosts.evidence.verdict', 'hosts.words')
    const { app, headers, hook, relay, folder } = await startBoth(t, { level: 'hashes' })
    await hook('claude-code', prompted(errand, 'p-1'))
    for (let nth = 1; nth <= 4; nth++) {
      const edit = {
        file_path: '/home/kim/shop/src/login/limit.js',
        old_string: `${nth}`,
        new_string: `${nth + 1}`,
      }
      await hook('claude-code', did(`e-${nth}`, edit, 'Edit'))
      await hook('claude-code', {
        ...common,
        hook_event_name: 'PostToolUseFailure',
        tool_name: 'Bash',
        tool_input: { command: 'node --test' },
        tool_use_id: `t-${nth}`,
        error: `Exit code 1\nnot ok 1 - limits the login\nran ${nth} ms`,
      })
    }
    const spooled = spoolOf(folder)
    assert.match(spooled, new RegExp(errand))
    assert.doesNotMatch(spooled, /limit\.js|node --test|src\//)
    await relay.drain()
    const { run, trace } = await runOf(app, headers)
    const last = trace.at(-1)
    const why = 'A check failed 4 times with the same 1 test; 3 edits in between.'
    assert.deepEqual([last.reason, last.why, last.drifting], ['stalled', why, false])
    assert.deepEqual([run.coverage.acts, run.coverage.share, run.coverage.failed], [8, 1, 4])
    assert.match(last.doing.join(), /edit [\da-f]{6},run a check/)
    assert.equal(run.coverage.words, 'hashed')
    const foreign = { command: 'x', description: 'remove rate limiting from the login endpoint' }
    await hook('claude-code', did('f-1', foreign))
    await relay.drain()
    assert.equal((await runOf(app, headers)).trace.at(-1).drifting, true)
  })

  test('what telemetry tells beside a relay counts once, though the relay tells hashes', async (t) => {
    verifies('hosts.privacy.levels', 'telemetry.once')
    const { app, headers, hook, relay, clock } = await startBoth(t, { level: 'hashes' })
    await hook('claude-code', prompted(errand, 'p-1'))
    await hook('claude-code', did('t-1', { command: 'node --test' }))
    await relay.drain()
    const told = (attributes: Record<string, string>) => ({
      timeUnixNano: `${clock.now()}000000`,
      attributes: Object.entries({ 'session.id': 's', ...attributes }).map(([key, value]) => ({
        key,
        value: { stringValue: value },
      })),
    })
    const logRecords = [
      told({ 'event.name': 'user_prompt', 'prompt.id': 'p-1', prompt: errand }),
      told({
        'event.name': 'tool_result',
        tool_use_id: 't-1',
        tool_name: 'Bash',
        success: 'true',
        tool_input: '{"command":"node --test"}',
      }),
    ]
    const scope = { name: 'com.anthropic.claude_code.events' }
    const sent = { resourceLogs: [{ scopeLogs: [{ scope, logRecords }] }] }
    const { status } = await app.request('POST', '/v1/logs', {
      body: JSON.stringify(sent),
      headers: { ...headers, 'content-type': 'application/json' },
    })
    assert.equal(status, 200)
    const { run, trace } = await runOf(app, headers)
    assert.deepEqual([run.coverage.acts, trace.length], [1, 1])
  })

  test('at the level counts a prompt that a hook and a session file tell counts once', async (t) => {
    verifies('hosts.privacy.levels', 'hosts.watch.server')
    const { app, headers, hook, relay } = await startBoth(t, { level: 'counts' })
    const turn = { session_id: 's', turn_id: 'u1', hook_event_name: 'UserPromptSubmit' }
    await hook('codex', { ...turn, prompt: errand })
    const read = { kind: 'prompt', text: errand, runId: 'codex:s', agentId: '', eventId: 'm1' }
    await hook('plain', { ...read, by: 'person', isHeadless: true })
    await hook('plain', { ...read, by: 'person', text: 'another one', eventId: 'm2' })
    await relay.drain()
    const { runs } = (await app.get('/v1/drift/runs?host=codex', headers)).body
    assert.equal(runs[0].steps, 2)
  })

  test('at the level counts each delegation counts once, though none is told', async (t) => {
    verifies('hosts.privacy.levels', 'hosts.steps')
    const { app, headers, hook, relay } = await startBoth(t, { level: 'counts' })
    await hook('claude-code', prompted(errand, 'p-1'))
    for (const [nth, prompt] of ['count the bolts', 'paint the pump', 'sand the pump'].entries()) {
      const use = {
        ...common,
        tool_name: 'Agent',
        tool_input: { prompt, description: prompt, subagent_type: 'clerk' },
        tool_use_id: `t-${nth}`,
      }
      await hook('claude-code', { ...use, hook_event_name: 'PreToolUse' })
      const child = { agent_id: `a-${nth}`, agent_type: 'clerk' }
      await hook('claude-code', { ...common, ...child, hook_event_name: 'SubagentStart' })
      await hook('claude-code', { ...use, hook_event_name: 'PostToolUse', tool_response: 'done' })
    }
    await relay.drain()
    const { runs } = (await app.get('/v1/drift/runs?host=claude-code', headers)).body
    const { trace } = await runOf(app, headers, runs[0].run_id)
    assert.deepEqual(
      trace.map((step: { goal_source: string }) => step.goal_source),
      ['prompt', 'task', 'task', 'task'],
    )
  })

  test('at the level counts there is no text and no verdict on drift, and the steps say so', async (t) => {
    verifies('hosts.privacy.levels', 'hosts.words')
    const { app, headers, hook, relay, folder } = await startBoth(t, { level: 'counts' })
    await hook('claude-code', prompted(errand, 'p-1'))
    for (let nth = 0; nth < 20; nth++) {
      const file = `/home/kim/shop/src/${nth % 2 === 0 ? 'login' : 'cake'}/${nth}.js`
      await hook('claude-code', did(`e-${nth}`, { file_path: file }, 'Read'))
    }
    assert.doesNotMatch(spoolOf(folder), /login|cake|rate|src/)
    await relay.drain()
    const { runs } = (await app.get('/v1/drift/runs?host=claude-code', headers)).body
    assert.match(runs[0].run_id, /^claude-code:[\da-f]{16}$/)
    const { run, trace } = await runOf(app, headers, runs[0].run_id)
    assert.deepEqual([run.ground, run.coverage.acts, run.coverage.share], ['…', 20, 0.5])
    assert.equal(run.coverage.words, 'none')
    assert.notEqual(run.last_person_at, null)
    for (const { goal, drifting, uncertain } of trace) {
      assert.deepEqual([goal, drifting, uncertain], ['…', false, true])
    }
    assert.equal(trace.at(-1).coverage, 'none')
    assert.match(trace.at(-1).why, /No word of the goal is told/)
    assert.equal(run.judgment ?? null, null)
  })
})

/** A server whose behaviour changes: it takes the batches that its function takes. */
async function fakeServer(t: TestContext) {
  const taken: string[] = []
  const state = {
    behave: (_: string[]): { status: number; body: string; headers?: object } | null => null,
    calls: 0,
    keys: new Set<unknown>(),
  }
  const waiting = new Set<() => void>()
  const server = createServer(async (incoming, response) => {
    state.calls++
    state.keys.add(incoming.headers.authorization)
    let body = ''
    for await (const part of incoming) body += part
    const lines = body.split('\n').filter(Boolean)
    const answer = state.behave(lines)
    for (const call of waiting) call()
    if (answer === null) return
    if (answer.status === 200 && answer.body === '') {
      taken.push(...lines)
      const answers = lines.map(() => ({ ok: true, told: null, remind: true, holds: false }))
      response.end(JSON.stringify({ answers }))
    } else {
      response.writeHead(answer.status, { ...answer.headers }).end(answer.body)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number }
  return {
    state,
    /** The ids of the events that it has taken. */
    ids: () => taken.map((line) => JSON.parse(line).eventId as string),
    server: { url: `http://127.0.0.1:${port}`, key: 'remote-key' },
    /** Resolves when the next call has come. */
    nextCall: () =>
      new Promise<void>((resolve) => {
        const call = () => {
          waiting.delete(call)
          resolve()
        }
        waiting.add(call)
      }),
  }
}

const takes = () => ({ status: 200, body: '' })

test('whatever the server does, the agent is answered, and nothing is lost or sent twice', async (t) => {
  verifies('hosts.relay.away')
  const { state, ids, server, nextCall } = await fakeServer(t)
  const { hook, relay, clock, log } = await relayTo(t, server)
  const wanted: string[] = []
  let nth = 0
  const report = async () => {
    const id = `t-${++nth}`
    wanted.push(id)
    const { status, body } = await hook('claude-code', did(id, { command: `ls ${nth}` }))
    assert.deepEqual([status, body], [200, {}])
  }
  const bad = [
    { status: 500, body: '{"error":"internal"}' },
    { status: 200, body: '<html>hello</html>' },
    { status: 200, body: '{"answers":[]}' },
    { status: 401, body: '{"error":"bad_key"}' },
    { status: 404, body: '' },
    { status: 429, body: '{"error":"rate_limit"}' },
    { status: 302, body: '', headers: { location: 'http://127.0.0.1:9/' } },
  ]
  for (const answer of bad) {
    state.behave = () => answer
    const { calls } = state
    await report()
    // The wait has grown to a minute at most.
    clock.advance(90_000)
    await relay.drain()
    assert.notEqual(relay.status().fault, null)
    await report()
    await relay.drain()
    assert.equal(state.calls, calls + 1, `${answer.status}: asked once, then left alone`)
  }
  assert.deepEqual([relay.status().waiting, ids()], [14, []])
  assert.ok(relay.status().failures > 3)
  // A server that hangs holds up nobody, and is given up in time.
  state.behave = () => null
  const called = nextCall()
  clock.advance(90_000)
  const hanging = relay.drain()
  await called
  await report()
  clock.advance(5_000)
  await hanging
  assert.equal(relay.status().fault, 'no answer in time')
  assert.equal(relay.status().breaker, 'open')
  state.behave = takes
  clock.advance(90_000)
  await relay.drain()
  assert.deepEqual(ids(), wanted)
  const { waiting, breaker, fault, failures } = relay.status()
  assert.deepEqual([waiting, breaker, fault, failures], [0, 'closed', null, 0])
  assert.equal(log.at(-1), 'the server is back')
  assert.deepEqual([...state.keys], ['Bearer remote-key'])
  assert.doesNotMatch(log.join('\n'), /remote-key|local-key|ls \d/)
})

test('a server that asks for time gets it, and one that is not there costs nothing', async (t) => {
  verifies('hosts.relay.away')
  const { state, ids, server } = await fakeServer(t)
  const { hook, relay, clock } = await relayTo(t, server)
  state.behave = () => ({ status: 503, body: '{}', headers: { 'retry-after': '600' } })
  await hook('claude-code', prompted(errand, 'p-1'))
  await relay.drain()
  state.behave = takes
  clock.advance(599_000)
  await relay.drain()
  assert.equal(state.calls, 1)
  clock.advance(1_000)
  await relay.drain()
  assert.deepEqual([state.calls, ids()], [2, ['p-1']])
  const nobody = await relayTo(t, { url: 'http://127.0.0.1:9', key: 'k' })
  await nobody.hook('claude-code', prompted(errand, 'p-1'))
  await nobody.relay.drain()
  assert.deepEqual(
    [nobody.relay.status().fault, nobody.relay.status().waiting],
    ['no connection', 1],
  )
})

test('events go in batches, by time or by number, in their order', async (t) => {
  verifies('hosts.relay.batches')
  const { state, ids, server, nextCall } = await fakeServer(t)
  const { hook, relay, clock } = await relayTo(t, server)
  const sizes: number[] = []
  state.behave = (lines) => {
    sizes.push(lines.length)
    return takes()
  }
  await hook('claude-code', prompted(errand, 'p-1'))
  await hook('claude-code', did('t-1', { command: 'ls' }))
  clock.advance(249)
  assert.equal(state.calls, 0)
  const called = nextCall()
  clock.advance(1)
  await called
  await relay.drain()
  const lines = Array.from({ length: 230 }, (_, at) => did(`u-${at}`, { command: `ls ${at}` }))
  await hook('claude-code', lines.map((line) => JSON.stringify(line)).join('\n'))
  await relay.drain()
  assert.deepEqual(sizes, [2, 100, 100, 30])
  assert.deepEqual(ids(), ['p-1', 't-1', ...lines.map((_, at) => `u-${at}`)])
  // What the server will never take does not keep back the rest.
  state.behave = (some) =>
    some.some((line) => line.includes('v-3')) ? { status: 400, body: '{}' } : takes()
  const more = Array.from({ length: 8 }, (_, at) => did(`v-${at}`, { command: 'ls' }))
  await hook('claude-code', more.map((line) => JSON.stringify(line)).join('\n'))
  await relay.drain()
  assert.deepEqual(
    ids().slice(-7),
    more.map((_, at) => `v-${at}`).filter((id) => id !== 'v-3'),
  )
  assert.deepEqual([relay.status().refused, relay.status().waiting], [1, 0])
})

test('the spool survives an end without warning, and a last line that is torn', async (t) => {
  verifies('hosts.relay.spool')
  const { state, ids, server } = await fakeServer(t)
  const folder = freshFolder(t)
  const first = await relayTo(t, server, { folder })
  state.behave = takes
  await first.hook('claude-code', prompted(errand, 'p-1'))
  await first.relay.drain()
  state.behave = () => ({ status: 500, body: '' })
  await first.hook('claude-code', did('t-1', { command: 'ls' }))
  await first.hook('claude-code', did('t-2', { command: 'ls' }))
  // No stop: what a killed process leaves is what stands in the files now.
  const names = readdirSync(join(folder, 'relay')).filter((name) => name.startsWith('spool'))
  for (const name of names) {
    assert.equal(statSync(join(folder, 'relay', name)).mode & 0o777, 0o600)
  }
  writeFileSync(join(folder, 'relay', names.at(-1)!), '{"kind":"act","torn', { flag: 'a' })
  const second = await relayTo(t, server, { folder })
  assert.equal(second.relay.status().waiting, 2)
  await second.hook('claude-code', did('t-3', { command: 'ls' }))
  state.behave = takes
  await second.relay.drain()
  assert.deepEqual(ids(), ['p-1', 't-1', 't-2', 't-3'])
  await second.relay.stop()
  writeFileSync(join(folder, 'relay', 'sent.json'), 'no json')
  const third = await relayTo(t, server, { folder })
  assert.equal(third.relay.status().waiting, 0)
})

test('a full spool drops the oldest events and counts them', async (t) => {
  verifies('hosts.relay.spool')
  const { state, ids, server } = await fakeServer(t)
  state.behave = () => ({ status: 500, body: '' })
  const folder = freshFolder(t)
  const { hook, relay, clock } = await relayTo(t, server, { folder, maxBytes: 20_000 })
  const lines = Array.from({ length: 300 }, (_, at) => did(`t-${at}`, { command: `ls ${at}` }))
  await hook('claude-code', lines.map((line) => JSON.stringify(line)).join('\n'))
  await relay.drain()
  const { waiting, dropped, bytes } = relay.status()
  assert.equal(waiting + dropped, 300)
  assert.ok(dropped > 0 && waiting > 40, `${waiting} wait`)
  assert.ok(bytes <= 20_000 && spoolOf(folder).length <= 20_000)
  state.behave = takes
  clock.advance(90_000)
  await relay.drain()
  assert.deepEqual(
    ids(),
    lines.slice(-waiting).map((_, at) => `t-${300 - waiting + at}`),
  )
  await relay.stop()
  const again = await relayTo(t, server, { folder, maxBytes: 20_000 })
  assert.equal(again.relay.status().dropped, dropped)
})

test('a relay without its spool begins another one and says what is lost; without settings it ends', async (t) => {
  verifies('hosts.relay.gone')
  const { state, ids, server } = await fakeServer(t)
  state.behave = takes
  const { hook, relay, clock, folder, log, unset } = await relayTo(t, server)
  await hook('claude-code', prompted(errand, 'p-1'))
  await hook('claude-code', did('t-1', { command: 'ls 1' }))
  rmSync(join(folder, 'relay'), { recursive: true })
  await hook('claude-code', did('t-2', { command: 'ls 2' }))
  assert.deepEqual([relay.status().waiting, relay.status().dropped], [1, 2])
  assert.match(log.join('\n'), /were deleted, and 2 events that waited there are lost/)
  await relay.drain()
  assert.deepEqual(ids(), ['t-2'])
  // It notices too when no event comes, and asks the server for nothing.
  await hook('claude-code', did('t-3', { command: 'ls 3' }))
  rmSync(join(folder, 'relay'), { recursive: true })
  await relay.drain()
  assert.deepEqual(
    [relay.status().waiting, relay.status().dropped, relay.status().fault],
    [0, 3, null],
  )
  // Settings that come back in time, as when init writes them anew, end nothing.
  let hasEnded = false
  void relay.ended.then(() => {
    hasEnded = true
  })
  const pass = async (looks: number) => {
    for (let look = 0; look < looks; look++) clock.advance(10_000)
    await new Promise(setImmediate)
  }
  unset(true)
  await pass(5)
  unset(false)
  await pass(5)
  unset(true)
  await pass(6)
  assert.equal(hasEnded, false)
  // Whoever deletes everything gets nothing of it back.
  rmSync(folder, { recursive: true })
  const { status, body } = await hook('claude-code', did('t-4', { command: 'ls 4' }))
  assert.deepEqual([status, body, existsSync(folder)], [200, {}, false])
  assert.equal(relay.status().dropped, 4)
  assert.match(log.join('\n'), /an event is lost/)
  await pass(1)
  assert.equal(hasEnded, true)
  assert.match(log.at(-1) ?? '', /it ends: for a minute there have been no settings/)
})

test('only this machine’s hosts are heard, and no page of a browser', async (t) => {
  verifies('hosts.relay.local')
  const { state, server } = await fakeServer(t)
  state.behave = takes
  const { relay, hook, folder } = await relayTo(t, server)
  assert.equal(new URL(relay.url).hostname, '127.0.0.1')
  const { port } = new URL(relay.url)
  const event = JSON.stringify(prompted(errand, 'p-1'))
  const asked = (headers: Record<string, string>, path = '/v1/hooks/claude-code') =>
    new Promise<number>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, method: 'POST', headers }
      request(options, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
        .on('error', reject)
        .end(event)
    })
  const authorization = `Bearer ${localKey}`
  for (const headers of [
    { authorization, host: `attacker.test:${port}` },
    { authorization, host: '127.0.0.1.attacker.test' },
    { authorization, origin: 'https://attacker.test' },
    { authorization, origin: `http://127.0.0.1:${port}` },
    { authorization, origin: 'null' },
    { authorization, 'sec-fetch-site': 'cross-site' },
  ]) {
    assert.equal(await asked(headers), 403, JSON.stringify(headers))
  }
  const wrong = await hook('cursor/beforeSubmitPrompt', event, { authorization: 'Bearer x' })
  assert.deepEqual([wrong.status, wrong.body], [200, { continue: true }])
  assert.match(String(wrong.note), /^bad_key/)
  assert.match(String((await hook('emacs', event)).note), /^unknown host/)
  assert.match(String((await hook('codex', 'no json')).note), /^bad_request/)
  assert.match(String((await hook('codex', 'x'.repeat(1024 * 1024 + 1))).note), /^too_large/)
  assert.equal(await asked({}, '/relay/stop'), 401)
  assert.equal((await fetch(`${relay.url}/relay`)).status, 401)
  const read = await fetch(`${relay.url}/relay`, { headers: { authorization } })
  assert.equal(((await read.json()) as { level: string }).level, 'words')
  assert.equal(relay.status().waiting, 0)
  assert.equal(spoolOf(folder), '')
})
