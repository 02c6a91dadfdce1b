import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { observe } from '../src/core/hosts/observe.ts'
import { nothingObserved } from '../src/core/hosts/observed.ts'
import { readLog } from '../src/core/telemetry/logs.ts'
import { logsIn, spansIn } from '../src/core/telemetry/records.ts'
import { readSpan } from '../src/core/telemetry/spans.ts'
import { eventsOfTrace } from '../src/core/telemetry/trace.ts'
import { readWire } from '../src/core/telemetry/wire.ts'
import { onEachDatabase } from './backends.ts'
import { start } from './harness.ts'
import { settle } from './hook.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const began = Date.UTC(2026, 0, 15, 12)

const readSpans = (body: unknown) =>
  eventsOfTrace(spansIn(body)?.records.flatMap((record) => readSpan(record) ?? []) ?? [])
const readLogs = (body: unknown) => logsIn(body)?.records.flatMap(readLog) ?? []

type Value = string | number | boolean | Value[]

const nanos = (ms: number) => `${ms}000000`

function typed(value: Value): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(typed) } }
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

const listed = (attributes: Record<string, Value>) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: typed(value) }))

function logs(scope: string, ...records: Record<string, Value>[]) {
  const logRecords = records.map((attributes, nth) => ({
    timeUnixNano: nanos(began + nth * 1000),
    attributes: listed(attributes),
  }))
  return { resourceLogs: [{ scopeLogs: [{ scope: { name: scope }, logRecords }] }] }
}

interface Span {
  id: string
  parent?: string
  name: string
  from: number
  to: number
  failed?: boolean
  attributes: Record<string, Value>
}

function traces(...spans: Span[]) {
  const sent = spans.map(({ id, parent = '', name, from, to, failed, attributes }) => ({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: id,
    parentSpanId: parent,
    name,
    startTimeUnixNano: nanos(began + from),
    endTimeUnixNano: nanos(began + to),
    attributes: listed(attributes),
    status: failed === true ? { code: 2 } : {},
  }))
  return { resourceSpans: [{ scopeSpans: [{ scope: { name: 'a library' }, spans: sent }] }] }
}

const user = (text: string) =>
  JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }])

/** A run of an agent by the conventions for generative AI: its spans end before their parents. */
const genAi = traces(
  {
    ...{ id: '00000000000000a2', parent: '00000000000000a1', name: 'chat', from: 10, to: 900 },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.conversation.id': 'c-1',
      'gen_ai.input.messages': user(errand),
      'gen_ai.output.messages': JSON.stringify([
        {
          role: 'assistant',
          parts: [{ type: 'text', content: 'I look for the login route first.' }],
        },
      ]),
      'gen_ai.usage.input_tokens': 120,
      'gen_ai.usage.output_tokens': 30,
    },
  },
  {
    ...{
      id: '00000000000000a3',
      parent: '00000000000000a1',
      name: 'execute_tool',
      from: 1000,
      to: 2000,
    },
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.conversation.id': 'c-1',
      'gen_ai.tool.name': 'read_file',
      'gen_ai.tool.call.id': 'call-1',
      'gen_ai.tool.call.arguments': '{"path":"src/login.js"}',
      'gen_ai.tool.call.result': 'export function login() {}',
    },
  },
  {
    ...{
      id: '00000000000000a4',
      parent: '00000000000000a1',
      name: 'execute_tool',
      from: 3000,
      to: 4000,
      failed: true,
    },
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.conversation.id': 'c-1',
      'gen_ai.tool.name': 'bash',
      'gen_ai.tool.call.id': 'call-2',
      'gen_ai.tool.call.arguments': '{"command":"node --test"}',
    },
  },
  {
    ...{ id: '00000000000000a1', name: 'invoke_agent', from: 0, to: 5000 },
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 'c-1',
      'gen_ai.input.messages': user(errand),
    },
  },
)

/** Protocol buffers of the same, by the field numbers of opentelemetry-proto. */
function wireOf({ resourceSpans }: ReturnType<typeof traces>): Buffer {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]
  const field = (number: number, part: Buffer) =>
    Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(part.length)]), part])
  const text = (number: number, value: string) => field(number, Buffer.from(value))
  const hex = (number: number, value: string) => field(number, Buffer.from(value, 'hex'))
  const time = (number: number, value: string) => {
    const bytes = Buffer.alloc(9)
    bytes[0] = number * 8 + 1
    bytes.writeBigUInt64LE(BigInt(value), 1)
    return bytes
  }
  const value = (given: Record<string, unknown>): Buffer =>
    given.stringValue === undefined
      ? Buffer.from([3 * 8, ...varint(Number(given.intValue))])
      : text(1, String(given.stringValue))
  const attribute = ({ key, value: given }: { key: string; value: object }) =>
    field(9, Buffer.concat([text(1, key), field(2, value(given as Record<string, unknown>))]))
  const spans = resourceSpans[0]!.scopeSpans[0]!.spans.map((span) =>
    field(
      2,
      Buffer.concat([
        hex(1, span.traceId),
        hex(2, span.spanId),
        hex(4, span.parentSpanId),
        text(5, span.name),
        time(7, span.startTimeUnixNano),
        time(8, span.endTimeUnixNano),
        ...span.attributes.map(attribute),
        ...('code' in span.status ? [field(15, Buffer.from([3 * 8, 2]))] : []),
        // A field that nobody knows yet.
        text(99, 'later'),
      ]),
    ),
  )
  const scoped = Buffer.concat([field(1, text(1, 'a library')), ...spans])
  return field(1, field(2, scoped))
}

const factsOf = (
  events: readonly {
    kind: string
    text?: string
    words?: string
    paths?: string[]
    outcome?: string
    task?: string
  }[],
) =>
  events.map(({ kind, text, words, paths, outcome, task }) =>
    [kind, text ?? task ?? words, outcome, ...(paths ?? [])].filter(Boolean).join(' '),
  )

test('spans of the conventions for generative AI are prompts, words and acts', () => {
  verifies('telemetry.spans')
  const events = readSpans(genAi)
  assert.deepEqual(factsOf(events), [
    `prompt ${errand}`,
    `prompt ${errand}`,
    'say I look for the login route first.',
    'tokens',
    'act ok src/login.js',
    'act node --test failed',
  ])
  assert.ok(events.every(({ runId }) => runId === 'otlp:c-1'))
  // What a person said is told by several spans, and counts once.
  assert.equal(events[0]?.eventId, events[1]?.eventId)
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'act' ? event.eventId : [])),
    ['call-1', 'call-2'],
  )
})

test('protocol buffers are read as their JSON', () => {
  verifies('telemetry.protobuf')
  const read = readWire('traces', wireOf(genAi))
  assert.deepEqual(readSpans(read), readSpans(genAi))
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('traces', 'logs'),
      (bytes, kind) => {
        const anything = readWire(kind as 'logs', bytes)
        for (const body of [anything, { resourceLogs: bytes }]) {
          assert.ok(Array.isArray(readSpans(body)) && Array.isArray(readLogs(body)))
        }
      },
    ),
  )
})

test('spans of OpenInference, of the AI SDK, and with a goal of our own are read', () => {
  verifies('telemetry.spans')
  const inference = traces(
    {
      ...{ id: 'b1', name: 'llm', from: 0, to: 10 },
      attributes: {
        'openinference.span.kind': 'LLM',
        'session.id': 's',
        'llm.input_messages.0.message.role': 'system',
        'llm.input_messages.1.message.role': 'user',
        'llm.input_messages.1.message.content': errand,
        'llm.output_messages.0.message.content': 'I look at the route.',
      },
    },
    {
      ...{ id: 'b2', name: 'tool', from: 20, to: 30 },
      attributes: {
        'openinference.span.kind': 'TOOL',
        'session.id': 's',
        'tool.name': 'grep',
        'input.value': '{"pattern":"login"}',
        'output.value': 'x',
      },
    },
  )
  assert.deepEqual(factsOf(readSpans(inference)), [
    `prompt ${errand}`,
    'say I look at the route.',
    'act login ok',
  ])
  const sdk = traces(
    {
      ...{ id: 'c1', name: 'ai.generateText', from: 0, to: 90 },
      attributes: {
        'ai.operationId': 'ai.generateText',
        'ai.prompt': JSON.stringify({ prompt: errand }),
      },
    },
    {
      ...{ id: 'c2', parent: 'c1', name: 'ai.toolCall', from: 20, to: 30 },
      attributes: {
        'ai.operationId': 'ai.toolCall',
        'ai.toolCall.name': 'readFile',
        'ai.toolCall.id': 't',
        'ai.toolCall.args': '{"path":"a.ts"}',
        'ai.toolCall.result': '"x"',
      },
    },
  )
  assert.deepEqual(factsOf(readSpans(sdk)), [`prompt ${errand}`, 'act ok a.ts'])
  const own = traces({
    ...{ id: 'd1', name: 'x', from: 0, to: 1 },
    attributes: { 'plumbline.ground': errand, 'plumbline.goal': 'limit logins' },
  })
  const [report] = readSpans(own)
  assert.deepEqual(report?.kind === 'report' && [report.ground, report.goal], [
    errand,
    'limit logins',
  ])
  const other = traces({
    ...{ id: 'e1', name: 'GET /', from: 0, to: 1 },
    attributes: { 'http.method': 'GET' },
  })
  assert.deepEqual(readSpans(other), [])
})

test('a plan that a model makes is the plan of its agent', () => {
  verifies('telemetry.spans')
  const output = [
    { role: 'assistant', content: 'So:\n1. find the route\n2. add a bucket\nThen done.' },
  ]
  const [plan] = readSpans(
    traces({
      ...{ id: 'a1', name: 'plan', from: 0, to: 1 },
      attributes: {
        'gen_ai.operation.name': 'plan',
        'gen_ai.output.messages': JSON.stringify(output),
      },
    }),
  )
  assert.deepEqual(plan?.kind === 'report' && plan.plan, ['find the route', 'add a bucket'])
})

test('an agent that another one invokes is a sub-agent with its own task', () => {
  verifies('telemetry.spans')
  const agent = (id: string, parent: string, words: string): Span => ({
    ...{ id, parent, name: 'invoke_agent', from: Number(id.at(-1)), to: 90 },
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 'c',
      'gen_ai.input.messages': user(words),
    },
  })
  const events = readSpans(
    traces(agent('f1', '', errand), agent('f2', 'f1', 'compare two libraries')),
  )
  assert.deepEqual(factsOf(events), [`prompt ${errand}`, 'delegate compare two libraries'])
  assert.deepEqual(
    events.map(({ agentId }) => agentId),
    ['', 'f2'],
  )
})

test('the logs of Claude Code, Codex and Gemini CLI are read into the events of their hooks', () => {
  verifies('telemetry.logs')
  const claude = logs(
    'com.anthropic.claude_code.events',
    { 'event.name': 'user_prompt', 'session.id': 's', 'prompt.id': 'p', prompt: errand },
    {
      'event.name': 'user_prompt',
      'session.id': 's',
      'prompt.id': 'q',
      prompt: '<task-notification>done',
    },
    { 'event.name': 'assistant_response', 'session.id': 's', response: 'I look first.' },
    {
      'event.name': 'tool_decision',
      'session.id': 's',
      tool_use_id: 't',
      decision: 'accept',
      source: 'user_temporary',
    },
    {
      'event.name': 'tool_result',
      'session.id': 's',
      tool_use_id: 't',
      tool_name: 'Bash',
      success: 'false',
      error: 'Exit code 1',
      tool_input: '{"command":"node --test"}',
    },
    { 'event.name': 'api_request', 'session.id': 's', 'prompt.id': 'p' },
  )
  const events = readLogs(claude)
  assert.deepEqual(factsOf(events), [
    `prompt ${errand}`,
    'prompt <task-notification>done',
    'say I look first.',
    'person',
    'act node --test failed',
  ])
  // A record does not say who spoke, and a machine's words may begin without a tag.
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'prompt' ? event.by : [])),
    ['unknown', 'machine'],
  )
  assert.deepEqual([events[0]?.runId, events[4]?.eventId], ['claude-code:s', 't'])
  const codex = logs(
    'codex_otel.log_only',
    { 'event.name': 'codex.user_prompt', 'conversation.id': 's', prompt: errand },
    {
      'event.name': 'codex.tool_result',
      'conversation.id': 's',
      call_id: 'x',
      tool_name: 'exec_command',
      arguments: '{"cmd":"node --test"}',
      success: 'true',
      output: 'Chunk ID: 1\nProcess exited with code 1\nOutput:\nnot ok 1 - login',
    },
  )
  assert.deepEqual(factsOf(readLogs(codex)), [`prompt ${errand}`, 'act node --test failed'])
  const gemini = logs(
    'gemini-cli',
    {
      'event.name': 'gemini_cli.user_prompt',
      'session.id': 's',
      prompt: `<hook_context>x</hook_context>\n\n${errand}`,
    },
    {
      'event.name': 'gemini_cli.tool_call',
      'session.id': 's',
      function_name: 'read_file',
      function_args: '{"file_path":"src/login.js"}',
      success: true,
    },
    { 'event.name': 'gemini_cli.hook_call', 'session.id': 's', stdout: 'secret' },
  )
  assert.deepEqual(factsOf(readLogs(gemini)), [`prompt ${errand}`, 'act ok src/login.js'])
})

test('the logs of Codex tell the task of a sub-agent, and those of Gemini CLI when it works', () => {
  verifies('telemetry.agents')
  const spawn = {
    'event.name': 'codex.agent_communication',
    communication_id: 'm-1',
    kind: 'spawn',
    state: 'send',
    sender_thread_id: 's',
    receiver_thread_id: 'child',
    content: 'compare two libraries',
  }
  const codex = logs(
    'codex_otel.agent_communication',
    spawn,
    { ...spawn, kind: 'message', communication_id: 'm-2' },
    { ...spawn, content: '', communication_id: 'm-3' },
  )
  const [delegated, ...others] = readLogs(codex)
  assert.deepEqual(others, [])
  assert.deepEqual(
    delegated?.kind === 'delegate' && [delegated.runId, delegated.task, delegated.child],
    ['codex:s', 'compare two libraries', 'child'],
  )
  const ofGemini = (name: string) => ({
    ...{ 'event.name': `gemini_cli.agent.${name}`, 'session.id': 's', agent_id: 'a' },
    agent_name: 'codebase_investigator',
  })
  const gemini = logs('gemini-cli', ofGemini('start'), ofGemini('finish'))
  assert.deepEqual(
    readLogs(gemini).map((event) => event.kind === 'agent' && [event.state, event.child]),
    [
      ['start', 'a'],
      ['stop', 'a'],
    ],
  )
})

test('tokens that spans and logs of a session both tell count once', () => {
  verifies('telemetry.tokens')
  const told = [
    { way: 'log', count: 150 },
    { way: 'span', count: 150 },
    { way: 'log', count: 10 },
  ] as const
  const observed = told.reduce((known, { way, count }, nth) => {
    const event = { kind: 'tokens', way, count, runId: 'gemini-cli:s', agentId: '' } as const
    return observe(known, { ...event, eventId: `${nth}` }).observed
  }, nothingObserved)
  assert.equal(observed.agents['']?.tokens, 160)
})

onEachDatabase((database) => {
  test('a sub-agent of Codex has the task that its log tells as its ground', async (t) => {
    verifies('telemetry.agents')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { headers } = await app.newAccount()
    const json = { ...headers, 'content-type': 'application/json' }
    const task = 'compare two libraries for token buckets'
    const codex = logs(
      'codex_otel.log_only',
      { 'event.name': 'codex.user_prompt', 'conversation.id': 's', prompt: errand },
      {
        ...{ 'event.name': 'codex.agent_communication', kind: 'spawn', content: task },
        ...{ communication_id: 'm-1', sender_thread_id: 's', receiver_thread_id: 'child' },
      },
    )
    const sent = { body: JSON.stringify(codex), headers: json }
    assert.equal((await app.request('POST', '/v1/logs', sent)).status, 200)
    const hook = {
      ...{ session_id: 's', agent_id: 'child', hook_event_name: 'PostToolUse', tool_use_id: 'u' },
      ...{ tool_name: 'apply_patch', tool_input: { command: 'a' }, tool_response: 'Done' },
    }
    await app.post('/v1/hooks/codex', hook, headers)
    const { run, trace } = (await app.get('/v1/drift/run?run_id=codex:s', headers)).body
    assert.deepEqual(
      run.grounds.map(({ goal, agent_id }: Record<string, string>) => [goal, agent_id]),
      [
        [errand, ''],
        [task, 'child'],
      ],
    )
    assert.ok(trace.some(({ goal_source }: { goal_source: string }) => goal_source === 'task'))
  })

  test('the tokens that hosts log count with the next step', async (t) => {
    verifies('telemetry.tokens')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { headers } = await app.newAccount()
    const counts = { input_token_count: '120', output_token_count: 30 }
    const claude = { 'session.id': 's', 'prompt.id': 'p' }
    const codex = { 'conversation.id': 's', 'event.kind': 'response.completed' }
    const hosts = {
      'claude-code': [
        { 'event.name': 'user_prompt', ...claude, prompt: errand },
        { 'event.name': 'api_request', ...claude, input_tokens: 120, output_tokens: 30 },
        { 'event.name': 'assistant_response', ...claude, response: 'Now I limit the login route.' },
        {
          ...{ 'event.name': 'tool_result', ...claude, tool_use_id: 't', tool_name: 'Bash' },
          ...{ success: 'true', tool_input: '{"command":"node --test"}' },
        },
      ],
      codex: [
        { 'event.name': 'codex.user_prompt', 'conversation.id': 's', prompt: errand },
        // As Codex 0.169.0 sends them: cached and reasoning tokens are among the first two, and the third is their sum.
        {
          ...{
            'event.name': 'codex.sse_event',
            ...codex,
            'event.timestamp': '2026-01-15T12:00:01.300Z',
          },
          ...{ input_token_count: '120', output_token_count: '30', cached_token_count: 100 },
          ...{ cache_write_token_count: 0, reasoning_token_count: 7, tool_token_count: '150' },
          ttft_ms: 0,
        },
        // It tells each answer twice, once without counts.
        { 'event.name': 'codex.sse_event', ...codex, duration_ms: '0' },
        { 'event.name': 'codex.sse_event', ...codex, ...counts, 'event.kind': 'response.created' },
        {
          ...{ 'event.name': 'codex.tool_result', 'conversation.id': 's', call_id: 'x' },
          ...{ tool_name: 'exec_command', arguments: '{"cmd":"node --test"}', output: 'ok' },
        },
      ],
      'gemini-cli': [
        { 'event.name': 'gemini_cli.user_prompt', 'session.id': 's', prompt: errand },
        { 'event.name': 'gemini_cli.api_response', 'session.id': 's', ...counts },
        {
          ...{ 'event.name': 'gemini_cli.tool_call', 'session.id': 's', success: true },
          ...{ function_name: 'run_shell_command', function_args: '{"command":"node --test"}' },
        },
      ],
    }
    for (const [host, records] of Object.entries(hosts)) {
      // A record that is exported again counts once.
      const [asks, spends, ...rest] = records
      const sent = [asks, spends, spends, ...rest] as Record<string, Value>[]
      const body = JSON.stringify(logs(host, ...sent))
      const more = { ...headers, 'content-type': 'application/json' }
      assert.equal((await app.request('POST', '/v1/logs', { body, headers: more })).status, 200)
      const read = async () =>
        (await app.get(`/v1/drift/run?run_id=${host}:s`, headers)).body.run.tokens
      assert.equal(await read(), 150, host)
    }
  })

  test('an exporter’s spans and logs become steps of a run', async (t) => {
    verifies('telemetry.endpoint')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { headers } = await app.newAccount()
    const send = (path: string, body: string | Uint8Array, type: string, more = {}) =>
      app.request('POST', path, { body, headers: { ...headers, 'content-type': type, ...more } })
    const json = 'application/json'
    const wire = 'application/x-protobuf'
    const first = await send('/v1/otlp/v1/traces', wireOf(genAi), wire)
    assert.deepEqual([first.status, first.text, first.headers.get('content-type')], [200, '', wire])
    app.advance(5_000)
    await settle(app)
    // The same again, in another encoding, counts once.
    const packed = gzipSync(JSON.stringify(genAi))
    const again = await send('/v1/traces', packed, json, { 'content-encoding': 'gzip' })
    assert.deepEqual([again.status, again.body], [200, {}])
    app.advance(5_000)
    await settle(app)
    const { run, trace } = (await app.get('/v1/drift/run?run_id=otlp:c-1', headers)).body
    assert.deepEqual([run.host, run.ground, run.coverage.acts], ['otlp', errand, 2])
    assert.deepEqual(
      trace.map(({ goal, goal_source }: Record<string, string>) => [goal, goal_source]),
      [
        [errand, 'prompt'],
        ['I look for the login route first', 'narration'],
        ['run node --test', 'act'],
      ],
    )
    const told = logs('com.anthropic.claude_code.events', {
      'event.name': 'user_prompt',
      'session.id': 's',
      'prompt.id': 'p',
      prompt: errand,
    })
    await send('/v1/logs', JSON.stringify(told), json)
    // A hook that tells the same prompt opens no second step.
    const hook = {
      hook_event_name: 'UserPromptSubmit',
      session_id: 's',
      prompt_id: 'other',
      prompt: errand,
    }
    await app.post('/v1/hooks/claude-code', hook, headers)
    const claude = (await app.get('/v1/drift/run?run_id=claude-code:s', headers)).body
    assert.deepEqual([claude.run.ground, claude.trace.length], [errand, 1])
    assert.equal((await send('/v1/metrics', '{"resourceMetrics":[]}', json)).status, 200)
  })

  test('nothing is kept of contents, outputs, values and who the user is', async (t) => {
    verifies('telemetry.private')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { headers } = await app.newAccount()
    const canary = 'canary-7f3a'
    const input = { command: `TOKEN=${canary} npm test --key=${canary}`, content: canary }
    const who = {
      'user.email': canary,
      'user.id': canary,
      'organization.id': canary,
      other: canary,
    }
    const own = (name: string, id: string) => ({ ...who, 'event.name': name, [id]: 's' })
    const exports = [
      logs(
        'com.anthropic.claude_code.events',
        { ...own('user_prompt', 'session.id'), 'prompt.id': 'p', prompt: errand },
        {
          ...own('tool_result', 'session.id'),
          ...{ tool_use_id: 't', tool_name: 'Bash', success: 'false', error: canary },
          tool_input: JSON.stringify(input),
          tool_parameters: JSON.stringify({ ...input, full_command: canary }),
        },
        { ...own('api_error', 'session.id'), error: canary, request: canary },
      ),
      logs(
        'codex_otel.log_only',
        { ...own('codex.user_prompt', 'conversation.id'), prompt: errand },
        {
          ...own('codex.tool_result', 'conversation.id'),
          ...{ call_id: 'x', tool_name: 'exec_command', success: 'true' },
          arguments: JSON.stringify({ cmd: input.command }),
          output: `Process exited with code 1\nOutput:\n${canary}`,
        },
      ),
      logs(
        'gemini-cli',
        { ...own('gemini_cli.user_prompt', 'session.id'), prompt: errand },
        {
          ...own('gemini_cli.tool_call', 'session.id'),
          ...{ function_name: 'write_file', success: false, error: canary },
          function_args: JSON.stringify({ file_path: 'src/a.js', content: canary }),
        },
      ),
    ]
    const spans = traces(
      {
        ...{ id: '00000000000000b1', name: 'chat', from: 0, to: 100 },
        attributes: {
          ...{ ...who, 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 's' },
          'gen_ai.input.messages': user(errand),
          'gen_ai.system_instructions': canary,
        },
      },
      {
        ...{ id: '00000000000000b2', name: 'execute_tool', from: 200, to: 300, failed: true },
        attributes: {
          ...{ ...who, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.conversation.id': 's' },
          ...{ 'gen_ai.tool.name': 'write_file', 'gen_ai.tool.call.id': 'c' },
          'gen_ai.tool.call.arguments': JSON.stringify({ path: 'src/a.js', content: canary }),
          'gen_ai.tool.call.result': canary,
          'error.type': canary,
        },
      },
    )
    const json = { ...headers, 'content-type': 'application/json' }
    const sent = [...exports.map((each) => ['logs', each] as const), ['traces', spans] as const]
    for (const [kind, each] of sent) {
      const request = { body: JSON.stringify(each), headers: json }
      assert.equal((await app.request('POST', `/v1/${kind}`, request)).status, 200)
    }
    const waiting = await app.request('GET', '/v1/me/export', { headers })
    assert.match(waiting.text, /"type":"pending_span"/)
    assert.doesNotMatch(waiting.text, new RegExp(canary))
    app.advance(5_000)
    await settle(app)
    const { text } = await app.request('GET', '/v1/me/export', { headers })
    for (const run of ['claude-code:s', 'codex:s', 'gemini-cli:s', 'otlp:s']) {
      const { body } = await app.get(`/v1/drift/run?run_id=${run}`, headers)
      assert.deepEqual([body.run.ground, body.run.coverage.acts], [errand, 1], run)
      assert.ok(text.includes(run))
    }
    assert.doesNotMatch(text, new RegExp(canary))
    assert.doesNotMatch(JSON.stringify(app.log), new RegExp(canary))
  })
})

test('what is no export is refused, and nothing but a key gets in', async (t) => {
  verifies('telemetry.endpoint')
  const app = await start(t)
  const { headers } = await app.newAccount()
  const send = async (
    body: string | Uint8Array,
    type: string,
    more: Record<string, string> = headers,
  ) => {
    const answer = await app.request('POST', '/v1/traces', {
      body,
      headers: { 'content-type': type, ...more },
    })
    return [answer.status, answer.body?.error]
  }
  assert.deepEqual(await send('{}', 'application/json'), [200, undefined])
  assert.deepEqual(await send('no json', 'application/json'), [400, 'bad_request'])
  assert.deepEqual(await send('{}', 'text/plain'), [415, 'unsupported_media_type'])
  assert.deepEqual(await send('{}', 'application/json', {}), [401, 'no_key'])
  const bomb = gzipSync(Buffer.alloc(5 * 1024 * 1024))
  assert.deepEqual(
    await send(bomb, 'application/json', { ...headers, 'content-encoding': 'gzip' }),
    [400, 'bad_request'],
  )
  const made = await app.post('/v1/me/keys', { scope: 'hooks' }, headers)
  assert.deepEqual(
    await send('{}', 'application/json', { authorization: `Bearer ${made.body.key}` }),
    [200, undefined],
  )
})

/** Reads a google.rpc.Status of a short message. */
function statusIn(text: string): { code: number; message: string } {
  const bytes = Buffer.from(text)
  assert.deepEqual([bytes[0], bytes[2]], [8, 18])
  // A length over 127 takes two bytes.
  const begin = (bytes[3] ?? 0) < 128 ? 4 : 5
  const length = begin === 4 ? bytes[3] : (bytes[3] ?? 0) - 128 + 128 * (bytes[4] ?? 0)
  assert.equal(bytes.length - begin, length)
  return { code: bytes[1] ?? -1, message: bytes.subarray(begin).toString() }
}

test('a refusal is a status of the protocol, in the encoding of the request', async (t) => {
  verifies('telemetry.refusal')
  const app = await start(t)
  const { headers } = await app.newAccount()
  const wire = 'application/x-protobuf'
  const send = (path: string, body: Uint8Array, more: Record<string, string>) =>
    app.request('POST', path, { body, headers: { 'content-type': wire, ...more } })
  const broken = new Uint8Array([10, 255])
  for (const [sent, more, status, code, says] of [
    [broken, headers, 400, 3, /^bad_request: body: send an export request of OTLP/],
    [broken, {}, 401, 16, /^no_key/],
    [
      broken,
      { ...headers, 'content-encoding': 'br' },
      415,
      3,
      /^unsupported_media_type: content-encoding: send gzip/,
    ],
    [new Uint8Array(4 * 1024 * 1024 + 1), headers, 413, 3, /^payload_too_large: /],
  ] as const) {
    for (const path of ['/v1/traces', '/v1/otlp/v1/logs']) {
      const answer = await send(path, sent, more)
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [status, wire])
      const told = statusIn(answer.text)
      assert.equal(told.code, code)
      assert.match(told.message, says)
    }
  }
  const json = await app.request('POST', '/v1/traces', {
    body: '{}',
    headers: { ...headers, 'content-type': 'application/json', 'content-encoding': 'zstd' },
  })
  assert.equal(json.headers.get('accept-encoding'), 'gzip')
  assert.deepEqual(json.body, {
    error: 'unsupported_media_type',
    detail: 'content-encoding: send gzip, or leave the header out.',
    code: 3,
    message: 'unsupported_media_type: content-encoding: send gzip, or leave the header out.',
  })
  for (const encoding of ['identity', '', 'GZIP']) {
    const body = encoding === 'GZIP' ? gzipSync('{}') : '{}'
    const answer = await app.request('POST', '/v1/traces', {
      body,
      headers: { ...headers, 'content-type': 'application/json', 'content-encoding': encoding },
    })
    assert.equal(answer.status, 200, encoding)
  }
})
