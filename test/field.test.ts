import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vocabulary } from '../src/core/field.ts'
import { dayMs, hourMs, minuteMs } from '../src/core/time.ts'
import { onEachDatabase } from './backends.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

const fields = [
  'T',
  'Q',
  'R',
  'V',
  'S',
  'rotation',
  'emotion',
  'season',
  'hub_signal',
  'field_sig',
  'n_nodes',
  'ts',
]
const eight = vocabulary.change.slice(0, 8)

onEachDatabase(({ createUrl }) => {
  test('the field answers its signal, hears words and keeps its history', async (t) => {
    verifies('field.hear', 'field.signal', 'field.signal-fields', 'field.history')
    const app = await start(t, { env: { DATABASE_URL: await createUrl() } })
    const { status, body: before } = await app.get('/v1/signal')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(before), fields)
    assert.equal(
      (await app.get('/v1/signal')).text,
      JSON.stringify(before),
      'looking changes nothing',
    )

    const heard = await app.post('/v1/hear', { words: eight, agent: 'me' })
    assert.equal(heard.status, 200, heard.text)
    assert.deepEqual(Object.keys(heard.body), ['reply', 'signal'])
    assert.ok(heard.body.signal.T > before.T)
    assert.equal(heard.body.signal.n_nodes, 1)
    assert.deepEqual((await app.get('/v1/signal')).body, heard.body.signal)

    await app.running.runDue()
    for (let minute = 0; minute < 3; minute++) {
      app.advance(minuteMs)
      await app.running.runDue()
    }
    const { series } = (await app.get('/v1/history')).body
    const times = series.map(({ ts }: { ts: string }) => Date.parse(ts))
    assert.ok(series.length >= 3)
    assert.deepEqual(times, [...times].sort())
    for (const sample of series) assert.deepEqual(Object.keys(sample), fields)
    const { series: newest } = (await app.get('/v1/history?limit=2')).body
    assert.deepEqual(newest, series.slice(-2))
    assert.ok(newest[1].T < heard.body.signal.T, 'the field relaxes')

    app.advance(dayMs + hourMs)
    await app.running.runDue()
    assert.equal((await app.get('/v1/history?limit=1440')).body.series.length, 1)
    for (const limit of ['0', '1441', 'x']) {
      const refused = await app.get(`/v1/history?limit=${limit}`)
      assert.deepEqual([refused.status, refused.body.error], [400, 'bad_request'])
      assert.match(refused.body.detail, /^limit: /)
    }
  })

  test('all nodes share one field', async (t) => {
    verifies('field.shared')
    const env = { DATABASE_URL: await createUrl() }
    const one = await start(t, { env })
    // On SQLite there is one server; what a second one would see is what the first one sees.
    const other = env.DATABASE_URL.startsWith('postgres') ? await start(t, { env }) : one
    assert.deepEqual((await one.get('/v1/signal')).body, (await other.get('/v1/signal')).body)
    const said = []
    for (let turn = 0; turn < 10; turn++) {
      const node = turn % 2 === 0 ? one : other
      said.push(node.post('/v1/hear', { words: eight, agent: `agent ${turn}` }))
    }
    for (const answer of await Promise.all(said)) assert.equal(answer.status, 200)
    const [a, b] = [(await one.get('/v1/signal')).body, (await other.get('/v1/signal')).body]
    assert.deepEqual(a, b)
    assert.equal(a.n_nodes, 10, 'no utterance is lost')
  })
})

test('words come as a list, a text or text/plain; anything else is refused by name', async (t) => {
  verifies('field.hear-forms', 'field.hear-refused')
  const app = await start(t, { env: { PLUMBLINE_CHECK_PER_DAY: '0' } })
  const plain = { body: eight.join(' '), headers: { 'content-type': 'text/plain; charset=utf-8' } }
  for (const answer of [
    await app.post('/v1/hear', { words: eight }),
    await app.post('/v1/hear', { words: ` ${eight.join('\n')} `.toUpperCase() }),
    await app.request('POST', '/v1/hear', plain),
  ]) {
    assert.equal(answer.status, 200, answer.text)
    assert.equal(typeof answer.body.reply, 'string')
  }
  for (const [body, detail] of [
    [{ words: eight.slice(1) }, /there are 7; send exactly 8/],
    [{ words: [...eight, 'door'] }, /there are 9/],
    [{ words: [...eight.slice(1), 'teapot'] }, /"teapot" is not in the vocabulary/],
    [{}, /send 8 words/],
    [null, /send 8 words/],
    [{ words: 8 }, /send 8 words/],
  ] as const) {
    const refused = await app.post('/v1/hear', body)
    assert.deepEqual([refused.status, refused.body.error], [400, 'bad_request'])
    assert.match(refused.body.detail, detail)
  }
  const broken = await app.request('POST', '/v1/hear', { body: '{"words":' })
  assert.equal(broken.status, 400)
})

test('the field needs no key and has an address bucket of its own', async (t) => {
  verifies('field.keyless')
  const app = await start(t, { env: { PLUMBLINE_CHECK_PER_DAY: '3' } })
  const check = () => app.post('/v1/check', { ground: 'mend the roof', goal: 'mend the roof' })
  assert.equal((await check()).headers.get('x-ratelimit-remaining'), '2')
  assert.equal((await app.get('/v1/signal')).headers.get('x-ratelimit-remaining'), '2')
  assert.equal((await app.get('/v1/history')).headers.get('x-ratelimit-remaining'), '1')
  const heard = await app.post('/v1/hear', { words: eight })
  assert.equal(heard.headers.get('x-ratelimit-remaining'), '0')
  const refused = await app.get('/v1/signal')
  assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limit'])
  assert.equal((await check()).status, 200)
  const other = { 'cf-connecting-ip': '203.0.113.7' }
  assert.equal((await app.get('/v1/signal', other)).status, 200)
})
