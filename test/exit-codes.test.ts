import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { PrivacyLevel } from '../src/core/hosts/privacy.ts'
import { readCodexRollout } from '../src/core/transcripts/codex.ts'
import { onEachDatabase } from './backends.ts'
import {
  type CodexPart,
  type CodexPlace,
  codexHooks,
  codexPrompt,
  codexRollout,
} from './codex-session.ts'
import { type App, start } from './harness.ts'
import { relayTo } from './relay-under-test.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
/** Its output names no test, so that nothing but the exit code says that it failed. */
const build = (nth: number): CodexPart => ({
  command: 'npm run build',
  output: `src/login/limit.js(${nth},1): Cannot find name 'perMinute'\n`,
  exit: 2,
})
const edit = (nth: number): CodexPart => ({ path: 'src/login/limit.js', text: `line ${nth}` })
const stuck = [build(1), edit(1), build(2), edit(2), build(3), edit(3), build(4)]
const missing: CodexPart = { command: 'ls node_modules', output: 'ls: cannot access', exit: 2 }

async function runOf(app: App, headers: Record<string, string>, runId = 'codex:c') {
  const { body } = await app.get(`/v1/drift/run?run_id=${encodeURIComponent(runId)}`, headers)
  return body
}

onEachDatabase((database) => {
  async function startOn(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    return { app, ...(await app.newAccount()) }
  }

  async function startBoth(t: TestContext, level: PrivacyLevel = 'words') {
    const { app, headers, key } = await startOn(t)
    const under = await relayTo(t, { url: app.url, key }, { level })
    const file = join(freshFolder(t), 'rollout-2026-01-15T12-00-00-c.jsonl')
    const place: CodexPlace = { session: 'c', file }
    const { relay, clock, hook } = under
    // The first may be one that began before.
    const drain = async () => {
      await relay.drain()
      await relay.drain()
    }
    return {
      ...under,
      app,
      headers,
      place,
      drain,
      async tell(parts: readonly CodexPart[], at = place) {
        for (const event of codexHooks(at, parts)) await hook('codex', event)
        await drain()
      },
      async write(parts: readonly CodexPart[], at = place, filler = '') {
        const text = codexRollout(at, { prompts: [errand], parts, at: clock.now() }, filler)
        writeFileSync(at.file, text)
        clock.advance(2_000)
        await drain()
      },
    }
  }

  for (const level of ['words', 'hashes', 'counts'] as const) {
    test(`at the level ${level} failing commands of Codex are evidence once the relay has read how they ended`, async (t) => {
      verifies(
        'hosts.relay.settles',
        'hosts.ends',
        'hosts.privacy.levels',
        'hosts.evidence.verdict',
      )
      const { app, headers, hook, drain, clock, place, tell, write, folder } = await startBoth(
        t,
        level,
      )
      await hook('codex', codexPrompt(place, errand))
      await tell(stuck)
      const find = async () => {
        const { body } = await app.get('/v1/drift/runs', headers)
        return runOf(app, headers, body.runs[0].run_id)
      }
      const before = await find()
      assert.equal(
        before.trace.some(({ reason }: { reason: string }) => reason === 'stalled'),
        false,
      )
      // Held back while the server is not asked, so that what leaves can be read.
      writeFileSync(
        place.file,
        codexRollout(place, { prompts: [errand], parts: stuck, at: clock.now() }),
      )
      clock.advance(2_000)
      const spool = join(folder, 'relay')
      const spooled = readdirSync(spool)
        .filter((name) => name.endsWith('.ndjson'))
        .map((name) => readFileSync(join(spool, name), 'utf8'))
        .join('')
      assert.match(spooled, /"outcome":"failed","exit":2/)
      assert.doesNotMatch(spooled, /perMinute|Cannot find/)
      if (level !== 'words') assert.doesNotMatch(spooled, /npm|build|limit\.js/)
      await drain()
      const { run, trace } = await find()
      const last = trace.at(-1)
      const what = level === 'words' ? '"npm run build"' : 'A check'
      const why = `${what} failed 4 times with the same error; 3 edits in between.`
      assert.deepEqual(
        [last.reason, last.act_evidence.kind, last.why],
        ['stalled', 'tests-stuck', why],
      )
      assert.deepEqual([run.coverage.acts, run.coverage.failed, run.coverage.outcomes], [7, 4, 1])
      assert.equal(last.failed_acts > 0, true)
      // The file tells the same again at the next look, and nothing counts twice.
      await tell([...stuck, missing])
      await write([...stuck, missing])
      clock.advance(2_000)
      await drain()
      const after = await find()
      assert.equal(after.trace.length, trace.length)
    })
  }

  test('one error three times is evidence though its acts are settled together, and edits between them forbid it', async (t) => {
    verifies('hosts.ends')
    for (const [parts, kind] of [
      [[missing, missing, missing], 'same-error'],
      [[missing, edit(1), missing, edit(2), missing], undefined],
    ] as const) {
      const { app, headers, hook, place, tell, write } = await startBoth(t)
      await hook('codex', codexPrompt(place, errand))
      await tell(parts)
      await write(parts)
      const { trace } = await runOf(app, headers)
      assert.equal(trace.at(-1).act_evidence?.kind, kind)
    }
  })

  test('a sub-agent of Codex and a file that is longer than what is read have their exit codes too', async (t) => {
    verifies('hosts.relay.settles', 'hosts.ends')
    const { app, headers, hook, place, tell, write, clock, drain } = await startBoth(t)
    await hook('codex', codexPrompt(place, errand))
    const sub = { ...place, agent: 'child', file: place.file.replace('-c.', '-child.') }
    await hook('codex', codexPrompt(sub, 'find out which packages are installed'))
    const three = [missing, missing, missing]
    await tell(three, sub)
    await tell(three)
    writeFileSync(
      sub.file,
      codexRollout(sub, { parts: three, at: clock.now() }, 'x'.repeat(600 * 1024)),
    )
    await write(three, place, 'x'.repeat(600 * 1024))
    await drain()
    const { trace } = await runOf(app, headers)
    const shown = trace.filter((step: Record<string, unknown>) => step.reason === 'stalled')
    assert.deepEqual(shown.map(({ agent_id = '' }: { agent_id?: string }) => agent_id).sort(), [
      '',
      'child',
    ])
  })

  test('a server that hooks report to learns from a watch how commands ended, and once', async (t) => {
    verifies('hosts.ends', 'hosts.watch.server')
    const { app, headers } = await startOn(t)
    const place: CodexPlace = { session: 'c', file: '/nowhere/rollout-c.jsonl' }
    await app.post('/v1/hooks/codex', codexPrompt(place, errand), headers)
    for (const event of codexHooks(place, stuck)) await app.post('/v1/hooks/codex', event, headers)
    const read = readCodexRollout({ session: 'c', agentId: '' })
    const text = codexRollout(place, {
      prompts: [errand],
      parts: stuck,
      at: Date.UTC(2026, 0, 15, 12),
    })
    const events = text
      .trim()
      .split('\n')
      .flatMap((line) => read(JSON.parse(line)))
    const body = events.map((event) => `${JSON.stringify(event)}\n`).join('')
    for (let nth = 0; nth < 2; nth++) {
      const { status } = await app.request('POST', '/v1/hooks/plain', { body, headers })
      assert.equal(status, 200)
      const { run, trace } = await runOf(app, headers)
      assert.equal(trace.at(-1).act_evidence?.kind, 'tests-stuck')
      assert.deepEqual([run.coverage.acts, run.coverage.failed, run.coverage.outcomes], [7, 4, 1])
    }
  })

  test('a command that the host has read as a search or a look is told as one', async (t) => {
    verifies('hosts.ends', 'hosts.transcripts')
    const { app, headers, hook, place, tell, write } = await startBoth(t)
    await hook('codex', codexPrompt(place, errand))
    const looked: CodexPart = {
      command: "sed -n '1,40p' src/login/limit.js",
      output: 'export const perMinute = 5\n',
      exit: 0,
      parsed: [
        { type: 'read', cmd: "sed -n '1,40p' src/login/limit.js", path: 'src/login/limit.js' },
      ],
    }
    const parts = [edit(1), looked, build(1), edit(2)]
    const goal = (objective: string) => ({
      ...codexPrompt(place, ''),
      hook_event_name: 'PostToolUse',
      tool_name: 'create_goal',
      tool_use_id: objective,
      tool_input: { objective },
      tool_response: '{}',
    })
    await hook('codex', goal('limit the login'))
    await tell(parts.slice(0, 3))
    await write(parts.slice(0, 3))
    await hook('codex', goal('limit it by address'))
    await tell(parts)
    const { trace } = await runOf(app, headers)
    const told = trace.flatMap(({ doing }: { doing: string[] }) => doing)
    assert.ok(told.includes('read src/login/limit.js'), told.join(', '))
    const [found] = readCodexRollout({ session: 'c', agentId: '' })(
      JSON.parse(
        codexRollout(place, {
          at: 0,
          parts: [
            {
              command: 'rg --no-heading login src',
              output: '',
              exit: 1,
              parsed: [{ type: 'search', cmd: 'rg login', query: 'login', path: 'src' }],
            },
          ],
        })
          .trim()
          .split('\n')
          .at(-1) ?? '',
      ),
    )
    assert.ok(found?.kind === 'act')
    const { family, words, paths, outcome, exit } = found
    assert.deepEqual(
      [family, words, paths, outcome, exit],
      ['search', 'login', ['src'], 'failed', 1],
    )
  })
})
