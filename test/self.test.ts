import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

interface Entry {
  ts: string
  kind: string
  text: string
}

onEachDatabase((database) => {
  const env = async () => ({ env: { DATABASE_URL: await database.createUrl() } })

  test('what is given is merged and logged, and what is not given stays', async (t) => {
    verifies('self.merge', 'self.read', 'self.identity', 'self.routes')
    const app = await start(t, await env())
    const caller = await newCaller(app)
    assert.deepEqual((await caller.get('/v1/self')).body, { self: null, log: [] })
    const first = await caller.post('/v1/self', { purpose: 'mend the boat', now: 'sanding' })
    const begun = {
      identity: 'default',
      purpose: 'mend the boat',
      now: 'sanding',
      mind: null,
      note: null,
      created: '2026-01-15T12:00:00.000Z',
      updated: '2026-01-15T12:00:00.000Z',
    }
    assert.deepEqual([first.status, first.body], [200, { ok: true, self: begun }])
    app.advance(60_000)
    await caller.post('/v1/self', { now: 'painting', note: '', purpose: null })
    const after = '2026-01-15T12:01:00.000Z'
    const expected = {
      self: { ...begun, now: 'painting', note: '', updated: after },
      log: [
        { ts: after, kind: 'note', text: '' },
        { ts: after, kind: 'now', text: 'painting' },
        { ts: begun.created, kind: 'now', text: 'sanding' },
        { ts: begun.created, kind: 'purpose', text: 'mend the boat' },
      ],
    }
    assert.deepEqual((await caller.get('/v1/self')).body, expected)
    assert.deepEqual((await caller.get('/v1/self?identity=default')).body, expected)
    assert.equal((await caller.get('/v1/self?identity=other')).body.self, null)
    await caller.post('/v1/self', { identity: 'other', mind: 'calm' })
    assert.deepEqual((await caller.get('/v1/self')).body, expected)
    assert.equal((await caller.get('/v1/self?identity=other')).body.self.mind, 'calm')
  })

  test('the newest 200 entries are kept', async (t) => {
    verifies('self.merge')
    const app = await start(t, await env())
    const caller = await newCaller(app)
    for (let at = 0; at < 67; at++) {
      await caller.post('/v1/self', { now: `n${at}`, mind: `m${at}`, note: `o${at}` })
    }
    const { log } = (await caller.get('/v1/self')).body as { log: Entry[] }
    assert.equal(log.length, 200)
    assert.deepEqual([log[0]!.text, log[199]!.text], ['o66', 'm0'])
  })

  test('both are erased, and a self made again begins anew', async (t) => {
    verifies('self.delete')
    const app = await start(t, await env())
    const caller = await newCaller(app)
    const missing = await caller.request('DELETE', '/v1/self')
    assert.deepEqual([missing.status, missing.body.error], [404, 'no_self'])
    await caller.post('/v1/self', { note: 'one' })
    await caller.post('/v1/self', { identity: 'two', note: 'two' })
    const erased = await caller.request('DELETE', '/v1/self')
    assert.deepEqual([erased.status, erased.body], [200, { ok: true }])
    assert.deepEqual((await caller.get('/v1/self')).body, { self: null, log: [] })
    assert.equal((await caller.request('DELETE', '/v1/self?identity=default')).status, 404)
    assert.equal((await caller.get('/v1/self?identity=two')).body.log.length, 1)
    await caller.post('/v1/self', { mind: 'new' })
    const { self, log } = (await caller.get('/v1/self')).body
    assert.deepEqual([self.note, log.map(({ text }: Entry) => text)], [null, ['new']])
  })

  test('writers at the same moment lose nothing of one another', async (t) => {
    verifies('self.merge', 'process.nodes-equal')
    const world = await env()
    const app = await start(t, world)
    const beside = database.name === 'postgres' ? await start(t, world) : app
    const one = await newCaller(app)
    const writers = [one, one.at(beside)]
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        writers[at % 2]!.post(
          '/v1/self',
          at < 20 ? { now: `now ${at}` } : { mind: `mind ${at}`, note: `note ${at}` },
        ),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const { self, log } = (await one.get('/v1/self')).body as { self: never; log: Entry[] }
    assert.equal(log.length, 60)
    assert.equal(new Set(log.map(({ text }) => text)).size, 60)
    for (const kind of ['now', 'mind', 'note']) {
      assert.equal(self[kind], log.find((entry) => entry.kind === kind)!.text)
    }
  })

  test('texts have limits', async (t) => {
    verifies('id.length')
    const app = await start(t, await env())
    const caller = await newCaller(app)
    const cases: [object | string, number][] = [
      [{ note: 'x'.repeat(4000) }, 200],
      [{ note: 'x'.repeat(4001) }, 400],
      [{ purpose: 5 }, 400],
      [{ identity: '' }, 400],
      [{ identity: 'x'.repeat(201), note: 'a' }, 400],
      [{ identity: 'é\ud800 ☂', note: 'a\0b', unknown: 1 }, 200],
      ['nothing', 400],
      [{}, 200],
    ]
    for (const [body, status] of cases) {
      const answer = await caller.post('/v1/self', body)
      assert.equal(answer.status, status, `${JSON.stringify(body).slice(0, 60)}: ${answer.text}`)
      if (status === 400) assert.equal(answer.body.error, 'bad_request')
    }
    const odd = await caller.get(`/v1/self?identity=${encodeURIComponent('é\ufffd ☂')}`)
    assert.equal(odd.body.self.note, 'a\ufffdb')
    assert.equal((await caller.get('/v1/self?identity=')).status, 400)
  })

  test('an account has at most 1,000 selves', async (t) => {
    const app = await start(t, await env())
    const caller = await newCaller(app)
    const { selves } = app.running.store
    await app.running.store.tx(async (store) => {
      for (let at = 0; at < 999; at++) await store.selves.merge(caller.account, `i${at}`, {}, at)
    })
    assert.equal((await caller.post('/v1/self', { identity: 'last' })).status, 200)
    const refused = await caller.post('/v1/self', { identity: 'too many' })
    assert.deepEqual([refused.status, refused.body.error], [409, 'conflict'])
    assert.equal(await selves.count(caller.account), 1_000)
    assert.equal((await caller.post('/v1/self', { identity: 'i5', now: 'still' })).status, 200)
    await caller.request('DELETE', '/v1/self?identity=i7')
    assert.equal((await caller.post('/v1/self', { identity: 'room again' })).status, 200)
  })
})
