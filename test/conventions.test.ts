import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { settle } from './hook.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const second = 'now write the docs for the rate limit'
const task = 'compare token bucket libraries for Node'
const began = Date.UTC(2026, 0, 15, 12)

type Value = string | number | boolean | Value[]
type Attributes = Record<string, Value>

/** A span as a file of `test/spans` holds it. */
interface Span {
  trace: string
  id: string
  parent?: string
  name: string
  from: number
  to: number
  failed?: boolean
  attributes: Attributes
}

interface Exported {
  scope: string
  spans: Span[]
}

/** What an instrumentation exported; `more` is set on every span, as the libraries' own ways to name a session do. */
function exportedBy(name: string, more: Attributes = {}): Exported {
  const [head = '', ...lines] = readFileSync(`test/spans/${name}.jsonl`, 'utf8').trim().split('\n')
  const spans = lines.map((line) => JSON.parse(line) as Span)
  return {
    scope: JSON.parse(head).scope,
    spans: spans.map((span) => ({ ...span, attributes: { ...span.attributes, ...more } })),
  }
}

function typed(value: Value): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(typed) } }
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function requestOf(scope: string, spans: readonly Span[]): object {
  const sent = spans.map(({ trace, id, parent, name, from, to, failed, attributes }) => ({
    traceId: trace.padStart(32, '0'),
    spanId: id.padStart(16, '0'),
    parentSpanId: parent?.padStart(16, '0') ?? '',
    name,
    startTimeUnixNano: `${began + from}000000`,
    endTimeUnixNano: `${began + to}000000`,
    status: { code: failed === true ? 2 : 0 },
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: typed(value) })),
  }))
  return { resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans: sent }] }] }
}

/** The instrumentations, and how each is told the session where its framework does not tell it. */
const ways: [file: string, verify: () => void, session?: Attributes][] = [
  ['langgraph-langsmith', () => verifies('telemetry.conventions.langsmith')],
  ['langgraph-openllmetry', () => verifies('telemetry.conventions.openllmetry')],
  ['langgraph-openinference', () => verifies('telemetry.conventions.openinference')],
  ['openai-agents-logfire', () => verifies('telemetry.conventions.logfire')],
  [
    'openai-agents-openllmetry',
    () => verifies('telemetry.conventions.openllmetry'),
    { 'traceloop.association.properties.session_id': 'thread-1' },
  ],
  ['openai-agents-openinference', () => verifies('telemetry.conventions.openinference')],
  [
    'openai-agents-semconv',
    () => verifies('telemetry.conventions.semantic'),
    { 'gen_ai.conversation.id': 'thread-1' },
  ],
]

onEachDatabase((database) => {
  async function exporting(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const caller = await newCaller(app)
    return {
      caller,
      async send({ scope, spans }: Exported) {
        const body = requestOf(scope, spans)
        const answer = await caller.post('/v1/traces', body, { 'content-type': 'application/json' })
        assert.deepEqual([answer.status, answer.body], [200, {}], answer.text)
      },
      async folded() {
        app.advance(5_000)
        await settle(app)
      },
    }
  }

  interface Step {
    goal: string
    goal_source: string
  }

  /** What the run is asked for now, and by whom. */
  const standing = ({
    assignment,
  }: {
    assignment: { text: string; by: string; stands: boolean }[]
  }) => assignment.flatMap(({ text, by, stands }) => (stands ? [[text, by]] : []))

  for (const [file, verify, session] of ways) {
    test(`${file} is read as one run with its turns, acts and sub-agents`, async (t) => {
      verify()
      verifies('telemetry.tokens')
      const { caller, send, folded } = await exporting(t)
      const exported = exportedBy(file, session)
      const [first = '', ...others] = new Set(
        exported.spans.filter(({ parent }) => parent !== undefined).map(({ trace }) => trace),
      )
      const ofTrace = (ids: readonly string[]) => ({
        ...exported,
        spans: exported.spans.filter(({ trace }) => ids.includes(trace)),
      })
      await send(ofTrace([first]))
      await folded()
      assert.equal((await caller.read('otlp:thread-1')).run.ground, errand)
      await send(ofTrace(others))
      await folded()
      // What is exported twice counts once.
      await send(exported)
      await folded()
      const list = await caller.get('/v1/drift/runs')
      assert.deepEqual(
        list.body.runs.map((each: { run_id: string }) => each.run_id),
        ['otlp:thread-1'],
      )
      const { run, trace } = await caller.read('otlp:thread-1')
      const steps = trace as Step[]
      assert.deepEqual(
        steps.flatMap((step) => (step.goal_source === 'prompt' ? step.goal : [])),
        [errand, second],
      )
      assert.deepEqual(standing(run), [
        [errand, 'user'],
        [second, 'user'],
      ])
      const goals = steps.map(({ goal }) => goal)
      const shown = ['I look for the login route first', task, 'I read what is installed']
      for (const goal of [...shown, 'run node --test']) {
        assert.ok(goals.includes(goal), `${goal} in ${goals.join(' | ')}`)
      }
      // One file was read and one command failed; the delegation is a step.
      assert.equal(run.coverage.acts, 2)
      const ofSub = run.grounds.filter((each: { agent_id: string }) => each.agent_id !== '')
      assert.deepEqual(
        ofSub.map((each: { goal: string }) => each.goal),
        [task],
      )
      assert.equal(run.agents.length, 1)
      assert.ok(run.tokens >= 300 && run.tokens % 150 === 0, String(run.tokens))
    })

    // Only the root of Logfire's spans names the conversation, and it ends last.
    if (file === 'openai-agents-logfire') continue
    test(`${file} keeps its ground when it is judged while it works`, async (t) => {
      verifies('telemetry.partial')
      const { caller, send, folded } = await exporting(t)
      const exported = exportedBy(file, session)
      const byEnd = exported.spans.toSorted((a, b) => a.to - b.to)
      for (const span of byEnd) {
        await send({ ...exported, spans: [span] })
        await folded()
      }
      // The call that handed the task over has told whose words those of the sub-agent were.
      const { run } = await caller.read('otlp:thread-1')
      assert.deepEqual(standing(run), [
        [errand, 'user'],
        [second, 'user'],
      ])
      assert.ok(!run.ground.includes(task), run.ground)
    })
  }
})
