import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { context, propagation, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
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
  await me.logAll([{ goal: 'fix the login' }, { goal: 'fix the login' }, { goal: 'paint a shed' }])
  await app.post('/v1/check', { ground: 'fix the login', goal: 'fix the login page' })
  await app.get('/v1/drift/runs')
  const { text } = await app.get('/metrics')
  for (const line of [
    'plumbline_requests_total{method="POST",route="/v1/drift/batch",status="200"} 1',
    'plumbline_requests_total{method="GET",route="/v1/drift/runs",status="401"} 1',
    'plumbline_verdicts_total{detector="overlap",reason="goal-drift",drifting="true",stored="true"} 1',
    'plumbline_verdicts_total{detector="overlap",reason="advancing",drifting="false",stored="true"} 1',
    'plumbline_verdicts_total{detector="overlap",reason="advancing",drifting="false",stored="false"} 1',
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

test('the log tells of refusals by route, without addresses, keys or goals', async (t) => {
  verifies('process.log.no-key', 'process.log.no-goal')
  const app = await start(t, { env: { LOG_LEVEL: 'info' } })
  const me = await newCaller(app)
  await me.log({ goal: 'a secret goal' })
  await app.get(`/v1/drift/run?key=${me.key}&run_id=nowhere`)
  const answered = app.log.filter(({ msg }) => msg === 'answered')
  assert.deepEqual(
    answered.map(({ method, route, status }) => [method, route, status]),
    [['GET', '/v1/drift/run', 404]],
  )
  assert.doesNotMatch(JSON.stringify(app.log), /secret|pl_live|nowhere/)
})
