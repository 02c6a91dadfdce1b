import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { TranscriptHost } from '../src/core/transcripts/transcript.ts'
import { onEachDatabase } from './backends.ts'
import { runHere } from './command.ts'
import { type App, start } from './harness.ts'
import { localKey, relayTo } from './relay-under-test.ts'
import { claudeLines } from './session-lines.ts'
import { freshFolder } from './spawned.ts'
import { verifies } from './verifies.ts'

// A watch that never begins or never reports fails its test.
const inTime = { timeout: 60_000 }

const cwd = '/home/kim/shop'
const noon = Date.UTC(2026, 0, 15, 12)
const at = (seconds: number) => new Date(noon - 60_000 + seconds * 1_000).toISOString()
const errand = 'add rate limiting to the login endpoint'
const command = 'node --test'
const path = `${cwd}/src/limit.js`

/** One session as the hooks of a host tell it and as its file holds it: a prompt, an edit, a command, each once. */
interface Told {
  host: TranscriptHost
  hooks: [event: string, body: object][]
  file: string
  lines: object[]
}

const sessions: Told[] = [
  {
    host: 'claude-code',
    hooks: [
      [
        '',
        {
          hook_event_name: 'UserPromptSubmit',
          session_id: 's',
          cwd,
          prompt: errand,
          prompt_id: 'p-s-0',
        },
      ],
      [
        '',
        {
          hook_event_name: 'PostToolUse',
          session_id: 's',
          cwd,
          tool_name: 'Write',
          tool_use_id: 'toolu-s-1',
          tool_input: { file_path: path, content: 'x' },
          tool_response: 'done',
        },
      ],
      [
        '',
        {
          hook_event_name: 'PostToolUse',
          session_id: 's',
          cwd,
          tool_name: 'Bash',
          tool_use_id: 'toolu-s-2',
          tool_input: { command },
          tool_response: 'done',
        },
      ],
    ],
    file: '.claude/projects/-home-kim-shop/s.jsonl',
    lines: claudeLines(
      's',
      [
        { prompt: errand },
        { tool: 'Write', input: { file_path: path, content: 'x' } },
        { tool: 'Bash', input: { command } },
      ],
      noon - 60_000,
    )
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  },
  {
    host: 'codex',
    hooks: [
      [
        '',
        {
          hook_event_name: 'UserPromptSubmit',
          session_id: 's',
          cwd,
          prompt: errand,
          turn_id: 'u1',
        },
      ],
      [
        '',
        {
          hook_event_name: 'PostToolUse',
          session_id: 's',
          cwd,
          tool_name: 'apply_patch',
          tool_use_id: 'exec-1',
          tool_input: { command: `*** Begin Patch\n*** Add File: src/limit.js\n+x\n*** End Patch` },
          tool_response: 'Success.',
        },
      ],
      [
        '',
        {
          hook_event_name: 'PostToolUse',
          session_id: 's',
          cwd,
          tool_name: 'Bash',
          tool_use_id: 'exec-2',
          tool_input: { command },
          tool_response: 'ok',
        },
      ],
    ],
    file: '.codex/sessions/2026/01/15/rollout-s.jsonl',
    lines: [
      { type: 'session_meta', timestamp: at(0), payload: { id: 's', session_id: 's', cwd } },
      ...[
        { type: 'UserMessage', id: 'm1', content: [{ type: 'text', text: errand }] },
        { type: 'FileChange', id: 'exec-1', changes: { [path]: { type: 'add', content: 'x' } } },
        {
          type: 'CommandExecution',
          id: 'exec-2',
          command: ['/bin/bash', '-lc', command],
          aggregated_output: 'ok',
          exit_code: 0,
        },
      ].map((item, nth) => ({
        type: 'event_msg',
        timestamp: at(nth),
        payload: { type: 'item_completed', turn_id: 'u1', item },
      })),
    ],
  },
  {
    host: 'gemini-cli',
    hooks: [
      [
        '',
        { hook_event_name: 'BeforeAgent', session_id: 's', cwd, timestamp: at(0), prompt: errand },
      ],
      [
        '',
        {
          hook_event_name: 'AfterTool',
          session_id: 's',
          cwd,
          timestamp: at(1),
          tool_name: 'write_file',
          tool_input: { file_path: path, content: 'x' },
          tool_response: { llmContent: 'done' },
        },
      ],
      [
        '',
        {
          hook_event_name: 'AfterTool',
          session_id: 's',
          cwd,
          timestamp: at(2),
          tool_name: 'run_shell_command',
          tool_input: { command },
          tool_response: { llmContent: 'Output: ok' },
        },
      ],
    ],
    file: '.gemini/tmp/shop/chats/session-s.jsonl',
    lines: [
      { sessionId: 's' },
      { id: 'm1', type: 'user', timestamp: at(0), content: [{ text: errand }] },
      {
        id: 'm2',
        type: 'gemini',
        timestamp: at(1),
        toolCalls: [
          {
            id: 'write_file__1',
            name: 'write_file',
            timestamp: at(1),
            args: { file_path: path, content: 'x' },
            result: [{ functionResponse: { response: { output: 'done' } } }],
          },
          {
            id: 'run_shell_command__2',
            name: 'run_shell_command',
            timestamp: at(2),
            args: { command },
            result: [{ functionResponse: { response: { output: 'Output: ok' } } }],
          },
        ],
      },
    ],
  },
  {
    host: 'copilot',
    hooks: [
      [
        'userPromptSubmitted',
        { sessionId: 's', cwd, timestamp: Date.parse(at(0)), prompt: errand },
      ],
      [
        'postToolUse',
        {
          sessionId: 's',
          cwd,
          timestamp: Date.parse(at(1)),
          toolName: 'create',
          toolArgs: { path, file_text: 'x' },
          toolResult: { resultType: 'success', textResultForLlm: 'done' },
        },
      ],
      [
        'postToolUse',
        {
          sessionId: 's',
          cwd,
          timestamp: Date.parse(at(2)),
          toolName: 'bash',
          toolArgs: { command },
          toolResult: {
            resultType: 'success',
            textResultForLlm: 'ok\n<command exited with exit code 0>',
          },
        },
      ],
    ],
    file: '.copilot/session-state/s/events.jsonl',
    lines: [
      { type: 'session.start', timestamp: at(0), data: { sessionId: 's', context: { cwd } } },
      {
        type: 'user.message',
        id: 'e1',
        timestamp: at(0),
        data: { content: errand, messageId: 'm1' },
      },
      {
        type: 'tool.execution_start',
        timestamp: at(1),
        data: { toolCallId: 'c1', toolName: 'create', arguments: { path, file_text: 'x' } },
      },
      {
        type: 'tool.execution_complete',
        timestamp: at(1),
        data: { toolCallId: 'c1', success: true, result: { content: 'done' } },
      },
      {
        type: 'tool.execution_start',
        timestamp: at(2),
        data: { toolCallId: 'c2', toolName: 'bash', arguments: { command } },
      },
      {
        type: 'tool.execution_complete',
        timestamp: at(2),
        data: {
          toolCallId: 'c2',
          success: true,
          result: { content: 'ok' },
          shellExecution: { exitCode: 0 },
        },
      },
    ],
  },
  {
    host: 'qwen-code',
    hooks: [
      [
        '',
        {
          hook_event_name: 'UserPromptSubmit',
          session_id: 's',
          cwd,
          timestamp: at(0),
          prompt_id: 's########0',
          prompt: errand,
          submitted_prompt: errand,
        },
      ],
      [
        '',
        {
          hook_event_name: 'PostToolUse',
          session_id: 's',
          cwd,
          timestamp: at(1),
          tool_name: 'write_file',
          tool_use_id: 'toolu_9',
          tool_call_id: 'call_1',
          tool_input: { file_path: path, content: 'x' },
          tool_response: { llmContent: 'done' },
        },
      ],
      [
        '',
        {
          hook_event_name: 'PostToolUse',
          session_id: 's',
          cwd,
          timestamp: at(2),
          tool_name: 'run_shell_command',
          tool_use_id: 'toolu_8',
          tool_call_id: 'call_2',
          tool_input: { command },
          tool_response: { llmContent: 'Output: ok' },
        },
      ],
    ],
    file: '.qwen/projects/-home-kim-shop/chats/s.jsonl',
    lines: [
      {
        sessionId: 's',
        cwd,
        timestamp: at(0),
        uuid: 'u1',
        type: 'user',
        provenance: 'real_user',
        message: { role: 'user', parts: [{ text: errand }] },
      },
      {
        sessionId: 's',
        cwd,
        timestamp: at(1),
        uuid: 'a1',
        type: 'assistant',
        message: {
          role: 'model',
          parts: [
            {
              functionCall: {
                id: 'call_1',
                name: 'write_file',
                args: { file_path: path, content: 'x' },
              },
            },
            { functionCall: { id: 'call_2', name: 'run_shell_command', args: { command } } },
          ],
        },
      },
      ...[
        ['call_1', 'write_file', 'done'],
        ['call_2', 'run_shell_command', 'Output: ok'],
      ].map(([id, name, output], nth) => ({
        sessionId: 's',
        cwd,
        timestamp: at(nth + 1),
        type: 'tool_result',
        message: { parts: [{ functionResponse: { id, name, response: { output } } }] },
      })),
    ],
  },
]

function written(home: string, file: string, lines: readonly object[]): string {
  const place = join(home, file)
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return place
}

/** Runs the command beside the test, as the person of `home` does. */
function watching(
  t: TestContext,
  host: string,
  home: string,
  { url, key = null }: { url: string; key?: string | null },
  args: string[] = ['--server'],
) {
  let stop = () => {}
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  const said = { err: '' }
  const ran = runHere(['watch', host, ...args], {
    environment: { HOME: home },
    now: () => noon,
    stopped: () => stopped,
    err: (text) => {
      said.err += text
    },
    settings: () => ({
      databaseUrl: 'sqlite::memory:',
      unknownSettings: [],
      laterSettings: [],
      limit: null,
      otlp: null,
      serverUrl: url,
      localUrl: url,
      key,
      hooksFolder: null,
    }),
  })
  const begun = async () => {
    while (!said.err.includes('watching')) await pause(10, undefined, { signal: t.signal })
  }
  return {
    said,
    ran,
    /** Resolves once it watches the files. */
    begun,
    /** Lets it report what the files hold, and ends it. */
    async end() {
      await begun()
      stop()
      return ran
    },
  }
}

async function runOf(app: App, headers: Record<string, string>, id: string) {
  const { body } = await app.get(`/v1/drift/run?run_id=${encodeURIComponent(id)}`, headers)
  return { run: body.run, goals: body.trace?.map(({ goal }: { goal: string }) => goal) ?? [] }
}

onEachDatabase((database) => {
  async function startOn(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    return { app, ...(await app.newAccount()), home: freshFolder(t) }
  }

  test('what a session file and the hooks of its host both tell counts once', inTime, async (t) => {
    verifies('hosts.watch.server')
    const { app, headers, key, home } = await startOn(t)
    for (const { host, hooks, file, lines } of sessions) {
      for (const [event, body] of hooks) {
        await app.post(`/v1/hooks/${host}${event && `/${event}`}`, body, headers)
      }
      const before = await runOf(app, headers, `${host}:s`)
      assert.equal(before.run.coverage.acts, 2, host)
      written(home, file, lines)
      for (const _ of [1, 2]) {
        const { code } = await watching(t, host, home, { url: app.url, key }).end()
        assert.equal(code, 0)
      }
      const after = await runOf(app, headers, `${host}:s`)
      assert.deepEqual(after.goals, before.goals, host)
      assert.equal(after.run.coverage.acts, 2, host)
    }
  })

  test('without hooks a session file makes the run that hooks would make', inTime, async (t) => {
    verifies('hosts.watch.server')
    const { app, headers, key, home } = await startOn(t)
    for (const { host, file, lines } of sessions) {
      const place = written(home, file, lines.slice(0, -1))
      const watch = watching(t, host, home, { url: app.url, key })
      await watch.begun()
      appendFileSync(place, `${JSON.stringify(lines.at(-1))}\n`)
      while ((await runOf(app, headers, `${host}:s`)).run?.coverage.acts !== 2)
        await pause(50, undefined, { signal: t.signal })
      await watch.end()
      const { run, goals } = await runOf(app, headers, `${host}:s`)
      assert.deepEqual([run.ground, goals[0]], [errand, errand])
      assert.match(goals.at(-1), /node --test|limit\.js/)
    }
  })

  test(
    'what the server advises is printed for the person, and the agent is told all the same',
    inTime,
    async (t) => {
      verifies('hosts.watch.advice')
      const { app, headers, key, home } = await startOn(t)
      const stray = { command: 'refund', description: 'refund order 9876 to the customer' }
      const parts = [
        { prompt: 'refund order 1234 to the customer' },
        { tool: 'Bash', input: stray },
      ]
      const fact =
        /^\d\d:\d\d claude-code:\S+ {2}The errand in the user's words \(\d\d:\d\d UTC\): "refund order 1234/m
      for (const [session, mode] of [
        ['quiet', 'observe'],
        ['loud', 'advise'],
      ] as const) {
        await app.post('/v1/hooks', { mode }, headers)
        const text = claudeLines(session, parts, noon - 60_000)
        const lines = text.trimEnd().split('\n')
        written(
          home,
          `.claude/projects/-home-kim-shop/${session}.jsonl`,
          lines.map((line) => JSON.parse(line)),
        )
        const { out } = await watching(t, 'claude-code', home, { url: app.url, key }).end()
        if (mode === 'observe') assert.equal(out, '')
        else assert.match(out, fact)
        assert.equal(out.split('\n').length, mode === 'observe' ? 1 : 2)
      }
      const next = {
        hook_event_name: 'PostToolUseFailure',
        session_id: 'loud',
        tool_name: 'Bash',
        tool_use_id: 'x',
        tool_input: { command: 'ls' },
        error: 'Exit code 1',
      }
      const told = await app.post('/v1/hooks/claude-code', next, headers)
      assert.match(JSON.stringify(told.body), /additionalContext.*refund order 1234/)

      // By a relay it is printed too, and stays for the next hook.
      const { relay, hook } = await relayTo(t, { url: app.url, key })
      const watch = (lines: string) =>
        fetch(`${relay.url}/v1/hooks/plain?tells=person`, {
          method: 'POST',
          headers: { authorization: `Bearer ${localKey}` },
          body: lines,
        }).then((answer) => answer.json() as Promise<{ answers: { told: string | null }[] }>)
      const place = { runId: 'claude-code:r', agentId: '' }
      const prompt = {
        ...place,
        kind: 'prompt',
        text: parts[0]!.prompt,
        by: 'person',
        eventId: 'a',
      }
      await watch(JSON.stringify(prompt))
      await hook('claude-code', {
        hook_event_name: 'PostToolUse',
        session_id: 'r',
        tool_name: 'Bash',
        tool_use_id: 'b',
        tool_input: stray,
        tool_response: 'done',
      })
      await relay.drain()
      const said = JSON.stringify({ ...place, kind: 'say', text: 'done', eventId: 'c' })
      const { answers } = await watch(said)
      assert.match(String(answers[0]!.told), /refund order 1234/)
      const hooked = await hook('claude-code', { ...next, session_id: 'r' })
      assert.match(JSON.stringify(hooked.body), /additionalContext.*refund order 1234/)
      assert.equal((await watch(said)).answers[0]!.told, null)
    },
  )

  test('what is meant for another machine goes by the relay', inTime, async (t) => {
    verifies('hosts.watch.server')
    const { app, headers, key, home } = await startOn(t)
    const [{ file, lines }] = sessions as [Told]
    const { relay } = await relayTo(t, { url: app.url, key }, { level: 'hashes' })
    const settings = {
      url: 'https://plumbline.example',
      key,
      level: 'hashes',
      port: Number(new URL(relay.url).port),
      local_key: localKey,
      hash_key: 'hash-key',
    }
    mkdirSync(join(home, '.plumbline'))
    writeFileSync(join(home, '.plumbline', 'relay.json'), JSON.stringify(settings))
    written(home, file, lines)
    const told = watching(t, 'claude-code', home, { url: app.url }, [
      '--server',
      'https://plumbline.example',
    ])
    await told.end()
    assert.match(told.said.err, /reporting to http:\/\/127\.0\.0\.1/)
    await relay.drain()
    const { run, goals } = await runOf(app, headers, 'claude-code:s')
    assert.equal(run.ground, errand)
    assert.doesNotMatch(goals.join(' '), /limit\.js/)
    const foreign = await watching(t, 'claude-code', home, { url: app.url }, [
      '--server',
      'https://elsewhere.example',
    ]).ran
    assert.equal(foreign.code, 2)
  })
})

test('plumbline watch --server says what it lacks', inTime, async (t) => {
  verifies('hosts.watch.server')
  const home = freshFolder(t)
  const url = 'http://127.0.0.1:9'
  const lacking = async (...args: string[]) => {
    const watch = watching(t, 'codex', home, { url }, args)
    const { code } = await watch.ran
    assert.equal(code, 2)
    return watch.said.err
  }
  assert.match(await lacking('--server'), /set PLUMBLINE_KEY to a key of http:\/\/127\.0\.0\.1:9/)
  assert.match(await lacking('--server', 'ftp://x'), /--server is "ftp:\/\/x"/)
  assert.match(await lacking('--server', '--drift'), /--drift and --words are for/)
  assert.match(
    await lacking('--server', 'https://away.example'),
    /plumbline relay --server https:\/\/away\.example/,
  )
  assert.match(await lacking('http://127.0.0.1:9'), /unexpected argument/)
})
