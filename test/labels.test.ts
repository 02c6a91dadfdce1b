import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { publishedIn } from '../model/published.ts'
import { readLabelled } from '../src/core/evaluation/labelled.ts'
import { publishedFigures } from '../src/core/evaluation/published-figures.ts'
import { shareOf } from '../src/core/figures.ts'
import { onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { start } from './harness.ts'
import { startListener } from './listener.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const astray = 'refund order 2093'

onEachDatabase((database) => {
  async function startHere(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    return { app, me: await newCaller(app) }
  }

  async function label(me: Caller, body: object) {
    const answer = await me.post('/v1/drift/label', body)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  test('the newest label of a step stands in its trace, and the history is kept', async (t) => {
    verifies('labels.add', 'labels.newest')
    const { app, me } = await startHere(t)
    await me.logAll([errand, astray, astray].map((goal) => ({ run_id: 'a', goal })))
    const listener = await startListener(t, me)
    const first = await label(me, { run_id: 'a', step: 2, label: 'useful', note: 'right' })
    assert.deepEqual(first.label, {
      ...{ run_id: 'a', step: 2, label: 'useful', note: 'right', alarm: 2 },
      at: new Date(app.running.service.now()).toISOString(),
    })
    assert.equal((await listener.next('step')).data.label, 'useful')
    await label(me, { run_id: 'a', step: 2, label: 'false_alarm' })
    await label(me, { run_id: 'a', step: 1, label: 'missed' })
    const { trace } = await me.read('a')
    assert.deepEqual(
      trace.map((step: { label: string | null }) => step.label),
      ['missed', 'false_alarm', null],
    )
    const { text } = await me.get('/v1/me/export')
    assert.equal(text.match(/"type":"label"/g)?.length, 3)
    await me.request('DELETE', '/v1/drift/run?run_id=a')
    await app.running.runDue()
    assert.doesNotMatch((await me.get('/v1/me/export')).text, /"type":"(label|alarm)"/)
  })

  test('a label that does not fit is refused, with the field that is wrong', async (t) => {
    verifies('labels.refused')
    const { app, me } = await startHere(t)
    await me.logAll([errand, astray].map((goal) => ({ run_id: 'a', goal })))
    const rows: [object, number, RegExp][] = [
      [{ run_id: 'a', step: 2, label: 'good' }, 400, /^label: send useful/],
      [{ run_id: 'a', label: 'useful' }, 400, /^step: send step or incident/],
      [{ step: 2, label: 'useful' }, 400, /^run_id: name the run/],
      [{ run_id: 'a', step: 0, label: 'useful' }, 400, /^step: send the number/],
      [{ run_id: 'a', step: 2, incident: 'inc_1', label: 'useful' }, 400, /^step: send step or/],
      [{ incident: 'one', label: 'useful' }, 400, /^incident: send an id/],
      [{ run_id: 'a', step: 1, label: 'useful' }, 400, /^label: this step does not drift/],
      [{ run_id: 'a', step: 2, label: 'missed' }, 400, /^label: this step drifts/],
      [{ run_id: 'a', step: 3, label: 'unclear' }, 404, /no such step/],
      [{ run_id: 'b', step: 1, label: 'unclear' }, 404, /no such step/],
      [{ incident: 'inc_zz', label: 'useful' }, 404, /no such step/],
    ]
    for (const [body, status, detail] of rows) {
      const answer = await me.post('/v1/drift/label', body)
      assert.equal(answer.status, status, JSON.stringify(body))
      assert.match(answer.body.detail, detail)
    }
    const theirs = await newCaller(app)
    const stolen = await theirs.post('/v1/drift/label', { run_id: 'a', step: 2, label: 'useful' })
    assert.equal(stolen.body.error, 'no_step')
  })

  test('an incident stands for the step with which it began', async (t) => {
    verifies('labels.incident')
    const { app, me } = await startHere(t)
    await me.post('/v1/alerts', { url: 'https://hook.example/x', incidents: true })
    for (const goal of [errand, astray, astray]) {
      await me.log({ run_id: 'a', goal })
      app.advance(1_000)
    }
    const { body } = await me.get('/v1/alerts/incidents')
    const { label: added } = await label(me, { incident: body.incidents[0].id, label: 'useful' })
    assert.deepEqual([added.run_id, added.step, added.alarm], ['a', 2, 2])
  })

  test('quality counts alarms, labels and precision by reason, detector and host', async (t) => {
    verifies('quality.read', 'quality.few', 'labels.newest')
    const { me } = await startHere(t)
    const goals = [errand, astray, astray, errand]
    for (let run = 0; run < 12; run++) {
      await me.logAll(goals.map((goal) => ({ run_id: `r${run}`, goal })))
    }
    await me.log({ run_id: 'o', goal: errand, detector: 'overlap' })
    await me.log({ run_id: 'o', goal: 'water the plants' })
    for (let run = 0; run < 9; run++)
      await label(me, { run_id: `r${run}`, step: 2, label: 'useful' })
    const few = (await me.get('/v1/quality')).body
    assert.deepEqual([few.labelled, few.useful, few.precision], [9, 9, null])
    // The label of a later step of the drift counts for its alarm.
    const last = await label(me, { run_id: 'r9', step: 3, label: 'redirected' })
    await label(me, { run_id: 'r10', step: 2, label: 'unclear' })
    await label(me, { run_id: 'r10', step: 1, label: 'missed' })
    await label(me, { run_id: 'r0', step: 3, label: 'false_alarm' })
    const { body } = await me.get('/v1/quality')
    assert.deepEqual([body.steps, body.alarms, body.missed], [50, 13, 1])
    const group = body.groups[0]
    assert.deepEqual(
      [group.reason, group.detector, group.host, group.steps, group.alarms, group.labelled],
      ['goal-drift', 'meaning', null, 48, 12, 10],
    )
    assert.deepEqual(group.precision, shareOf(8, 10))
    assert.equal(group.per_1000_steps.value, 250)
    assert.ok(group.per_1000_steps.low < 250 && group.per_1000_steps.high > 250)
    assert.equal(last.quality.labelled, 10)
    assert.deepEqual([body.groups[1].detector, body.groups[1].labelled], ['overlap', 0])
    assert.deepEqual(body.published, publishedFigures)
  })

  test('what was said stands against what people say, by tenths', async (t) => {
    verifies('quality.reliability')
    const { me } = await startHere(t)
    assert.deepEqual((await me.get('/v1/quality')).body.reliability, [])
    for (const run_id of ['a', 'b', 'c']) {
      await me.logAll([errand, astray, astray].map((goal) => ({ run_id, goal })))
    }
    await label(me, { run_id: 'a', step: 1, label: 'missed' })
    await label(me, { run_id: 'a', step: 2, label: 'false_alarm' })
    await label(me, { run_id: 'a', step: 2, label: 'useful' })
    await label(me, { run_id: 'b', step: 2, label: 'false_alarm' })
    await label(me, { run_id: 'c', step: 2, label: 'redirected' })
    await label(me, { run_id: 'c', step: 3, label: 'unclear' })
    const said: number[] = []
    for (const run_id of ['a', 'b']) {
      const { trace } = (await me.get(`/v1/drift/run?run_id=${run_id}`)).body
      said.push(trace[1].confidence)
    }
    const { reliability } = (await me.get('/v1/quality')).body
    assert.equal(reliability.length, 1)
    const [{ from, to, mean, labels, share }] = reliability
    assert.deepEqual([labels, share], [2, shareOf(1, 2)])
    assert.ok(Math.abs(mean - (said[0]! + said[1]!) / 2) < 1e-9)
    assert.ok(from <= mean && mean < to && Math.abs(to - from - 0.1) < 1e-9)
  })

  test('labelled steps are lines that plumbline eval reads', async (t) => {
    verifies('labels.export')
    const { me } = await startHere(t)
    await me.logAll([errand, astray, errand, astray].map((goal) => ({ run_id: 'a', goal })))
    await me.log({ run_id: 'a', goal: 'book a flight', user_turn: true })
    await me.log({ run_id: 'a', goal: 'book a flight' })
    await label(me, { run_id: 'a', step: 2, label: 'false_alarm' })
    await label(me, { run_id: 'a', step: 2, label: 'useful', note: 'yes' })
    await label(me, { run_id: 'a', step: 4, label: 'false_alarm' })
    await label(me, { run_id: 'a', step: 3, label: 'unclear' })
    await label(me, { run_id: 'a', step: 6, label: 'missed' })
    const { text, headers } = await me.get('/v1/drift/labels')
    assert.match(headers.get('content-type') ?? '', /^application\/x-ndjson/)
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      lines.map(({ ground, goal, label }) => [ground, goal, label]),
      [
        [errand, astray, 'drift'],
        [errand, astray, 'same'],
        ['book a flight', 'book a flight', 'drift'],
      ],
    )
    for (const line of lines) assert.equal((readLabelled(line) as { kind: string }).kind, 'pair')
    assert.deepEqual([lines[0].given, lines[0].note, lines[0].step], ['useful', 'yes', 2])
  })
})

test('the published figures are those of model/README.md', () => {
  verifies('quality.published')
  const readme = readFileSync(join(import.meta.dirname, '../model/README.md'), 'utf8')
  const block = /<!-- authored begins -->([\s\S]*)<!-- authored ends -->/.exec(readme)?.[1] ?? ''
  const { model, rows } = publishedIn(block)
  assert.deepEqual([publishedFigures.model, publishedFigures.rows], [model, rows])
  assert.ok(rows.every(({ found }) => found.length > 6))
})
