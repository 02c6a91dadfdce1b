import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCline } from '../../../src/core/hosts/cline.ts'
import { errorClassOf } from '../../../src/core/hosts/failures.ts'
import { digestOf, digestOfValue } from '../../../src/core/hosts/fields.ts'
import { verifies } from '../../verifies.ts'
import { assertTotal, factsOf, placesOf } from './told.ts'

const base = {
  clineVersion: '',
  timestamp: '2026-10-01T08:00:00.500Z',
  taskId: 'conv_9',
  sessionContext: { rootSessionId: 'root_4' },
  workspaceRoots: ['/home/ada/bakery'],
  agent_id: 'agent_1',
  parent_agent_id: null,
}
const child = { ...base, taskId: 'conv_10', agent_id: 'agent_2', parent_agent_id: 'agent_1' }
/** The extension names neither agents nor calls. */
const extension = {
  clineVersion: '3.50.0',
  timestamp: '1790000000000',
  taskId: '77',
  workspaceRoots: ['/home/ada/bakery'],
}
const at = Date.parse(base.timestamp)

function used(name: string, input: object, output: unknown, more: object = {}) {
  return {
    ...base,
    hookName: 'tool_result',
    tool_result: { id: 'call_3', name, input, output, durationMs: 40 },
    postToolUse: {
      toolName: name,
      parameters: {},
      result: '…',
      success: true,
      executionTimeMs: 40,
    },
    ...more,
  }
}

function factsAfter(name: string, input: object, output: unknown, more?: object) {
  return factsOf(readCline(used(name, input, output, more), 'PostToolUse'))
}

function extensionFacts(toolName: string, parameters: object, result: string, success = true) {
  return factsOf(
    readCline(
      { ...extension, postToolUse: { toolName, parameters, result, success } },
      'PostToolUse',
    ),
  )
}

describe('an event of Cline', () => {
  test('belongs to the root session, and comes twice under one id', () => {
    verifies('hosts.readers')
    const event = { ...base, hookName: 'agent_start', taskStart: { taskMetadata: {} } }
    const [read] = readCline(event, 'TaskStart')
    assert.deepEqual(factsOf(readCline(event, 'TaskStart')), [
      { kind: 'session', source: 'startup' },
    ])
    assert.deepEqual([read?.runId, read?.agentId, read?.at], ['cline:root_4', '', at])
    assert.deepEqual(readCline({ ...event }, 'TaskStart'), [read])
    // The body names it too.
    assert.deepEqual(readCline(event), [read])
    const [old] = readCline({ ...extension, taskResume: {} }, 'TaskResume')
    assert.deepEqual([old?.runId, old?.at], ['cline:77', 1_790_000_000_000])
    assert.equal(old?.kind === 'session' && old.source, 'resume')
  })

  test('is a prompt of a person without what Cline puts around it, or the task of a sub-agent', () => {
    verifies('hosts.readers', 'hosts.who-spoke')
    for (const prompt of [
      'slice the bread',
      '<user_input mode="act">slice the bread</user_input>',
      '<mode_notice>Now in act mode</mode_notice>\n<user_input mode="act">\nslice the bread\n</user_input>',
      '<task>\nslice the bread\n</task>',
    ]) {
      const event = { ...base, userPromptSubmit: { prompt, attachments: [] } }
      assert.deepEqual(factsOf(readCline(event, 'UserPromptSubmit')), [
        { kind: 'prompt', text: 'slice the bread', by: 'person' },
      ])
    }
    const asked = readCline(
      { ...child, userPromptSubmit: { prompt: 'list the flours' } },
      'UserPromptSubmit',
    )
    assert.deepEqual(factsOf(asked), [
      { kind: 'delegate', task: 'list the flours', child: 'agent_2' },
    ])
    assert.deepEqual([asked[0]?.runId, asked[0]?.agentId], ['cline:root_4', 'agent_2'])
    assert.deepEqual(readCline({ ...base, userPromptSubmit: {} }, 'UserPromptSubmit'), [])
    // The first prompt of the extension also stands in the start of its task.
    const started = {
      ...extension,
      taskStart: { taskMetadata: { initialTask: 'slice the bread' } },
    }
    assert.deepEqual(factsOf(readCline(started, 'TaskStart')), [
      { kind: 'session', source: 'startup' },
    ])
  })

  test('of several commands is an act for each, failed by its own success', () => {
    verifies('hosts.readers')
    const failing = '[Command exited with code 2]\nerror: no flour\n'
    const input = { commands: ['ls src', { command: 'npm', args: ['run', 'lint'] }] }
    const output = [
      { query: 'ls src', result: 'oven.ts\n', success: true },
      {
        query: 'npm run lint',
        result: failing,
        error: 'Command exited with code 2',
        success: false,
      },
    ]
    const read = readCline(used('run_commands', input, output), 'PostToolUse')
    assert.deepEqual(factsOf(read), [
      {
        kind: 'act',
        family: 'read',
        tool: 'run_commands',
        paths: [],
        words: 'ls src',
        outcome: 'ok',
        resultHash: digestOf('oven.ts\n'),
      },
      {
        kind: 'act',
        family: 'verify',
        tool: 'run_commands',
        paths: [],
        words: 'npm run lint',
        outcome: 'failed',
        exit: 2,
        errorClass: errorClassOf(failing),
        resultHash: digestOf(failing),
      },
    ])
    assert.deepEqual(placesOf(read), [
      { at, runId: 'cline:root_4', agentId: '', eventId: 'call_3' },
      { at, runId: 'cline:root_4', agentId: '', eventId: 'call_3#1' },
    ])
    const [alone] = factsAfter('run_commands', { command: 'ls src' }, [
      { result: 'x', success: true },
    ])
    assert.deepEqual([alone?.words, alone?.outcome, alone?.ms], ['ls src', 'ok', 40])
    const [cut] = factsAfter('run_commands', { commands: ['ls src'] }, undefined)
    assert.equal(cut?.outcome, 'unknown')
  })

  test('has the arguments as JSON in texts where it has no others', () => {
    verifies('hosts.readers')
    const answers = JSON.stringify([{ query: 'ls src', result: 'x', success: false }])
    const parameters = { commands: '["ls src"]' }
    const [act] = extensionFacts('run_commands', parameters, answers)
    assert.deepEqual([act?.words, act?.outcome], ['ls src', 'failed'])
    const [torn] = extensionFacts('run_commands', parameters, answers.slice(0, 20))
    assert.deepEqual([torn?.words, torn?.outcome], ['ls src', 'unknown'])
  })

  test('of other tools is an act with relative paths and hashes', () => {
    verifies('hosts.readers', 'hosts.private')
    const path = '/home/ada/bakery/src/oven.ts'
    const edit = { path, old_text: 'hot', new_text: 'warm' }
    const ok = [{ query: `edit:${path}`, result: 'Edited', success: true }]
    assert.deepEqual(factsAfter('editor', edit, ok), [
      {
        kind: 'act',
        family: 'edit',
        tool: 'editor',
        paths: ['src/oven.ts'],
        words: '',
        outcome: 'ok',
        resultHash: digestOf(digestOfValue(ok)),
        edits: [{ path: 'src/oven.ts', from: digestOf('hot'), to: digestOf('warm') }],
        ms: 40,
      },
    ])
    const created = factsAfter('editor', { path, old_text: null, new_text: 'warm' }, ok)
    assert.deepEqual(created[0]?.edits, [
      { path: 'src/oven.ts', from: digestOf(''), to: digestOf('warm') },
    ])
    for (const [name, input, family, paths, words] of [
      [
        'read_files',
        { files: [{ path, start_line: 1 }, { path: '/etc/hosts' }] },
        'read',
        ['src/oven.ts', '~/…/hosts'],
        '',
      ],
      ['read_files', { file_paths: [path] }, 'read', ['src/oven.ts'], ''],
      ['read_files', { files: path }, 'read', ['src/oven.ts'], ''],
      ['search_codebase', { queries: ['oven', 'heat'] }, 'search', [], 'oven heat'],
      [
        'fetch_web_content',
        { requests: [{ url: 'https://bread.example/a?key=1', prompt: 'x' }] },
        'web',
        [],
        'https://bread.example/a',
      ],
    ] as const) {
      const [act] = factsAfter(name, input, [{ query: 'q', result: 'r', success: true }])
      assert.deepEqual(
        [act?.family, act?.paths, act?.words, act?.outcome],
        [family, paths, words, 'ok'],
      )
    }
    const [half] = factsAfter('read_files', { file_paths: [path] }, [
      { query: path, result: '', error: 'File not found', success: false },
    ])
    assert.equal(half?.outcome, 'failed')
  })

  test('of the extension has a failing command by its text, and the list of tasks', () => {
    verifies('hosts.readers')
    const progress = '- [x] Heat the oven\n- [ ] Bake\n* [X] Cool'
    const facts = extensionFacts(
      'execute_command',
      { command: 'npm test', requires_approval: 'false', task_progress: progress },
      'Command failed with exit code 1',
    )
    assert.deepEqual(facts, [
      {
        kind: 'act',
        family: 'verify',
        tool: 'execute_command',
        paths: [],
        words: 'npm test',
        outcome: 'failed',
        exit: 1,
        errorClass: errorClassOf('Command failed with exit code 1'),
        resultHash: digestOf('Command failed with exit code 1'),
      },
      {
        kind: 'plan',
        whole: true,
        items: [
          { text: 'Heat the oven', state: 'done' },
          { text: 'Bake', state: 'open' },
          { text: 'Cool', state: 'done' },
        ],
      },
    ])
    assert.equal(
      extensionFacts('execute_command', { command: 'npm test' }, 'done')[0]?.outcome,
      'unknown',
    )
    assert.equal(
      extensionFacts('read_file', { path: 'menu.md' }, 'no', false)[0]?.outcome,
      'failed',
    )
  })

  test('tells what the agent says, delegates and asks', () => {
    verifies('hosts.readers')
    assert.deepEqual(factsAfter('attempt_completion', { result: 'Sliced.' }, 'ok'), [
      { kind: 'say', text: 'Sliced.' },
    ])
    assert.deepEqual(factsAfter('ask_question', { question: 'Rye?', options: [] }, 'yes'), [
      { kind: 'person', how: 'answer' },
    ])
    assert.deepEqual(
      factsAfter('spawn_agent', { systemPrompt: 'You bake', task: 'list the flours' }, {}),
      [{ kind: 'delegate', task: 'list the flours' }],
    )
  })

  test('starts and stops sub-agents, ends a turn and a run', () => {
    verifies('hosts.readers')
    const turn = { outputText: 'Only rye.', status: 'completed' }
    for (const [name, event, fact] of [
      ['TaskStart', child, { kind: 'agent', child: 'agent_2', parent: '', state: 'start' }],
      [
        'TaskComplete',
        { ...child, turn },
        { kind: 'agent', child: 'agent_2', parent: '', state: 'stop', said: 'Only rye.' },
      ],
      ['TaskComplete', { ...base, turn }, { kind: 'turnEnd', said: 'Only rye.', expects: [] }],
      ['TaskCancel', base, { kind: 'turnEnd', expects: [] }],
      ['PreCompact', base, { kind: 'compact' }],
      ['SessionShutdown', { ...base, reason: 'quit' }, { kind: 'runEnd', reason: 'quit' }],
    ] as const) {
      const read = readCline(event, name)
      assert.deepEqual(factsOf(read), [fact])
      assert.deepEqual([read[0]?.runId, read[0]?.agentId], ['cline:root_4', ''])
    }
  })

  test('of any kind is read without an error, and an unknown one is none', () => {
    verifies('hosts.readers')
    for (const name of ['PreToolUse', 'Notification', 'constructor']) {
      assert.deepEqual(readCline(used('run_commands', {}, []), name), [])
    }
    assert.deepEqual(readCline({ hookName: 'agent_start' }, 'TaskStart'), [])
    assert.deepEqual(readCline({ ...base }, 'PostToolUse'), [])
    assert.deepEqual(factsAfter('run_commands', {}, []), [])
    assertTotal(
      readCline,
      ['TaskStart', 'PostToolUse', 'UserPromptSubmit', 'TaskComplete'],
      [
        used('run_commands', { commands: ['ls', { command: 'a', args: ['b'] }] }, [
          { result: 'x' },
        ]),
        used('read_files', { files: [{ path: 'a' }], task_progress: '- [ ] a' }, 'x'),
        { ...child, userPromptSubmit: { prompt: 'p' } },
      ],
    )
  })
})
