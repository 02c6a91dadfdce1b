import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { onEachDatabase } from './backends.ts'
import { start } from './harness.ts'
import { settle } from './hook.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'

onEachDatabase((database) => {
  test('what the exporters of OpenTelemetry send as protocol buffers is read', async (t) => {
    verifies('telemetry.protobuf')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const { headers } = await app.newAccount()
    const spans = new OTLPTraceExporter({ url: `${app.url}/v1/otlp/v1/traces`, headers })
    const records = new OTLPLogExporter({ url: `${app.url}/v1/otlp/v1/logs`, headers })
    const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
    const loggers = new LoggerProvider({
      processors: [new SimpleLogRecordProcessor({ exporter: records })],
    })

    const user = [{ role: 'user', parts: [{ type: 'text', content: errand }] }]
    const attributes = { 'gen_ai.conversation.id': 'c-1' }
    const tracer = tracers.getTracer('an agent')
    tracer
      .startSpan('chat', {
        attributes: {
          ...attributes,
          'gen_ai.operation.name': 'chat',
          'gen_ai.input.messages': JSON.stringify(user),
          'gen_ai.usage.input_tokens': 120,
          'gen_ai.usage.output_tokens': 30,
        },
      })
      .end()
    loggers.getLogger('an agent').emit({
      eventName: 'a report',
      timestamp: Date.now(),
      body: { any: ['value', 1, true, 0.5] },
      attributes: {
        ...attributes,
        'plumbline.goal': 'write the page about prices',
        'plumbline.plan': ['write the page', 'publish it'],
        'plumbline.distance': 2.5,
      },
    })
    await loggers.forceFlush()
    await tracers.forceFlush()
    app.advance(5_000)
    await settle(app)
    const { run, trace } = (await app.get('/v1/drift/run?run_id=otlp:c-1', headers)).body
    // A distance is a whole number.
    const reported = trace.find(({ goal }: { goal: string }) => goal.startsWith('write'))
    assert.deepEqual([reported?.goal, reported?.distance], ['write the page about prices', 2])
    assert.deepEqual(run.plan, ['write the page', 'publish it'])
    assert.ok(trace.some(({ goal }: { goal: string }) => goal === errand))
    await tracers.shutdown()
    await loggers.shutdown()
  })
})
