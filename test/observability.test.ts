import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { context, propagation, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { z } from 'zod'
import { operations } from '../src/operations/all.ts'
import type { Operation } from '../src/operations/gate/declaration.ts'
import { open } from '../src/operations/gate/operation.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { openSocket, sendRaw } from './raw.ts'
import { setMemory } from './set-memory.ts'
import { verifies } from './verifies.ts'

const exporter = new InMemorySpanExporter()

before(() => {
  const processor = new SimpleSpanProcessor(exporter)
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }))
  // The W3C header, read as the SDK's own propagator does.
  propagation.setGlobalPropagator({
    fields: () => ['traceparent'],
    inject: () => {},
    extract: (outer, carrier) => {
      const [, traceId = '', spanId = ''] = String(carrier.traceparent).split('-')
      if (traceId === '') return outer
      return trace.setSpanContext(outer, { traceId, spanId, traceFlags: 1, isRemote: true })
    },
  })
})

after(() => {
  trace.disable()
  propagation.disable()
  context.disable()
})

async function finishedSpan(name: string) {
  const span = exporter.getFinishedSpans().find((each) => each.name === name)
  if (span !== undefined) return span
  await new Promise(setImmediate)
  return finishedSpan(name)
}

test('a request is a server span that continues the caller’s trace', async (t) => {
  const app = await start(t)
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
  const answer = await app.post('/v1/check', { ground: 'a secret goal', goal: 'other' }, headers)
  const span = await finishedSpan('POST /v1/check')
  assert.equal(span.spanContext().traceId, traceId)
  assert.deepEqual(span.attributes, {
    'http.request.method': 'POST',
    'http.route': '/v1/check',
    'plumbline.operation': 'check.judge',
    'plumbline.request_id': answer.headers.get('x-request-id'),
    'http.response.status_code': 200,
  })
})

test('spans tell of refusals and hold neither keys nor goals', async (t) => {
  const app = await start(t)
  const me = await newCaller(app)
  exporter.reset()
  assert.equal((await app.get(`/v1/drift/run?key=${me.key}&run_id=nowhere`)).status, 404)
  const span = await finishedSpan('GET /v1/drift/run')
  assert.equal(span.attributes['http.response.status_code'], 404)
  await me.log({ goal: 'a secret goal' })
  await finishedSpan('POST /v1/drift')
  const told = JSON.stringify(
    exporter.getFinishedSpans().map((each) => [each.name, each.attributes]),
  )
  assert.doesNotMatch(told, /secret|pl_live/)
})

test('metrics count requests, verdicts, commits and what waits', async (t) => {
  verifies('process.metrics')
  const app = await start(t)
  const me = await newCaller(app)
  const errand = { goal: 'refund order 1041' }
  await me.logAll([errand, errand, { goal: 'refund order 2093' }])
  await app.post('/v1/check', { ground: errand.goal, goal: 'look up order 1041' })
  await app.get('/v1/drift/runs')
  const { text } = await app.get('/metrics')
  for (const line of [
    'plumbline_requests_total{method="POST",route="/v1/drift/batch",status="200"} 1',
    'plumbline_requests_total{method="GET",route="/v1/drift/runs",status="401"} 1',
    'plumbline_verdicts_total{detector="meaning",reason="goal-drift",drifting="true",stored="true"} 1',
    'plumbline_verdicts_total{detector="meaning",reason="advancing",drifting="false",stored="true"} 1',
    'plumbline_verdicts_total{detector="meaning",reason="advancing",drifting="false",stored="false"} 1',
    'plumbline_commit_steps_sum 3',
    'plumbline_commit_steps_count 1',
    'plumbline_waiting_steps 0',
  ]) {
    assert.ok(text.includes(`${line}\n`), `${line} in\n${text}`)
  }
  assert.match(text, /plumbline_request_duration_seconds_bucket\{le="0.001",route="\/v1\/check"\}/)
  assert.match(text, /plumbline_jobs\{kind="expire",state="later"\}/)
  assert.doesNotMatch(text, /pl_live|shed/)
})

test('metrics count the verdict of a stored step once, though its batch is tried again', async (t) => {
  verifies('process.metrics')
  const app = await start(t)
  const me = await newCaller(app)
  await me.log({ run_id: 'hurt', goal: 'fix the login' })
  await setMemory(app.running.store.db, 'hurt', 'nonsense')
  const runs = ['whole', 'hurt', 'whole', 'other']
  const answers = await Promise.all(
    runs.map((run_id, at) =>
      me.post('/v1/drift', { run_id, goal: 'fix the login' }, { 'idempotency-key': `key ${at}` }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 500, 200, 200],
  )
  const { text } = await app.get('/metrics')
  const counts = [...text.matchAll(/^plumbline_verdicts_total\{.*stored="true"\} (\d+)$/gm)]
  assert.equal(
    counts.reduce((sum, [, count]) => sum + Number(count), 0),
    4,
  )
})

test('the log tells of refusals by route and caller, without query, keys or goals', async (t) => {
  verifies('process.log.no-key', 'process.log.no-goal', 'process.log.address')
  const app = await start(t, { env: { LOG_LEVEL: 'info' } })
  const me = await newCaller(app)
  await me.log({ goal: 'a secret goal' })
  await app.get(`/v1/drift/run?key=${me.key}&run_id=nowhere`)
  const answered = app.log.filter(({ msg }) => msg === 'answered')
  assert.deepEqual(
    answered.map(({ method, route, status, address }) => [method, route, status, address]),
    [['GET', '/v1/drift/run', 404, 'unknown']],
  )
  assert.doesNotMatch(JSON.stringify(app.log), /secret|pl_live|nowhere/)
  app.log.length = 0
  const [raw] = await sendRaw(
    app.url,
    'GET /v1/nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncf-connecting-ip: 203.0.113.9\r\n\r\n',
  )
  assert.equal(raw?.status, 404)
  await app.get('/v1/tiers', { 'cf-connecting-ip': '203.0.113.10' })
  assert.deepEqual(
    app.log.map(({ status, address }) => [status, address]),
    [[404, '203.0.113.9']],
    'only refusals name whose they are',
  )
})

test('a request whose caller goes away is counted once, as 499', async (t) => {
  verifies('process.metrics.gone')
  let begun = () => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const gone = Promise.withResolvers<void>()
  const slow = open({
    name: 'test.slow',
    group: 'account',
    summary: 'Waits for its caller to go away.',
    http: { method: 'GET', path: '/v1/slow' },
    input: z.unknown(),
    output: z.unknown(),
    async read(call) {
      call.gone().addEventListener('abort', () => gone.resolve())
      begun()
      return { body: '', sent: {} }
    },
  })(async () => {
    await gone.promise
    return {}
  })
  const app = await start(t, { operations: [...operations, slow] as readonly Operation[] })
  const socket = await openSocket(app.url)
  socket.write('GET /v1/slow HTTP/1.1\r\nhost: x\r\n\r\n')
  await isBegun
  socket.destroy()
  await gone.promise
  await app.get('/v1/tiers')
  const { text } = await app.get('/metrics')
  const lines = text.split('\n').filter((line) => /requests_total.*"\/v1\/slow"/.test(line))
  assert.deepEqual(lines, [
    'plumbline_requests_total{method="GET",route="/v1/slow",status="499"} 1',
  ])
  assert.match(text, /requests_total\{method="GET",route="\/v1\/tiers",status="200"\} 1\n/)
})

test('every change of an account or a key is a line of the log, without the key', async (t) => {
  verifies('process.log.changes')
  const token = 'an-operator-of-this-server'
  const env = { PLUMBLINE_ADMIN_TOKEN: token, LOG_LEVEL: 'info' }
  const app = await start(t, { env })
  const as = (credential: string) => ({
    authorization: `Bearer ${credential}`,
    'cf-connecting-ip': '203.0.113.9',
  })
  const operator = as(token)
  const ids: string[] = []
  const lines = () =>
    app.log
      .filter(({ msg }) => msg === 'changed')
      .map(({ level, time: _time, msg: _msg, ...line }) => {
        assert.equal(level, 30)
        assert.deepEqual([line.address, line.request_id], ['203.0.113.9', ids.shift()])
        return line
      })
      .map(({ address: _address, request_id: _id, ...line }) => line)
  const sent = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ) => {
    const answer = await app.request(method, path, {
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    assert.ok(answer.status < 300, answer.text)
    if (answer.headers.get('idempotent-replayed') === null) {
      ids.push(answer.headers.get('x-request-id') ?? '')
    }
    return answer.body
  }

  const made = await sent('POST', '/v1/admin/accounts', operator, { tier: 'solo' })
  const { account } = made
  await sent('POST', '/v1/admin/accounts/tier', operator, { account, tier: 'pro' })
  const second = await sent('POST', '/v1/admin/keys', operator, { account })
  await sent('DELETE', `/v1/admin/keys?account=${account}&id=${second.id}`, operator)
  const holder = as(made.key.key)
  const once = { ...holder, 'idempotency-key': 'once' }
  const third = await sent('POST', '/v1/me/keys', once, {})
  await sent('POST', '/v1/me/keys', once, {})
  const fourth = await sent('POST', '/v1/me/keys/rotate', holder, { id: third.id })
  await sent('DELETE', `/v1/me/keys?id=${third.id}`, holder)
  await app.request('DELETE', '/v1/me/keys?id=key_none', { headers: holder })
  await sent('DELETE', `/v1/me?confirm=${account}`, holder)
  const other = await sent('POST', '/v1/admin/accounts', operator, { tier: 'ground' })
  await sent('DELETE', `/v1/admin/accounts?account=${other.account}`, operator)

  const { prefix } = made.key
  assert.deepEqual(lines(), [
    { action: 'admin.create-account', account, tier: 'solo', key_id: made.key.id, prefix },
    { action: 'admin.set-tier', account, tier: 'pro' },
    { action: 'admin.create-key', account, key_id: second.id, prefix: second.prefix },
    { action: 'admin.revoke-key', account, key_id: second.id },
    { action: 'me.create-key', account, key_id: third.id, prefix: third.prefix },
    {
      action: 'me.rotate-key',
      account,
      key_id: fourth.id,
      prefix: fourth.prefix,
      replaces: third.id,
    },
    { action: 'me.revoke-key', account, key_id: third.id },
    { action: 'me.erase', account },
    {
      action: 'admin.create-account',
      account: other.account,
      tier: 'ground',
      key_id: other.key.id,
      prefix: other.key.prefix,
    },
    { action: 'admin.delete-account', account: other.account },
  ])
  const told = JSON.stringify(app.log)
  for (const { key } of [made.key, second, third, fourth]) assert.ok(!told.includes(key))
  const changing = operations.filter(
    ({ access, http }) => access === 'admin' && http.method !== 'GET',
  )
  for (const { name } of changing) assert.ok(told.includes(name), name)
})
