import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorClassOf } from '../../../src/core/hosts/failures.ts'
import { digestOf } from '../../../src/core/hosts/fields.ts'
import { readOpencode } from '../../../src/core/hosts/opencode.ts'
import { verifies } from '../../verifies.ts'
import { assertTotal, factsOf, placesOf } from './told.ts'

const session = 'ses_bread'

function message(
  texts: (string | object)[],
  { agent, in: sessionID = session }: { agent?: string; in?: string } = {},
) {
  const parts = texts.map((each) =>
    typeof each === 'string' ? { type: 'text', text: each } : each,
  )
  const message = { id: 'msg_1', role: 'user', sessionID, time: { created: 1_790_000_000_000 } }
  return { hook: 'chat.message', input: { sessionID, agent }, output: { message, parts } }
}

function after(tool: string, args: object, output: object | undefined) {
  return {
    hook: 'tool.execute.after',
    input: { tool, sessionID: session, callID: 'call_5', args },
    output,
  }
}

function bus(type: string, properties: object) {
  return { hook: 'event', input: { id: 'evt_3', type, properties } }
}

describe('a call of a plugin of opencode', () => {
  test('with a message is a prompt of a person, without quotation marks', () => {
    verifies('hosts.readers', 'hosts.who-spoke')
    const read = readOpencode(message(['"sell rye bread"']))
    assert.deepEqual(factsOf(read), [{ kind: 'prompt', text: 'sell rye bread', by: 'person' }])
    assert.deepEqual(placesOf(read), [
      { at: 1_790_000_000_000, runId: 'opencode:ses_bread', agentId: '', eventId: 'msg_1' },
    ])
    for (const [texts, text] of [
      [['"sell \\"rye\\" bread"'], 'sell "rye" bread'],
      [['"rye" and "wheat"'], '"rye" and "wheat"'],
      [
        [
          'look at @menu.md',
          { type: 'text', text: 'content of menu.md', synthetic: true },
          { type: 'file' },
        ],
        'look at @menu.md',
      ],
      [['one', 'two'], 'one\ntwo'],
    ] as const) {
      const [fact] = factsOf(readOpencode(message([...texts], { agent: 'build' })))
      assert.deepEqual(fact, { kind: 'prompt', text, by: 'person' })
    }
    assert.deepEqual(readOpencode(message([{ type: 'text', text: 'x', synthetic: true }])), [])
    const [custom] = factsOf(readOpencode(message(['price the bread'], { agent: 'reviewer' })))
    assert.deepEqual(custom, { kind: 'prompt', text: 'price the bread', by: 'unknown' })
  })

  test('in a session of a sub-agent belongs to the root session that the plugin names', () => {
    verifies('hosts.readers', 'hosts.who-spoke')
    const told = message(['list the flours'], { agent: 'reviewer', in: 'ses_child' })
    const info = { id: 'ses_child', parentID: session, agent: 'reviewer', time: { created: 5 } }
    const read = [
      ...readOpencode(bus('session.created', { info })),
      ...readOpencode({ ...told, root: session }),
      ...readOpencode({ ...bus('session.idle', { sessionID: 'ses_child' }), root: session }),
    ]
    assert.deepEqual(factsOf(read), [
      { kind: 'agent', child: 'ses_child', parent: '', state: 'start', agentType: 'reviewer' },
      { kind: 'delegate', task: 'list the flours', agentType: 'reviewer', child: 'ses_child' },
      { kind: 'agent', child: 'ses_child', parent: '', state: 'stop' },
    ])
    assert.deepEqual(placesOf(read), [
      { at: 5, runId: 'opencode:ses_bread', agentId: '', eventId: 'evt_3' },
      {
        at: 1_790_000_000_000,
        runId: 'opencode:ses_bread',
        agentId: 'ses_child',
        eventId: 'msg_1',
      },
      { at: undefined, runId: 'opencode:ses_bread', agentId: '', eventId: 'evt_3' },
    ])
    const below = { id: 'ses_deep', parentID: 'ses_child' }
    const [deep] = readOpencode({ ...bus('session.created', { info: below }), root: session })
    assert.deepEqual(factsOf(deep === undefined ? [] : [deep]), [
      { kind: 'agent', child: 'ses_deep', parent: 'ses_child', state: 'start' },
    ])
    assert.equal(deep?.runId, 'opencode:ses_bread')
  })

  test('in a session of a sub-agent that opencode brings along is no prompt even without its root', () => {
    verifies('hosts.readers', 'hosts.who-spoke')
    const read = readOpencode(message(['list the flours'], { agent: 'general', in: 'ses_child' }))
    assert.deepEqual(factsOf(read), [
      { kind: 'delegate', task: 'list the flours', agentType: 'general', child: 'ses_child' },
    ])
    assert.equal(read[0]?.agentId, 'ses_child')
  })

  test('after a tool is an act with its exit code, or the plan or a delegated task', () => {
    verifies('hosts.readers')
    const ran = after(
      'bash',
      { command: 'bun test', description: 'Test the oven' },
      {
        title: 'bun test',
        output: 'error: too cold\n',
        metadata: { output: 'error: too cold\n', exit: 1 },
      },
    )
    const act = {
      kind: 'act',
      family: 'verify',
      tool: 'bash',
      paths: [],
      words: 'bun test',
      said: 'Test the oven',
    }
    const resultHash = digestOf('error: too cold\n')
    assert.deepEqual(factsOf(readOpencode(ran)), [
      {
        ...act,
        outcome: 'failed',
        exit: 1,
        errorClass: errorClassOf('error: too cold'),
        resultHash,
      },
    ])
    assert.deepEqual(placesOf(readOpencode(ran)), [
      { at: undefined, runId: 'opencode:ses_bread', agentId: '', eventId: 'call_5' },
    ])
    const stopped = { ...ran, output: { output: 'error: too cold\n', metadata: { exit: null } } }
    assert.deepEqual(factsOf(readOpencode(stopped)), [{ ...act, outcome: 'unknown', resultHash }])

    const todos = [
      { id: '1', content: 'Heat the oven', status: 'completed', priority: 'high' },
      { content: 'Bake', status: 'in_progress' },
    ]
    assert.deepEqual(
      factsOf(readOpencode(after('todowrite', { todos }, { output: '[]', metadata: { todos } }))),
      [
        {
          kind: 'plan',
          whole: true,
          items: [
            { id: '1', text: 'Heat the oven', state: 'done' },
            { text: 'Bake', state: 'now' },
          ],
        },
      ],
    )
    assert.deepEqual(readOpencode(bus('todo.updated', { sessionID: session, todos })), [])

    const task = { description: 'Flours', prompt: 'list the flours', subagent_type: 'general' }
    const metadata = { parentSessionId: session, sessionId: 'ses_child' }
    assert.deepEqual(factsOf(readOpencode(after('task', task, { output: 'rye', metadata }))), [
      {
        kind: 'delegate',
        task: 'list the flours',
        label: 'Flours',
        agentType: 'general',
        child: 'ses_child',
      },
    ])
  })

  test('has relative paths by the title of the call or by the folder that the plugin names', () => {
    verifies('hosts.readers', 'hosts.private')
    const edit = { filePath: '/home/ada/bakery/src/oven.ts', oldString: 'hot', newString: 'warm' }
    const edited = after('edit', edit, {
      title: 'src/oven.ts',
      output: 'Edit applied',
      metadata: {},
    })
    assert.deepEqual(factsOf(readOpencode(edited)), [
      {
        kind: 'act',
        family: 'edit',
        tool: 'edit',
        paths: ['src/oven.ts'],
        words: '',
        outcome: 'ok',
        resultHash: digestOf('Edit applied'),
        edits: [{ path: 'src/oven.ts', from: digestOf('hot'), to: digestOf('warm') }],
      },
    ])
    const paths = (call: object) => factsOf(readOpencode(call))[0]?.paths
    const untitled = after('read', { filePath: '/home/ada/bakery/src/oven.ts' }, { output: 'x' })
    assert.deepEqual(paths(untitled), ['~/…/oven.ts'])
    assert.deepEqual(paths({ ...untitled, directory: '/home/ada/bakery' }), ['src/oven.ts'])
    const odd = after(
      'read',
      { filePath: '/home/ada/bakery/src/oven.ts' },
      { title: 'ven.ts', output: 'x' },
    )
    assert.deepEqual(paths(odd), ['~/…/oven.ts'])
    const patchText = '*** Begin Patch\n*** Add File: menu.md\n+rye\n*** End Patch'
    assert.deepEqual(paths(after('apply_patch', { patchText }, { output: 'x' })), ['menu.md'])
  })

  test('is a failed act where a tool threw, under the id of the call', () => {
    verifies('hosts.readers')
    const state = {
      status: 'error',
      input: { filePath: 'menu.md' },
      error: 'File not found: menu.md',
      time: { start: 1_790_000_000_000, end: 1_790_000_000_025 },
    }
    const part = { type: 'tool', callID: 'call_6', tool: 'read', sessionID: session, state }
    const read = readOpencode(bus('message.part.updated', { sessionID: session, part }))
    assert.deepEqual(factsOf(read), [
      {
        kind: 'act',
        family: 'read',
        tool: 'read',
        paths: ['menu.md'],
        words: '',
        outcome: 'failed',
        errorClass: errorClassOf('File not found: menu.md'),
        resultHash: digestOf('File not found: menu.md'),
        ms: 25,
      },
    ])
    assert.deepEqual(placesOf(read), [
      { at: 1_790_000_000_025, runId: 'opencode:ses_bread', agentId: '', eventId: 'call_6' },
    ])
    const running = { ...part, state: { ...state, status: 'running' } }
    const typed = { type: 'text', text: '"sell rye bread"', sessionID: session }
    for (const other of [running, typed]) {
      assert.deepEqual(
        readOpencode(bus('message.part.updated', { sessionID: session, part: other })),
        [],
      )
    }
  })

  test('tells what is said, asked and answered', () => {
    verifies('hosts.readers')
    const said = {
      hook: 'experimental.text.complete',
      input: { sessionID: session, partID: 'prt_2' },
      output: { text: 'I heat the oven.' },
    }
    assert.deepEqual(factsOf(readOpencode(said)), [{ kind: 'say', text: 'I heat the oven.' }])
    assert.equal(readOpencode(said)[0]?.eventId, 'prt_2')
    assert.deepEqual(readOpencode({ ...said, output: { text: '' } }), [])
    for (const [type, more, ...facts] of [
      ['session.created', { info: { id: session } }, { kind: 'session', source: 'startup' }],
      ['session.idle', {}, { kind: 'turnEnd', expects: [] }],
      ['session.compacted', {}, { kind: 'compact' }],
      ['permission.asked', { permission: 'bash' }, { kind: 'wait', for: 'permission' }],
      ['permission.replied', { reply: 'once' }, { kind: 'person', how: 'permission' }],
      ['permission.replied', { reply: 'reject' }],
      ['question.asked', {}, { kind: 'wait', for: 'answer' }],
      ['question.replied', {}, { kind: 'person', how: 'answer' }],
      ['session.status', { status: { type: 'idle' } }],
      ['file.edited', { file: 'menu.md' }],
    ] as const) {
      const call = bus(type, { sessionID: session, ...more })
      assert.deepEqual(factsOf(readOpencode(call)), facts, type)
      const { input, hook } = call
      assert.deepEqual(factsOf(readOpencode({ hook, input: { event: input } })), facts, type)
    }
    assert.deepEqual(readOpencode(after('question', {}, { output: 'rye' })), [])
  })

  test('of any kind is read without an error, and an unknown one is none', () => {
    verifies('hosts.readers')
    const { hook, ...rest } = message(['sell rye bread'])
    assert.equal(readOpencode(rest, hook).length, 1)
    for (const name of ['init', 'tool.execute.before', 'permission.ask', '', undefined]) {
      assert.deepEqual(readOpencode(rest, name), [])
    }
    const [long] = readOpencode(message([`"${'rye '.repeat(500_000)}"`]))
    assert.ok(
      long?.kind === 'prompt' && long.text.startsWith('rye rye') && long.text.length <= 4000,
    )
    assert.deepEqual(readOpencode({ ...message(['x']), input: {} }), [])
    assert.deepEqual(readOpencode({ ...message(['x']), input: {}, root: session }), [])
    const part = { type: 'tool', callID: 'c', tool: 'read', state: { status: 'error', error: 'x' } }
    assertTotal(
      readOpencode,
      ['event', 'chat.message', 'tool.execute.after'],
      [
        message(['p'], { agent: 'general' }),
        after('read', { filePath: '/a/b' }, { title: 'b', output: 'x', metadata: { exit: 1 } }),
        bus('message.part.updated', { sessionID: session, part }),
        bus('session.created', { info: { id: 'a', parentID: 'b' } }),
      ],
    )
  })
})
