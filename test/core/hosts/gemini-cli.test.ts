import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { errorClassOf } from '../../../src/core/hosts/failures.ts'
import { digestOf, digestOfValue } from '../../../src/core/hosts/fields.ts'
import { readGeminiCli } from '../../../src/core/hosts/gemini-cli.ts'
import { verifies } from '../../verifies.ts'

const common = {
  session_id: 'talk-one',
  cwd: '/srv/atlas',
  timestamp: '2026-03-04T05:06:07.089Z',
}
const time = Date.UTC(2026, 2, 4, 5, 6, 7, 89)

test('the session of Gemini CLI begins, goes on and ends', () => {
  verifies('hosts.readers')
  for (const source of ['startup', 'resume', 'clear'] as const) {
    reads({ hook_event_name: 'SessionStart', source }, { kind: 'session', source })
  }
  reads({ hook_event_name: 'SessionEnd', reason: 'exit' }, { kind: 'runEnd', reason: 'exit' })
})

test('a prompt to Gemini CLI is a person’s, without what hooks and files put around it', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const text = 'draw the rivers @src/rivers.json in blue'
  const facts = `<hook_context>The errand was: draw the roads. ${'x'.repeat(9000)}</hook_context>`
  const file = '\n--- Content from referenced files ---\nContent from @src/rivers.json:\n[]'
  for (const prompt of [
    text,
    `${facts}\n\n${text}`,
    `${text}${file}\n--- End of content ---`,
    `${facts}${text}${file}`,
    `User steering update:\n<user_input>\n${text}\n</user_input>\nInternal instruction: go on.`,
  ]) {
    reads({ hook_event_name: 'BeforeAgent', prompt }, { kind: 'prompt', text, by: 'person' })
  }
})

test('a prompt to Gemini CLI that no person wrote is a machine’s or none', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const update = 'Background execution update:\n<background_output>\nmap drawn'
  for (const prompt of [update, `${update}\n</background_output>`]) {
    reads(
      { hook_event_name: 'BeforeAgent', prompt },
      { kind: 'prompt', text: 'Background execution update:', by: 'machine' },
    )
  }
  const steering = 'User steering update:\n<user_input>\nname them too\n</user_input>\nInternal'
  reads(
    { hook_event_name: 'BeforeAgent', prompt: `${update}\n</background_output>\n\n${steering}` },
    { kind: 'prompt', text: 'name them too', by: 'person' },
  )
  for (const prompt of [
    '',
    ' \n',
    '<hook_context>only ours</hook_context>',
    '<hook_context>cut…',
  ]) {
    reads({ hook_event_name: 'BeforeAgent', prompt })
  }
})

test('the list of Gemini CLI is the plan, its topic what it intends', () => {
  verifies('hosts.readers')
  const todos = [
    { description: 'load the rivers', status: 'completed' },
    { description: 'draw them', status: 'in_progress' },
    { description: 'choose a blue', status: 'pending' },
  ]
  reads(after('write_todos', { todos }, { llmContent: 'Successfully updated' }), {
    kind: 'plan',
    whole: true,
    items: [
      { text: 'load the rivers', state: 'done' },
      { text: 'draw them', state: 'now' },
      { text: 'choose a blue', state: 'open' },
    ],
  })
  const topic = { title: 'Rivers', strategic_intent: 'Get the map ready', summary: 'Loaded.' }
  reads(after('update_topic', topic, { llmContent: 'ok' }), {
    kind: 'intent',
    text: 'Rivers – Get the map ready',
  })
})

test('Gemini CLI delegates when the agent begins; its end and its report are no acts', () => {
  verifies('hosts.readers')
  const input = { agent_name: 'surveyor', prompt: 'find the sources of the Danube' }
  reads(
    { hook_event_name: 'BeforeTool', tool_name: 'invoke_agent', tool_input: input },
    { kind: 'delegate', task: 'find the sources of the Danube', agentType: 'surveyor' },
  )
  reads(after('invoke_agent', input, { llmContent: [{ text: 'Subagent finished' }] }))
  reads(after('complete_task', { result: 'two sources' }, { llmContent: 'Output submitted' }))
  reads({ hook_event_name: 'BeforeTool', tool_name: 'invoke_agent', tool_input: {} })
  reads({ hook_event_name: 'BeforeTool', tool_name: 'read_file', tool_input: {} })
})

test('a command of Gemini CLI that ended well tells no exit code', () => {
  verifies('hosts.readers')
  const input = { command: 'ls /srv/atlas/tiles', description: 'List the tiles' }
  const told = (pid: number, output: string) =>
    `<untrusted_context>\nOutput: ${output}\nProcess Group PGID: ${pid}\n</untrusted_context>`
  for (const pid of [11, 12]) {
    reads(
      after('run_shell_command', input, { llmContent: told(pid, 'a.png\nb.png') }),
      act('run_shell_command', input, 'a.png\nb.png', {
        family: 'read',
        words: 'ls tiles',
        said: 'List the tiles',
        outcome: 'ok',
      }),
    )
  }
})

test('the exit code of a command of Gemini CLI stands after its output', () => {
  verifies('hosts.readers')
  const input = { command: 'make check', dir_path: 'tiles' }
  const output = 'FAILED blue is blue\nError: Exit Code: 9'
  for (const ending of [
    'Exit Code: 2\nProcess Group PGID: 11',
    'Exit Code: 2\nSignal: 15\nBackground PIDs: 4, 5\nProcess Group PGID: 11',
    'Exit Code: 2\n</untrusted_context>\n',
  ]) {
    reads(
      after('run_shell_command', input, { llmContent: `Output: ${output}\n${ending}` }),
      act('run_shell_command', input, output, {
        family: 'verify',
        paths: ['tiles'],
        words: 'make check',
        outcome: 'failed',
        exit: 2,
        errorClass: errorClassOf(output),
        failing: [digestOf('blue is blue')],
      }),
    )
  }
})

test('how a command of Gemini CLI ended otherwise', () => {
  verifies('hosts.readers')
  const input = { command: 'node draw.js' }
  const draw = { family: 'run', words: 'node draw.js' }
  for (const [told, output, outcome] of [
    ['Output: half\nSignal: 9\nProcess Group PGID: 1', 'half', 'failed'],
    ['Output: a text that was cut…', 'a text that was cut…', 'unknown'],
    ['The summary of an output', 'The summary of an output', 'unknown'],
    ['Command moved to background (PID: 4).', 'Command moved to background (PID: 4).', 'ok'],
    [
      'Command was automatically cancelled because it exceeded the timeout',
      'Command was automatically cancelled because it exceeded the timeout',
      'failed',
    ],
    ['Command was cancelled by user.', 'Command was cancelled by user.', 'unknown'],
    [
      'Command: node draw.js\nDirectory: (root)\nStdout: done\nError: (none)\nExit Code: 0\nSignal: (none)',
      'done',
      'ok',
    ],
    [
      'Command: node draw.js\nDirectory: (root)\nOutput: (empty)\nError: spawn failed\nExit Code: (none)',
      '(empty)\nError: spawn failed',
      'failed',
    ],
  ] as const) {
    const { exit, ...rest } = { exit: told.includes('Exit Code: 0') ? 0 : undefined, ...draw }
    reads(
      after('run_shell_command', input, { llmContent: told }),
      act('run_shell_command', input, output, {
        ...rest,
        outcome,
        ...(exit === undefined ? {} : { exit }),
        ...(outcome === 'failed' ? { errorClass: errorClassOf(output) } : {}),
      }),
    )
  }
})

test('tests have failed in Gemini CLI whose long output was cut after their names', () => {
  verifies('hosts.readers')
  const input = { command: 'node --test' }
  const output = '✖ draws rivers (1.5ms)\nℹ pass 0…'
  reads(
    after('run_shell_command', input, { llmContent: `<untrusted_context>\nOutput: ${output}` }),
    act('run_shell_command', input, output, {
      family: 'verify',
      words: 'node --test',
      outcome: 'failed',
      errorClass: errorClassOf(output),
      failing: [digestOf('draws rivers')],
    }),
  )
})

test('files, searches and pages in Gemini CLI', () => {
  verifies('hosts.readers')
  const edit = {
    file_path: '/srv/atlas/src/map.ts',
    instruction: 'use blue',
    old_string: 'red',
    new_string: 'blue',
  }
  reads(
    after('replace', edit, { llmContent: 'Successfully modified', returnDisplay: {} }),
    act('replace', edit, 'Successfully modified', {
      family: 'edit',
      paths: ['src/map.ts'],
      words: '',
      outcome: 'ok',
      edits: [{ path: 'src/map.ts', from: digestOf('red'), to: digestOf('blue') }],
    }),
  )
  const grep = { pattern: 'river', dir_path: '/srv/atlas/src' }
  reads(
    after('grep_search', grep, { llmContent: [{ text: 'Found' }, { text: '1 match' }] }),
    act('grep_search', grep, 'Found\n1 match', {
      family: 'search',
      paths: ['src'],
      words: 'river',
      outcome: 'ok',
    }),
  )
  const page = { query: 'length of the Danube' }
  reads(
    after('google_web_search', page, { llmContent: '', error: { message: 'no network' } }),
    act('google_web_search', page, '', {
      family: 'web',
      words: 'length of the Danube',
      outcome: 'failed',
      errorClass: errorClassOf(''),
    }),
  )
  const image = { llmContent: { inlineData: { data: 'AAAA' } } }
  reads(
    after('read_file', { file_path: '/etc/key.png' }, image),
    act('read_file', { file_path: '/etc/key.png' }, digestOfValue(image), {
      family: 'read',
      paths: ['~/…/key.png'],
      words: '',
      outcome: 'ok',
    }),
  )
})

test('Gemini CLI waits for a person, who answers', () => {
  verifies('hosts.readers')
  reads(
    { hook_event_name: 'Notification', notification_type: 'ToolPermission', message: 'May I?' },
    { kind: 'wait', for: 'permission' },
  )
  reads(
    { hook_event_name: 'BeforeTool', tool_name: 'ask_user', tool_input: { questions: [] } },
    { kind: 'wait', for: 'answer' },
  )
  reads(after('ask_user', { questions: [] }, { llmContent: '{}' }), {
    kind: 'person',
    how: 'answer',
  })
})

test('the end of a turn of Gemini CLI holds the last of what the agent said', () => {
  verifies('hosts.readers')
  const end = (prompt_response: string) => ({
    hook_event_name: 'AfterAgent',
    prompt: 'draw the rivers',
    prompt_response,
  })
  reads(end('I load them.\nThey are blue.'), {
    kind: 'turnEnd',
    said: 'I load them.\nThey are blue.',
    expects: [],
  })
  const [told] = readGeminiCli({ ...common, ...end(`${'a'.repeat(9000)} and done`) })
  assert.ok(told?.kind === 'turnEnd' && told.said?.endsWith('a and done'))
  assert.ok((told.said?.length ?? 0) <= 4000)
})

test('Gemini CLI compresses only where a person wants it', () => {
  verifies('hosts.readers')
  reads({ hook_event_name: 'PreCompress', trigger: 'manual' }, { kind: 'compact' })
  reads({ hook_event_name: 'PreCompress', trigger: 'auto' })
})

test('of what Gemini CLI does not tell, nothing is read', () => {
  verifies('hosts.readers')
  for (const event of [
    { ...common, hook_event_name: 'BeforeModel', llm_request: { messages: [] } },
    { ...common, hook_event_name: 'PostToolUse', tool_name: 'read_file' },
    { ...common, hook_event_name: 'AfterTool' },
    { ...common, hook_event_name: 'BeforeAgent' },
    { ...common, hook_event_name: 'Notification' },
    { hook_event_name: 'BeforeAgent', prompt: 'hello' },
    null,
    7,
    ['AfterTool'],
  ]) {
    assert.deepEqual(readGeminiCli(event, 'NeverHeardOf'), [])
  }
  const cut = { ...common, tool_name: 'run_shell_command' }
  assert.deepEqual(readGeminiCli(cut, 'AfterTool'), [
    {
      kind: 'act',
      family: 'run',
      tool: 'run_shell_command',
      paths: [],
      words: '',
      outcome: 'unknown',
      argsHash: argsHash('run_shell_command', {}),
      ...placeOf(cut),
    },
  ])
})

test('no event of Gemini CLI throws', () => {
  verifies('hosts.readers')
  const names = fc.constantFrom(
    'SessionStart',
    'BeforeAgent',
    'BeforeTool',
    'AfterTool',
    'AfterAgent',
    'Notification',
    'PreCompress',
  )
  const fields = fc.constantFrom(
    'session_id',
    'timestamp',
    'cwd',
    'prompt',
    'prompt_response',
    'tool_name',
    'tool_input',
  )
  const tools = fc.constantFrom('run_shell_command', 'write_todos', 'invoke_agent', 'replace')
  const told = fc.record({ llmContent: fc.jsonValue(), error: fc.jsonValue() })
  const events = fc.dictionary(
    fc.oneof(fields, fc.constant('tool_response')),
    fc.oneof(fc.jsonValue(), tools, told),
  )
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), events), names, (event, name) => {
      assert.ok(Array.isArray(readGeminiCli(event, name)))
    }),
    { numRuns: 2000 },
  )
})

function reads(event: object, ...facts: object[]): void {
  const whole = { ...common, ...event }
  assert.deepEqual(
    readGeminiCli(whole),
    facts.map((fact) => ({ ...fact, ...placeOf(whole) })),
  )
}

function placeOf(event: object): object {
  return {
    at: time,
    runId: 'gemini-cli:talk-one',
    agentId: '',
    eventId: digestOfValue(event),
  }
}

function after(tool: string, input: object, answer: object): object {
  return {
    hook_event_name: 'AfterTool',
    tool_name: tool,
    tool_input: input,
    tool_response: answer,
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
  }
}

/** The description of an act is none of its arguments. */
function argsHash(tool: string, input: object): string {
  const { description: _, ...rest } = { description: '', ...input }
  return digestOf(`${tool}\n${digestOfValue(rest)}`)
}
