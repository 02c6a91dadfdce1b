import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { errorClassOf } from '../../../src/core/hosts/failures.ts'
import { digestOf, digestOfValue } from '../../../src/core/hosts/fields.ts'
import { readQwenCode } from '../../../src/core/hosts/qwen-code.ts'
import { verifies } from '../../verifies.ts'

const common = {
  session_id: 'tour-one',
  cwd: '/opt/ferry',
  timestamp: '2026-05-06T07:08:09.010Z',
  prompt_id: 'tour-one########4',
}
const at = { at: Date.UTC(2026, 4, 6, 7, 8, 9, 10), runId: 'qwen-code:tour-one', agentId: '' }
const child = 'general-purpose-call_77'

test('the session of Qwen Code begins, goes on, is branched and ends', () => {
  verifies('hosts.readers')
  for (const source of ['startup', 'resume', 'clear', 'compact'] as const) {
    reads({ hook_event_name: 'SessionStart', source }, { kind: 'session', source })
  }
  const [branched] = readQwenCode({
    ...common,
    hook_event_name: 'SessionStart',
    source: 'branch',
  })
  assert.ok(branched?.kind === 'session' && branched.source === 'fork')
  reads({ hook_event_name: 'SessionEnd', reason: 'logout' }, { kind: 'runEnd', reason: 'logout' })
})

test('what a person submitted to Qwen Code is a prompt, whatever was put around it', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const text = 'sell return tickets'
  const prompt = { kind: 'prompt', text, by: 'person', ...at, eventId: common.prompt_id }
  for (const sent of [
    text,
    `<system-reminder>\nTwo agents wait.\n</system-reminder>\n\n${text}`,
    `${text}\n--- Content from referenced files ---\nContent from @a.ts:\nlet a`,
    '',
  ]) {
    const event = { ...common, hook_event_name: 'UserPromptSubmit', prompt: sent }
    assert.deepEqual(readQwenCode({ ...event, submitted_prompt: text }), [prompt])
    // Without what was submitted, nobody knows who has spoken.
    assert.deepEqual(readQwenCode(event), sent === '' ? [] : [{ ...prompt, by: 'unknown' }])
  }
})

test('a prompt to Qwen Code that comes after a tool is none, and one of a machine is told', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const event = { ...common, hook_event_name: 'UserPromptSubmit' }
  for (const prompt of ['', ' ', '<system-reminder>Two agents wait.</system-reminder>', 3, null]) {
    assert.deepEqual(readQwenCode({ ...event, prompt }), [])
  }
  const prompt = '<task-notification><task-id>a</task-id></task-notification>'
  assert.deepEqual(readQwenCode({ ...event, prompt }), [
    { kind: 'prompt', text: prompt, by: 'machine', ...at, eventId: common.prompt_id },
  ])
})

test('a command of Qwen Code tells its exit code after its output', () => {
  verifies('hosts.readers')
  const input = { command: 'ls src', description: 'List the sources', is_background: false }
  const facts = { family: 'read', words: 'ls src', said: 'List the sources', ms: 12 }
  for (const pid of ['(none)', '4711']) {
    const answer = { llmContent: form('ls src', 'fare.ts\nerror.ts', '0', pid) }
    assert.deepEqual(readQwenCode(after('run_shell_command', input, answer)), [
      act('run_shell_command', input, 'fare.ts\nerror.ts', { ...facts, outcome: 'ok', exit: 0 }),
    ])
  }
})

test('a command of Qwen Code that failed has the class of its own error', () => {
  verifies('hosts.readers')
  const input = { command: 'grep error fare.log' }
  const output = 'grep: fare.log: No such file'
  const event = failed('run_shell_command', input, form(input.command, output, '2'))
  assert.deepEqual(readQwenCode(event), [
    act('run_shell_command', input, output, {
      family: 'search',
      words: 'grep error fare.log',
      outcome: 'failed',
      exit: 2,
      errorClass: errorClassOf(output),
      ms: 12,
    }),
  ])
  const cut = 'Command: npm test\nDirectory: (root)\nOutput: ✖ sells returns (3ms)\nℹ pass…'
  const tests = { command: 'npm test' }
  assert.deepEqual(readQwenCode(failed('run_shell_command', tests, cut)), [
    act('run_shell_command', tests, '✖ sells returns (3ms)\nℹ pass…', {
      family: 'verify',
      words: 'npm test',
      outcome: 'failed',
      errorClass: errorClassOf('✖ sells returns (3ms)\nℹ pass…'),
      failing: [digestOf('sells returns')],
      ms: 12,
    }),
  ])
})

test('files and tools that fail in Qwen Code', () => {
  verifies('hosts.readers')
  const edit = { file_path: '/opt/ferry/src/fare.ts', old_string: '5', new_string: '6' }
  const facts = {
    family: 'edit',
    paths: ['src/fare.ts'],
    words: '',
    ms: 12,
    edits: [{ path: 'src/fare.ts', from: digestOf('5'), to: digestOf('6') }],
  }
  assert.deepEqual(readQwenCode(after('edit', edit, { llmContent: 'Edited' })), [
    act('edit', edit, 'Edited', { ...facts, outcome: 'ok' }),
  ])
  const error = 'File not found: fare.ts'
  assert.deepEqual(readQwenCode(failed('edit', edit, error)), [
    act('edit', edit, error, { ...facts, outcome: 'failed', errorClass: errorClassOf(error) }),
  ])
  assert.deepEqual(readQwenCode(failed('edit', edit, { code: 5 })), [
    act('edit', edit, digestOfValue({ code: 5 }), {
      ...facts,
      outcome: 'failed',
      errorClass: errorClassOf(digestOfValue({ code: 5 })),
    }),
  ])
})

test('the list of Qwen Code is the plan', () => {
  verifies('hosts.readers')
  const todos = [
    { id: '1', content: 'find the fares', status: 'completed' },
    { id: '2', content: 'sell returns', status: 'in_progress' },
  ]
  assert.deepEqual(readQwenCode(after('todo_write', { todos }, { llmContent: 'ok' })), [
    {
      kind: 'plan',
      whole: true,
      items: [
        { id: '1', text: 'find the fares', state: 'done' },
        { id: '2', text: 'sell returns', state: 'now' },
      ],
      ...at,
      eventId: 'call_77',
    },
  ])
})

test('Qwen Code says which agent took a task that runs in the background', () => {
  verifies('hosts.readers')
  const input = {
    description: 'Compare harbours',
    prompt: 'compare the harbours of Crete',
    subagent_type: 'general-purpose',
  }
  const task = {
    kind: 'delegate',
    task: 'compare the harbours of Crete',
    label: 'Compare harbours',
    agentType: 'general-purpose',
    ...at,
    eventId: 'call_77',
  }
  for (const name of ['task_id', 'agentId']) {
    const llmContent = `Background agent launched successfully.\n${name}: ${child} (internal)`
    assert.deepEqual(readQwenCode(after('agent', input, { llmContent })), [{ ...task, child }])
  }
  assert.deepEqual(readQwenCode(after('agent', input, { llmContent: 'Heraklion.' })), [task])
})

test('what a sub-agent of Qwen Code does is its own', () => {
  verifies('hosts.readers')
  const start = { hook_event_name: 'SubagentStart', agent_id: child, agent_type: 'general-purpose' }
  const agent = { kind: 'agent', child, parent: '', agentType: 'general-purpose' }
  reads(start, { ...agent, state: 'start', said: '' })
  reads(
    { ...start, hook_event_name: 'SubagentStop', last_assistant_message: 'Heraklion.' },
    { ...agent, state: 'stop', said: 'Heraklion.' },
  )
  const read = after('read_file', { file_path: '/opt/ferry/a.md' }, { llmContent: 'text' })
  const [fact] = readQwenCode({ ...read, agent_id: child })
  assert.equal(fact?.agentId, child)
})

test('Qwen Code waits for a person, who answers', () => {
  verifies('hosts.readers')
  const wait = { kind: 'wait', for: 'permission' }
  reads({ hook_event_name: 'PermissionRequest', tool_name: 'edit' }, wait)
  reads({ hook_event_name: 'Notification', notification_type: 'permission_prompt' }, wait)
  reads({ hook_event_name: 'Notification', notification_type: 'auth_success' })
  const answer = { llmContent: 'User has provided the following answers' }
  assert.deepEqual(readQwenCode(after('ask_user_question', { questions: [] }, answer)), [
    { kind: 'person', how: 'answer', ...at, eventId: 'call_77' },
  ])
})

test('the end of a turn of Qwen Code says which prompts no person will type', () => {
  verifies('hosts.readers')
  const said = 'Returns are on sale.'
  const crons = [{ id: '1', prompt: 'check the sales' }, { id: '2' }]
  const stop = { hook_event_name: 'Stop', last_assistant_message: said, crons }
  const [end] = readQwenCode({ ...common, ...stop })
  assert.ok(end?.kind === 'turnEnd')
  assert.deepEqual({ said: end.said, expects: end.expects }, { said, expects: ['check the sales'] })
  assert.notEqual(
    end.eventId,
    readQwenCode({ ...common, ...stop, timestamp: '2026-05-06T07:09:00.000Z' })[0]?.eventId,
  )
  reads({ hook_event_name: 'PreCompact', trigger: 'auto' }, { kind: 'compact' })
})

test('of what Qwen Code does not tell, nothing is read', () => {
  verifies('hosts.readers')
  for (const event of [
    { ...common, hook_event_name: 'PreToolUse', tool_name: 'edit', tool_input: {} },
    { ...common, hook_event_name: 'PostToolBatch', tool_calls: [{ tool_name: 'edit' }] },
    { ...common, hook_event_name: 'UserPromptExpansion', prompt: 'hello' },
    { ...common, hook_event_name: 'MessageDisplay', displayed_text: 'hello' },
    { ...common, hook_event_name: 'PostToolUse', tool_use_id: 'use-1' },
    { hook_event_name: 'UserPromptSubmit', submitted_prompt: 'hello' },
    null,
    true,
    [],
  ]) {
    assert.deepEqual(readQwenCode(event, 'NeverHeardOf'), [])
  }
  const cut = { ...common, tool_name: 'run_shell_command', tool_use_id: 'use-1' }
  assert.deepEqual(readQwenCode(cut, 'PostToolUse'), [
    {
      kind: 'act',
      family: 'run',
      tool: 'run_shell_command',
      paths: [],
      words: '',
      outcome: 'unknown',
      argsHash: digestOf(`run_shell_command\n${digestOfValue({})}`),
      ...at,
      eventId: 'use-1',
    },
  ])
})

test('no event of Qwen Code throws', () => {
  verifies('hosts.readers')
  const names = fc.constantFrom(
    'SessionStart',
    'UserPromptSubmit',
    'PostToolUse',
    'PostToolUseFailure',
    'PostToolBatch',
    'SubagentStop',
    'Stop',
    'Notification',
  )
  const fields = fc.constantFrom(
    'session_id',
    'agent_id',
    'prompt',
    'submitted_prompt',
    'tool_name',
    'tool_input',
    'tool_response',
    'tool_calls',
    'error',
    'crons',
  )
  const tools = fc.constantFrom('run_shell_command', 'todo_write', 'agent', 'edit')
  const told = fc.record({ llmContent: fc.jsonValue() })
  const events = fc.dictionary(fields, fc.oneof(fc.jsonValue(), tools, told))
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), events), names, (event, name) => {
      assert.ok(Array.isArray(readQwenCode(event, name)))
    }),
    { numRuns: 2000 },
  )
})

/** An event that is told from others by all it holds. */
function reads(event: object, ...facts: object[]): void {
  const whole = { ...common, ...event }
  const read = readQwenCode(whole).map(({ eventId, ...rest }) => {
    assert.match(eventId, /^[\da-f]{16}$/)
    return rest
  })
  assert.deepEqual(
    read,
    facts.map((fact) => ({ ...fact, ...at })),
  )
}

function after(tool: string, input: object, answer: unknown): object {
  return {
    ...common,
    hook_event_name: 'PostToolUse',
    tool_name: tool,
    tool_input: input,
    tool_response: answer,
    tool_use_id: 'use-1',
    tool_call_id: 'call_77',
    duration_ms: 12,
  }
}

function failed(tool: string, input: object, error: unknown): object {
  const { tool_response: _, ...event } = { tool_response: null, ...after(tool, input, null) }
  return { ...event, hook_event_name: 'PostToolUseFailure', error, is_interrupt: false }
}

function form(command: string, output: string, code: string, pid = '(none)'): string {
  return [
    `Command: ${command}`,
    'Directory: (root)',
    `Output: ${output}`,
    'Error: (none)',
    `Exit Code: ${code}`,
    'Signal: (none)',
    `Process Group PGID: ${pid}`,
  ].join('\n')
}

function act(tool: string, input: object, output: string, facts: object): object {
  // The description of an act is none of its arguments.
  const { description: _, ...rest } = { description: '', ...input }
  return {
    kind: 'act',
    tool,
    paths: [],
    argsHash: digestOf(`${tool}\n${digestOfValue(rest)}`),
    resultHash: digestOf(output),
    ...facts,
    ...at,
    eventId: 'call_77',
  }
}
