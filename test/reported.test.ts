import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { reportedIn } from '../src/core/telemetry/reported.ts'
import { readWire } from '../src/core/telemetry/wire.ts'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { settle } from './hook.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const astray = 'redesign the landing page in blue'
const began = Date.UTC(2026, 0, 15, 12)
const trace = '0af7651916cd43dd8448eb211c80319c'
const json = 'application/json'
const wire = 'application/x-protobuf'

type Value = string | number | boolean | string[]
type Attributes = Record<string, Value>

function typed(value: Value): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(typed) } }
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

const listed = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: typed(value) }))

const time = (second: number) => `${began + second * 1000}000000`

function span(nth: number, attributes: Attributes, more: object = {}): object {
  return {
    traceId: trace,
    spanId: nth.toString(16).padStart(16, '0'),
    parentSpanId: '',
    name: 'step',
    startTimeUnixNano: time(nth),
    endTimeUnixNano: time(nth + 1),
    attributes: listed(attributes),
    ...more,
  }
}

const spans = (...list: unknown[]) => ({
  resourceSpans: [{ scopeSpans: [{ scope: { name: 'own' }, spans: list }] }],
})
const log = (nth: number, attributes: Attributes, more: object = {}) => ({
  timeUnixNano: time(nth),
  attributes: listed(attributes),
  ...more,
})
const logs = (...list: unknown[]) => ({
  resourceLogs: [{ scopeLogs: [{ scope: { name: 'own' }, logRecords: list }] }],
})

const field = (number: number, part: Uint8Array) =>
  Buffer.concat([Buffer.from([number * 8 + 2, part.length]), part])
const text = (number: number, value: string) => field(number, Buffer.from(value))

/** Protocol buffers of a request with these records, whatever they are. */
function wireOf(...records: Uint8Array[]): Buffer {
  return field(1, field(2, Buffer.concat(records.map((record) => field(2, record)))))
}

const attributeOf = (number: number, key: string, value: string) =>
  field(number, Buffer.concat([text(1, key), field(2, text(1, value))]))
const wireSpan = Buffer.concat([
  field(1, Buffer.from(trace, 'hex')),
  field(2, Buffer.from('00000000000000c1', 'hex')),
  attributeOf(9, 'plumbline.goal', errand),
  attributeOf(9, 'session.id', 'w'),
])
const wireLog = Buffer.concat([
  attributeOf(6, 'plumbline.goal', errand),
  attributeOf(6, 'session.id', 'x'),
])
const broken = Buffer.from([10, 100, 1])

/** A message of protocol buffers with numbers and texts, by its fields. */
function fieldsIn(bytes: Uint8Array): Map<number, number | Uint8Array> {
  const fields = new Map<number, number | Uint8Array>()
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const value = varint()
    if (tag % 8 === 0) fields.set(tag >> 3, value)
    else {
      fields.set(tag >> 3, bytes.subarray(at, at + value))
      at += value
    }
  }
  return fields
}

onEachDatabase((database) => {
  async function exporting(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const caller = await newCaller(app)
    const send = async (path: string, body: object | Uint8Array, type = json) => {
      const headers = { ...caller.headers, 'content-type': type }
      const sent = body instanceof Uint8Array ? body : JSON.stringify(body)
      const answer = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: sent })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type')?.startsWith(type), true)
      return new Uint8Array(await answer.arrayBuffer())
    }
    const told = async (path: string, body: object) =>
      JSON.parse(new TextDecoder().decode(await send(path, body)))
    const taken = async (path: string, body: object) => assert.deepEqual(await told(path, body), {})
    const folded = async () => {
      app.advance(5_000)
      await settle(app)
    }
    return { app, caller, send, told, taken, folded }
  }

  test('what cannot be read is counted in the answer, and the others are taken', async (t) => {
    verifies('telemetry.rejected')
    const { caller, told, send, taken, folded } = await exporting(t)
    const good = { 'plumbline.goal': errand, 'gen_ai.conversation.id': 's' }
    // What tells of other things than agents can be read.
    const others = [span(8, { 'http.method': 'GET' }), span(9, {})]
    const faults: [unknown, RegExp][] = [
      [null, /spans\[1\]: it cannot be read/],
      ['a span', /spans\[1\]: it cannot be read/],
      [span(2, {}, { traceId: '' }), /spans\[1\]: traceId: send 32 hexadecimal digits/],
      [span(2, {}, { spanId: 'no id!' }), /spanId: send 16 hexadecimal digits/],
      [span(2, {}, { parentSpanId: 7 }), /parentSpanId: send a text/],
      [span(2, {}, { attributes: { a: 'b' } }), /attributes: send a list of key and value/],
      [span(2, {}, { startTimeUnixNano: 'noon' }), /startTimeUnixNano: send nanoseconds/],
    ]
    for (const path of ['/v1/traces', '/v1/otlp/v1/traces']) {
      for (const [fault, message] of faults) {
        const answer = await told(path, spans(span(1, good), fault, ...others))
        assert.equal(answer.partialSuccess.rejectedSpans, '1')
        assert.match(answer.partialSuccess.errorMessage, /^1 of 4 spans cannot be read/)
        assert.match(answer.partialSuccess.errorMessage, message)
      }
    }
    await taken('/v1/traces', spans(span(1, good), ...others))
    await folded()
    const { trace: steps } = await caller.read('otlp:s')
    assert.equal(steps.length, 1)
    const many = Array.from({ length: 7 }, () => null)
    const answer = await told('/v1/traces', { resourceSpans: [...spans(...many).resourceSpans, 3] })
    assert.equal(answer.partialSuccess.rejectedSpans, '8')
    assert.match(answer.partialSuccess.errorMessage, /8 of 8 spans .* and 3 more$/)
    for (const path of ['/v1/logs', '/v1/otlp/v1/logs']) {
      const own = { 'plumbline.goal': errand, 'session.id': path }
      const unread = [7, log(2, {}, { traceId: {} }), log(3, {}, { timeUnixNano: 'noon' })]
      const rejected = await told(path, logs(log(1, own), log(1, { other: 1 }), ...unread))
      assert.equal(rejected.partialSuccess.rejectedLogRecords, '3')
      assert.match(rejected.partialSuccess.errorMessage, /^3 of 5 log records .*logRecords\[4\]: /)
      assert.equal((await caller.read(`otlp:${path}`)).trace.length, 1)
    }
    // The same in the other encoding, where a record is broken bytes.
    for (const [path, record] of [
      ['/v1/traces', wireSpan],
      ['/v1/logs', wireLog],
    ] as const) {
      assert.equal((await send(path, wireOf(record), wire)).length, 0)
      const bytes = await send(path, wireOf(broken, record), wire)
      const partial = fieldsIn(fieldsIn(bytes).get(1) as Uint8Array)
      assert.equal(partial.get(1), 1)
      const message = new TextDecoder().decode(partial.get(2) as Uint8Array)
      assert.match(message, /^1 of 2 .*\[0\]: it cannot be read$/)
    }
    await folded()
    for (const run of ['w', 'x'])
      assert.equal((await caller.read(`otlp:${run}`)).run.ground, errand)
  })

  test('attributes of our own mean what the fields of a step mean', async (t) => {
    verifies('telemetry.reported')
    const { caller, taken, folded } = await exporting(t)
    const reports: Attributes[] = [
      { goal: 'write a token bucket', ground: errand, plan: [errand, 'test the limit'] },
      { goal: 'test the limit', distance: 4, progress: 'advancing' },
      { goal: 'test the limit', distance: 4, progress: 'stuck' },
      { goal: astray, progress: 'circling', distance: '7' },
      { goal: 'write the docs', user_turn: true },
      { goal: 'look for libraries', agent_id: 'helper', ground: 'compare libraries' },
    ]
    for (const [nth, report] of reports.entries()) {
      const { distance, ...others } = report
      const number = distance === undefined ? {} : { distance: Number(distance) }
      await caller.log({ run_id: 'r', ...others, ...number })
      const own = Object.entries(report).map(([name, value]) => [`plumbline.${name}`, value])
      const attributes = Object.fromEntries(own)
      const conversation = { 'gen_ai.conversation.id': 'span' }
      await taken('/v1/traces', spans(span(nth + 1, { ...attributes, ...conversation })))
      await taken('/v1/logs', logs(log(nth, { ...attributes, 'gen_ai.conversation.id': 'log' })))
      // The same again counts once.
      await taken('/v1/logs', logs(log(nth, { ...attributes, 'gen_ai.conversation.id': 'log' })))
      await folded()
    }
    const known = await caller.read('r')
    const shown = (run: typeof known) =>
      run.trace.map((step: Record<string, unknown>) => [
        ...['goal', 'reason', 'drifting', 'progress', 'distance', 'distance_reported'].map(
          (name) => step[name],
        ),
      ])
    for (const run of ['otlp:span', 'otlp:log']) {
      const read = await caller.read(run)
      assert.deepEqual(shown(read), shown(known), run)
      const texts = ({ run }: typeof known) => [
        run.ground,
        run.plan,
        run.grounds.map(({ goal, agent_id }: Record<string, string>) => [goal, agent_id]),
      ]
      assert.deepEqual(texts(read), texts(known), run)
    }
  })

  test('what an agent reports wins over what its spans show', async (t) => {
    verifies('telemetry.reported')
    const { caller, taken, folded } = await exporting(t)
    const chat = (words: string) => ({
      'gen_ai.operation.name': 'chat',
      'gen_ai.conversation.id': 's',
      'gen_ai.input.messages': JSON.stringify([{ role: 'user', content: words }]),
    })
    const tool = (name: string, args: object) => ({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.conversation.id': 's',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.arguments': JSON.stringify(args),
    })
    const todos = [{ content: 'edit the hero image', status: 'in_progress' }]
    await taken(
      '/v1/traces',
      spans(
        span(1, { ...chat(`You are a coder. Do this: ${errand}`), 'plumbline.ground': errand }),
        span(2, tool('write_todos', { todos })),
        span(3, {
          ...tool('write_file', { path: 'src/limit.ts' }),
          'plumbline.goal': 'limit logins',
        }),
        span(5, tool('write_file', { path: 'src/login.ts' })),
        // Nothing but how it goes: the step is under the goal that the agent is at.
        span(7, { 'gen_ai.conversation.id': 's', 'plumbline.progress': 'stuck' }),
        // Nothing of the user, though the words are new.
        span(9, { ...chat('That tool failed, try again.'), 'plumbline.user_turn': false }),
        span(11, { ...tool('bash', { command: 'ls' }), 'plumbline.agent_id': 'helper' }),
      ),
    )
    await folded()
    const { run, trace: steps } = await caller.read('otlp:s')
    assert.deepEqual(
      steps.map(({ goal, progress }: Record<string, string>) => [goal, progress]),
      [
        ['limit logins', 'advancing'],
        ['limit logins', 'stuck'],
      ],
    )
    assert.equal(run.ground, errand)
    // The act of the helper is not the main agent's.
    assert.equal(run.coverage.acts, 2)
    const next = { ...chat('now write the docs'), 'plumbline.user_turn': true }
    await taken('/v1/traces', spans({ ...span(20, next), traceId: trace.replace('0', '1') }))
    await folded()
    const turned = await caller.read('otlp:s')
    assert.equal(turned.trace.at(-1).goal, 'now write the docs')
    assert.match(turned.run.ground, /now write the docs/)
  })

  test('a goal alone opens a step of the conversation or the trace', async (t) => {
    verifies('telemetry.reported')
    const { caller, taken, told, folded } = await exporting(t)
    await taken('/v1/traces', spans(span(1, { 'plumbline.goal': errand })))
    await taken('/v1/logs', logs(log(9, { 'plumbline.goal': astray }, { traceId: trace })))
    await folded()
    const { trace: steps } = await caller.read(`otlp:${trace}`)
    assert.deepEqual(
      new Set(steps.map(({ goal }: { goal: string }) => goal)),
      new Set([errand, astray]),
    )
    const { partialSuccess } = await told('/v1/logs', logs(log(1, { 'plumbline.goal': errand })))
    assert.equal(partialSuccess.rejectedLogRecords, '1')
    assert.match(partialSuccess.errorMessage, /gen_ai\.conversation\.id: send it, or a traceId/)
  })

  test('a value that is none is a rejection that names its attribute', async (t) => {
    verifies('telemetry.reported.faults')
    const { caller, told, folded } = await exporting(t)
    const faults: [Attributes, RegExp][] = [
      [
        { 'plumbline.progress': 'fine' },
        /plumbline\.progress: send advancing or stuck or circling/,
      ],
      [{ 'plumbline.distance': 11 }, /plumbline\.distance: send a number from 0 to 10/],
      [{ 'plumbline.distance': -1 }, /plumbline\.distance: send a number/],
      [{ 'plumbline.distance': 'far' }, /plumbline\.distance: send a number/],
      [{ 'plumbline.user_turn': 'yes' }, /plumbline\.user_turn: send true or false/],
      [{ 'plumbline.plan': 'first this' }, /plumbline\.plan: send a list of at most 50 texts/],
      [{ 'plumbline.goal': 3 }, /plumbline\.goal: send a text of at most 4000 characters/],
      [{ 'plumbline.ground': 'x'.repeat(4001) }, /plumbline\.ground: send a text of at most 4000/],
      [
        { 'plumbline.agent_id': 'x'.repeat(201) },
        /plumbline\.agent_id: send a text of at most 200/,
      ],
    ]
    const good = { 'plumbline.goal': errand, 'gen_ai.conversation.id': 's' }
    for (const [nth, [fault, message]] of faults.entries()) {
      const bad = { ...good, 'plumbline.goal': astray, ...fault }
      const ofSpans = await told('/v1/traces', spans(span(1, good), span(nth + 2, bad)))
      assert.equal(ofSpans.partialSuccess.rejectedSpans, '1')
      assert.match(ofSpans.partialSuccess.errorMessage, message)
      const ofLogs = await told('/v1/logs', logs(log(1, good), log(nth + 2, bad)))
      assert.equal(ofLogs.partialSuccess.rejectedLogRecords, '1')
      assert.match(ofLogs.partialSuccess.errorMessage, message)
    }
    await folded()
    const { trace: steps } = await caller.read('otlp:s')
    assert.ok(steps.every(({ goal }: { goal: string }) => goal === errand))
  })
})

test('no attribute of our own makes the reader throw', () => {
  verifies('telemetry.reported.faults')
  const names = ['goal', 'ground', 'plan', 'progress', 'distance', 'user_turn', 'agent_id']
  const attributes = fc.dictionary(
    fc.constantFrom(...names.map((name) => `plumbline.${name}`)),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(attributes, (given) => {
      const faults: string[] = []
      reportedIn(given, faults)
      assert.ok(faults.every((fault) => fault.startsWith('plumbline.')))
    }),
  )
  assert.deepEqual(reportedIn({ 'plumbline.plan': '["a","b"]', 'plumbline.goal': ' ' }, []), {
    agentId: '',
    report: { plan: ['a', 'b'] },
  })
  assert.deepEqual(readWire('traces', wireOf(broken)), {
    resourceSpans: [{ scopeSpans: [{ spans: [null] }] }],
  })
})
