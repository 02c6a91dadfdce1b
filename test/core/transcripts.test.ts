import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { HostEvent } from '../../src/core/hosts/host-event.ts'
import { observe } from '../../src/core/hosts/observe.ts'
import { nothingObserved } from '../../src/core/hosts/observed.ts'
import {
  placeOfFile,
  type TranscriptHost,
  transcriptHosts,
  transcripts,
} from '../../src/core/transcripts/transcript.ts'
import { verifies } from '../verifies.ts'

const cwd = '/home/kim/shop'
const timestamp = '2026-11-22T12:20:22.060Z'

function eventsOf(
  host: TranscriptHost,
  lines: readonly object[],
  path = '/x/one.jsonl',
): HostEvent[] {
  const read = transcripts[host](placeOfFile(host, path))
  return lines.flatMap(read)
}

/** The events without what tells them apart. */
function factsOf(events: readonly HostEvent[]) {
  return events.map((event) =>
    event.kind === 'act'
      ? `${event.kind} ${event.family} ${event.outcome} ${event.paths.join(' ')}${event.words}`
      : 'text' in event
        ? `${event.kind} ${event.text}`
        : event.kind,
  )
}

test('a session file of Claude Code tells who typed, what was done and what was granted', () => {
  verifies('hosts.transcripts')
  const base = { sessionId: 's1', cwd, timestamp }
  const user = (content: unknown, more: object = {}) => ({
    ...base,
    type: 'user',
    message: { role: 'user', content },
    ...more,
  })
  const agent = (...content: object[]) => ({ ...base, type: 'assistant', message: { content } })
  const call = (id: string, name: string, input: object) =>
    agent({ type: 'tool_use', id, name, input })
  const answer = (id: string, content: string, more: object = {}, failed = false) =>
    user([{ type: 'tool_result', tool_use_id: id, content, is_error: failed }], more)
  const events = eventsOf('claude-code', [
    user('mend the login', { promptId: 'p1', promptSource: 'typed' }),
    user('<task-notification>done</task-notification>', { promptSource: 'system' }),
    user('this was said by nobody', { isMeta: true }),
    user([{ type: 'text', text: '[Request interrupted by user]' }]),
    agent({ type: 'text', text: 'I look first.' }),
    call('t1', 'Edit', { file_path: `${cwd}/src/login.js`, old_string: 'a', new_string: 'b' }),
    answer('t1', 'updated', { permissionDecision: { decision: 'accept', source: 'config' } }),
    call('t2', 'Bash', { command: 'node --test' }),
    answer(
      't2',
      'Exit code 1\nnot ok 1 - login',
      { permissionDecision: { decision: 'accept', source: 'user_temporary' } },
      true,
    ),
    call('t3', 'TaskCreate', { subject: 'find it' }),
    answer('t3', 'No such tool available', {}, true),
    { ...base, type: 'summary', summary: 'x' },
  ])
  assert.deepEqual(factsOf(events), [
    'prompt mend the login',
    'prompt <task-notification>done</task-notification>',
    'say I look first.',
    'act edit ok src/login.js',
    'person',
    'act verify failed node --test',
    'act other failed ',
  ])
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'prompt' ? event.by : [])),
    ['person', 'machine'],
  )
  assert.ok(
    events.every(({ runId, at }) => runId === 'claude-code:s1' && at === Date.parse(timestamp)),
  )
  // The ids are those of the hooks, so that an event that both tell counts once.
  assert.equal(events[3]?.eventId, 't1')
})

test('a sub-agent of Claude Code has a file of its own', () => {
  verifies('hosts.transcripts')
  const path = '/home/kim/.claude/projects/-home-kim-shop/s1/subagents/agent-a7.jsonl'
  assert.deepEqual(placeOfFile('claude-code', path), { session: 's1', agentId: 'a7' })
  const [event] = eventsOf(
    'claude-code',
    [{ type: 'user', timestamp, message: { content: 'compare two libraries' } }],
    path,
  )
  assert.deepEqual(
    [event?.kind, event?.runId, event?.agentId],
    ['delegate', 'claude-code:s1', 'a7'],
  )
})

test('a rollout of Codex tells exit codes, changes of files and tasks', () => {
  verifies('hosts.transcripts')
  const line = (type: string, payload: object) => ({ type, timestamp, payload })
  const item = (given: object) =>
    line('event_msg', { type: 'item_completed', turn_id: 'u1', item: given })
  const events = eventsOf('codex', [
    line('session_meta', { id: 's1', session_id: 's1', cwd }),
    item({ type: 'UserMessage', id: 'm1', content: [{ type: 'text', text: 'mend the login' }] }),
    item({ type: 'AgentMessage', id: 'm2', content: [{ type: 'Text', text: 'I look first.' }] }),
    item({
      type: 'CommandExecution',
      id: 'c1',
      command: ['/bin/bash', '-lc', 'node --test'],
      aggregated_output: 'not ok 1 - login',
      exit_code: 1,
    }),
    item({
      type: 'FileChange',
      id: 'f1',
      changes: { [`${cwd}/src/login.js`]: { type: 'add', content: 'x' } },
    }),
    line('response_item', {
      type: 'function_call',
      name: 'spawn_agent',
      namespace: 'collaboration',
      call_id: 'k1',
      arguments: '{"task_name":"compare","message":"compare two libraries"}',
    }),
    line('response_item', {
      type: 'function_call',
      name: 'wait_agent',
      call_id: 'k2',
      arguments: '{}',
    }),
  ])
  assert.deepEqual(factsOf(events), [
    'prompt mend the login',
    'say I look first.',
    'act verify failed node --test',
    'act edit ok src/login.js',
    'delegate',
  ])
  const [handed] = eventsOf('codex', [
    line('session_meta', { id: 's1', session_id: 's1', cwd, source: 'exec' }),
    item({ type: 'UserMessage', id: 'm1', content: [{ type: 'text', text: 'mend the login' }] }),
  ])
  assert.deepEqual(
    [handed, events[0]].map((event) => event?.kind === 'prompt' && event.isHeadless === true),
    [true, false],
  )
  assert.equal(events[0]?.runId, 'codex:s1')
  const child = eventsOf('codex', [
    line('session_meta', { id: 'child', session_id: 's1', cwd }),
    item({ type: 'UserMessage', id: 'm1', content: [{ type: 'text', text: 'compare' }] }),
  ])
  assert.deepEqual([child[0]?.runId, child[0]?.agentId], ['codex:s1', 'child'])
})

test('the events of a session of Copilot CLI tell how a command ended', () => {
  verifies('hosts.transcripts')
  const line = (type: string, data: object) => ({ type, data, timestamp, id: `${type}-id` })
  const events = eventsOf('copilot', [
    line('session.start', { sessionId: 's1', context: { cwd } }),
    line('user.message', { content: 'mend the login', messageId: 'm1' }),
    line('assistant.message', { content: 'I look first.', messageId: 'm2' }),
    line('tool.execution_start', {
      toolCallId: 'c1',
      toolName: 'bash',
      arguments: { command: 'node --test' },
    }),
    line('tool.execution_complete', {
      toolCallId: 'c1',
      success: true,
      shellExecution: { exitCode: 1 },
      result: { content: 'not ok 1 - login' },
    }),
    line('tool.execution_complete', { toolCallId: 'unknown', success: true }),
    line('session.shutdown', {}),
  ])
  assert.deepEqual(factsOf(events), [
    'prompt mend the login',
    'say I look first.',
    'act verify failed node --test',
    'runEnd',
  ])
})

test('a chat of Gemini CLI counts a message that is repeated with more in it once', () => {
  verifies('hosts.transcripts')
  const told = { id: 'g1', type: 'gemini', timestamp, content: 'I look first.' }
  const call = {
    id: 'c1',
    name: 'run_shell_command',
    args: { command: 'node --test' },
    result: [{ functionResponse: { response: { output: 'not ok 1 - login\nExit Code: 1' } } }],
  }
  const events = eventsOf('gemini-cli', [
    { sessionId: 's1', projectHash: 'x', kind: 'main' },
    { id: 'u0', type: 'user', timestamp, content: [{ text: '<session_context>\nx' }] },
    { id: 'u1', type: 'user', timestamp, content: [{ text: 'mend the login' }] },
    told,
    { ...told, toolCalls: [call] },
    { id: 'u2', type: 'user', timestamp, content: [{ functionResponse: {} }] },
  ])
  assert.deepEqual(factsOf(events), [
    'prompt mend the login',
    'say I look first.',
    'say I look first.',
    'act verify failed node --test',
  ])
  assert.equal(events[1]?.eventId, events[2]?.eventId)
  let observed = nothingObserved
  for (const event of events) observed = observe(observed, event).observed
  assert.equal(observed.seen.length, 3)
})

test('messages of opencode tell prompts, the plan, sub-agents and how tools ended, each once', () => {
  verifies('hosts.transcripts')
  const session = { id: 'ses_1', parentID: null, root: 'ses_1', directory: cwd, created: 1 }
  const child = { ...session, id: 'ses_2', parentID: 'ses_1' }
  const text = (id: string, words: string, end?: number) => ({
    id,
    data: { type: 'text', text: words, ...(end === undefined ? {} : { time: { start: 1, end } }) },
  })
  const tool = (id: string, name: string, state: object) => ({
    id,
    data: { type: 'tool', tool: name, callID: `call_${id}`, state: { time: { end: 9 }, ...state } },
  })
  const user = (id: string, agent: string) => ({
    id,
    data: { role: 'user', agent, time: { created: 2 } },
  })
  const answer = { id: 'm2', data: { role: 'assistant', agent: 'build', time: { completed: 20 } } }
  const running = tool('p4', 'bash', { status: 'running', input: { command: 'node --test' } })
  const ran = tool('p4', 'bash', {
    status: 'completed',
    input: { command: 'node --test' },
    output: 'not ok 1 - login',
    metadata: { exit: 1 },
  })
  const events = eventsOf('opencode', [
    { session, message: user('m1', 'build'), parts: [text('p1', '"mend the login"')] },
    { session, message: answer, parts: [text('p3', 'I look first.', 5), running] },
    {
      session,
      message: { ...answer, data: { ...answer.data, finish: 'stop' } },
      parts: [
        text('p3', 'I look first.', 5),
        ran,
        tool('p5', 'edit', { status: 'error', input: { filePath: `${cwd}/a.js` }, error: 'no' }),
        tool('p6', 'todowrite', {
          status: 'completed',
          input: { todos: [{ content: 'find it', status: 'pending' }] },
          output: '[]',
        }),
      ],
    },
    { session: child, message: user('m3', 'general'), parts: [text('p7', 'compare two')] },
  ])
  assert.deepEqual(factsOf(events), [
    'session',
    'prompt mend the login',
    'say I look first.',
    'act verify failed node --test',
    'act edit failed a.js',
    'plan',
    'turnEnd',
    'agent',
    'delegate',
  ])
  assert.deepEqual(events.map(({ eventId }) => eventId).slice(1, 4), ['m1', 'p3', 'call_p4'])
  assert.deepEqual([events[8]?.runId, events[8]?.agentId], ['opencode:ses_1', 'ses_2'])
  assert.equal(events[3]?.at, 9)
})

test('a chat of Qwen Code tells whose words a prompt is, and its sub-agents have files of their own', () => {
  verifies('hosts.transcripts')
  const base = { sessionId: 's1', cwd, timestamp }
  const user = (uuid: string, provenance: string | undefined, text: string) => ({
    ...base,
    uuid,
    type: 'user',
    provenance,
    message: { role: 'user', parts: [{ text }] },
  })
  const model = (...parts: object[]) => ({
    ...base,
    uuid: 'a1',
    type: 'assistant',
    message: { role: 'model', parts },
  })
  const result = (id: string, response: object) => ({
    ...base,
    type: 'tool_result',
    message: { parts: [{ functionResponse: { id, name: 'run_shell_command', response } }] },
  })
  const call = (id: string, command: string) => ({
    functionCall: { id, name: 'run_shell_command', args: { command } },
  })
  const events = eventsOf('qwen-code', [
    user('u1', 'real_user', '<system-reminder>\nx</system-reminder>\nmend the login'),
    { ...base, type: 'system', subtype: 'ui_telemetry', systemPayload: {} },
    model({ text: 'hm', thought: true }, { text: 'I look first.' }, call('c1', 'ls')),
    result('c1', { output: 'Command: ls\nOutput: a.js\nExit Code: 0\nSignal: (none)' }),
    model(call('c2', 'node --test')),
    result('c2', { error: 'Command: node --test\nOutput: not ok 1 - login\nExit Code: 1' }),
    user('u2', 'system', '<task-notification>done</task-notification>'),
    { ...base, type: 'system', subtype: 'chat_compression' },
  ])
  assert.deepEqual(factsOf(events), [
    'prompt mend the login',
    'say I look first.',
    'act read ok ls',
    'act verify failed node --test',
    'prompt <task-notification>done</task-notification>',
    'compact',
  ])
  assert.deepEqual(
    events.flatMap((event) => (event.kind === 'prompt' ? event.by : [])),
    ['person', 'machine'],
  )
  const path = '/home/kim/.qwen/projects/-home-kim-shop/subagents/s1/agent-general-c3.jsonl'
  const task = user('u3', undefined, 'compare two libraries')
  const [child] = eventsOf('qwen-code', [{ ...task, agentId: 'general-c3' }], path)
  assert.deepEqual(
    [child?.kind, child?.runId, child?.agentId],
    ['delegate', 'qwen-code:s1', 'general-c3'],
  )
  assert.deepEqual(placeOfFile('qwen-code', path), { session: 's1', agentId: 'general-c3' })
})

test('no line makes a reader throw', () => {
  verifies('hosts.transcripts')
  fc.assert(
    fc.property(fc.constantFrom(...transcriptHosts), fc.array(fc.jsonValue()), (host, lines) => {
      const read = transcripts[host](placeOfFile(host, 'x.jsonl'))
      for (const line of [...lines, undefined]) assert.ok(Array.isArray(read(line)))
    }),
  )
})
