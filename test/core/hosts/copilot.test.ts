import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCopilot } from '../../../src/core/hosts/copilot.ts'
import { todosIn } from '../../../src/core/hosts/copilot-todos.ts'
import { errorClassOf, failingOf } from '../../../src/core/hosts/failures.ts'
import { digestOf } from '../../../src/core/hosts/fields.ts'
import { verifies } from '../../verifies.ts'
import { assertTotal, factsOf, placesOf } from './told.ts'

const root = { sessionId: 'root-1', timestamp: 1_790_000_000_000, cwd: '/home/ada/bakery' }
const child = { ...root, sessionId: 'child-7', agentId: 'child-7', parentAgentId: 'root-1' }
const main = { runId: 'copilot:root-1', agentId: '', at: root.timestamp }

function used(toolName: string, toolArgs: unknown, text?: string, resultType = 'success') {
  return { ...root, toolName, toolArgs, toolResult: { resultType, textResultForLlm: text } }
}

function factsAfter(toolName: string, toolArgs: unknown, text?: string, resultType?: string) {
  return factsOf(readCopilot(used(toolName, toolArgs, text, resultType), 'postToolUse'))
}

describe('an event of Copilot CLI', () => {
  test('is a prompt of a person once, without what the host adds', () => {
    verifies('hosts.readers', 'hosts.who-spoke')
    const prompt = 'bake the oven timer into the menu'
    const events = [
      ['sessionStart', { ...root, source: 'new', initialPrompt: prompt }],
      ['userPromptSubmitted', { ...root, prompt }],
      ['userPromptTransformed', { ...root, prompt, transformedPrompt: `<x>…</x> ${prompt}` }],
    ] as const
    const read = events.flatMap(([name, event]) => readCopilot(event, name))
    assert.deepEqual(factsOf(read), [
      { kind: 'session', source: 'startup' },
      { kind: 'prompt', text: prompt, by: 'person' },
    ])
    for (const { eventId, ...place } of placesOf(read)) {
      assert.deepEqual(place, main)
      assert.match(String(eventId), /^[\da-f]{16}$/)
    }
    assert.notEqual(read[0]?.eventId, read[1]?.eventId)
    const slash = readCopilot({ ...root, prompt: '/compact' }, 'userPromptSubmitted')
    assert.deepEqual(factsOf(slash), [{ kind: 'prompt', text: '/compact', by: 'machine' }])
    assert.deepEqual(readCopilot({ ...root, prompt: ' ' }, 'userPromptSubmitted'), [])
    const resumed = readCopilot({ ...root, source: 'resume' }, 'sessionStart')
    assert.deepEqual(factsOf(resumed), [{ kind: 'session', source: 'resume' }])
  })

  test('is told by its name alone, and an unknown one is none', () => {
    verifies('hosts.readers')
    const event = { ...root, hook_event_name: 'userPromptSubmitted', prompt: 'knead the dough' }
    for (const name of [undefined, '', 'preToolUse', 'errorOccurred', 'constructor']) {
      assert.deepEqual(readCopilot(event, name), [])
    }
    assert.deepEqual(readCopilot({ prompt: 'no session' }, 'userPromptSubmitted'), [])
  })

  test('of a sub-agent belongs to the run of its parent', () => {
    verifies('hosts.readers')
    const agent = { agentId: 'child-7', agentType: 'explore', parentAgentId: 'root-1' }
    const read = [
      ...readCopilot({ ...root, ...agent }, 'subagentStart'),
      ...readCopilot(
        { ...child, agentType: 'explore', prompt: 'list the flours' },
        'userPromptSubmitted',
      ),
      ...readCopilot(
        {
          ...child,
          toolName: 'glob',
          toolArgs: { pattern: '*.flour' },
          toolResult: { resultType: 'success', textResultForLlm: 'rye.flour' },
        },
        'postToolUse',
      ),
      ...readCopilot({ ...child, stopReason: 'end_turn' }, 'agentStop'),
      ...readCopilot({ ...root, ...agent, response: 'Only rye.' }, 'subagentStop'),
    ]
    assert.deepEqual(factsOf(read), [
      { kind: 'agent', child: 'child-7', parent: '', state: 'start', agentType: 'explore' },
      { kind: 'delegate', task: 'list the flours', agentType: 'explore', child: 'child-7' },
      {
        kind: 'act',
        family: 'search',
        tool: 'glob',
        paths: [],
        words: '*.flour',
        outcome: 'ok',
        resultHash: digestOf('rye.flour'),
      },
      { kind: 'turnEnd', expects: [] },
      {
        kind: 'agent',
        child: 'child-7',
        parent: '',
        state: 'stop',
        agentType: 'explore',
        said: 'Only rye.',
      },
    ])
    assert.ok(read.every(({ runId }) => runId === 'copilot:root-1'))
    assert.deepEqual(
      read.map(({ agentId }) => agentId),
      ['', 'child-7', 'child-7', 'child-7', ''],
    )
    const nested = { ...root, agentId: 'child-8', parentAgentId: 'child-7' }
    const [below] = readCopilot(nested, 'subagentStart')
    assert.deepEqual(
      [below?.runId, below?.agentId, below?.kind === 'agent' && below.parent],
      ['copilot:root-1', 'child-7', 'child-7'],
    )
    assert.deepEqual(readCopilot(root, 'subagentStart'), [])
  })

  test('delegates by the tool task', () => {
    verifies('hosts.readers')
    const args = {
      agent_type: 'explore',
      name: 'flours',
      description: 'Flours',
      prompt: 'list the flours',
    }
    assert.deepEqual(factsAfter('task', args, 'Only rye.'), [
      { kind: 'delegate', task: 'list the flours', label: 'Flours', agentType: 'explore' },
    ])
  })

  test('has the exit code of a command at the end of its answer', () => {
    verifies('hosts.readers')
    const args = { command: 'npm test', description: 'Run the tests' }
    const act = {
      kind: 'act',
      family: 'verify',
      tool: 'bash',
      paths: [],
      words: 'npm test',
      said: 'Run the tests',
    }
    const output = '✖ dough rises (2.5ms)\n'
    const failed = {
      ...act,
      outcome: 'failed',
      exit: 1,
      errorClass: errorClassOf(output),
      resultHash: digestOf(output),
      failing: failingOf(output),
    }
    const end = (id: number, code: number) => `<shellId: ${id} completed with exit code ${code}>`
    assert.deepEqual(factsAfter('bash', args, output + end(0, 1)), [failed])
    assert.deepEqual(factsAfter('bash', args, output + end(5, 1)), [failed])
    assert.deepEqual(factsAfter('bash', args, `fine\n${end(0, 0)}`), [
      { ...act, outcome: 'ok', exit: 0, resultHash: digestOf('fine\n') },
    ])
    // The host calls every command that ran a success, so one cut before its end is not known.
    assert.deepEqual(factsAfter('bash', args, '✖ dough ri…'), [
      { ...act, outcome: 'unknown', resultHash: digestOf('✖ dough ri…') },
    ])
    const inFile = factsAfter('view', { path: '/home/ada/bakery/log.txt' }, 'exit code 3 was seen')
    assert.equal(inFile[0]?.outcome, 'ok')
    assert.equal(inFile[0]?.exit, undefined)
  })

  test('has relative paths, and of texts their hashes only', () => {
    verifies('hosts.readers', 'hosts.private')
    const path = '/home/ada/bakery/src/oven.ts'
    assert.deepEqual(factsAfter('create', { path, file_text: 'export {}' }, 'Created'), [
      {
        kind: 'act',
        family: 'edit',
        tool: 'create',
        paths: ['src/oven.ts'],
        words: '',
        outcome: 'ok',
        resultHash: digestOf('Created'),
        edits: [{ path: 'src/oven.ts', from: digestOf(''), to: digestOf('export {}') }],
      },
    ])
    const patch = '*** Begin Patch\n*** Update File: src/oven.ts\n-hot\n+warm\n*** End Patch'
    const [patched] = factsAfter('apply_patch', patch, 'Done')
    assert.deepEqual(patched?.paths, ['src/oven.ts'])
    assert.deepEqual(patched?.edits, [
      { path: 'src/oven.ts', from: digestOf('hot'), to: digestOf('warm') },
    ])
    assert.deepEqual(factsAfter('view', JSON.stringify({ path }), 'x')[0]?.paths, ['src/oven.ts'])
  })

  test('of a tool that failed or was refused is a failed act', () => {
    verifies('hosts.readers')
    const event = {
      ...root,
      toolName: 'view',
      toolArgs: { path: 'menu.md' },
      error: 'menu.md not found',
    }
    assert.deepEqual(factsOf(readCopilot(event, 'postToolUseFailure')), [
      {
        kind: 'act',
        family: 'read',
        tool: 'view',
        paths: ['menu.md'],
        words: '',
        outcome: 'failed',
        errorClass: errorClassOf('menu.md not found'),
        resultHash: digestOf('menu.md not found'),
      },
    ])
    assert.equal(factsAfter('view', { path: 'menu.md' }, 'no', 'denied')[0]?.outcome, 'failed')
    assert.equal(factsAfter('view', { path: 'menu.md' })[0]?.outcome, 'unknown')
    assert.deepEqual(readCopilot({ ...root, toolArgs: {} }, 'postToolUse'), [])
  })

  test('tells the plan by statements on the table todos', () => {
    verifies('hosts.readers')
    const query = "INSERT INTO todos (id, title, status) VALUES ('a', 'Bake', 'in_progress')"
    assert.deepEqual(factsAfter('sql', { query, description: 'Plan' }, '1 row'), [
      { kind: 'plan', whole: false, items: [{ id: 'a', text: 'Bake', state: 'now' }] },
    ])
    assert.equal(factsAfter('sql', { query }, 'no such table', 'failure')[0]?.kind, 'act')
    assert.equal(factsAfter('sql', { query: 'SELECT * FROM todos' }, '')[0]?.kind, 'act')
    assert.deepEqual(factsAfter('report_intent', { intent: 'Heating the oven' }, 'ok'), [
      { kind: 'intent', text: 'Heating the oven' },
    ])
  })

  test('waits for a person only where it says so', () => {
    verifies('hosts.readers')
    const told = (type: string) =>
      factsOf(readCopilot({ ...root, notification_type: type }, 'notification'))
    assert.deepEqual(told('permission_prompt'), [{ kind: 'wait', for: 'permission' }])
    assert.deepEqual(told('elicitation_dialog'), [{ kind: 'wait', for: 'answer' }])
    assert.deepEqual(told('shell_completed'), [])
    assert.deepEqual(readCopilot({ ...root, toolName: 'bash' }, 'permissionRequest'), [])
    assert.deepEqual(factsAfter('ask_user', { question: 'Rye or wheat?' }, 'Rye'), [
      { kind: 'person', how: 'answer' },
    ])
  })

  test('ends a turn, a run, and tells of a compaction', () => {
    verifies('hosts.readers')
    assert.deepEqual(factsOf(readCopilot(root, 'agentStop')), [{ kind: 'turnEnd', expects: [] }])
    assert.deepEqual(factsOf(readCopilot({ ...root, reason: 'user_exit' }, 'sessionEnd')), [
      { kind: 'runEnd', reason: 'user_exit' },
    ])
    assert.deepEqual(factsOf(readCopilot({ ...root, trigger: 'auto' }, 'preCompact')), [
      { kind: 'compact' },
    ])
  })

  test('of any kind is read without an error', () => {
    verifies('hosts.readers')
    const query = "UPDATE todos SET status = 'done' WHERE id IN ('a', 'b')"
    assertTotal(
      readCopilot,
      ['userPromptSubmitted', 'postToolUse', 'postToolUseFailure', 'subagentStart', 'agentStop'],
      [
        used('sql', { query }, 'ok'),
        used('bash', { command: 'ls' }, 'x'),
        { ...child, prompt: 'p' },
      ],
    )
  })
})

describe('statements on the table todos', () => {
  test('that insert give items', () => {
    verifies('hosts.readers')
    for (const [query, ...items] of [
      [
        "insert or replace into todos values ('a', 'Heat; (the) oven, it''s cold', 'to 200', 'pending'), ('b', 'Bake', NULL, 'done');",
        { id: 'a', text: "Heat; (the) oven, it's cold", state: 'open' },
        { id: 'b', text: 'Bake', state: 'done' },
      ],
      [
        "-- first\nINSERT INTO \"todos\" (`status`, title) VALUES ('blocked', 'Cool') ON CONFLICT DO NOTHING",
        { text: 'Cool', state: 'open' },
      ],
      [
        "INSERT INTO todos (id, title) VALUES (1, lower('X')), (2, NULL), (3, 'Slice')",
        { id: '1', text: '1', state: 'open' },
        { id: '2', text: '2', state: 'open' },
        { id: '3', text: 'Slice', state: 'open' },
      ],
      // An unfinished row is none.
      [
        "INSERT INTO todos (id, title) VALUES ('a', 'Bake'), ('b', 'Co",
        { id: 'a', text: 'Bake', state: 'open' },
      ],
      ["INSERT INTO todo_deps (todo_id, depends_on) VALUES ('a', 'b')"],
      ['INSERT INTO todos (id, title) SELECT id, title FROM old'],
      ['INSERT INTO todos'],
    ] as const) {
      assert.deepEqual(todosIn(query), items)
    }
  })

  test('that update give the state of the items they name', () => {
    verifies('hosts.readers')
    for (const [query, ...items] of [
      ["UPDATE todos SET status = 'done' WHERE id = 'a'", { id: 'a', text: '', state: 'done' }],
      [
        "UPDATE todos SET status='in_progress', updated_at=CURRENT_TIMESTAMP WHERE todos.id IN ('a','b'); SELECT 1",
        { id: 'a', text: '', state: 'now' },
        { id: 'b', text: '', state: 'now' },
      ],
      [
        "update todos set title = 'Bake twice', status = 'pending' where id = 'a' and status = 'done'",
        { id: 'a', text: 'Bake twice', state: 'open' },
      ],
      ["UPDATE todos SET status = 'done'"],
      ["UPDATE todos SET status = 'done' WHERE id <> 'a'"],
      ["UPDATE todos SET status = 'done' WHERE id NOT IN ('a')"],
      ["UPDATE todos SET title = 'x' WHERE id = 'a'"],
      ["UPDATE ovens SET status = 'done' WHERE id = 'a'"],
      ["DELETE FROM todos WHERE id = 'a'"],
    ] as const) {
      assert.deepEqual(todosIn(query), items, query)
    }
    assert.deepEqual(todosIn(undefined), [])
  })
})
