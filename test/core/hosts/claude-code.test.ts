import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readClaudeCode } from '../../../src/core/hosts/claude-code.ts'
import { errorClassOf } from '../../../src/core/hosts/failures.ts'
import { digestOf, digestOfValue } from '../../../src/core/hosts/fields.ts'
import type { HostFact } from '../../../src/core/hosts/host-event.ts'
import { verifies } from '../../verifies.ts'
import { assertTotal, factsOf, placesOf } from './told.ts'

const common = { session_id: 'bakery-1', cwd: '/home/ola/bakery' }
const runId = 'claude-code:bakery-1'

test('the session of Claude Code begins, goes on, is compacted and ends', () => {
  verifies('hosts.readers')
  for (const source of ['startup', 'resume', 'clear', 'compact', 'fork'] as const) {
    reads({ hook_event_name: 'SessionStart', source }, { kind: 'session', source })
  }
  const odd = { hook_event_name: 'SessionStart', source: 'dream' }
  reads(odd, { kind: 'session', source: 'startup' })
  reads({ hook_event_name: 'PreCompact', trigger: 'auto' }, { kind: 'compact' })
  reads({ hook_event_name: 'SessionEnd', reason: 'logout' }, { kind: 'runEnd', reason: 'logout' })
})

test('an event of Claude Code has the time that it tells', () => {
  verifies('hosts.readers')
  const event = { ...common, hook_event_name: 'PreCompact', timestamp: '2026-03-04T05:06:07Z' }
  const at = Date.UTC(2026, 2, 4, 5, 6, 7)
  const told = { at, runId, agentId: '', eventId: digestOfValue(event) }
  assert.deepEqual(readClaudeCode(event), [{ kind: 'compact', ...told }])
})

test('nobody knows who sent a prompt to Claude Code that tells no source', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const text = 'bake the rye bread first'
  for (const [more, by] of [
    [{}, 'unknown'],
    [{ source: 'user' }, 'person'],
    [{ source: 'sdk' }, 'person'],
    [{ source: 'cron' }, 'machine'],
  ] as const) {
    const event = { ...prompted(`  ${text}\n`), ...more }
    const prompt = { kind: 'prompt', text, by, runId, agentId: '', eventId: 'p-1' }
    // A program that hands words over is one that nobody speaks into later.
    const isProgram = 'source' in more && more.source === 'sdk'
    const headless = isProgram ? { isHeadless: true } : {}
    assert.deepEqual(readClaudeCode(event), [{ ...prompt, ...headless }])
  }
})

test('what Claude Code or Plumbline put around a prompt is taken off', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const text = 'bake the rye bread first'
  for (const prompt of [
    `<system-reminder>\nThe oven is warm.\n</system-reminder>\n${text}`,
    `<hook_context hook_name="clock">noon</hook_context>${text}`,
    `${text}\n<environment_context>\n<cwd>/home/ola</cwd>\n</environment_context>`,
    `The errand is bread. [plumbline]\n${text}`,
  ]) {
    assert.deepEqual(factsOf(readClaudeCode(prompted(prompt))), [
      { kind: 'prompt', text, by: 'unknown' },
    ])
  }
  const long = `<system-reminder>${'flour '.repeat(2000)}</system-reminder>${text}`
  assert.equal(factsOf(readClaudeCode(prompted(long)))[0]?.text, text)
  assert.deepEqual(readClaudeCode(prompted('<system-reminder>warm</system-reminder>')), [])
  const submitted = { ...prompted(`${text} and more`), submitted_prompt: text }
  assert.equal(factsOf(readClaudeCode(submitted))[0]?.text, text)
})

test('notes of tasks and commands of Claude Code are no person’s prompts', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  for (const text of [
    '<task-notification><task-id>t1</task-id></task-notification>',
    '<command-name>/tidy</command-name>',
    '<local-command-stdout>3 loaves</local-command-stdout>',
    '<teammate-message from="miller">flour is here</teammate-message>',
    '/tidy the shelves',
    '!ls shelves',
  ]) {
    assert.deepEqual(factsOf(readClaudeCode(prompted(text))), [
      { kind: 'prompt', text, by: 'machine' },
    ])
  }
  const path = prompted('/home/ola/bakery/oven.ts is cold')
  assert.equal(factsOf(readClaudeCode(path))[0]?.by, 'unknown')
})

test('the prompt of a sub-agent of Claude Code is its task', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  const event = { ...prompted('weigh the flour'), agent_id: 'a7' }
  assert.deepEqual(readClaudeCode(event), [
    {
      kind: 'delegate',
      task: 'weigh the flour',
      child: 'a7',
      runId,
      agentId: 'a7',
      eventId: 'p-1',
    },
  ])
})

test('Claude Code delegates before the agent begins, and tells the agent after', () => {
  verifies('hosts.readers')
  const tool_input = {
    prompt: 'weigh the flour',
    description: 'Weigh flour',
    subagent_type: 'scout',
  }
  const call = { ...common, tool_name: 'Agent', tool_input, tool_use_id: 'use-3' }
  const task = {
    kind: 'delegate',
    task: 'weigh the flour',
    label: 'Weigh flour',
    agentType: 'scout',
  }
  const before = readClaudeCode({ ...call, hook_event_name: 'PreToolUse' })
  assert.deepEqual(before, [{ ...task, runId, agentId: '', eventId: 'use-3#before' }])
  const tool_response = { agentId: 'a7', totalTokens: 900 }
  const after = readClaudeCode({ ...call, hook_event_name: 'PostToolUse', tool_response })
  assert.deepEqual(after, [
    { ...task, child: 'a7', runId, agentId: '', eventId: 'use-3' },
    { kind: 'tokens', count: 900, runId, agentId: '', eventId: 'use-3#1' },
  ])
  const run = { ...used('Bash', { command: 'ls' }), hook_event_name: 'PreToolUse' }
  const begun = { kind: 'begin', runId, agentId: '', eventId: 'use-1' }
  assert.deepEqual(readClaudeCode(run), [begun])
})

test('sub-agents of Claude Code start and stop under the main agent', () => {
  verifies('hosts.readers')
  for (const [name, state, said] of [
    ['SubagentStart', 'start', ''],
    ['SubagentStop', 'stop', 'Two kilos.'],
  ] as const) {
    const event = {
      hook_event_name: name,
      agent_id: 'a7',
      agent_type: 'scout',
      last_assistant_message: said,
    }
    reads(event, { kind: 'agent', child: 'a7', parent: '', state, agentType: 'scout', said })
  }
})

test('a command of Claude Code has worked unless its answer tells an exit code', () => {
  verifies('hosts.readers')
  const input = { command: 'npm test', description: 'Test the oven' }
  const act = { kind: 'act', family: 'verify', tool: 'Bash', paths: [], words: 'npm test' }
  const base = { ...act, said: 'Test the oven' }
  const fine = { ...used('Bash', input), tool_response: { stdout: 'ok', stderr: '' } }
  assert.deepEqual(factsOf(readClaudeCode({ ...fine, duration_ms: 30 })), [
    { ...base, outcome: 'ok', resultHash: digestOf('ok\n'), ms: 30 },
  ])
  const error = 'Exit code 1\nnot ok 1 - the crust is brown'
  const failed = { ...used('Bash', input), hook_event_name: 'PostToolUseFailure', error }
  assert.deepEqual(factsOf(readClaudeCode(failed)), [
    {
      ...base,
      outcome: 'failed',
      exit: 1,
      errorClass: errorClassOf(error),
      resultHash: digestOf(error),
      failing: [digestOf('the crust is brown')],
    },
  ])
  assert.deepEqual(factsOf(readClaudeCode(used('Bash', input))), [{ ...base, outcome: 'unknown' }])
  const said = { ...used('Bash', input), tool_response: 'the till wrote Exit code 4' }
  assert.equal(factsOf(readClaudeCode(said))[0]?.outcome, 'ok')
})

test('a call that Claude Code has refused is an act that failed, and plans nothing', () => {
  verifies('hosts.readers', 'hosts.refused')
  const refused = {
    tool_response: '<tool_use_error>Error: No such tool available</tool_use_error>',
  }
  for (const tool of ['TaskCreate', 'ExitPlanMode', 'Read']) {
    const call = { ...used(tool, { subject: 'Knead', file_path: '/x/y.ts' }), ...refused }
    const [fact, ...more] = factsOf(readClaudeCode(call))
    assert.deepEqual([fact?.kind, fact?.outcome, more], ['act', 'failed', []])
  }
})

test('an edit of Claude Code keeps hashes of the texts, and a relative path', () => {
  verifies('hosts.readers', 'hosts.private')
  const input = {
    file_path: '/home/ola/bakery/src/oven.ts',
    old_string: 'let heat = 180',
    new_string: 'let heat = 220',
  }
  const tool_response = { filePath: input.file_path }
  const event = { ...used('Edit', input), tool_response }
  const edits = [
    { path: 'src/oven.ts', from: digestOf(input.old_string), to: digestOf(input.new_string) },
  ]
  const facts = factsOf(readClaudeCode(event))
  assert.deepEqual(facts, [
    {
      kind: 'act',
      family: 'edit',
      tool: 'Edit',
      paths: ['src/oven.ts'],
      words: '',
      outcome: 'ok',
      resultHash: digestOf(digestOfValue(tool_response)),
      edits,
    },
  ])
  assert.doesNotMatch(JSON.stringify(facts), /heat|ola/)
})

test('the same call of Claude Code has the same id by whichever hook it comes', () => {
  verifies('hosts.readers', 'hosts.once')
  const calls = ['use-1', 'use-2'].map((tool_use_id) => ({
    tool_name: 'Read',
    tool_input: { file_path: `/home/ola/bakery/${tool_use_id}.ts` },
    tool_use_id,
    tool_response: 'x',
  }))
  const batch = readClaudeCode({ ...common, hook_event_name: 'PostToolBatch', tool_calls: calls })
  const alone = calls.flatMap((call) =>
    readClaudeCode({ ...common, ...call, hook_event_name: 'PostToolUse' }),
  )
  assert.deepEqual(batch, alone)
  const failures = calls.flatMap((call) =>
    readClaudeCode({ ...common, ...call, hook_event_name: 'PostToolUseFailure', error: 'torn' }),
  )
  assert.deepEqual(placesOf(failures), placesOf(batch))
  assert.deepEqual(
    batch.map(({ eventId }) => eventId),
    ['use-1', 'use-2'],
  )
})

test('tasks and lists of Claude Code are its plan', () => {
  verifies('hosts.readers')
  const make = used('TaskCreate', { subject: 'Knead', description: 'Knead the dough' })
  assert.deepEqual(factsOf(readClaudeCode({ ...make, tool_response: { task: { id: '4' } } })), [
    { kind: 'plan', whole: false, items: [{ id: '4', text: 'Knead', state: 'open' }] },
  ])
  assert.deepEqual(factsOf(readClaudeCode(make)), [
    { kind: 'plan', whole: false, items: [{ text: 'Knead', state: 'open' }] },
  ])
  for (const [status, state] of [
    ['in_progress', 'now'],
    ['completed', 'done'],
    ['deleted', 'done'],
    ['pending', 'open'],
  ]) {
    const change = used('TaskUpdate', { taskId: '4', status })
    assert.deepEqual(factsOf(readClaudeCode(change)), [
      { kind: 'plan', whole: false, items: [{ id: '4', text: '', state }] },
    ])
  }
  const owned = used('TaskUpdate', { taskId: '4', owner: 'miller' })
  assert.deepEqual(factsOf(readClaudeCode(owned)), [{ kind: 'plan', whole: false, items: [] }])
  const todos = [
    { content: 'Knead', status: 'completed' },
    { content: 'Bake', status: 'in_progress' },
  ]
  assert.deepEqual(factsOf(readClaudeCode(used('TodoWrite', { todos }))), [
    {
      kind: 'plan',
      whole: true,
      items: [
        { text: 'Knead', state: 'done' },
        { text: 'Bake', state: 'now' },
      ],
    },
  ])
})

test('Claude Code waits for a person, who answers', () => {
  verifies('hosts.readers')
  reads(
    { hook_event_name: 'PermissionRequest', tool_name: 'Bash' },
    { kind: 'wait', for: 'permission' },
  )
  const notice = { hook_event_name: 'Notification', notification_type: 'permission_prompt' }
  reads(notice, { kind: 'wait', for: 'permission' })
  const idle = { ...common, ...notice, notification_type: 'idle_prompt' }
  assert.deepEqual(readClaudeCode(idle), [])
  const asked = used('AskUserQuestion', { questions: [] })
  assert.deepEqual(factsOf(readClaudeCode(asked)), [{ kind: 'person', how: 'answer' }])
})

test('a plan that a person approves is the plan, and the person was there', () => {
  verifies('hosts.readers')
  const plan =
    '# Plan\n\nFirst look.\n\n1. Read login.js\n   - its tests too\n2. Count the tries\n- [ ] Test it'
  const items = ['Read login.js', 'Count the tries', 'Test it'].map((text) => ({
    text,
    state: 'open',
  }))
  const person = { kind: 'person', how: 'permission' }
  for (const [input, answer] of [
    [{ plan }, undefined],
    [{}, { plan, filePath: '/home/me/.claude/plans/p.md' }],
    [{}, `User has approved your plan.\n\n${plan}`],
  ] as const) {
    const event = { ...used('ExitPlanMode', input), tool_response: answer }
    assert.deepEqual(factsOf(readClaudeCode(event)), [person, { kind: 'plan', whole: true, items }])
  }
  assert.deepEqual(factsOf(readClaudeCode(used('ExitPlanMode', { plan: 'Just do it.' }))), [person])
  const refused = { ...used('ExitPlanMode', { plan }), error: 'The user wants another plan.' }
  assert.deepEqual(
    factsOf(readClaudeCode(refused)).map(({ kind }) => kind),
    ['act'],
  )
})

test('a turn of Claude Code ends, and says which prompts no person will have typed', () => {
  verifies('hosts.readers', 'hosts.who-spoke')
  for (const hook_event_name of ['Stop', 'StopFailure']) {
    const session_crons = [{ prompt: 'look at the oven' }, { prompt: ' ' }, null]
    const event = { hook_event_name, last_assistant_message: 'Baked.', session_crons }
    reads(event, { kind: 'turnEnd', said: 'Baked.', expects: ['look at the oven'] })
    reads({ hook_event_name }, { kind: 'turnEnd', said: '', expects: [] })
  }
})

test('of what Claude Code does not tell, nothing is read', () => {
  verifies('hosts.readers')
  for (const event of [
    { ...common, hook_event_name: 'NeverHeardOf', prompt: 'hello' },
    { ...common, hook_event_name: 'UserPromptSubmit' },
    { ...common, hook_event_name: 'UserPromptSubmit', prompt: 7 },
    { ...common, hook_event_name: 'PostToolUse', tool_use_id: 'use-1' },
    { ...common, hook_event_name: 'PostToolBatch', tool_calls: 'none' },
    { hook_event_name: 'UserPromptSubmit', prompt: 'hello' },
    common,
    null,
    'text',
    [],
  ]) {
    assert.deepEqual(readClaudeCode(event), [])
  }
  assert.deepEqual(factsOf(readClaudeCode(common, 'PreCompact')), [{ kind: 'compact' }])
})

test('no event of Claude Code throws', () => {
  verifies('hosts.readers')
  const names = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'SubagentStart', 'Stop']
  assertTotal(
    readClaudeCode,
    [...names, 'PreToolUse', 'PostToolBatch', 'Notification'],
    [
      { ...prompted('bake'), agent_id: 'a7' },
      used('Agent', { prompt: 'weigh', description: 'Weigh' }),
      used('Edit', { file_path: 'a.ts', edits: [{ old_string: 'a', new_string: 'b' }] }),
      { ...used('Bash', { command: 'npm test' }), error: 'Exit code 2\nnot ok 1 - a' },
      used('TodoWrite', { todos: [{ content: 'Bake', status: 'completed' }] }),
      { ...common, hook_event_name: 'PostToolBatch', tool_calls: [used('Read', {})] },
      { ...common, hook_event_name: 'Stop', session_crons: [{ prompt: 'look' }] },
    ],
  )
})

function reads(event: object, fact: HostFact): void {
  const whole = { ...common, ...event }
  const place = { runId, agentId: '', eventId: digestOfValue(whole) }
  assert.deepEqual(readClaudeCode(whole), [{ ...fact, ...place }])
}

function prompted(prompt: string): object {
  return { ...common, hook_event_name: 'UserPromptSubmit', prompt_id: 'p-1', prompt }
}

function used(tool_name: string, tool_input: object): object {
  return {
    ...common,
    hook_event_name: 'PostToolUse',
    tool_name,
    tool_input,
    tool_use_id: 'use-1',
  }
}
