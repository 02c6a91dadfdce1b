import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCodex } from '../../../src/core/hosts/codex.ts'
import { errorClassOf } from '../../../src/core/hosts/failures.ts'
import { digestOf, digestOfValue } from '../../../src/core/hosts/fields.ts'
import { verifies } from '../../verifies.ts'

const session = 'thread-one'
const child = 'thread-two'
const common = { session_id: session, cwd: '/home/kim/kiosk', model: 'some-model' }
const at = { runId: `codex:${session}`, agentId: '' }

test('the session of Codex begins, goes on and ends', () => {
  verifies('hosts.readers')
  for (const source of ['startup', 'resume', 'clear'] as const) {
    const event = { ...common, hook_event_name: 'SessionStart', source }
    assert.deepEqual(readCodex(event), [
      { kind: 'session', source, ...at, eventId: digestOfValue(event) },
    ])
  }
  const end = { ...common, hook_event_name: 'SessionEnd', reason: 'other' }
  assert.deepEqual(readCodex(end), [
    { kind: 'runEnd', reason: 'other', ...at, eventId: digestOfValue(end) },
  ])
})

test('a prompt to Codex is a person’s, and the same in a hook and in a notice', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const text = 'print the receipts in Greek'
  const prompt = { kind: 'prompt', text, by: 'person', ...at, eventId: `turn-7#${digestOf(text)}` }
  const hook = {
    ...common,
    hook_event_name: 'UserPromptSubmit',
    turn_id: 'turn-7',
    prompt: `  ${text}\n`,
  }
  assert.deepEqual(readCodex(hook), [prompt])
  const notice = {
    type: 'agent-turn-complete',
    'thread-id': session,
    'turn-id': 'turn-7',
    cwd: '/home/kim/kiosk',
    client: 'codex-tui',
    'input-messages': ['open the drawer', text],
    'last-assistant-message': 'Receipts are Greek now.',
  }
  const end = { kind: 'turnEnd', expects: [], ...at, eventId: 'turn-7#end' }
  assert.deepEqual(readCodex(notice, 'notify'), [
    prompt,
    { ...end, said: 'Receipts are Greek now.' },
  ])
  const summarised = [
    ...notice['input-messages'],
    'Another language model started to solve this problem and produced a summary',
  ]
  assert.deepEqual(readCodex({ ...notice, 'input-messages': summarised }), readCodex(notice))
})

test('what a person adds to a turn of Codex is a prompt of its own', () => {
  verifies('hosts.readers')
  const ids = ['first the header', 'then the footer'].flatMap((prompt) =>
    readCodex({ ...common, hook_event_name: 'UserPromptSubmit', turn_id: 'turn-8', prompt }),
  )
  assert.equal(new Set(ids.map(({ eventId }) => eventId)).size, 2)
})

test('a notice of Codex for a thread without a client is nobody’s', () => {
  verifies('hosts.readers')
  const notice = {
    type: 'agent-turn-complete',
    'thread-id': child,
    'turn-id': 'turn-9',
    'input-messages': ['list the fonts'],
    'last-assistant-message': 'Three fonts.',
  }
  assert.deepEqual(readCodex(notice), [])
})

test('the prompt of a sub-agent of Codex is its task', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const event = {
    ...common,
    hook_event_name: 'UserPromptSubmit',
    turn_id: 'turn-9',
    agent_id: child,
    agent_type: 'default',
    prompt: 'list the fonts',
  }
  assert.deepEqual(readCodex(event), [
    {
      kind: 'delegate',
      task: 'list the fonts',
      child,
      runId: at.runId,
      agentId: child,
      eventId: `turn-9#${digestOf('list the fonts')}`,
    },
  ])
})

test('Codex delegates under any of its names, and says who took the task if it knows', () => {
  verifies('hosts.readers')
  const input = { task_name: 'fonts', message: 'list the fonts' }
  const task = { kind: 'delegate', task: 'list the fonts', label: 'fonts' }
  for (const [tool, answer, taker] of [
    ['spawn_agent', JSON.stringify({ agent_id: child, nickname: 'Ada' }), { child }],
    ['multi_agent_v1spawn_agent', JSON.stringify({ agent_id: child }), { child }],
    ['collaborationspawn_agent', JSON.stringify({ task_name: '/root/fonts' }), {}],
    ['collaborationspawn_agent', '{"task_na', {}],
  ] as const) {
    assert.deepEqual(readCodex(call(tool, input, answer)), [
      { ...task, ...taker, ...at, eventId: 'call-1' },
    ])
  }
  const more = { target: '/root/fonts', message: 'and their licences' }
  assert.deepEqual(readCodex(call('collaborationfollowup_task', more, '{}')), [
    { kind: 'delegate', task: 'and their licences', ...at, eventId: 'call-1' },
  ])
})

test('sub-agents of Codex start and stop', () => {
  verifies('hosts.readers')
  for (const [name, state, said] of [
    ['SubagentStart', 'start', ''],
    ['SubagentStop', 'stop', 'Three fonts.'],
  ] as const) {
    const event = {
      ...common,
      hook_event_name: name,
      agent_id: child,
      agent_type: 'default',
      last_assistant_message: said,
    }
    const agent = { kind: 'agent', child, parent: '', state, agentType: 'default', said }
    assert.deepEqual(readCodex(event), [{ ...agent, ...at, eventId: digestOfValue(event) }])
  }
})

test('Codex tells no exit code of a command: its outcome is unknown', () => {
  verifies('hosts.readers')
  const command = 'ls /home/kim/kiosk/fonts'
  assert.deepEqual(readCodex(call('Bash', { command }, 'a.ttf\n')), [
    act('Bash', { command }, 'a.ttf\n', {
      family: 'read',
      words: 'ls fonts',
      outcome: 'unknown',
    }),
  ])
})

test('tests whose output names failures have failed in Codex', () => {
  verifies('hosts.readers')
  const input = { command: 'npm test' }
  const output = 'TAP version 13\nok 1 - opens\nnot ok 2 - prints Greek\n'
  assert.deepEqual(readCodex(call('Bash', input, output)), [
    act('Bash', input, output, {
      family: 'verify',
      words: 'npm test',
      outcome: 'failed',
      errorClass: errorClassOf(output),
      failing: [digestOf('prints Greek')],
    }),
  ])
  const passed = 'TAP version 13\nok 1 - opens\n'
  assert.deepEqual(readCodex(call('Bash', input, passed)), [
    act('Bash', input, passed, { family: 'verify', words: 'npm test', outcome: 'unknown' }),
  ])
})

test('the exit code stands before the output of some tools of Codex', () => {
  verifies('hosts.readers')
  const patch = [
    '*** Begin Patch',
    '*** Update File: /home/kim/kiosk/src/receipt.ts',
    "-const language = 'en'",
    "+const language = 'el'",
    '*** End Patch',
  ].join('\n')
  const input = { command: patch }
  const answer = 'Exit code: 0\nWall time: 0.3 seconds\nOutput:\nSuccess.\n'
  assert.deepEqual(readCodex(call('apply_patch', input, answer)), [
    act('apply_patch', input, 'Success.\n', {
      family: 'edit',
      paths: ['src/receipt.ts'],
      words: '',
      outcome: 'ok',
      exit: 0,
      edits: [
        {
          path: 'src/receipt.ts',
          from: digestOf("const language = 'en'"),
          to: digestOf("const language = 'el'"),
        },
      ],
    }),
  ])
  const run = { command: 'node till.js' }
  const failed =
    'Chunk ID: 4\nWall time: 1 seconds\nProcess exited with code 3\nOutput:\nError: no paper'
  assert.deepEqual(readCodex(call('exec_command', run, failed)), [
    act('exec_command', run, 'Error: no paper', {
      family: 'run',
      words: 'node till.js',
      outcome: 'failed',
      exit: 3,
      errorClass: errorClassOf('Error: no paper'),
    }),
  ])
  const said = 'Exit code: 3 is what the till says'
  assert.deepEqual(readCodex(call('Bash', run, said)), [
    act('Bash', run, said, { family: 'run', words: 'node till.js', outcome: 'unknown' }),
  ])
})

test('a tool of another server fails in Codex when its answer says so', () => {
  verifies('hosts.readers')
  const input = { query: 'paper width' }
  const answer = { content: [{ type: 'text', text: 'Error: no such table' }], isError: true }
  assert.deepEqual(readCodex(call('mcp__till__search', input, answer)), [
    act('mcp__till__search', input, 'Error: no such table', {
      family: 'other',
      words: 'paper width',
      outcome: 'failed',
      errorClass: errorClassOf('Error: no such table'),
    }),
  ])
})

test('the plan, the goal and the waiting of Codex are read', () => {
  verifies('hosts.readers')
  const plan = [
    { step: 'find the printer', status: 'completed' },
    { step: 'translate', status: 'in_progress' },
    { step: 'test', status: 'pending' },
  ]
  assert.deepEqual(readCodex(call('update_plan', { plan }, 'Plan updated')), [
    {
      kind: 'plan',
      whole: true,
      items: [
        { text: 'find the printer', state: 'done' },
        { text: 'translate', state: 'now' },
        { text: 'test', state: 'open' },
      ],
      ...at,
      eventId: 'call-1',
    },
  ])
  assert.deepEqual(readCodex(call('create_goal', { objective: 'Greek receipts' }, '{}')), [
    { kind: 'intent', text: 'Greek receipts', ...at, eventId: 'call-1' },
  ])
  for (const tool of ['multi_agent_v1wait_agent', 'collaborationwait_agent', 'clocksleep']) {
    const input = { timeout_ms: 9000 }
    assert.deepEqual(readCodex(call(tool, input, '{"timed_out":false}')), [
      act(tool, input, '{"timed_out":false}', { family: 'wait', words: '', outcome: 'ok' }),
    ])
  }
})

test('Codex waits for a person, who answers', () => {
  verifies('hosts.readers')
  const event = { ...common, hook_event_name: 'PermissionRequest', tool_name: 'Bash' }
  assert.deepEqual(readCodex(event), [
    { kind: 'wait', for: 'permission', ...at, eventId: digestOfValue(event) },
  ])
  assert.deepEqual(readCodex(call('request_user_input', { questions: [] }, '{"answers":{}}')), [
    { kind: 'person', how: 'answer', ...at, eventId: 'call-1' },
  ])
})

test('a turn of Codex ends however it ends, and again if a hook let it go on', () => {
  verifies('hosts.readers')
  const end = { kind: 'turnEnd', expects: [], ...at, eventId: 'turn-7#end' }
  for (const name of ['Stop', 'StopFailure', 'Interrupt']) {
    const event = { ...common, hook_event_name: name, turn_id: 'turn-7' }
    assert.deepEqual(readCodex(event), [{ ...end, said: '' }])
    const told = { ...event, last_assistant_message: 'Greek now.' }
    assert.deepEqual(readCodex(told), [{ ...end, said: 'Greek now.' }])
    const again = { ...told, stop_hook_active: true }
    assert.deepEqual(readCodex(again), [
      { ...end, said: 'Greek now.', eventId: digestOfValue(again) },
    ])
  }
  const compact = { ...common, hook_event_name: 'PreCompact', trigger: 'auto' }
  assert.deepEqual(readCodex(compact), [
    { kind: 'compact', ...at, eventId: digestOfValue(compact) },
  ])
})

test('of what Codex does not tell, nothing is read', () => {
  verifies('hosts.readers')
  for (const event of [
    { ...common, hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } },
    { ...common, hook_event_name: 'PostCompact' },
    { ...common, hook_event_name: 'NeverHeardOf', prompt: 'hello' },
    { ...common, hook_event_name: 'UserPromptSubmit', turn_id: 'turn-7', prompt: ' ' },
    { ...common, hook_event_name: 'UserPromptSubmit', turn_id: 'turn-7' },
    { ...common, hook_event_name: 'PostToolUse', tool_use_id: 'call-1' },
    { hook_event_name: 'UserPromptSubmit', prompt: 'hello' },
    { type: 'agent-turn-complete', client: 'codex-tui' },
    null,
    'text',
    [],
  ]) {
    assert.deepEqual(readCodex(event, 'notify'), [])
  }
  const cut = { ...common, tool_name: 'Bash' }
  assert.deepEqual(readCodex(cut, 'PostToolUse'), [
    {
      kind: 'act',
      family: 'run',
      tool: 'Bash',
      paths: [],
      words: '',
      outcome: 'unknown',
      argsHash: argsHash('Bash', {}),
      ...at,
      eventId: digestOfValue(cut),
    },
  ])
})

test('no event of Codex throws', () => {
  verifies('hosts.readers')
  const names = fc.constantFrom(
    'SessionStart',
    'UserPromptSubmit',
    'PostToolUse',
    'SubagentStop',
    'Stop',
    'notify',
  )
  const fields = fc.constantFrom(
    'session_id',
    'turn_id',
    'agent_id',
    'prompt',
    'tool_name',
    'tool_input',
    'tool_response',
    'thread-id',
    'client',
    'input-messages',
  )
  const tools = fc.constantFrom('Bash', 'update_plan', 'spawn_agent', 'agent-turn-complete')
  const values = fc.oneof(fc.jsonValue(), tools)
  const events = fc.dictionary(fc.oneof(fields, fc.constant('type')), values)
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), events), names, (event, name) => {
      assert.ok(Array.isArray(readCodex(event, name)))
    }),
    { numRuns: 2000 },
  )
})

function call(tool: string, input: object, answer: unknown): object {
  return {
    ...common,
    hook_event_name: 'PostToolUse',
    turn_id: 'turn-7',
    tool_name: tool,
    tool_input: input,
    tool_response: answer,
    tool_use_id: 'call-1',
  }
}

function act(tool: string, input: object, output: string, facts: object): object {
  return {
    kind: 'act',
    tool,
    paths: [],
    argsHash: argsHash(tool, input),
    resultHash: digestOf(output),
    ...facts,
    ...at,
    eventId: 'call-1',
  }
}

function argsHash(tool: string, input: object): string {
  return digestOf(`${tool}\n${digestOfValue(input)}`)
}
