import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readClaudeCode } from '../src/core/hosts/claude-code.ts'
import { readCodex } from '../src/core/hosts/codex.ts'
import type { HostEvent } from '../src/core/hosts/host-event.ts'
import { observe } from '../src/core/hosts/observe.ts'
import { mostKept, nothingObserved } from '../src/core/hosts/observed.ts'
import { seenOf } from '../src/core/hosts/seen.ts'
import { silentSince } from '../src/core/hosts/silence.ts'
import { onEachDatabase } from './backends.ts'
import { start } from './harness.ts'
import { relayTo } from './relay-under-test.ts'
import { claudeLines, type SessionPart } from './session-lines.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const minute = 60_000
const common = { session_id: 's', cwd: '/home/kim/shop' }
const prompted = (prompt: string, prompt_id: string, more: object = {}) => ({
  ...common,
  hook_event_name: 'UserPromptSubmit',
  prompt,
  prompt_id,
  ...more,
})
const used = (name: string, id: string, more: object = {}) => ({
  ...common,
  hook_event_name: name,
  tool_name: 'Bash',
  tool_input: { command: 'node --test' },
  tool_use_id: id,
  ...more,
})

onEachDatabase((database) => {
  async function startOn(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const account = await app.newAccount()
    const { headers } = account
    const read = async (runId = 'claude-code:s') => {
      const url = `/v1/drift/run?run_id=${encodeURIComponent(runId)}`
      const alone = (await app.get(url, headers)).body.run
      const { runs } = (await app.get('/v1/drift/runs', headers)).body
      const listed = runs.find(({ run_id }: { run_id: string }) => run_id === runId)
      for (const name of ['seen', 'silent', 'last_event_at', 'session_ended_at']) {
        assert.deepEqual(listed[name], alone[name], name)
      }
      return alone
    }
    const iso = (at: number) => new Date(at).toISOString()
    return {
      app,
      ...account,
      read,
      now: () => app.running.service.now(),
      iso,
      post: (host: string, body: object) => app.post(`/v1/hooks/${host}`, body, headers),
    }
  }

  test('a session of which nothing is heard for ten minutes is silent until it is heard or over', async (t) => {
    verifies('hosts.silent')
    const { app, headers, post, read, now, iso } = await startOn(t)
    await post('claude-code', prompted(errand, 'p-1'))
    app.advance(minute)
    const act = used('PostToolUse', 't-1', { tool_response: 'ok' })
    await post('claude-code', act)
    await app.running.service.waitingActs.flush()
    const heard = iso(now())
    app.advance(10 * minute - 1)
    const before = await read()
    assert.deepEqual(
      [before.silent, before.last_event_at, before.session_ended_at],
      [null, heard, null],
    )
    app.advance(1)
    assert.deepEqual((await read()).silent, { since: heard })
    // What was told before is nothing new.
    await post('claude-code', act)
    assert.deepEqual((await read()).silent, { since: heard })
    await post('claude-code', { ...common, hook_event_name: 'Stop' })
    assert.equal((await read()).silent, null)
    app.advance(11 * minute)
    assert.notEqual((await read()).silent, null)
    await post('claude-code', { ...common, hook_event_name: 'SessionEnd', reason: 'exit' })
    const over = iso(now())
    app.advance(60 * minute)
    const after = await read()
    assert.deepEqual([after.silent, after.session_ended_at], [null, over])
    // It goes on.
    await post('claude-code', { ...common, hook_event_name: 'SessionStart', source: 'resume' })
    app.advance(10 * minute)
    const again = await read()
    assert.deepEqual(
      [again.session_ended_at, again.silent],
      [null, { since: iso(now() - 10 * minute) }],
    )
    await app.post('/v1/drift/outcome', { run_id: 'claude-code:s', outcome: 'success' }, headers)
    assert.equal((await read()).silent, null)
    await app.post('/v1/drift', { run_id: 'own', goal: errand }, headers)
    app.advance(60 * minute)
    const own = await read('own')
    assert.deepEqual([own.seen, own.silent, own.last_event_at], [null, null, null])
  })

  test('a run says how many of its acts, sub-agents and prompts were seen', async (t) => {
    verifies('hosts.seen')
    const { app, post, read } = await startOn(t)
    await post('claude-code', prompted(errand, 'p-1'))
    for (let nth = 0; nth < 9; nth++) {
      await post('claude-code', used('PreToolUse', `t-${nth}`))
      if (nth < 7)
        await post('claude-code', used('PostToolUse', `t-${nth}`, { tool_response: 'ok' }))
    }
    // Without an answer it is not known how it ended.
    await post('claude-code', used('PostToolUse', 't-8'))
    for (const [name, agent_id] of [
      ['SubagentStart', 'a'],
      ['SubagentStart', 'b'],
      ['SubagentStop', 'a'],
      ['SubagentStop', 'a'],
    ]) {
      const said = { agent_id, agent_type: 'scout', timestamp: app.running.service.now() }
      app.advance(1)
      await post('claude-code', { ...common, hook_event_name: name, ...said })
    }
    await app.running.service.waitingActs.flush()
    const { seen, coverage } = await read()
    assert.deepEqual(seen, {
      known: true,
      share: 0.78,
      acts: 9,
      ended: 7,
      agents_started: 2,
      agents_stopped: 1,
      prompts: 1,
      prompts_in_file: 1,
    })
    assert.ok(coverage.acts <= 8)
    // A beginning that arrives after its end begins nothing.
    await post('claude-code', used('PostToolUse', 't-9', { tool_response: 'ok' }))
    await post('claude-code', used('PreToolUse', 't-9'))
    await app.running.service.waitingActs.flush()
    assert.deepEqual([(await read()).seen.acts, (await read()).seen.ended], [10, 8])
  })

  test('the relay counts the prompts of a session file that no hook has told, without their words', async (t) => {
    verifies('hosts.seen', 'hosts.relay.settles')
    for (const level of ['words', 'counts'] as const) {
      const { app, headers, key } = await startOn(t)
      const { relay, clock, hook } = await relayTo(t, { url: app.url, key }, { level })
      const file = join(freshFolder(t), 's.jsonl')
      await hook('claude-code', prompted(errand, 'p-s-0', { transcript_path: file }))
      const parts: SessionPart[] = [
        { prompt: errand },
        { prompt: 'a prompt that no hook has told' },
        { prompt: '<task-notification>done</task-notification>', by: 'system' },
      ]
      const earlier = claudeLines('s', [{ prompt: 'one of yesterday' }], clock.now() - 86_400_000)
      writeFileSync(
        file,
        earlier.replaceAll('p-s-0', 'p-old') + claudeLines('s', parts, clock.now()),
      )
      for (let look = 0; look < 4; look++) {
        clock.advance(2_000)
        await relay.drain()
        await relay.drain()
      }
      const { body } = await app.get('/v1/drift/runs', headers)
      const { seen, steps } = body.runs[0]
      assert.deepEqual([seen.prompts, seen.prompts_in_file, steps], [1, 2, 1])
    }
  })

  test('no precision is told of runs of which too little was seen', async (t) => {
    verifies('quality.seen')
    const { app, headers, post } = await startOn(t)
    const ofRun = (session_id: string) => ({ session_id, cwd: '/home/kim/shop', turn_id: 'u' })
    const command = (nth: number) => ({
      ...ofRun(`${nth}`),
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'x', description: 'remove rate limiting from the login endpoint' },
      tool_use_id: `t-${nth}`,
      tool_response: '',
    })
    for (let nth = 0; nth < 10; nth++) {
      const prompt = { ...ofRun(`${nth}`), hook_event_name: 'UserPromptSubmit', prompt: errand }
      await post('codex', prompt)
      await post('codex', command(nth))
      const run_id = `codex:${nth}`
      const label = { run_id, step: 2, label: 'useful' }
      const answer = await app.post('/v1/drift/label', label, headers)
      assert.equal(answer.status, 200, answer.text)
    }
    const quality = async () => (await app.get('/v1/quality', headers)).body
    const few = await quality()
    for (const { precision, known, withheld, labelled, seen } of [few, few.groups[0]]) {
      assert.deepEqual([precision, known, withheld, labelled], [null, false, 'little_seen', 10])
      assert.deepEqual(seen, { acts: 10, share: 0 })
    }
    // Who knows how they ended says so.
    for (let nth = 0; nth < 8; nth++) {
      const events = readCodex({ ...command(nth), tool_response: 'Exit code: 0\nOutput:\n' })
      const body = events.map((event) => `${JSON.stringify(event)}\n`).join('')
      await app.request('POST', '/v1/hooks/plain', { body, headers })
    }
    const told = await quality()
    for (const { precision, known, withheld, seen } of [told, told.groups[0]]) {
      assert.deepEqual([precision.value, known, withheld], [1, true, null])
      assert.deepEqual(seen, { acts: 10, share: 0.8 })
    }
    const label = { run_id: 'codex:0', step: 2, label: 'useful' }
    const { body } = await app.post('/v1/drift/label', label, headers)
    assert.deepEqual([body.quality.known, body.quality.seen.share], [true, 0.8])
    await app.post('/v1/drift', { run_id: 'own', goal: errand }, headers)
    await app.post('/v1/drift', { run_id: 'own', goal: 'water the plants' }, headers)
    const own = (await quality()).groups.find(({ host }: { host: string | null }) => host === null)
    assert.deepEqual([own?.withheld ?? 'few_labels', own?.seen ?? null], ['few_labels', null])
  })
})

test('what is seen of a session is bounded, and late events neither end nor prolong it', () => {
  verifies('hosts.seen', 'hosts.silent', 'hosts.bounded')
  const at = 1_000_000
  const fold = (events: readonly HostEvent[], from = nothingObserved) =>
    events.reduce((observed, event) => observe(observed, event).observed, from)
  const begun = Array.from({ length: 3 * mostKept.starts }, (_, nth) =>
    readClaudeCode(used('PreToolUse', `t-${nth}`, { timestamp: at + nth })),
  ).flat()
  const many = fold(begun)
  assert.equal(many.starts.length, mostKept.starts)
  assert.deepEqual([seenOf(many).acts, seenOf(many).ended], [3 * mostKept.starts, 0])
  const unknown = Array.from({ length: 3 * mostKept.unended }, (_, nth) =>
    readCodex({ ...used('PostToolUse', `t-${nth}`), tool_response: 'x' }),
  ).flat()
  assert.equal(fold(unknown).unended.length, mostKept.unended)

  const end = { ...common, hook_event_name: 'SessionEnd', timestamp: at + 500 }
  const over = fold(readClaudeCode(end), many)
  assert.deepEqual([seenOf(over).heardAt, seenOf(over).overAt], [at + 500, at + 500])
  assert.equal(silentSince(seenOf(over), at + 100 * minute), null)
  // What the session file tells later happened before.
  const late = fold(readClaudeCode(used('PostToolUse', 't-95', { timestamp: at + 400 })), over)
  assert.equal(seenOf(late).overAt, at + 500)
  const on = fold(readClaudeCode(used('PreToolUse', 't-200', { timestamp: at + 501 })), late)
  assert.deepEqual([seenOf(on).overAt, seenOf(on).heardAt], [null, at + 501])
  assert.equal(silentSince(seenOf(on), at + 501 + 10 * minute), at + 501)
  assert.equal(silentSince(seenOf(on), at + 500 + 10 * minute), null)
})
