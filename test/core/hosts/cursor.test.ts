import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCursor } from '../../../src/core/hosts/cursor.ts'
import { errorClassOf } from '../../../src/core/hosts/failures.ts'
import { digestOf } from '../../../src/core/hosts/fields.ts'
import { verifies } from '../../verifies.ts'
import { assertTotal, factsOf, placesOf } from './told.ts'

const base = { conversation_id: 'conv-2', cwd: '/home/ada/bakery', user_email: 'ada@bread.example' }

function used(tool_name: string, tool_input: unknown, tool_output: unknown) {
  return { ...base, tool_name, tool_input, tool_output, tool_use_id: 'tool-8', duration: 70 }
}

describe('an event of Cursor', () => {
  test('is a prompt of someone once', () => {
    verifies('hosts.readers', 'hosts.who-spoke')
    const read = readCursor({ ...base, prompt: 'glaze the buns' }, 'beforeSubmitPrompt')
    assert.deepEqual(factsOf(read), [{ kind: 'prompt', text: 'glaze the buns', by: 'unknown' }])
    assert.deepEqual([read[0]?.runId, read[0]?.agentId], ['cursor:conv-2', ''])
  })

  test('after a tool is an act, whose answer is JSON in a text', () => {
    verifies('hosts.readers')
    const answer = JSON.stringify({ output: 'error: no glaze', exitCode: 1 })
    const event = used('Shell', { command: 'npm test' }, answer)
    assert.deepEqual(factsOf(readCursor(event, 'postToolUse')), [
      {
        kind: 'act',
        family: 'verify',
        tool: 'Shell',
        paths: [],
        words: 'npm test',
        outcome: 'failed',
        exit: 1,
        errorClass: errorClassOf('error: no glaze'),
        resultHash: digestOf('error: no glaze'),
        ms: 70,
      },
    ])
    assert.deepEqual(placesOf(readCursor(event, 'postToolUse')), [
      { at: undefined, runId: 'cursor:conv-2', agentId: '', eventId: 'tool-8' },
    ])
    const input = JSON.stringify({ file_path: '/home/ada/bakery/src/bun.ts', content: 'x' })
    const [written] = factsOf(readCursor(used('Write', input, 'plain words'), 'postToolUse'))
    assert.deepEqual(
      [written?.family, written?.paths, written?.outcome, written?.resultHash],
      ['edit', ['src/bun.ts'], 'ok', digestOf('plain words')],
    )
    const [quiet] = factsOf(
      readCursor(used('Shell', { command: 'ls' }, 'plain words'), 'postToolUse'),
    )
    assert.equal(quiet?.outcome, 'unknown')
    const [open] = factsOf(readCursor(used('Read', { path: 'a' }, undefined), 'postToolUse'))
    assert.equal(open?.outcome, 'unknown')
    const failed = { ...used('Read', { path: 'menu.md' }, undefined), error: 'menu.md not found' }
    const [act] = factsOf(readCursor(failed, 'postToolUseFailure'))
    assert.deepEqual([act?.outcome, act?.errorClass], ['failed', errorClassOf('menu.md not found')])
  })

  test('starts and ends', () => {
    verifies('hosts.readers')
    for (const [name, more, ...facts] of [
      ['sessionStart', {}, { kind: 'session', source: 'startup' }],
      ['stop', { status: 'completed', loop_count: 0 }, { kind: 'turnEnd', said: '', expects: [] }],
      ['sessionEnd', { reason: 'closed' }, { kind: 'runEnd', reason: 'closed' }],
      [
        'subagentStart',
        { agent_id: 'sub-1', agent_type: 'explore' },
        {
          kind: 'agent',
          child: 'sub-1',
          parent: '',
          state: 'start',
          agentType: 'explore',
          said: '',
        },
      ],
      ['subagentStop', {}],
      ['preToolUse', { tool_name: 'Read' }],
      ['afterFileEdit', { file_path: 'a' }],
      ['constructor', {}],
    ] as const) {
      assert.deepEqual(factsOf(readCursor({ ...base, ...more }, name)), facts, name)
    }
    assert.deepEqual(readCursor({ prompt: 'no session' }, 'beforeSubmitPrompt'), [])
  })

  test('never holds the address of the person', () => {
    verifies('hosts.private')
    const prompt = { ...base, prompt: 'glaze the buns' }
    const { user_email: _, ...without } = prompt
    const read = readCursor(prompt, 'beforeSubmitPrompt')
    assert.deepEqual(read, readCursor(without, 'beforeSubmitPrompt'))
    assert.doesNotMatch(JSON.stringify(read), /ada@/)
  })

  test('of any kind is read without an error', () => {
    verifies('hosts.readers')
    assertTotal(
      readCursor,
      ['postToolUse', 'postToolUseFailure', 'beforeSubmitPrompt', 'subagentStart'],
      [
        used('Shell', '{"command":"ls"}', '{"exitCode":0}'),
        { ...base, agent_id: 'a', prompt: 'p' },
      ],
    )
  })
})
