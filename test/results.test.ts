import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { type App, type Setup, start } from './harness.ts'
import { astray, errand, settle } from './hook.ts'
import { answerOf, startReceiver } from './receiver.ts'
import { verifies } from './verifies.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const secret = 'S3CRET-of-the-collector'

/** A record as the collector gets it, with its attributes as plain values. */
interface Told {
  eventName: string
  time: string
  severity: string
  traceId?: string
  spanId?: string
  attributes: Record<string, string | number>
}

/** A collector on loopback that answers as it is told. */
interface TestCollector {
  port: number
  /** Settings that name it. */
  env: Record<string, string>
  /** The records of the requests that it has taken, and of all requests. */
  taken: Told[]
  seen: Told[]
  /** Heads of the requests. */
  heads: string[]
  /** Answers from now on; null closes the connection. */
  answer(status: string | null, body?: string, headers?: string[]): void
}

async function startCollector(t: TestContext): Promise<TestCollector> {
  let answer: string | null = answerOf('200 OK', '{}')
  const taken: Told[] = []
  const seen: Told[] = []
  const heads: string[] = []
  const { port } = await startReceiver(t, (socket, request) => {
    const [head = '', body = ''] = request.split('\r\n\r\n')
    heads.push(head)
    const records = recordsIn(JSON.parse(body))
    seen.push(...records)
    if (answer === null) return void socket.destroy()
    if (answer.startsWith('HTTP/1.1 200')) taken.push(...records)
    socket.end(answer)
  })
  const env = {
    PLUMBLINE_OTLP_URL: `http://127.0.0.1:${port}`,
    PLUMBLINE_OTLP_HEADERS: `authorization=Bearer%20${secret},x-tenant=one`,
  }
  return {
    ...{ port, env, taken, seen, heads },
    answer(status, body = '{}', headers = []) {
      answer = status === null ? null : answerOf(status, body, headers)
    },
  }
}

interface Value {
  stringValue?: string
  doubleValue?: number
}

interface SentRecord {
  eventName: string
  timeUnixNano: string
  severityText: string
  traceId?: string
  spanId?: string
  attributes: { key: string; value: Value }[]
}

interface SentBody {
  resourceLogs: {
    resource: { attributes: object[] }
    scopeLogs: { scope: { name: string }; logRecords: SentRecord[] }[]
  }[]
}

function recordsIn(body: SentBody): Told[] {
  const [resource] = body.resourceLogs
  assert.deepEqual(resource?.resource.attributes, [
    { key: 'service.name', value: { stringValue: 'plumbline' } },
  ])
  const [scoped] = resource!.scopeLogs
  assert.equal(scoped?.scope.name, 'plumbline')
  return scoped!.logRecords.map(
    ({ eventName, timeUnixNano, severityText, traceId, spanId, attributes }) => ({
      ...{ eventName, time: timeUnixNano, severity: severityText },
      ...(traceId === undefined || spanId === undefined ? {} : { traceId, spanId }),
      attributes: Object.fromEntries(
        attributes.map(({ key, value }) => [key, value.stringValue ?? value.doubleValue ?? '']),
      ),
    }),
  )
}

/** Lets the next sending come, and waits for it. */
async function send(app: App, afterMs = 5_000): Promise<void> {
  app.advance(afterMs)
  await settle(app)
}

const labels = (told: readonly Told[]) =>
  told.map(({ attributes }) => attributes['gen_ai.evaluation.score.label'])
const places = (told: readonly Told[]) =>
  told.map(({ attributes }) => `${attributes['plumbline.run_id']}/${attributes['plumbline.step']}`)

onEachDatabase((database) => {
  async function startWith(t: TestContext, { env, ...world }: Setup = {}) {
    const collector = await startCollector(t)
    const url = env?.DATABASE_URL ?? (await database.createUrl())
    const app = await start(t, {
      env: { ...collector.env, DATABASE_URL: url, ...env },
      ...world,
    })
    return { app, collector, url, caller: await newCaller(app) }
  }

  test('a step that changes the label of its agent is told, without a word of the errand', async (t) => {
    verifies('results.change', 'results.attributes', 'results.private')
    const { app, collector, caller } = await startWith(t)
    for (const goal of [errand, 'look order 1041 up', astray, astray, errand]) {
      await caller.log({ run_id: 'r', goal })
    }
    await caller.log({ run_id: 'r', agent_id: 'sub', goal: errand })
    assert.deepEqual(collector.seen, [])
    await send(app)
    assert.deepEqual(labels(collector.taken), ['drifting', 'on_errand'])
    assert.deepEqual(places(collector.taken), ['r/3', 'r/5'])
    const [drifting] = collector.taken
    const { phi, detector, drift_probability, revision } = (
      await caller.get('/v1/drift/run?run_id=r')
    ).body.trace[2]
    const explanation = drifting!.attributes['gen_ai.evaluation.explanation']
    assert.deepEqual(drifting, {
      eventName: 'gen_ai.evaluation.result',
      time: `${Date.UTC(2026, 0, 15, 12)}000000`,
      severity: 'WARN',
      attributes: {
        'gen_ai.evaluation.name': 'plumbline.drift',
        'gen_ai.conversation.id': 'r',
        'plumbline.run_id': 'r',
        'plumbline.step': 3,
        'gen_ai.evaluation.score.value': drift_probability,
        'gen_ai.evaluation.score.label': 'drifting',
        'gen_ai.evaluation.explanation': explanation,
        'plumbline.reason': 'goal-drift',
        'plumbline.phi': phi,
        'plumbline.detector': detector,
        'plumbline.revision': revision,
      },
    })
    assert.match(
      String(explanation),
      /^The goal has left the errand\. Phi \d\.\d\d\. Evidence \d+\.\d\d, limit \d\.\d\d\.$/,
    )
    assert.doesNotMatch(JSON.stringify(collector.taken), /refund|order|1041|2093/)
    assert.match(collector.heads[0]!, /^POST \/v1\/logs HTTP/)
    assert.match(collector.heads[0]!, new RegExp(`^authorization: Bearer ${secret}$`, 'm'))
    assert.match(collector.heads[0]!, /^x-tenant: one\r?$/m)
    // Nothing comes twice.
    await send(app)
    assert.equal(collector.seen.length, 2)
  })

  test('every step is told if all are wanted, with its words if those are wanted', async (t) => {
    verifies('results.all', 'results.text')
    const env = { PLUMBLINE_OTLP_ALL: 'true', PLUMBLINE_OTLP_TEXT: 'true' }
    const { app, collector, caller } = await startWith(t, { env })
    const steps = [errand, astray].map((goal) => ({ run_id: 'r', goal }))
    const { body } = await caller.post('/v1/drift/batch', { steps })
    await send(app)
    assert.equal(collector.heads.length, 1, 'together in one request')
    assert.deepEqual(labels(collector.taken), ['on_errand', 'drifting'])
    const { attributes } = collector.taken[1]!
    assert.deepEqual(
      ['goal', 'ground'].map((name) => attributes[`plumbline.${name}`]),
      [astray, errand],
    )
    assert.equal(attributes['gen_ai.evaluation.explanation'], body.results[1].why)
  })

  test('what the collector does not take waits for it, and nothing comes twice or is lost', async (t) => {
    verifies('results.durable')
    const { app, collector, caller, url } = await startWith(t, {
      env: { PLUMBLINE_OTLP_ALL: 'true' },
      random: () => 0.5,
    })
    const log = (step: number) => caller.log({ run_id: `r${step}`, goal: errand })
    collector.answer('503 Away')
    await log(1)
    await send(app)
    assert.deepEqual(places(collector.seen), ['r1/1'])
    // Later results wait with it.
    await log(2)
    await send(app, 1_000)
    assert.equal(collector.seen.length, 1)
    collector.answer('429 Slow', '', ['retry-after: 600'])
    await send(app)
    assert.deepEqual(places(collector.seen), ['r1/1', 'r1/1', 'r2/1'])
    collector.answer('200 OK', '{"partialSuccess":{}}')
    await send(app, 9 * minuteMs)
    assert.equal(collector.taken.length, 0, 'the time that it asked for is not over')
    // A server that starts anew goes on where the one before stopped.
    await app.running.stop()
    const again = await start(t, {
      env: { ...collector.env, DATABASE_URL: url },
      now: () => Date.UTC(2026, 0, 15, 14),
    })
    await settle(again)
    await settle(again)
    assert.deepEqual(places(collector.taken), ['r1/1', 'r2/1'])
    await settle(again)
    assert.equal(collector.taken.length, 2)
    const { waiting, failed } = await again.running.store.results.count()
    assert.deepEqual([waiting, failed], [0, 0])
    for (const { log } of [app, again]) assert.doesNotMatch(JSON.stringify(log), /S3CRET/)
  })

  test('what the collector refuses for good is given up, kept, counted and logged', async (t) => {
    verifies('results.refused', 'results.secret')
    const { app, collector, caller } = await startWith(t, {
      env: { PLUMBLINE_OTLP_ALL: 'true', LOG_LEVEL: 'trace' },
    })
    const given = async (run: string) => {
      await caller.log({ run_id: run, goal: errand })
      await send(app)
      return app.running.store.results.count()
    }
    collector.answer('400 Bad')
    assert.deepEqual(await given('a'), {
      ...{ waiting: 0, failed: 1, detail: 'the collector answered 400' },
    })
    collector.answer('200 OK', '{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"no"}}')
    assert.deepEqual(await given('b'), {
      ...{ waiting: 0, failed: 2, detail: 'the collector refused 1 of 1 records' },
    })
    const warned = app.log.filter(({ msg }) => msg === 'evaluation results were not taken')
    assert.deepEqual(
      warned.map(({ results, detail }) => [results, detail]),
      [
        [1, 'the collector answered 400'],
        [1, 'the collector refused 1 of 1 records'],
      ],
    )
    // A collector that stays away for a day loses what has waited for so long.
    collector.answer(null)
    assert.equal((await given('c')).waiting, 1)
    for (let hour = 0; hour < 25; hour++) await send(app, hourMs)
    assert.deepEqual(await app.running.store.results.count(), {
      ...{ waiting: 0, failed: 3, detail: 'the collector was away for too long' },
    })
    collector.answer('200 OK')
    await given('d')
    assert.deepEqual(places(collector.taken), ['b/1', 'd/1'])
    assert.doesNotMatch(JSON.stringify(app.log), /S3CRET/)
    // After a month they are deleted, and with their run at once.
    const deleted = await caller.request('DELETE', '/v1/drift/run?run_id=a')
    assert.equal(deleted.status, 200, deleted.text)
    await settle(app)
    assert.equal((await app.running.store.results.count()).failed, 2)
    await send(app, 31 * 24 * hourMs)
    assert.equal((await app.running.store.results.count()).failed, 0)
  })

  test('a result of a span names it, and the session as its host does', async (t) => {
    verifies('results.span')
    const { app, collector, caller } = await startWith(t, { env: { PLUMBLINE_OTLP_ALL: 'true' } })
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const spanId = '00f067aa0ba902b7'
    const stringValue = (key: string, value: string) => ({ key, value: { stringValue: value } })
    const span = {
      ...{ traceId, spanId, name: 'chat', startTimeUnixNano: `${Date.UTC(2026, 0, 15, 12)}000000` },
      attributes: [
        stringValue('gen_ai.operation.name', 'chat'),
        stringValue('gen_ai.conversation.id', 'c-1'),
        stringValue('gen_ai.response.id', 'resp_1'),
        stringValue('gen_ai.input.messages', JSON.stringify([{ role: 'user', content: errand }])),
      ],
    }
    const body = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }
    const type = { 'content-type': 'application/json' }
    assert.equal((await caller.post('/v1/traces', body, type)).status, 200)
    await send(app, 60_000)
    await send(app)
    const [{ attributes, ...told }] = collector.taken as [Told]
    assert.deepEqual([told.traceId, told.spanId], [traceId, spanId])
    assert.deepEqual(
      [attributes['gen_ai.conversation.id'], attributes['plumbline.run_id']],
      ['c-1', 'otlp:c-1'],
    )
    assert.equal(attributes['gen_ai.response.id'], 'resp_1')
    // A log record has the span in which it was made, and perhaps no answer of a model.
    const record = {
      ...{ traceId, spanId: '00f067aa0ba902b8', timeUnixNano: span.startTimeUnixNano },
      attributes: [
        stringValue('plumbline.goal', errand),
        stringValue('gen_ai.conversation.id', 'c-2'),
      ],
    }
    const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }
    assert.equal((await caller.post('/v1/logs', logs, type)).status, 200)
    await send(app)
    const last = collector.taken.at(-1)
    assert.deepEqual([last?.traceId, last?.spanId], [traceId, record.spanId])
    assert.equal(last?.attributes['gen_ai.response.id'], undefined)
  })

  test('a step that cannot be judged is told as a failure', async (t) => {
    verifies('results.error')
    const { app, collector, caller } = await startWith(t)
    await caller.log({ run_id: 'r', goal: errand })
    await app.running.store.db.run("UPDATE agents SET memory = 'x' WHERE run_id = 'r'")
    const { status } = await caller.post('/v1/drift', { run_id: 'r', goal: astray })
    assert.equal(status, 500)
    await send(app)
    assert.deepEqual(
      collector.taken.map(({ attributes }) => attributes),
      [
        {
          'gen_ai.evaluation.name': 'plumbline.drift',
          'gen_ai.conversation.id': 'r',
          'plumbline.run_id': 'r',
          'plumbline.step': 2,
          'error.type': 'damaged_state',
        },
      ],
    )
  })

  const oneNode = database.name === 'sqlite' && 'one server a file'
  test('two nodes of one database send each result once', { skip: oneNode }, async (t) => {
    verifies('results.durable')
    const { app, collector, caller, url } = await startWith(t, {
      env: { PLUMBLINE_OTLP_ALL: 'true' },
    })
    const other = await start(t, { env: { ...collector.env, DATABASE_URL: url } })
    const steps = Array.from({ length: 40 }, (_, nth) => ({ run_id: `r${nth}`, goal: errand }))
    await caller.post('/v1/drift/batch', { steps })
    other.advance(5_000)
    await Promise.all([send(app), settle(other)])
    assert.equal(new Set(places(collector.taken)).size, 40)
    assert.equal(collector.taken.length, 40)
  })
})
