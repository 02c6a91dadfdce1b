import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { spansIn } from '../src/core/telemetry/records.ts'
import { readSpan } from '../src/core/telemetry/spans.ts'
import { eventsOfTrace } from '../src/core/telemetry/trace.ts'
import { onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { start } from './harness.ts'
import { settle } from './hook.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const began = Date.UTC(2026, 0, 15, 12)
const json = { 'content-type': 'application/json' }

type Value = string | number | boolean

interface Span {
  id: string
  parent?: string
  name: string
  /** Milliseconds after the beginning. */
  from: number
  to: number
  attributes?: Record<string, Value>
  failed?: boolean
}

const nanos = (ms: number) => `${began + ms}000000`

function listed(attributes: Record<string, Value>): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { stringValue: value }
        : typeof value === 'boolean'
          ? { boolValue: value }
          : { intValue: String(value) },
  }))
}

function spans(scope: string, trace: string, ...list: Span[]): object {
  const sent = list.map(({ id, parent = '', name, from, to, attributes = {}, failed }) => ({
    traceId: trace.padStart(32, '0'),
    spanId: id.padStart(16, '0'),
    parentSpanId: parent === '' ? '' : parent.padStart(16, '0'),
    name,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(to),
    attributes: listed(attributes),
    status: { code: failed === true ? 2 : 0 },
  }))
  return { resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans: sent }] }] }
}

function logs(scope: string, ...list: [number, Record<string, Value>][]): object {
  const logRecords = list.map(([at, attributes]) => ({
    timeUnixNano: nanos(at),
    attributes: listed({ 'session.id': 's', ...attributes }),
  }))
  return { resourceLogs: [{ scopeLogs: [{ scope: { name: scope }, logRecords }] }] }
}

const eventsIn = (body: object) =>
  eventsOfTrace(spansIn(body)?.records.flatMap((record) => readSpan(record) ?? []) ?? [])

/** What events say, in their order. */
function toldIn(body: object): string[] {
  return eventsIn(body).map((event) => {
    const said = 'text' in event ? event.text : 'task' in event ? event.task : ''
    const done = event.kind === 'act' ? `${event.tool} ${event.outcome} ${event.paths.join()}` : ''
    const count = event.kind === 'tokens' ? String(event.count) : ''
    const who = event.agentId === '' ? '' : `${event.agentId.replace(/^0+/, '')}: `
    return `${who}${event.kind} ${said}${done}${count}`.trim()
  })
}

const claudeScope = 'com.anthropic.claude_code.tracing'
const ofClaude = { 'session.id': 's', 'gen_ai.conversation.id': 's' }

/** A turn of Claude Code as its spans arrive: what is inside comes first. */
const claude = spans(
  claudeScope,
  'c1',
  {
    ...{ id: 'a4', parent: 'a3', name: 'claude_code.tool.blocked_on_user', from: 1000, to: 4000 },
    attributes: { ...ofClaude, decision: 'accept', source: 'user_temporary', duration_ms: 3000 },
  },
  {
    ...{ id: 'a5', parent: 'a3', name: 'claude_code.tool.execution', from: 4000, to: 5000 },
    attributes: { ...ofClaude, tool_use_id: 'toolu_1', success: false },
  },
  {
    ...{ id: 'a3', parent: 'a1', name: 'claude_code.tool', from: 1000, to: 5000 },
    attributes: {
      ...{ ...ofClaude, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'Bash' },
      'gen_ai.tool.call.id': 'toolu_1',
    },
  },
  {
    ...{ id: 'a2', parent: 'a1', name: 'claude_code.llm_request', from: 100, to: 900 },
    attributes: { ...ofClaude, input_tokens: 120, output_tokens: 30 },
  },
  {
    ...{ id: 'a1', name: 'claude_code.interaction', from: 0, to: 6000 },
    attributes: { ...ofClaude, 'gen_ai.operation.name': 'invoke_agent', user_prompt: errand },
  },
)

const ofGemini = { 'gen_ai.conversation.id': 's', 'gen_ai.agent.name': 'gemini-cli' }
const parts = (role: string, ...texts: string[]) => ({
  role,
  parts: texts.map((text) => ({ text })),
})

const gemini = spans(
  'gemini-cli',
  'd1',
  {
    ...{ id: 'b3', parent: 'b2', name: 'tool_call', from: 1000, to: 2000 },
    attributes: {
      ...{ ...ofGemini, 'gen_ai.operation.name': 'tool_call', 'gen_ai.tool.name': 'read_file' },
      'gen_ai.tool.call_id': 'read_file_1',
      'gen_ai.input.messages': JSON.stringify({
        callId: 'read_file_1',
        args: { file_path: 'src/login.js' },
      }),
      'gen_ai.output.messages': JSON.stringify({ status: 'success' }),
    },
  },
  {
    ...{ id: 'b2', name: 'schedule_tool_calls', from: 950, to: 2100 },
    attributes: { ...ofGemini, 'gen_ai.operation.name': 'schedule_tool_calls' },
  },
  {
    ...{ id: 'b1', name: 'llm_call', from: 0, to: 900 },
    attributes: {
      ...{ ...ofGemini, 'gen_ai.operation.name': 'llm_call' },
      'gen_ai.input.messages': JSON.stringify([
        parts('user', '<session_context>\nThis is the Gemini CLI.\n</session_context>'),
        parts('user', `<hook_context>x</hook_context>\n\n${errand}`),
      ]),
      'gen_ai.output.messages': JSON.stringify([parts('model', 'I look at the route.')]),
      'gen_ai.usage.input_tokens': 7,
    },
  },
  {
    ...{ id: 'b5', parent: 'b4', name: 'tool_call', from: 3100, to: 3200, failed: true },
    attributes: {
      ...{ ...ofGemini, 'gen_ai.operation.name': 'tool_call', 'gen_ai.tool.name': 'grep_search' },
      'gen_ai.input.messages': JSON.stringify({ args: { pattern: 'bucket' } }),
    },
  },
  {
    ...{ id: 'b4', name: 'agent_call', from: 3000, to: 4000 },
    attributes: {
      ...{ ...ofGemini, 'gen_ai.operation.name': 'agent_call' },
      'gen_ai.input.messages': JSON.stringify({
        agent_name: 'investigator',
        prompt: 'compare two libraries',
      }),
    },
  },
)

test('the spans of Claude Code are its prompt, acts and waits, and those of Gemini CLI too', () => {
  verifies('telemetry.host-spans')
  assert.deepEqual(toldIn(claude), [`prompt ${errand}`, 'tokens 150', 'person', 'act Bash failed'])
  const [prompt, , person, act] = eventsIn(claude)
  assert.deepEqual(
    [prompt?.runId, person?.eventId, act?.eventId, act?.span?.spanId],
    ['claude-code:s', 'toolu_1#granted', 'toolu_1', '00000000000000a3'],
  )
  assert.deepEqual(toldIn(gemini), [
    `prompt ${errand}`,
    'say I look at the route.',
    'tokens 7',
    'act read_file ok src/login.js',
    'delegate compare two libraries',
    'b4: act grep_search failed',
  ])
  assert.ok(eventsIn(gemini).every(({ runId }) => runId === 'gemini-cli:s'))
  // A prompt that was cut by the exporter, or that nobody typed, is nobody's words.
  const cut = spans('gemini-cli', 'd2', {
    ...{ id: 'b1', name: 'llm_call', from: 0, to: 900 },
    attributes: {
      ...{ ...ofGemini, 'gen_ai.operation.name': 'llm_call' },
      'gen_ai.input.messages': JSON.stringify([parts('user', '<session_context> cut …')]),
    },
  })
  assert.deepEqual(toldIn(cut), [])
  const unsaid = spans(claudeScope, 'c3', {
    ...{ id: 'a1', name: 'claude_code.tool', from: 0, to: 1 },
    attributes: {
      ...{ ...ofClaude, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'TodoWrite' },
      'gen_ai.tool.call.id': 'toolu_9',
    },
  })
  assert.deepEqual(toldIn(unsaid), [], 'a plan whose items are not told is not an empty one')
  const notice = spans(claudeScope, 'c2', {
    ...{ id: 'a1', name: 'claude_code.interaction', from: 0, to: 1 },
    attributes: {
      ...{ ...ofClaude, 'gen_ai.operation.name': 'invoke_agent' },
      user_prompt: '<task-notification>done',
    },
  })
  const [told] = eventsIn(notice)
  assert.equal(told?.kind === 'prompt' && told.by, 'machine')
})

test('who spoke a prompt is unknown, unless spans say that a program handed it over', () => {
  verifies('telemetry.who-spoke')
  const spoken = (source: object) =>
    eventsIn(
      spans(
        claudeScope,
        'c3',
        {
          ...{ id: 'a1', name: 'claude_code.interaction', from: 0, to: 9 },
          attributes: {
            ...{ ...ofClaude, 'gen_ai.operation.name': 'invoke_agent', user_prompt: errand },
          },
        },
        {
          ...{ id: 'a2', parent: 'a1', name: 'claude_code.llm_request', from: 1, to: 2 },
          attributes: { ...ofClaude, ...source },
        },
      ),
    ).flatMap((event) => (event.kind === 'prompt' ? [[event.by, event.isHeadless]] : []))
  assert.deepEqual(spoken({}), [['unknown', undefined]])
  assert.deepEqual(spoken({ query_source_safe: 'sdk' }), [['person', true]])
})

test('the spans of Codex are internal, and are left out', () => {
  verifies('telemetry.host-spans')
  const codex = spans('codex_exec', 'e1', {
    ...{ id: 'e1', name: 'exec_command', from: 0, to: 10 },
    attributes: { 'conversation.id': 's', tool_name: 'exec_command', call_id: 'exec-1' },
  })
  assert.deepEqual(eventsIn(codex), [])
})

onEachDatabase((database) => {
  async function startOn(t: TestContext, env: Record<string, string> = {}) {
    const url = env.DATABASE_URL ?? (await database.createUrl())
    const app = await start(t, { env: { DATABASE_URL: url, ...env } })
    const caller = await newCaller(app)
    const folded = async (afterMs = 5_000) => {
      app.advance(afterMs)
      await settle(app)
    }
    return { app, caller, folded, url }
  }

  async function exported(caller: Caller, kind: 'traces' | 'logs', body: object) {
    const answer = await caller.post(`/v1/${kind}`, body, json)
    assert.equal(answer.status, 200, answer.text)
  }

  const goalsOf = async (caller: Caller, runId: string) =>
    (await caller.read(runId)).trace.map(({ goal }: { goal: string }) => goal)

  const bySpan = (scope: string, trace: string, body: object) => {
    // biome-ignore lint/suspicious/noExplicitAny: a body of the protocol
    const list = (body as any).resourceSpans[0].scopeSpans[0].spans as object[]
    return list.map((span) => ({
      resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans: [{ ...span, trace }] }] }],
    }))
  }

  test('spans wait until their trace is quiet, in whichever order and requests they come', async (t) => {
    verifies('telemetry.buffer')
    const { app, caller, folded } = await startOn(t)
    for (const body of bySpan(claudeScope, 'c1', claude)) {
      await exported(caller, 'traces', body)
      await folded(4_000)
    }
    assert.equal((await caller.get('/v1/drift/run?run_id=claude-code:s')).status, 404)
    await folded()
    const run = await caller.read('claude-code:s')
    assert.equal(run.run.ground, errand)
    assert.deepEqual([run.run.coverage.acts, run.trace[0].goal_source], [1, 'prompt'])
    assert.equal(await app.running.store.pendingSpans.count(caller.account), 0)
    // The root comes again, alone: it counts once.
    await exported(caller, 'traces', claude)
    await folded()
    const again = await caller.read('claude-code:s')
    assert.deepEqual([again.trace.length, again.run.coverage.acts], [run.trace.length, 1])
  })

  test('spans that were taken outlive the process', async (t) => {
    verifies('telemetry.buffer')
    const { app, caller, url } = await startOn(t)
    await exported(caller, 'traces', gemini)
    await app.running.stop()
    const now = () => began + 60_000
    const again = await start(t, { env: { DATABASE_URL: url }, now })
    await settle(again)
    assert.deepEqual(await goalsOf(caller.at(again), 'gemini-cli:s'), [
      errand,
      'I look at the route',
      'investigator',
      'search "bucket"',
    ])
  })

  test('an agent that never pauses is judged while it works', async (t) => {
    verifies('telemetry.buffer')
    const { caller, folded } = await startOn(t)
    let parts = 0
    const [first = {}, ...others] = bySpan(claudeScope, 'c1', claude).reverse()
    await exported(caller, 'traces', first)
    while ((await caller.get('/v1/drift/run?run_id=claude-code:s')).status === 404) {
      await folded(4_000)
      await exported(caller, 'traces', others[0] ?? {})
      parts += 1
      assert.ok(parts < 20)
    }
    assert.equal(parts, 8)
  })

  test('what a machine spoke is no errand because telemetry tells it too', async (t) => {
    verifies('telemetry.once', 'telemetry.who-spoke', 'hosts.who-spoke.settled')
    const { caller, folded } = await startOn(t)
    const prompt = { session_id: 's', hook_event_name: 'UserPromptSubmit' }
    const hook = (prompt_id: string, words: string, source?: string) =>
      caller.post('/v1/hooks/claude-code', { ...prompt, prompt_id, prompt: words, source })
    const chore = 'bake a cake for the office party'
    const told = (name: string, id: string, more: Record<string, Value>) =>
      exported(
        caller,
        'logs',
        logs('com.anthropic.claude_code.events', [
          5000,
          { 'event.name': name, 'prompt.id': id, ...more },
        ]),
      )
    const errandsOf = async () => {
      const { trace } = await caller.read('claude-code:s')
      return trace
        .filter((step: { goal_source: string }) => step.goal_source === 'prompt')
        .map(({ goal }: { goal: string }) => goal)
    }
    await hook('p', errand, 'user')
    // The hook knows the speaker, and neither the log record with its id nor the span without one takes that back.
    await hook('q', chore, 'schedule_wakeup')
    await told('user_prompt', 'q', { prompt: chore })
    await exported(
      caller,
      'traces',
      spans(claudeScope, 'c4', {
        ...{ id: 'a1', name: 'claude_code.interaction', from: 0, to: 9 },
        attributes: {
          ...{ ...ofClaude, 'gen_ai.operation.name': 'invoke_agent', user_prompt: chore },
        },
      }),
    )
    await folded()
    assert.deepEqual(await errandsOf(), [errand])
    // Without a hook nobody knows, until one says it.
    const other = 'water the plants on the roof'
    await told('user_prompt', 'r', { prompt: other })
    assert.equal((await caller.read('claude-code:s')).run.grounds.at(-1).by, 'unknown')
    await hook('r', other, 'poll_event')
    assert.equal((await caller.read('claude-code:s')).run.ground, errand)
    // What a program asks of its model says that it handed the prompt over.
    await told('user_prompt', 'u', { prompt: other.toUpperCase() })
    assert.equal((await caller.read('claude-code:s')).run.grounds.at(-1).by, 'unknown')
    await told('api_request', 'u', { query_source: 'sdk' })
    assert.notEqual((await caller.read('claude-code:s')).run.grounds.at(-1).by, 'unknown')
    assert.equal((await errandsOf()).length, 3)
  })

  test('a tool call that hook, log record and span tell counts once', async (t) => {
    verifies('telemetry.once')
    const { caller, folded } = await startOn(t)
    const hook = (host: string, event: object) => caller.post(`/v1/hooks/${host}`, event)
    const use = { tool_use_id: 'toolu_1', tool_name: 'Bash', agent_id: 'sub' }
    const input = { command: 'node --test' }
    const prompt = { session_id: 's', hook_event_name: 'UserPromptSubmit', prompt_id: 'p' }
    await exported(caller, 'traces', claude)
    await exported(
      caller,
      'logs',
      logs(
        'com.anthropic.claude_code.events',
        [0, { 'event.name': 'user_prompt', 'prompt.id': 'other', prompt: errand }],
        [
          5000,
          {
            ...{ 'event.name': 'tool_result', tool_use_id: 'toolu_1', tool_name: 'Bash' },
            ...{ success: 'false', error: 'Exit code 1', tool_input: JSON.stringify(input) },
          },
        ],
      ),
    )
    await hook('claude-code', { ...prompt, prompt: errand })
    await hook('claude-code', {
      ...{ session_id: 's', hook_event_name: 'PostToolUseFailure', error: 'Exit code 1' },
      ...{ ...use, tool_input: input },
    })
    await folded()
    const { run, trace } = await caller.read('claude-code:s')
    assert.deepEqual([run.coverage.acts, run.ground, run.agents], [1, errand, []])
    const prompts = trace.filter((step: { goal_source: string }) => step.goal_source === 'prompt')
    assert.equal(prompts.length, 1)
    // Gemini CLI gives a call no id: the n-th of equal calls by one way is the n-th by the others.
    const read = { tool_name: 'read_file', tool_input: { file_path: 'src/login.js' } }
    const gone = { session_id: 's', cwd: '/shop', hook_event_name: 'AfterTool' }
    for (const at of [2000, 2100]) {
      const timestamp = new Date(began + at).toISOString()
      await hook('gemini-cli', { ...gone, ...read, timestamp, tool_response: { llmContent: 'x' } })
    }
    const called = {
      ...{ 'event.name': 'gemini_cli.tool_call', function_name: 'read_file', success: true },
      function_args: JSON.stringify(read.tool_input),
    }
    const scope = 'gemini-cli'
    await exported(caller, 'logs', logs(scope, [2000, called], [2100, { ...called, other: 1 }]))
    await exported(caller, 'traces', gemini)
    await folded()
    assert.equal((await caller.read('gemini-cli:s')).run.coverage.acts, 2)
  })

  test('an account has at most 10,000 spans waiting, and what is not of agents does not wait', async (t) => {
    verifies('telemetry.bound')
    const { app, caller, folded } = await startOn(t)
    const web = (trace: string, id: string) =>
      spans('http', trace, { id, name: 'GET', from: 0, to: 1 })
    await exported(caller, 'traces', web('f1', '1'))
    assert.equal(await app.running.store.pendingSpans.count(caller.account), 0)
    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 's' }
    const many = Array.from({ length: 10_000 }, (_, nth) => ({
      ...{ id: (nth + 1).toString(16), name: 'step', from: nth, to: nth + 1 },
      ...(nth === 0 ? { attributes: chat } : {}),
    }))
    for (const part of [many.slice(0, 5_000), many.slice(5_000)]) {
      await exported(caller, 'traces', spans('lib', 'f2', ...part))
    }
    // What is inside a trace of an agent waits with it.
    assert.equal(await app.running.store.pendingSpans.count(caller.account), 10_000)
    const body = spans('lib', 'f3', { id: '1', name: 'chat', from: 0, to: 1, attributes: chat })
    const refused = await caller.post('/v1/traces', body, json)
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '5'])
    await folded()
    // Nor does an export pass the bound at once.
    const one = (nth: number) =>
      spans('lib', `f${nth}`, { id: '1', name: 'chat', from: 0, to: 1, attributes: chat })
    await exported(caller, 'traces', one(4))
    const whole = await caller.post('/v1/traces', spans('lib', 'f2', ...many), json)
    assert.deepEqual([whole.status, whole.headers.get('retry-after')], [429, '5'])
    assert.equal(await app.running.store.pendingSpans.count(caller.account), 1)
    await folded()
    const more = { id: (many.length + 1).toString(16), name: 'step', from: 0, to: 1 }
    const large = await caller.post('/v1/traces', spans('lib', 'f2', ...many, more), json)
    assert.deepEqual([large.status, large.body.error], [413, 'payload_too_large'])
    assert.equal(await app.running.store.pendingSpans.count(caller.account), 0)
    await exported(caller, 'traces', body)
  })

  test('the steps of spans count as writes, and an account beyond its quota exports none', async (t) => {
    verifies('telemetry.quota')
    const { app, folded } = await startOn(t)
    const caller = await newCaller(app, 'ground')
    const chat = (conversation: string, words: string) =>
      spans('lib', conversation, {
        ...{ id: conversation, name: 'chat', from: 0, to: 1 },
        attributes: {
          ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': conversation },
          'gen_ai.input.messages': JSON.stringify([parts('user', words)]),
        },
      })
    const before = await caller.log({ run_id: 'r', goal: errand })
    assert.ok(before)
    const left = async () => {
      const { headers } = await caller.post('/v1/drift', { run_id: 'r', goal: errand })
      return Number(headers.get('x-ratelimit-remaining'))
    }
    const first = await left()
    await exported(caller, 'traces', chat('a1', errand))
    await folded()
    assert.equal(await left(), first - 2)
    const { account } = caller
    const today = Math.floor((began + 60_000) / 86_400_000)
    await app.running.store.counters.count(`writes:${account}`, today, 1_000_000)
    assert.equal((await caller.post('/v1/traces', chat('a2', errand), json)).status, 429)
  })
})
