import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { maxWaitsOfAccount } from '../src/jobs/decisions.ts'
import { createClient, isServiceError } from '../src/surfaces/client/client.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type Answer, type App, start } from './harness.ts'
import { openSocket } from './raw.ts'
import { verifies } from './verifies.ts'

const day = 86_400_000

interface Listed {
  esc_id: string
  reason: string
}

onEachDatabase((database) => {
  async function startNodes(t: TestContext): Promise<{ url: string; app: App; beside: App }> {
    const url = await database.createUrl()
    const env = { DATABASE_URL: url }
    const app = await start(t, { env })
    return { url, app, beside: database.name === 'postgres' ? await start(t, { env }) : app }
  }

  async function startOne(t: TestContext): Promise<{ app: App; caller: Caller }> {
    const { app } = await startNodes(t)
    return { app, caller: await newCaller(app) }
  }

  async function escalate(caller: Caller, more: object = {}): Promise<string> {
    const answer = await caller.post('/v1/escalation', { run_id: 'a', reason: 'lost', ...more })
    assert.equal(answer.status, 201, answer.text)
    return answer.body.esc_id
  }

  const decide = (caller: Caller, id: string, decision = 'allow', more: object = {}) =>
    caller.post('/v1/escalation/decide', { id, decision, ...more })

  const waitFor = (caller: Caller, id: string, wait: number | string = 30) =>
    caller.get(`/v1/escalation?id=${id}&wait=${wait}`)

  function assertRefused(answer: Answer, status: number, word: string): void {
    assert.deepEqual([answer.status, answer.body.error], [status, word], answer.text)
    assert.equal(typeof answer.body.detail, 'string')
  }

  /** Answers, after so many looks for those who wait, which escalations the last one asked for. */
  async function looks(app: App, count: number): Promise<readonly string[]> {
    const { escalations } = app.running.store
    const ask = escalations.settledAmong
    let left = count
    const asked = await new Promise<readonly string[]>((resolve) => {
      escalations.settledAmong = (ids) => {
        left -= 1
        if (left <= 0) resolve(ids)
        return ask(ids)
      }
    })
    escalations.settledAmong = ask
    return asked
  }

  test('an escalation is made, read and decided once', async (t) => {
    verifies('escalation.create', 'escalation.read', 'escalation.decide', 'escalation.decided')
    const { app, caller } = await startOne(t)
    const made = await caller.post('/v1/escalation', {
      run_id: 'never logged ☂',
      reason: 'goal-drift',
      advice: 'stop it',
      streak: 3,
      detail: 'three in a row',
    })
    const { esc_id } = made.body
    const created = '2026-01-15T12:00:00.000Z'
    assert.deepEqual([made.status, made.body], [201, { esc_id, status: 'pending', created }])
    assert.match(esc_id, /^[\w-]+$/)
    assert.equal(encodeURIComponent(esc_id), esc_id)
    const pending = {
      esc_id,
      run_id: 'never logged ☂',
      reason: 'goal-drift',
      advice: 'stop it',
      streak: 3,
      detail: 'three in a row',
      status: 'pending',
      created,
    }
    assert.deepEqual((await caller.get(`/v1/escalation?id=${esc_id}`)).body, pending)
    app.advance(5_000)
    const decided = await decide(caller, esc_id, 'return', { note: 'go back' })
    const settled = {
      ...pending,
      status: 'decided',
      decision: 'return',
      note: 'go back',
      decided_at: '2026-01-15T12:00:05.000Z',
      decided_by: caller.account,
    }
    assert.deepEqual([decided.status, decided.body], [200, settled])
    assertRefused(await decide(caller, esc_id, 'return'), 409, 'already_decided')
    assert.match((await decide(caller, esc_id, 'stop')).body.detail, /12:00:05.000Z: return/)
    assert.deepEqual((await caller.get(`/v1/escalation?id=${esc_id}`)).body, settled)
  })

  test('what is not given is null, and esc_id says what id says', async (t) => {
    verifies('escalation.create', 'escalation.decide')
    const { caller } = await startOne(t)
    const esc_id = await escalate(caller, { advice: null })
    const { advice, streak, detail, note, decision } = (
      await caller.get(`/v1/escalation?id=${esc_id}`)
    ).body
    assert.deepEqual(
      [advice, streak, detail, note, decision],
      [null, null, null, undefined, undefined],
    )
    const answer = await caller.post('/v1/escalation/decide', { esc_id, decision: 'stop' })
    assert.deepEqual([answer.body.decision, 'note' in answer.body], ['stop', false])
  })

  test('what is unknown is 404, what is at fault 400', async (t) => {
    verifies('escalation.create', 'escalation.decide', 'escalation.read', 'id.length')
    const { caller } = await startOne(t)
    const esc_id = await escalate(caller)
    assertRefused(await caller.get('/v1/escalation?id=esc_0'), 404, 'no_escalation')
    assertRefused(await waitFor(caller, 'esc_0'), 404, 'no_escalation')
    assertRefused(await decide(caller, 'esc_0'), 404, 'no_escalation')
    const whole = { run_id: 'a', reason: 'lost' }
    const faults: object[] = [
      {},
      { reason: 'lost' },
      { run_id: 'a' },
      { ...whole, reason: '' },
      { ...whole, reason: 'x'.repeat(201) },
      { ...whole, run_id: '' },
      { ...whole, run_id: 'x'.repeat(201) },
      { ...whole, advice: 'x'.repeat(4001) },
      { ...whole, detail: 5 },
      { ...whole, streak: -1 },
      { ...whole, streak: 1.5 },
      { ...whole, streak: '3' },
      { ...whole, phi: 1.01 },
    ]
    for (const body of faults) {
      assertRefused(await caller.post('/v1/escalation', body), 400, 'bad_request')
    }
    const decisions: object[] = [
      {},
      { id: esc_id },
      { decision: 'stop' },
      { id: esc_id, decision: 'maybe' },
      { id: '', decision: 'stop' },
      { id: esc_id, decision: 'stop', note: 'x'.repeat(4001) },
    ]
    for (const body of decisions) {
      assertRefused(await caller.post('/v1/escalation/decide', body), 400, 'bad_request')
    }
    const longest = { run_id: 'x'.repeat(200), reason: 'é'.repeat(200), detail: 'x'.repeat(4000) }
    assert.equal((await caller.post('/v1/escalation', longest)).status, 201)
    const { escalations } = (await caller.get('/v1/escalation?status=pending')).body
    assert.deepEqual(escalations.map(({ reason }: Listed) => reason).toSorted(), [
      'lost',
      longest.reason,
    ])
  })

  test('the queue is listed newest first, page by page, by status', async (t) => {
    verifies('escalation.list', 'list.cursor')
    const { app, caller } = await startOne(t)
    const ids: string[] = []
    for (let at = 0; at < 7; at++) {
      ids.unshift(await escalate(caller, { reason: `r${at}` }))
      if (at % 2 === 1) app.advance(1)
    }
    for (const id of ids.slice(2, 4)) await decide(caller, id, 'stop')
    const all = (await caller.get('/v1/escalation')).body
    assert.equal(all.next_cursor, null)
    assert.deepEqual(all.escalations.map(({ reason }: Listed) => reason).toSorted(), [
      'r0',
      'r1',
      'r2',
      'r3',
      'r4',
      'r5',
      'r6',
    ])
    assert.equal(all.escalations[0].esc_id, ids[0])
    const idsOf = async (query: string) => {
      const found: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const place: string = cursor === '' ? '' : `&cursor=${cursor}`
        const { body } = await caller.get(`/v1/escalation?limit=2${query}${place}`)
        found.push(...body.escalations.map(({ esc_id }: Listed) => esc_id))
        cursor = body.next_cursor
      }
      return found
    }
    const listed = all.escalations.map(({ esc_id }: Listed) => esc_id)
    assert.deepEqual(await idsOf(''), listed)
    const decided = new Set(ids.slice(2, 4))
    assert.deepEqual(
      await idsOf('&status=decided'),
      listed.filter((id: string) => decided.has(id)),
    )
    assert.deepEqual(
      await idsOf('&status=pending'),
      listed.filter((id: string) => !decided.has(id)),
    )
    for (const query of ['status=open', 'status=', 'limit=0', 'limit=201', 'cursor=x']) {
      assertRefused(await caller.get(`/v1/escalation?${query}`), 400, 'bad_request')
    }
  })

  test('an escalation emits the event escalation:<reason> as a warning, with the run’s ground and phi', async (t) => {
    verifies('escalation.alert', 'events.escalation', 'alerts.escalation-severity')
    const { app, caller } = await startOne(t)
    const { alerts } = app.running.store
    const logOf = () => alerts.log(caller.account, app.running.service.now())
    await escalate(caller, { reason: 'goal-drift' })
    const [entry] = await logOf()
    assert.deepEqual(
      [entry?.run_id, entry?.reason, entry?.severity, entry?.phi, entry?.status],
      ['a', 'escalation:goal-drift', 'warn', 1, 0],
    )
    await caller.log({ run_id: 'a', goal: 'refund order 1041' })
    const drifted = await caller.log({ run_id: 'a', goal: 'refund order 2093', distance: 8 })
    assert.equal(drifted.drifting, true)
    await escalate(caller, { reason: 'again' })
    await escalate(caller, { reason: 'told', phi: 0.25 })
    const phis = (await logOf()).filter(({ reason }) => reason.startsWith('escalation:'))
    assert.deepEqual(
      phis.map(({ reason, phi }) => [reason, phi]),
      [
        ['escalation:told', 0.25],
        ['escalation:again', drifted.phi],
        ['escalation:goal-drift', 1],
      ],
    )
  })

  test('the event goes to the webhook', async (t) => {
    verifies('events.escalation', 'escalation.alert')
    const bodies: unknown[] = []
    const receiver = createServer(async (request, response) => {
      bodies.push(await json(request))
      response.end()
    }).listen(0, '127.0.0.1')
    t.after(() => receiver.close())
    await once(receiver, 'listening')
    const { port } = receiver.address() as AddressInfo
    const env = {
      DATABASE_URL: await database.createUrl(),
      PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${port}`,
    }
    const app = await start(t, { env })
    const caller = await newCaller(app)
    const url = `http://127.0.0.1:${port}/hook`
    assert.equal((await caller.post('/v1/alerts', { url, min_phi: 0.9 })).status, 200)
    await escalate(caller, { run_id: 'elsewhere', advice: 'ask Ada' })
    await app.running.runDue()
    assert.deepEqual(bodies, [
      {
        event: 'drift',
        account: caller.account,
        run_id: 'elsewhere',
        goal: null,
        reason: 'escalation:lost',
        severity: 'warn',
        phi: 1,
        advice: 'ask Ada',
        ts: '2026-01-15T12:00:00.000Z',
        state: 'opened',
      },
    ])
  })

  test('of decisions at the same moment one wins, and the others are told', async (t) => {
    verifies('escalation.decided', 'process.nodes-equal')
    const { app, beside } = await startNodes(t)
    const caller = await newCaller(app)
    const esc_id = await escalate(caller)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        decide(caller.at(at % 2 === 0 ? app : beside), esc_id, at % 3 === 0 ? 'stop' : 'allow', {
          note: `by ${at}`,
        }),
      ),
    )
    const won = answers.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    for (const answer of answers) {
      if (answer !== won[0]) assertRefused(answer, 409, 'already_decided')
    }
    assert.deepEqual((await caller.get(`/v1/escalation?id=${esc_id}`)).body, won[0]!.body)
  })

  test('a repeated request with an idempotency key escalates and decides once', async (t) => {
    verifies('idempotency.replay')
    const { caller } = await startOne(t)
    const key = { 'idempotency-key': 'once' }
    const body = { run_id: 'a', reason: 'lost' }
    const made = await caller.post('/v1/escalation', body, key)
    assert.equal((await caller.post('/v1/escalation', body, key)).text, made.text)
    assert.equal((await caller.get('/v1/escalation')).body.escalations.length, 1)
    const decision = { id: made.body.esc_id, decision: 'stop' }
    const decided = await caller.post('/v1/escalation/decide', decision, key)
    const again = await caller.post('/v1/escalation/decide', decision, key)
    assert.deepEqual([again.status, again.text], [200, decided.text])
  })

  test('a wait ends with the decision, wherever that is made', async (t) => {
    verifies('escalation.wait', 'process.nodes-equal')
    const { app, beside } = await startNodes(t)
    const caller = await newCaller(app)
    const [one, two] = [await escalate(caller), await escalate(caller, { run_id: 'b' })]
    const waits = [one, one, two].map((id) => waitFor(caller, id))
    await looks(app, 2)
    const first = await decide(caller.at(beside), one, 'stop')
    for (const wait of waits.slice(0, 2)) assert.deepEqual((await wait).body, first.body)
    assert.equal((await caller.get(`/v1/escalation?id=${two}`)).body.status, 'pending')
    const second = await decide(caller, two, 'allow')
    assert.deepEqual((await waits[2]!).body, second.body)
    assert.deepEqual((await waitFor(caller, two)).body, second.body)
  })

  test('a wait ends when its seconds are over, and is one read', async (t) => {
    verifies('escalation.wait', 'quota.kinds')
    const { app, caller } = await startOne(t)
    const reads = async () => (await caller.get('/v1/me')).body.usage.reads
    const usedBefore = await reads()
    const seconds = [20, '20.5', 31, '9e99']
    const ids: string[] = []
    for (const _ of seconds) ids.push(await escalate(caller))
    const waits = seconds.map((wait, at) => waitFor(caller, ids[at]!, wait))
    const waiting = async () => (await looks(app, 2)).toSorted()
    while ((await waiting()).length < 4);
    app.advance(19_999)
    assert.deepEqual(await waiting(), ids.toSorted())
    app.advance(1)
    assert.deepEqual(await waiting(), ids.slice(1).toSorted())
    app.advance(500)
    assert.deepEqual(await waiting(), ids.slice(2).toSorted())
    app.advance(9_499)
    assert.deepEqual(await waiting(), ids.slice(2).toSorted())
    app.advance(1)
    for (const answer of await Promise.all(waits)) {
      assert.deepEqual([answer.status, answer.body.status], [200, 'pending'])
    }
    assert.equal(await reads(), usedBefore + 4)
  })

  test('a wait that is no number is refused, and none is not held', async (t) => {
    verifies('escalation.wait')
    const { caller } = await startOne(t)
    const esc_id = await escalate(caller)
    for (const wait of ['', 'x', '-1', 'NaN', '5s']) {
      assertRefused(await waitFor(caller, esc_id, wait), 400, 'bad_request')
      assertRefused(await caller.get(`/v1/escalation?wait=${wait}`), 400, 'bad_request')
    }
    assert.equal((await waitFor(caller, esc_id, 0)).body.status, 'pending')
    assert.equal((await caller.get('/v1/escalation?wait=30')).body.escalations.length, 1)
  })

  test('who is gone is not waited for', async (t) => {
    verifies('escalation.wait')
    const { app, caller } = await startOne(t)
    const [left, kept] = [await escalate(caller), await escalate(caller)]
    const socket = await openSocket(app.url)
    const path = `/v1/escalation?id=${left}&wait=30&key=${caller.key}`
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const waiting = waitFor(caller, kept)
    let asked = await looks(app, 2)
    while (!asked.includes(left)) asked = await looks(app, 1)
    socket.destroy()
    for (let look = 0; look < 20 && asked.includes(left); look++) asked = await looks(app, 1)
    assert.deepEqual(asked, [kept])
    await decide(caller, kept)
    assert.equal((await waiting).body.status, 'decided')
  })

  test('an account waits 50 times on a node, then it is answered at once', async (t) => {
    verifies('escalation.wait')
    const { app, caller } = await startOne(t)
    const esc_id = await escalate(caller)
    const gone = new AbortController()
    let ended = 0
    const waits = Array.from({ length: maxWaitsOfAccount }, async () => {
      await app.running.service.decisions.wait(caller.account, esc_id, 30_000, gone.signal)
      ended += 1
    })
    assert.equal((await waitFor(caller, esc_id)).body.status, 'pending')
    assert.equal(ended, 0)
    const stranger = await newCaller(app)
    const other = await escalate(stranger)
    const waiting = waitFor(stranger, other)
    while (!(await looks(app, 1)).includes(other));
    await decide(stranger, other)
    assert.equal((await waiting).body.status, 'decided')
    gone.abort()
    await Promise.all(waits)
  })

  test('a server that stops answers those who wait', async (t) => {
    verifies('escalation.wait', 'process.sigterm.drain')
    const { app, caller } = await startOne(t)
    const esc_id = await escalate(caller)
    const waiting = waitFor(caller, esc_id)
    await looks(app, 2)
    const stopped = app.running.stop()
    const answer = await waiting
    assert.deepEqual([answer.status, answer.body.status], [200, 'pending'])
    await stopped
  })

  test('the client waits past the longest wait, until its own time or its signal', async (t) => {
    const { app, caller } = await startOne(t)
    const client = createClient({ baseUrl: app.url, key: caller.key })
    const { esc_id } = await client.escalate({ run_id: 'a', reason: 'lost' })
    assert.equal((await client.awaitDecision(esc_id, { waitMs: 0 })).status, 'pending')
    const waiting = client.awaitDecision(esc_id)
    await looks(app, 1)
    app.advance(30_000)
    await looks(app, 3)
    const controller = new AbortController()
    const ended = client.awaitDecision(esc_id, { signal: controller.signal })
    await looks(app, 2)
    controller.abort(new Error('enough'))
    await assert.rejects(ended, /enough/)
    await client.decideEscalation({ id: esc_id, decision: 'return', note: 'home' })
    const decided = await waiting
    assert.deepEqual(
      [decided.status, decided.decision, decided.note],
      ['decided', 'return', 'home'],
    )
    assert.deepEqual(await client.awaitDecision(esc_id), decided)
    await assert.rejects(
      client.awaitDecision('esc_0'),
      (error) => isServiceError(error) && error.word === 'no_escalation',
    )
  })

  test('a run is blocked while one is pending and once one was decided stop', async (t) => {
    const { app, caller } = await startOne(t)
    const { escalations } = app.running.store
    const blocking = () => escalations.blocking(caller.account, 'a')
    const pending = () => escalations.countPending(caller.account)
    assert.deepEqual([await blocking(), await pending()], [false, 0])
    const first = await escalate(caller)
    await escalate(caller, { run_id: 'b' })
    assert.deepEqual([await blocking(), await pending()], [true, 2])
    await decide(caller, first, 'allow')
    assert.deepEqual([await blocking(), await pending()], [false, 1])
    await decide(caller, await escalate(caller), 'stop')
    assert.equal(await blocking(), true)
    assert.equal(await escalations.blocking((await newCaller(app)).account, 'a'), false)
  })

  test('an escalation is kept for a year after it was made or decided', async (t) => {
    const { url, app } = await startNodes(t)
    const db = await openFor(t, url)
    const caller = await newCaller(app)
    const [decided, forgotten] = [await escalate(caller), await escalate(caller)]
    app.advance(300 * day)
    await decide(caller, decided)
    const stored = async () =>
      (await db.all<{ esc_id: string }>('SELECT esc_id FROM escalations')).map(
        ({ esc_id }) => esc_id,
      )
    app.advance(64 * day)
    await app.running.runDue()
    assert.deepEqual((await stored()).toSorted(), [decided, forgotten].toSorted())
    app.advance(day)
    await app.running.runDue()
    assert.deepEqual(await stored(), [decided])
    app.advance(300 * day)
    await app.running.runDue()
    assert.deepEqual(await stored(), [])
  })
})
