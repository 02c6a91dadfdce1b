import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { digestOf } from '../../../src/core/hosts/fields.ts'
import { readVscode } from '../../../src/core/hosts/vscode.ts'
import { verifies } from '../../verifies.ts'
import { assertTotal, factsOf, placesOf } from './told.ts'

const rest = { timestamp: '2026-10-01T08:00:00.000Z', cwd: '/home/ada/bakery' }
const snake = { ...rest, session_id: 'chat-5' }
const camel = { ...rest, sessionId: 'chat-5' }
const at = Date.parse(rest.timestamp)

describe('an event of the agent of VS Code', () => {
  test('has the names of its common fields in two ways', () => {
    verifies('hosts.readers')
    const prompt = 'proof the dough'
    for (const read of [
      readVscode({ ...snake, hook_event_name: 'UserPromptSubmit', prompt }),
      readVscode({ ...camel, hookEventName: 'UserPromptSubmit', prompt }),
      readVscode({ ...camel, prompt }, 'UserPromptSubmit'),
    ]) {
      assert.deepEqual(factsOf(read), [{ kind: 'prompt', text: prompt, by: 'unknown' }])
      const [place] = placesOf(read)
      assert.deepEqual([place?.runId, place?.agentId, place?.at], ['vscode:chat-5', '', at])
    }
  })

  test('after a tool is an act by the names that VS Code gives tools', () => {
    verifies('hosts.readers')
    const used = (tool_name: string, tool_input: object, tool_response?: string) =>
      readVscode(
        { ...camel, tool_name, tool_input, tool_use_id: 'use-1', tool_response },
        'PostToolUse',
      )
    const edited = used('editFiles', { files: ['/home/ada/bakery/dough.md'] }, 'File edited')
    assert.deepEqual(factsOf(edited), [
      {
        kind: 'act',
        family: 'edit',
        tool: 'editFiles',
        paths: ['dough.md'],
        words: '',
        outcome: 'ok',
        resultHash: digestOf('File edited'),
      },
    ])
    assert.equal(edited[0]?.eventId, 'use-1')
    for (const [tool, input, family] of [
      ['run_in_terminal', { command: 'git push' }, 'run'],
      ['read_file', { filePath: 'a' }, 'read'],
      ['replace_string_in_file', { filePath: 'a', oldString: 'b', newString: 'c' }, 'edit'],
      ['grep_search', { query: 'yeast' }, 'search'],
      ['fetch_webpage', { url: 'https://bread.example' }, 'web'],
      ['get_terminal_output', { id: '1' }, 'wait'],
    ] as const) {
      const [act] = factsOf(used(tool, input))
      assert.deepEqual([act?.family, act?.outcome], [family, 'unknown'], tool)
    }
    // Whether a command failed is not known.
    const [ran] = factsOf(used('run_in_terminal', { command: 'git push' }, 'rejected'))
    assert.deepEqual([ran?.outcome, ran?.resultHash], ['unknown', digestOf('rejected')])
    const todoList = [{ id: 1, title: 'Proof', status: 'in-progress' }]
    assert.deepEqual(factsOf(used('manage_todo_list', { todoList }, 'ok')), [
      { kind: 'plan', whole: true, items: [{ id: '1', text: 'Proof', state: 'now' }] },
    ])
    const shared = { tool_name: 'view', tool_input: { path: 'a' } }
    const tool_result = { result_type: 'success', text_result_for_llm: 'flour' }
    const [viewed] = factsOf(readVscode({ ...snake, ...shared, tool_result }, 'PostToolUse'))
    assert.equal(viewed?.resultHash, digestOf('flour'))
  })

  test('starts and ends', () => {
    verifies('hosts.readers')
    const agent = { kind: 'agent', child: 'sub-4', parent: '', agentType: 'Plan', said: '' }
    for (const [name, more, ...facts] of [
      ['SessionStart', { source: 'new' }, { kind: 'session', source: 'startup' }],
      ['SubagentStart', { agent_id: 'sub-4', agent_type: 'Plan' }, { ...agent, state: 'start' }],
      ['SubagentStop', { agent_id: 'sub-4', agent_type: 'Plan' }, { ...agent, state: 'stop' }],
      ['SubagentStop', {}],
      ['Stop', { stop_hook_active: false }, { kind: 'turnEnd', said: '', expects: [] }],
      ['PreCompact', { trigger: 'auto' }, { kind: 'compact' }],
      ['PreToolUse', { tool_name: 'editFiles' }],
      ['Other', {}],
    ] as const) {
      assert.deepEqual(factsOf(readVscode({ ...camel, ...more }, name)), facts, name)
    }
    assert.deepEqual(readVscode({ prompt: 'no session' }, 'UserPromptSubmit'), [])
  })

  test('of any kind is read without an error', () => {
    verifies('hosts.readers')
    assertTotal(
      readVscode,
      ['PostToolUse', 'UserPromptSubmit', 'SubagentStart', 'PostToolBatch'],
      [{ ...camel, tool_name: 'editFiles', tool_input: { files: ['a'] }, tool_response: 'x' }],
    )
  })
})
