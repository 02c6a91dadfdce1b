import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { alertMessage } from '../../src/core/alerts/alert-message.ts'
import type { OutboxEvent } from '../../src/core/alerts/outbox.ts'
import { verifies } from '../verifies.ts'

const event: OutboxEvent = {
  ts: Date.UTC(2026, 0, 15, 12),
  run_id: 'nightly build',
  goal: 'redesign the billing database',
  reason: 'goal-drift',
  severity: 'critical',
  phi: 0.5,
  advice: 'The goal has left the ground.',
  incident: null,
  state: 'opened',
  about: null,
}

const slack = 'https://hooks.slack.com/services/x'
const discord = 'https://discord.com/api/webhooks/x'
const other = 'https://hooks.example.com/x'

function bodyOf(url: string, changes: Partial<OutboxEvent> = {}, baseUrl: string | null = null) {
  return JSON.parse(alertMessage(url, 'acct_1', { ...event, ...changes }, baseUrl).body)
}

test('hosts are told apart by their whole name', () => {
  verifies('events.team-chat', 'events.community-chat')
  const rows: [string, string][] = [
    ['https://hooks.slack.com/x', 'slack'],
    ['https://HOOKS.SLACK.COM./x', 'slack'],
    ['https://hooks.slack.com:444/x', 'slack'],
    ['https://hooks.slack.com.evil.example/x', 'other'],
    ['https://evil.example/hooks.slack.com', 'other'],
    ['https://hooks.slack.com@evil.example/x', 'other'],
    ['https://slack.com/x', 'other'],
    ['https://discord.com/x', 'discord'],
    ['https://ptb.discord.com/x', 'discord'],
    ['https://a.b.discord.com/x', 'discord'],
    ['https://discordapp.com/x', 'discord'],
    ['https://cdn.discordapp.com/x', 'other'],
    ['https://evildiscord.com/x', 'other'],
    ['https://discord.com.evil.example/x', 'other'],
    ['https://discord.community/x', 'other'],
    ['nonsense', 'other'],
  ]
  const firstField: Record<string, string> = { slack: 'text', discord: 'content', other: 'event' }
  for (const [url, kind] of rows) {
    assert.equal(Object.keys(bodyOf(url))[0], firstField[kind], url)
  }
})

test('a chat is told in one text', () => {
  verifies('events.chat-text', 'events.team-chat', 'events.community-chat')
  const lines = [
    'redesign the billing database',
    'run nightly build',
    'The goal has left the ground.',
  ]
  assert.deepEqual(bodyOf(slack), {
    text: ['🔴 Plumbline *goal-drift* (critical) Φ 0.50', ...lines].join('\n'),
  })
  assert.deepEqual(bodyOf(discord), {
    content: ['🔴 Plumbline **goal-drift** (critical) Φ 0.50', ...lines].join('\n'),
  })
  assert.deepEqual(bodyOf(slack, { severity: 'warn', goal: null, advice: '', phi: 1 }), {
    text: '🟠 Plumbline *goal-drift* (warn) Φ 1.00\nrun nightly build',
  })
  assert.deepEqual(bodyOf(discord, { severity: 'info', reason: 'stalled', goal: '', phi: 0 }), {
    content: [
      '🔵 Plumbline **stalled** (info) Φ 0.00',
      'run nightly build',
      'The goal has left the ground.',
    ].join('\n'),
  })
})

test('the text says where an incident stands', () => {
  verifies('events.chat-text')
  for (const [state, icon, words] of [
    ['opened', '🔴', 'incident opened'],
    ['continues', '🔴', 'the incident continues'],
    ['closed', '🟢', 'incident closed'],
  ] as const) {
    const incident = { id: 'inc_1', state, steps: 3, opened: '2026-01-15T12:00:00.000Z' }
    const [first] = bodyOf(slack, { incident }).text.split('\n')
    assert.equal(first, `${icon} Plumbline *goal-drift* (critical) Φ 0.50 · ${words}`)
    assert.deepEqual(bodyOf(other, { incident }).incident, incident)
  }
})

test('what an agent wrote calls nobody and keeps to its line', () => {
  verifies('events.chat-text')
  const goal = 'ship <!channel> & <@U1>\n@everyone @here <@1> a@b'
  const [, told] = bodyOf(slack, { goal }).text.split('\n')
  assert.equal(told, 'ship &lt;!channel&gt; &amp; &lt;@U1&gt; @everyone @here &lt;@1&gt; a@b')
  const { content } = bodyOf(discord, { goal })
  assert.equal(content.split('\n').length, 4)
  for (const call of ['@everyone', '@here', '<@']) assert.ok(!content.includes(call), content)
  assert.ok(content.includes('a@b'))
})

test('what an agent wrote hides no link in the community chat', () => {
  verifies('events.chat-links')
  const goal = 'see [the logs](https://evil.example), [a][b] and \\[c](https://evil.example)'
  const { content } = bodyOf(discord, { goal, advice: goal })
  const shown =
    'see \\[the logs](https://evil.example), \\[a]\\[b] and \\\\\\[c](https://evil.example)'
  assert.deepEqual(content.split('\n').slice(1), [shown, 'run nightly build', shown])
  assert.ok(bodyOf(slack, { goal }).text.includes(goal))
})

test('only an event of a run says where the dashboard shows the run', () => {
  verifies('events.url')
  const about = {
    ground: null,
    why: '',
    step: 1,
    agent_id: '',
    drift_probability: null,
    swap: null,
  }
  const base = 'https://plumbline.example/at'
  const run_id = 'a/b? #Ω&'
  const url = `${base}/app/runs/a%2Fb%3F%20%23%CE%A9%26`
  assert.equal(bodyOf(other, { about, run_id }, base).url, url)
  assert.equal(bodyOf(other, { reason: 'escalation:lost', run_id }, base).url, url)
  assert.equal('url' in bodyOf(other, { about }), false)
  // A turn of a dialogue and a test have no run.
  assert.equal('url' in bodyOf(other, {}, base), false)
})

test('every body is JSON of at most 20 KiB that keeps its ids', () => {
  verifies('events.structured')
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4000 }),
    fc
      .constantFrom('\u0001', '😀', '<', '\u2028', 'ö')
      .map((sign) => sign.repeat(4000 / sign.length)),
  )
  fc.assert(
    fc.property(text, text, fc.constantFrom(slack, discord, other), (goal, advice, url) => {
      const { body } = alertMessage(url, 'acct_1', { ...event, goal, advice }, 'https://p.example')
      assert.ok(Buffer.byteLength(body) <= 20 * 1024)
      assert.ok(body.isWellFormed())
      const read = JSON.parse(body)
      if (url === other) assert.deepEqual([read.run_id, read.account], [event.run_id, 'acct_1'])
      else assert.ok((read.text ?? read.content).includes('goal-drift'))
      if (url === discord) assert.ok(read.content.length <= 2000)
    }),
    { numRuns: 200 },
  )
  const short = { goal: 'a'.repeat(4000), advice: 'b'.repeat(4000) }
  const { goal, advice } = bodyOf(other, short)
  assert.deepEqual({ goal, advice }, short, 'what fits is not cut')
})
