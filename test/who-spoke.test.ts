import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { detect, type Memory, newMemory } from '../src/core/detector/public.ts'
import { settleSpeaker } from '../src/core/detector/settle.ts'
import { onEachDatabase } from './backends.ts'
import { type App, start } from './harness.ts'
import { startListener } from './listener.ts'
import { relayTo } from './relay-under-test.ts'
import { claudeLines, type SessionPart } from './session-lines.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const other = 'forget that, rather look at the billing bug'
const runId = 'claude-code:s'

/** A prompt as the hook of Claude Code tells it: without a source. */
function prompted(prompt: string, nth: number, transcript_path?: string) {
  const common = { session_id: 's', cwd: '/home/kim/shop', hook_event_name: 'UserPromptSubmit' }
  return { ...common, prompt, prompt_id: `p-s-${nth}`, transcript_path }
}

/** The prompt as an event that was read out of the session file. */
function read(text: string, nth: number, by: 'person' | 'machine', more: object = {}) {
  const event = { kind: 'prompt', text, by, runId, agentId: '', eventId: `p-s-${nth}`, ...more }
  return `${JSON.stringify(event)}\n`
}

async function runOf(app: App, headers: Record<string, string>) {
  const { body } = await app.get(`/v1/drift/run?run_id=${encodeURIComponent(runId)}`, headers)
  return body.run
}

const bys = (run: { grounds: { by: string }[] }) => run.grounds.map(({ by }) => by)

onEachDatabase((database) => {
  async function startOn(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const account = await app.newAccount()
    const say = (prompt: string, nth: number) =>
      app.post('/v1/hooks/claude-code', prompted(prompt, nth), account.headers)
    const tell = (line: string) =>
      app.request('POST', '/v1/hooks/plain', { body: line, headers: account.headers })
    return { app, ...account, say, tell, run: () => runOf(app, account.headers) }
  }

  test('a prompt that no person spoke is taken back for later steps', async (t) => {
    verifies('hosts.who-spoke.settled')
    const { app, headers, say, tell, run } = await startOn(t)
    await say(errand, 0)
    assert.deepEqual(bys(await run()), ['unknown'])
    await tell(read(errand, 0, 'person'))
    app.advance(60_000)
    await say(other, 1)
    const before = await run()
    assert.deepEqual([before.ground, before.revision, bys(before)], [other, 2, ['user', 'unknown']])
    await tell(read(other, 1, 'machine'))
    const after = await run()
    assert.deepEqual([after.ground, after.revision], [errand, 3])
    assert.deepEqual(bys(after), ['user', 'machine', 'user'])
    assert.deepEqual(
      after.assignment.map(({ text, by, stands }: Record<string, unknown>) => [text, by, stands]),
      [
        [errand, 'user', true],
        [other, 'machine', false],
      ],
    )
    assert.equal(after.last_person_at, after.created)
    // The same again is nothing new, and later steps are measured against what stands.
    await tell(read(other, 1, 'machine'))
    await app.post(
      '/v1/hooks/claude-code',
      {
        session_id: 's',
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        tool_use_id: 't-1',
        tool_input: { command: 'x', description: 'add a token bucket to the login endpoint' },
        tool_response: 'done',
      },
      headers,
    )
    const last = await run()
    assert.deepEqual([last.revision, last.drifting], [3, false])
  })

  test('the news of a sub-agent of Claude Code leaves the prompt as it is whose id it has', async (t) => {
    verifies('hosts.who-spoke.settled')
    const { app, say, run } = await startOn(t)
    await say(errand, 0)
    app.advance(60_000)
    await say(other, 1)
    const before = await run()
    await say('<task-notification>\n<task-id>a1</task-id>\n</task-notification>', 1)
    assert.deepEqual(await run(), before)
    assert.deepEqual(
      [before.ground, before.revision, bys(before)],
      [other, 2, ['unknown', 'unknown']],
    )
  })

  test('what a machine spoke never stands again, in whatever order that comes out', async (t) => {
    verifies('hosts.who-spoke.settled')
    const third = 'forget that, rather write the release notes'
    for (const order of [
      [1, 2],
      [2, 1],
    ]) {
      const { app, say, tell, run } = await startOn(t)
      await say(errand, 0)
      await tell(read(errand, 0, 'person'))
      for (const [nth, text] of [other, third].entries()) {
        app.advance(60_000)
        await say(text, nth + 1)
      }
      for (const nth of order) {
        await tell(read(nth === 1 ? other : third, nth, 'machine'))
        const { ground, grounds } = await run()
        const own = grounds.filter(({ goal }: { goal: string }) => goal === ground)
        if (ground !== errand) assert.notEqual(own.at(-1).by, 'user', ground)
      }
      const { ground, grounds, created, last_person_at } = await run()
      assert.deepEqual([ground, grounds.at(-1).by, last_person_at], [errand, 'user', created])
    }
  })

  test('a prompt that a person spoke is confirmed, and one that a program handed over is unattended', async (t) => {
    verifies('hosts.who-spoke.settled')
    const { say, tell, run } = await startOn(t)
    await say(errand, 0)
    await say(other, 1)
    await tell(read(other, 1, 'person', { isHeadless: true }))
    const { ground, revision, assignment, attended, grounds } = await run()
    assert.deepEqual([ground, revision, attended], [other, 2, 'never'])
    assert.deepEqual(bys({ grounds }), ['unknown', 'user'])
    assert.deepEqual(
      assignment.map(({ by }: { by: string }) => by),
      ['unknown', 'user'],
    )
    // An earlier one may be settled later.
    await tell(read(errand, 0, 'person'))
    assert.deepEqual(bys(await run()), ['user', 'user'])
  })

  test('a page that listens sees that it has come out who spoke', async (t) => {
    verifies('stream.events', 'hosts.who-spoke.settled')
    const { app, headers, say, tell } = await startOn(t)
    await say(errand, 0)
    await say(other, 1)
    const listener = await startListener(t, { app, headers })
    await tell(read(other, 1, 'machine'))
    const { data } = await listener.next()
    assert.deepEqual([data.run_id, data.ground, data.revision], [runId, errand, 3])
  })

  test('the relay reads in the session file who spoke', async (t) => {
    verifies('hosts.relay.settles', 'hosts.who-spoke.settled', 'hosts.clock.never')
    const { app, headers, key, run } = await startOn(t)
    const { relay, clock, hook } = await relayTo(t, { url: app.url, key })
    const folder = join(freshFolder(t), 'projects')
    mkdirSync(folder)
    const file = join(folder, 's.jsonl')
    const parts: SessionPart[] = [
      { prompt: errand },
      { prompt: other, by: 'system' },
      { say: 'a word that no hook tells' },
    ]
    for (const [nth, prompt] of [errand, other].entries()) {
      await hook('claude-code', prompted(prompt, nth, file))
    }
    await relay.drain()
    assert.deepEqual(bys(await run()), ['unknown', 'unknown'])
    clock.advance(2_000)
    await relay.drain()
    writeFileSync(file, claudeLines('s', parts, clock.now()))
    clock.advance(2_000)
    await relay.drain()
    const after = await run()
    assert.deepEqual([after.ground, bys(after)], [errand, ['user', 'machine', 'user']])
    const { body } = await app.get(`/v1/drift/run?run_id=${encodeURIComponent(runId)}`, headers)
    assert.equal(body.trace.length, 2)
    // Codex says only in its file that nobody can speak.
    const rollout = join(folder, 'rollout-c.jsonl')
    const turn = { session_id: 'c', turn_id: 'u1', transcript_path: rollout }
    await hook('codex', { ...turn, hook_event_name: 'UserPromptSubmit', prompt: errand })
    const done = { type: 'item_completed', turn_id: 'u1' }
    const item = { type: 'UserMessage', id: 'm', content: [{ type: 'text', text: errand }] }
    writeFileSync(
      rollout,
      [
        { type: 'session_meta', payload: { id: 'c', session_id: 'c', source: 'exec' } },
        { type: 'event_msg', payload: { ...done, item } },
      ]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    )
    clock.advance(2_000)
    await hook('codex', {
      ...turn,
      hook_event_name: 'PostToolUse',
      tool_name: 'apply_patch',
      tool_use_id: 'x',
      tool_input: { command: '*** Begin Patch\n*** Add File: a.js\n+x\n*** End Patch' },
      tool_response: 'ok',
    })
    await relay.drain()
    await relay.drain()
    const codex = await app.get('/v1/drift/run?run_id=codex:c', headers)
    assert.equal(codex.body.run.attended, 'never')
    // Nothing but a file of lines is read.
    await hook('claude-code', prompted('and now something else entirely', 7, '/dev/zero'))
    clock.advance(2_000)
  })
})

const step = { progress: 'advancing', distance: 5, isUnsure: true }

function told(...messages: string[]): Memory {
  return messages.reduce(
    (memory, userMessage) => detect(memory, { ...step, goal: userMessage, userMessage }).memory,
    newMemory('meaning'),
  )
}

test('what stands after a message is settled', () => {
  verifies('hosts.who-spoke.settled')
  const texts = (memory: Memory | null) =>
    (memory?.assignment ?? []).map(({ text, by, stands }) => `${stands ? '' : '-'}${by} ${text}`)
  assert.deepEqual(texts(settleSpeaker(told(errand), errand, 'machine')), [`machine ${errand}`])
  assert.equal(settleSpeaker(told(errand), 'never said', 'person'), null)
  const third = 'forget that, rather write the release notes'
  const all = told(errand, other, third)
  assert.deepEqual(texts(settleSpeaker(all, third, 'machine')), [
    `-unknown ${errand}`,
    `unknown ${other}`,
    `-machine ${third}`,
  ])
  assert.deepEqual(texts(settleSpeaker(all, third, 'person')), [
    `-unknown ${errand}`,
    `-unknown ${other}`,
    `user ${third}`,
  ])
  // A speaker that is known stays known when a later message is taken back.
  const confirmed = settleSpeaker(all, other, 'person')!
  assert.deepEqual(texts(settleSpeaker(confirmed, third, 'machine')), [
    `-unknown ${errand}`,
    `user ${other}`,
    `-machine ${third}`,
  ])
  const added = told(errand, 'also limit the signup endpoint')
  const back = settleSpeaker(added, 'also limit the signup endpoint', 'machine')
  assert.deepEqual([back?.ground?.goal, back?.revision, back?.before], [errand, 3, undefined])
})
