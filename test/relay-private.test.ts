import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { HostName } from '../src/core/hosts/host-event.ts'
import { type PrivacyLevel, privacyLevels } from '../src/core/hosts/privacy.ts'
import { readers } from '../src/core/hosts/readers.ts'
import { onEachDatabase } from './backends.ts'
import { start } from './harness.ts'
import { startReceiver } from './receiver.ts'
import { type RelayUnderTest, relayTo } from './relay-under-test.ts'
import { verifies } from './verifies.ts'

/** One event of each kind that each host sends. */
const samples = readFileSync(join(import.meta.dirname, 'host-events.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as { host: HostName; event: string; body: object })

/** An event with a canary in one of its fields. */
interface Marked {
  host: string
  event: string
  body: unknown
  /** The place of the field, such as `tool_calls.0.tool_input.command`. */
  field: string
  canary: string
}

/** Ids of the host, by which a person finds the run, and names of tools and kinds of agents. */
const ids =
  /(?:^|[._-])(?:id|ids|root|agent|tool|name|agent_?type|subagent_type|tool_?name)$|I[dD]$|agent(?:Type|Name)$|toolName$/
/** What people and agents say: prompts, plans, tasks, descriptions, narration. */
const prose =
  /(?:^|\.)(?:(?:submitted_)?prompt|input-messages\.\d+|subject|description|todos\.\d+\.content|tool_input\.message|parts\.\d+\.text|output\.text)$/
/** Paths, commands, patterns and what is looked up. */
const work = /\.(?:command|commands\.\d+|file_?[pP]ath|dir_path|path|pattern|query|url)$/

/** The fields of which something may be told at each level. */
const allowed: Record<PrivacyLevel, (field: string) => boolean> = {
  words: (field) => ids.test(field) || prose.test(field) || work.test(field),
  hashes: (field) => ids.test(field) || prose.test(field),
  counts: () => false,
}

/** Every event as often as it has texts, each time with a canary in another one. */
function markedEvents(form: (text: string, canary: string) => string): Marked[] {
  const marked: Marked[] = []
  for (const sample of samples) {
    const { host, event, body } = sample
    for (const field of textsIn(body)) {
      const canary = `zq${marked.length}qz`
      const session = JSON.stringify(sessionOf(sample)).slice(1, -1)
      const text = JSON.stringify(body).replaceAll(session, `${session}-${marked.length}`)
      marked.push({
        host,
        event,
        field,
        canary,
        body: changed(JSON.parse(text), field, form, canary),
      })
    }
  }
  return marked
}

function sessionOf({ host, event, body }: (typeof samples)[number]): string {
  const [first] = readers[host](body, event)
  return first!.runId.slice(host.length + 1)
}

function textsIn(value: unknown, at = ''): string[] {
  if (typeof value === 'string') return [at]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) =>
    textsIn(each, at === '' ? name : `${at}.${name}`),
  )
}

function changed(
  value: unknown,
  field: string,
  form: (text: string, canary: string) => string,
  canary: string,
): unknown {
  const [name = '', ...rest] = field.split('.')
  if (typeof value === 'string') return form(value, canary)
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) }
  const of = copy as Record<string, unknown>
  of[name] = changed(of[name], rest.join('.'), form, canary)
  return copy
}

/** Sends events to a relay as lines, those of one kind together. */
async function sendAll({ hook }: RelayUnderTest, events: readonly Marked[]): Promise<void> {
  for (const [path, own] of Map.groupBy(events, ({ host, event }) => `${host}/${event}`)) {
    for (let at = 0; at < own.length; at += 100) {
      const lines = own.slice(at, at + 100).map(({ body }) => JSON.stringify(body))
      const { note } = await hook(path, lines.join('\n'))
      assert.equal(note, null)
    }
  }
}

/** The fields whose canaries stand in a text. */
function foundIn(text: string, events: readonly Marked[]): string[] {
  const found = new Set(text.match(/zq\d+qz/g))
  const fields = events.filter(({ canary }) => found.has(canary))
  return [...new Set(fields.map(({ host, event, field }) => `${host} ${event} ${field}`))]
}

function spoolOf(folder: string): string {
  const names = readdirSync(join(folder, 'relay'))
  return names.map((name) => readFileSync(join(folder, 'relay', name), 'utf8')).join('\n')
}

const plain = (text: string, canary: string) => `${text} ${canary}`
const secret = (text: string, canary: string) =>
  `${text} --token=${canary} https://kim:${canary}@shop.test/a?b=${canary}`

for (const level of privacyLevels) {
  test(`at the level ${level} no field tells more than it may`, async (t) => {
    verifies('hosts.relay.private')
    const app = await start(t)
    const { key, headers } = await app.newAccount()
    const relayed = await relayTo(t, { url: app.url, key }, { level })
    const events = markedEvents(plain)
    assert.ok(events.length > 800)
    await sendAll(relayed, events)
    const spool = spoolOf(relayed.folder)
    await relayed.relay.drain()
    const { waiting, fault } = relayed.relay.status()
    assert.deepEqual([waiting, fault], [0, null])
    const stored = (await app.request('GET', '/v1/me/export', { headers })).text
    assert.match(stored, /host_session/)
    for (const text of [spool, stored]) {
      const told = foundIn(text, events)
      const wrong = told.filter((each) => !allowed[level](each.split(' ')[2]!))
      assert.deepEqual(wrong, [])
    }
    assert.ok(level === 'counts' || foundIn(spool, events).length > 50, 'something is told')
    const logs = [JSON.stringify(app.log), relayed.log.join('\n')].join('\n')
    assert.deepEqual(foundIn(logs, events), [])
  })

  test(`at the level ${level} no secret leaves the machine, in whatever field it stands`, async (t) => {
    verifies('hosts.relay.private')
    const wire = await startReceiver(t, (socket) => socket.end())
    const server = { url: `http://127.0.0.1:${wire.port}`, key: 'k' }
    const relayed = await relayTo(t, server, { level })
    // An id is what the host makes it, and tells the run.
    const events = markedEvents(secret).filter(({ field }) => !ids.test(field))
    await sendAll(relayed, events)
    await relayed.relay.drain()
    assert.equal(wire.requests.length, 1)
    for (const text of [wire.requests.join(), spoolOf(relayed.folder), relayed.log.join()]) {
      assert.deepEqual(foundIn(text, events), [])
    }
  })
}

onEachDatabase((database) => {
  test('nothing of a session at the level counts stands in the database', async (t) => {
    verifies('hosts.relay.private')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { key, headers } = await app.newAccount()
    const relayed = await relayTo(t, { url: app.url, key }, { level: 'counts' })
    const events = markedEvents(plain).filter((_, nth) => nth % 4 === 0)
    await sendAll(relayed, events)
    await relayed.relay.drain()
    const { text } = await app.request('GET', '/v1/me/export', { headers })
    assert.match(text, /host_session/)
    assert.deepEqual(foundIn(text, events), [])
    assert.doesNotMatch(text, /login|limit/i)
  })
})
