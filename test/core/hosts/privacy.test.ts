import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { HostEvent } from '../../../src/core/hosts/host-event.ts'
import { type privacyLevels, redacted } from '../../../src/core/hosts/privacy.ts'
import { readEvent } from '../../../src/core/hosts/read-event.ts'
import { verifies } from '../../verifies.ts'

const hide = (text: string) => createHmac('sha256', 'k').update(text).digest('hex').slice(0, 16)
const place = { runId: 'codex:s', agentId: '', eventId: 'e', at: 5 }
const at = (event: HostEvent, level: (typeof privacyLevels)[number]) => redacted(event, level, hide)

const act: HostEvent = {
  ...place,
  kind: 'act',
  family: 'edit',
  tool: 'Edit',
  paths: ['src/login.js', '~/…/notes.md'],
  words: 'login',
  said: 'limit the login in `src/login.js` and limit.ts',
  outcome: 'failed',
  exit: 1,
  errorClass: 'infra',
  argsHash: '0123456789abcdef',
  resultHash: '1123456789abcdef',
  failing: ['2123456789abcdef'],
  edits: [{ path: 'src/login.js', from: '3123456789abcdef', to: '4123456789abcdef' }],
  ms: 7,
}

test('hashes keep what is equal equal, and tell no path, no tool and no command', () => {
  verifies('hosts.privacy.levels')
  const hidden = at(act, 'hashes')
  assert.deepEqual(hidden, {
    ...act,
    paths: [hide('src/login.js'), `~/…/${hide('~/…/notes.md')}`],
    words: hide('login'),
    said: 'limit the login in … and …',
    argsHash: hide(act.argsHash),
    resultHash: hide(act.resultHash!),
    failing: act.failing!.map(hide),
    edits: [
      {
        path: hide('src/login.js'),
        from: hide('3123456789abcdef'),
        to: hide('4123456789abcdef'),
      },
    ],
    eventId: 'e',
    isHidden: true,
    isExplained: null,
  })
  const own = at({ ...act, tool: 'mcp__acme__search' }, 'hashes')
  assert.equal(own?.kind === 'act' && own.tool, hide('mcp__acme__search'))
  const counted = at(act, 'counts')
  assert.ok(counted?.kind === 'act' && counted.said === undefined && counted.tool === hide('Edit'))
  const prompt: HostEvent = { ...place, kind: 'prompt', text: 'limit the login', by: 'person' }
  assert.deepEqual(at(prompt, 'hashes'), prompt)
  for (const eventId of ['0123456789abcdef', 'turn-1#0123456789abcdef', '0123456789abcdef#1']) {
    assert.equal(at({ ...prompt, eventId }, 'hashes')?.eventId, hide(eventId))
  }
  assert.deepEqual(at(prompt, 'counts'), {
    ...prompt,
    text: '…',
    runId: `codex:${hide('s')}`,
    eventId: hide('e'),
  })
  assert.equal(at({ ...place, kind: 'say', text: 'a' }, 'counts'), null)
})

test('words are told without what looks like a secret', () => {
  verifies('hosts.privacy.levels')
  for (const [text, told] of [
    ['deploy with TOKEN=hunter2 now', 'deploy with TOKEN=… now'],
    ['the password: "hunter2 x" is old', 'the password: … is old'],
    ['see https://kim:hunter2@shop.test/a?key=hunter2#x', 'see https://…@shop.test/a…'],
    ['use sk-hunter2hunter2 and Bearer hunter2', 'use … and Bearer …'],
    ['rotate the api key of order 1234', 'rotate the api key of order 1234'],
  ] as const) {
    const event: HostEvent = { ...place, kind: 'prompt', text, by: 'person' }
    const prompt = at(event, 'words')
    assert.equal(prompt?.kind === 'prompt' && prompt.text, told)
  }
})

test('what a relay sends is read as it was, and anything else is no event', () => {
  verifies('hosts.relay.endpoint')
  const facts: HostEvent[] = [
    act,
    { ...act, isHidden: true, isExplained: null },
    { ...place, kind: 'session', source: 'compact' },
    { ...place, kind: 'prompt', text: 'a', by: 'person' },
    { ...place, kind: 'plan', whole: true, items: [{ id: '1', text: 'a', state: 'now' }] },
    { ...place, kind: 'delegate', task: 'a', label: 'b', agentType: 'c', child: 'd' },
    { ...place, kind: 'delegate', task: '…', taskHash: '0123456789abcdef' },
    { ...place, kind: 'agent', child: 'd', parent: '', state: 'start', agentType: 'c' },
    { ...place, kind: 'say', text: 'a' },
    { ...place, kind: 'intent', text: 'a' },
    { ...place, kind: 'wait', for: 'answer' },
    { ...place, kind: 'person', how: 'permission' },
    { ...place, kind: 'turnEnd', expects: ['a'] },
    { ...place, kind: 'runEnd', reason: '' },
    { ...place, kind: 'compact' },
    { ...place, kind: 'tokens', count: 3 },
  ]
  for (const fact of facts) {
    assert.deepEqual(readEvent(JSON.parse(JSON.stringify(fact))), fact)
    for (const field of Object.keys(fact)) {
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          const read = readEvent({ ...fact, [field]: value })
          assert.ok(read === null || JSON.stringify(read).length < 30_000)
        }),
        { numRuns: 30 },
      )
    }
  }
  for (const runId of ['emacs:s', 'codex:', 's', ''])
    assert.equal(readEvent({ ...facts[3], runId }), null)
  assert.equal(readEvent({ ...facts[3], eventId: '' }), null)
})
