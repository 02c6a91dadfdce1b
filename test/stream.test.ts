import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannels, usualPace } from '../src/jobs/channels.ts'
import { listen } from '../src/operations/stream.ts'
import { createShowEvents } from '../src/operations/stream-events.ts'
import type { Database } from '../src/storage/database/database.ts'
import { createClient } from '../src/surfaces/client/client.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type App, start } from './harness.ts'
import { startHook } from './hook.ts'
import { startListener } from './listener.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const astray = 'refund order 2093'
const hour = 3_600_000

onEachDatabase((database) => {
  /** An account at a node, and the same at another one where there can be two. */
  async function startNodes(t: TestContext, env: Record<string, string> = {}) {
    const url = await database.createUrl()
    const setup = { env: { DATABASE_URL: url, ...env } }
    const app = await start(t, setup)
    const me = await newCaller(app)
    const beside = database.name === 'postgres' ? me.at(await start(t, setup)) : me
    return { app, me, beside, url }
  }

  /** Channels whose waits are short. */
  function channelsOf(
    t: TestContext,
    { running: { service } }: App,
    failed: (error: unknown) => void = (error) => assert.ifError(error),
    show = createShowEvents(service.store, service.now),
  ) {
    const { store, now } = service
    const pace = { lookEveryMs: 5, gatherMs: 1, commentEveryMs: 50 }
    const channels = createChannels(store, now, show, failed, pace)
    t.after(channels.close)
    return channels
  }

  /** The texts of a stream whose waits are short. */
  async function listenTo(
    t: TestContext,
    app: App,
    { key }: Caller,
    query: Record<string, string> = {},
    channels = channelsOf(t, app),
  ): Promise<AsyncIterator<string>> {
    const { body } = await listen.answer(
      { ...app.running.service, channels },
      {
        method: 'GET',
        address: 'here',
        credential: key,
        idempotencyKey: undefined,
        query,
        contentType: '',
        readBody: () => '',
        gone: () => new AbortController().signal,
        headers: {},
      },
    )
    return (body as AsyncIterable<string>)[Symbol.asyncIterator]()
  }

  /** The place of an id, without the time when it was told. */
  const idOf = (text: string) => /^id: \w+-(\S+)/m.exec(text)?.[1] ?? ''

  async function rowsIn(db: Database, table: string): Promise<number> {
    const row = await db.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`)
    return Number(row?.count)
  }

  test('a stream tells steps and runs as their routes show them', async (t) => {
    verifies('stream.events')
    const { me } = await startNodes(t)
    const listener = await startListener(t, me)
    assert.match(listener.headers.get('content-type') ?? '', /^text\/event-stream/)
    assert.equal(listener.headers.get('cache-control'), 'no-store')
    await me.log({ run_id: 'a', goal: errand })
    await me.log({ run_id: 'a', goal: astray, tokens: 7 })
    const told = [await listener.next('step'), await listener.next('step')]
    const run = await listener.next('run')
    const { trace } = await me.read('a')
    assert.deepEqual(
      told.map(({ data }) => data),
      trace.map((step: object) => ({ run_id: 'a', ...step })),
    )
    const { body } = await me.get('/v1/drift/runs')
    assert.deepEqual(run.data, body.runs[0])
    assert.equal(run.data.state, 'drifting')
  })

  test('a stream tells outcomes and deleted runs', async (t) => {
    verifies('stream.events')
    const { me } = await startNodes(t)
    await me.log({ run_id: 'a', goal: errand })
    const listener = await startListener(t, me)
    await me.post('/v1/drift/outcome', { run_id: 'a', outcome: 'success' })
    assert.equal((await listener.next()).data.outcome, 'success')
    await me.request('DELETE', '/v1/drift/run?run_id=a')
    assert.deepEqual((await listener.next()).data, { run_id: 'a', deleted: true })
  })

  test('a stream tells escalations, incidents and deliveries', async (t) => {
    verifies('stream.events')
    const hook = await startHook(t)
    const { app, me } = await startNodes(t, {
      PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.1',
    })
    await me.post('/v1/alerts', { url: hook.url, incidents: true })
    await me.log({ run_id: 'a', goal: errand })
    const listener = await startListener(t, me)
    const asked = await me.post('/v1/escalation', { run_id: 'a', reason: 'lost' })
    const pending = await listener.next('escalation')
    assert.deepEqual([pending.data.esc_id, pending.data.status], [asked.body.esc_id, 'pending'])
    assert.equal((await listener.next('run')).data.state, 'waiting')
    await me.post('/v1/escalation/decide', { id: asked.body.esc_id, decision: 'return' })
    assert.equal((await listener.next('escalation')).data.decision, 'return')
    await me.request('DELETE', `/v1/escalation?id=${asked.body.esc_id}`)
    assert.equal((await listener.next('escalation')).data.deleted, true)
    await app.running.runDue()
    await me.log({ run_id: 'a', goal: astray })
    const opened = await listener.next('incident')
    const { body } = await me.get('/v1/alerts/incidents')
    assert.deepEqual(opened.data, body.incidents[0])
    await app.running.runDue()
    let delivery = await listener.next('delivery')
    while (delivery.data.state !== 'delivered' || delivery.data.reason !== 'goal-drift') {
      delivery = await listener.next('delivery')
    }
    const { body: listed } = await me.get('/v1/alerts/deliveries')
    assert.deepEqual(delivery.data, listed.deliveries[0])
  })

  test('a batch is told step by step, and a listener to one run gets that run', async (t) => {
    verifies('stream.run', 'stream.events')
    const { me } = await startNodes(t)
    const [all, one] = [await startListener(t, me), await startListener(t, me, '?run_id=b')]
    const steps = ['a', 'b', 'a', 'b', 'a'].map((run_id) => ({ run_id, goal: errand }))
    await me.logAll(steps)
    const told = []
    for (let count = 0; count < 5; count++) told.push(await all.next('step'))
    assert.deepEqual(told.map(({ data }) => [data.run_id, data.step]).sort(), [
      ['a', 1],
      ['a', 2],
      ['a', 3],
      ['b', 1],
      ['b', 2],
    ])
    for (const step of [1, 2]) assert.equal((await one.next()).data.step, step)
    assert.equal((await one.next()).name, 'run')
    await me.log({ run_id: 'a', goal: errand })
    await me.log({ run_id: 'b', goal: errand })
    assert.deepEqual((await one.next()).data.step, 3)
  })

  test('a stream tells what another node took', async (t) => {
    verifies('stream.every-node')
    const { me, beside } = await startNodes(t)
    const listener = await startListener(t, me)
    await beside.log({ run_id: 'a', goal: errand })
    assert.equal((await listener.next()).data.goal, errand)
    await me.log({ run_id: 'a', goal: astray })
    assert.equal((await listener.next('step')).data.goal, astray)
  })

  test('a stream is the account’s own, and ends with its key', async (t) => {
    verifies('stream.own')
    const { app, me } = await startNodes(t)
    for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
      assert.equal((await app.get('/v1/stream', headers)).status, 401)
    }
    assert.equal((await app.request('HEAD', '/v1/stream', { headers: me.headers })).status, 200)
    const beside = await newCaller(app)
    const [own, theirs] = [await listenTo(t, app, me), await listenTo(t, app, beside)]
    await theirs.next()
    await own.next()
    await me.log({ run_id: 'a', goal: errand })
    let text = ''
    while (!text.includes('event: step')) text = (await own.next()).value
    assert.doesNotMatch((await theirs.next()).value, /event/)
    await me.post('/v1/me/keys', {})
    const { status } = await me.request('DELETE', `/v1/me/keys?id=${me.keyId}`)
    assert.equal(status, 200)
    let rest = await own.next()
    while (rest.done !== true) rest = await own.next()
  })

  test('a listener without events gets comments that take it along', async (t) => {
    verifies('stream.comment')
    assert.equal(usualPace.commentEveryMs, 15_000)
    const { app, me } = await startNodes(t)
    const lines = await listenTo(t, app, me, { run_id: 'a' })
    const first = (await lines.next()).value
    assert.match(first, /^retry: 1000\nid: \S+\n: \n\n$/)
    await me.log({ run_id: 'b', goal: errand })
    await startListener(t, me)
    let comment = first
    while (idOf(comment) === idOf(first)) comment = (await lines.next()).value
    assert.match(comment, /^id: \S+\n: \n\n$/)
    await lines.return?.()
  })

  test('a slow listener is cut off with a gap', async (t) => {
    verifies('stream.bounded')
    const { app, me } = await startNodes(t)
    const channels = channelsOf(t, app)
    const [slow, quick] = [
      await listenTo(t, app, me, {}, channels),
      await listenTo(t, app, me, {}, channels),
    ]
    await slow.next()
    async function seeAll(): Promise<void> {
      let seen = 0
      while (seen < 3_000) seen += ((await quick.next()).value.match(/^event: step/gm) ?? []).length
    }
    const steps = Array.from({ length: 3_000 }, (_, at) => ({ run_id: `${at % 7}`, goal: errand }))
    await Promise.all([seeAll(), me.logAll(steps)])
    assert.equal((await slow.next()).value, 'event: gap\ndata: {"reason":"slow"}\n\n')
    assert.equal((await slow.next()).done, true)
    await quick.return?.()
  })

  test('what cannot be read is a gap in one stream, and no other one waits for it', async (t) => {
    verifies('stream.unreadable')
    const { app, me } = await startNodes(t)
    const { store, now } = app.running.service
    const other = await newCaller(app)
    const faults: unknown[] = []
    const showStored = createShowEvents(store, now)
    let isDamaged = true
    const channels = channelsOf(
      t,
      app,
      (error) => faults.push(error),
      async (account, events) => {
        if (isDamaged && account === me.account) throw new Error('the rows are damaged')
        return showStored(account, events)
      },
    )
    // The channel that is read first is the damaged one.
    const mine = await listenTo(t, app, me, { run_id: 'a' }, channels)
    const others = await listenTo(t, app, other, {}, channels)
    const begun = (await mine.next()).value
    await others.next()
    async function eventOf(lines: AsyncIterator<string>, name: string): Promise<string> {
      let text = ''
      while (!text.includes(`event: ${name}`)) text = (await lines.next()).value
      return text
    }
    await me.log({ run_id: 'b', goal: errand })
    await other.log({ run_id: 'b', goal: errand })
    assert.match(await eventOf(others, 'step'), /"run_id":"b"/)
    const gap = await eventOf(mine, 'gap')
    assert.match(gap, /^id: \S+\nevent: gap\ndata: \{"reason":"unreadable"\}\n\n$/)
    assert.notEqual(idOf(gap), idOf(begun))
    assert.equal(faults.length, 1)
    const id = /^id: (\S+)/m.exec(begun)?.[1] ?? ''
    const again = await listenTo(t, app, me, { last_event_id: id }, channels)
    assert.equal(idOf(await eventOf(again, 'gap')), idOf(gap), 'also for one that comes back')
    isDamaged = false
    await me.log({ run_id: 'a', goal: errand })
    for (const lines of [mine, again]) assert.match(await eventOf(lines, 'step'), /"run_id":"a"/)
    for (const lines of [mine, others, again]) await lines.return?.()
  })

  test('the client goes on by itself where its connection broke', async (t) => {
    verifies('client.stream')
    const { app, me } = await startNodes(t)
    let connections = 0
    const client = createClient({
      baseUrl: app.url,
      key: me.key,
      async fetch(...asked) {
        const response = await fetch(...asked)
        connections++
        if (connections > 1) return response
        let events = 0
        const cut = new TransformStream({
          transform(chunk, controller) {
            controller.enqueue(chunk)
            events += new TextDecoder().decode(chunk).includes('event: ') ? 1 : 0
            if (events > 0) controller.error(new Error('cut'))
          },
        })
        return new Response(response.body?.pipeThrough(cut), response)
      },
    })
    const log = () => me.log({ run_id: 'a', goal: errand })
    const told: number[] = []
    const breaks: number[] = []
    const heard = { opened: () => void log(), lost: (retryInMs: number) => breaks.push(retryInMs) }
    for await (const { event, data } of client.stream({}, heard)) {
      if (event === 'step') told.push(data.step)
      if (told.length === 2) break
    }
    assert.deepEqual(told, [1, 2])
    assert.equal(connections, 2)
    assert.deepEqual(breaks, [1_000])
    const refused = createClient({ baseUrl: app.url, key: 'pl_live_unknown' }).stream()
    await assert.rejects(async () => refused[Symbol.asyncIterator]().next(), { status: 401 })
  })

  test('the client waits longer each time it finds no service, up to 30 seconds', async (t) => {
    verifies('client.stream.lost')
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const ended = new AbortController()
    const waits: number[] = []
    const stream = createClient({
      baseUrl: 'http://127.0.0.1:1',
      key: 'pl_live_any',
      retries: 0,
      fetch: async () => Promise.reject(new Error('no service')),
    }).stream(
      {},
      {
        signal: ended.signal,
        lost(retryInMs) {
          waits.push(retryInMs)
          if (waits.length === 7) ended.abort()
          else setImmediate(() => t.mock.timers.tick(retryInMs))
        },
      },
    )
    await assert.rejects(async () => stream[Symbol.asyncIterator]().next(), { name: 'AbortError' })
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  test('an account has at most a thousand listeners on a node', async (t) => {
    verifies('stream.bounded')
    const { app, me } = await startNodes(t)
    const { channels } = app.running.service
    const one = { account: me.account, after: null, runId: null, stands: async () => true }
    const gone = new AbortController().signal
    for (let count = 0; count < 1_000; count++) assert.ok(await channels.open({ ...one, gone }))
    const { status, body, headers } = await me.get('/v1/stream')
    assert.deepEqual([status, body.error, headers.get('retry-after')], [429, 'rate_limit', '10'])
    assert.equal((await startListener(t, await newCaller(app))).comments, 1)
  })

  test('a listener goes on where it was, at any node', async (t) => {
    verifies('stream.resume')
    const { me, beside } = await startNodes(t)
    const first = await startListener(t, me)
    const begin = first.lastId
    await me.logAll(Array.from({ length: 4 }, () => ({ run_id: 'a', goal: errand })))
    const ids = []
    for (let step = 1; step <= 4; step++) ids.push((await first.next('step')).id)
    await first.next('run')
    first.leave()
    await me.log({ run_id: 'a', goal: astray })
    for (const [place, id] of [begin, ...ids].entries()) {
      for (const caller of [me, beside]) {
        const again = await startListener(t, caller, '', { 'last-event-id': id })
        for (let step = place + 1; step <= 5; step++) {
          assert.equal((await again.next('step')).data.step, step)
        }
        assert.equal((await again.next()).data.steps, 5)
        again.leave()
      }
    }
    const last = await startListener(t, me, `?last_event_id=${ids[3]}`)
    assert.equal((await last.next('step')).data.step, 5)
    await me.log({ run_id: 'a', goal: errand })
    assert.equal((await last.next('step')).data.step, 6)
  })

  test('an id of more than an hour ago, or none, begins with a gap', async (t) => {
    verifies('stream.resume')
    const { app, me } = await startNodes(t)
    const first = await startListener(t, me)
    await me.log({ run_id: 'a', goal: errand })
    const { id } = await first.next()
    for (const [after, advanceMs] of [
      ['nonsense', 0],
      ['', 0],
      ['zzzzzzzzzzz-zzzzzzzzzzz-zzzzzzzzzzz', 0],
      [id, hour],
    ] as const) {
      app.advance(advanceMs)
      const again = await startListener(t, me, `?last_event_id=${after}`)
      assert.deepEqual((await again.next()).data, { reason: 'expired' }, after)
      await me.log({ run_id: `after ${after}`, goal: errand })
      assert.equal((await again.next('step')).data.run_id, `after ${after}`)
      again.leave()
    }
  })

  test('nothing is recorded until somebody listens, and what is recorded is deleted', async (t) => {
    verifies('stream.unheard')
    const { app, me, url } = await startNodes(t)
    const db = await openFor(t, url)
    await me.log({ run_id: 'a', goal: errand })
    await me.post('/v1/escalation', { run_id: 'a', reason: 'lost' })
    assert.equal(await rowsIn(db, 'stream_events'), 0)
    const listener = await startListener(t, me)
    await me.log({ run_id: 'a', goal: errand })
    await listener.next('step')
    assert.equal(await rowsIn(db, 'stream_events'), 1)
    listener.leave()
    app.advance(hour)
    await me.log({ run_id: 'a', goal: errand })
    assert.equal(await rowsIn(db, 'stream_events'), 2, 'a listener may come back')
    app.advance(hour)
    await me.log({ run_id: 'a', goal: errand })
    assert.equal(await rowsIn(db, 'stream_events'), 2)
    app.advance(2 * hour)
    await app.running.runDue()
    assert.equal(await rowsIn(db, 'stream_events'), 0)
    assert.equal(await rowsIn(db, 'stream_listeners'), 0)
  })

  test('transactions that overlap lose no event', {
    skip: database.name === 'sqlite',
  }, async (t) => {
    verifies('stream.none-lost')
    const { me, url } = await startNodes(t)
    const db = await openFor(t, url)
    const listener = await startListener(t, me)
    await me.log({ run_id: 'a', goal: errand })
    await listener.next('run')
    const isRecorded = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    // A node that is slow to commit, with an event that comes before the next one.
    const slow = db.tx(async (tx) => {
      await tx.run(
        `INSERT INTO stream_events (account, at, kind, run_id, subject) VALUES (?, ?, 'steps', 'a', '1-1')`,
        me.account,
        Date.UTC(2026, 0, 15, 12),
      )
      isRecorded.resolve()
      await mayCommit.promise
    })
    await isRecorded.promise
    await me.log({ run_id: 'b', goal: errand })
    await startListener(t, me, `?last_event_id=${listener.lastId}`)
    mayCommit.resolve()
    await slow
    assert.deepEqual((await listener.next('step')).data.run_id, 'a')
    assert.deepEqual((await listener.next('step')).data.run_id, 'b')
  })

  test('a stream opens when every transaction knows of it', {
    skip: database.name === 'sqlite',
  }, async (t) => {
    verifies('stream.none-lost')
    const { app, me, url } = await startNodes(t)
    const db = await openFor(t, url)
    const hasLooked = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const order: string[] = []
    const early = db
      .tx(async (tx) => {
        await tx.run('UPDATE accounts SET tier = tier WHERE id = ?', me.account)
        await tx.get('SELECT until FROM stream_listeners WHERE account = ?', me.account)
        hasLooked.resolve()
        await mayCommit.promise
      })
      .then(() => order.push('committed'))
    await hasLooked.promise
    const opening = startListener(t, me).then(() => order.push('open'))
    for (let ask = 0; ask < 5; ask++) await app.get('/v1/me', me.headers)
    mayCommit.resolve()
    await Promise.all([early, opening])
    assert.deepEqual(order, ['committed', 'open'])
  })
})

test('a node that stops ends its streams', async (t) => {
  verifies('stream.stop')
  const app = await start(t)
  const listener = await startListener(t, await newCaller(app))
  const begun = performance.now()
  await app.running.stop()
  await listener.ended
  assert.ok(performance.now() - begun < 3_000)
})
