import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { createAccount } from '../src/operations/account/accounts.ts'
import { databases, onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { type Setup, start } from './harness.ts'
import {
  type Alerted,
  alertedOf,
  astray,
  errand,
  hookPath,
  type Sent,
  settle,
  startAlerted,
  startHook,
} from './hook.ts'
import { spawnServe } from './spawned.ts'
import { verifies } from './verifies.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

onEachDatabase((database) => {
  async function startOn(t: TestContext, { env, ...world }: Setup = {}): Promise<Alerted> {
    return startAlerted(t, { env: { DATABASE_URL: await database.createUrl(), ...env }, ...world })
  }

  describe('what becomes of an event', () => {
    const muted = { 'goal-drift': { on: false } }
    const rows = [
      {
        name: 'muted',
        config: { modes: muted },
        entry: { delivered: false, status: 0, detail: 'goal-drift muted' },
      },
      {
        name: 'muted, though below min_phi as well',
        config: { min_phi: 1, modes: muted },
        entry: { delivered: false, status: 0, detail: 'goal-drift muted' },
      },
      {
        name: 'another mode muted',
        config: { modes: { stalled: { on: false } } },
        entry: { delivered: true, status: 200 },
      },
      {
        name: 'below min_phi of the account',
        config: { min_phi: 0.46 },
        entry: { delivered: false, status: 0, detail: 'below min_phi' },
      },
      {
        name: 'at min_phi of the account',
        config: { min_phi: 0.45 },
        entry: { delivered: true, status: 200 },
      },
      {
        name: 'below min_phi of its mode',
        config: { modes: { 'goal-drift': { min_phi: 0.6 } } },
        entry: { delivered: false, status: 0, detail: 'below min_phi' },
      },
      {
        name: 'above min_phi of its mode, which stands for that of the account',
        config: { min_phi: 0.9, modes: { 'goal-drift': { min_phi: 0 } } },
        entry: { delivered: true, status: 200 },
      },
      {
        name: 'without a webhook',
        config: null,
        entry: { delivered: false, status: 0, detail: 'no valid webhook configured' },
      },
      ...[200, 201, 204, 299].map((status) => ({
        name: `answered ${status}`,
        config: {},
        answer: status,
        entry: { delivered: true, status },
      })),
      ...[300, 302, 304, 400, 404, 410, 429, 500, 503].map((status) => ({
        name: `answered ${status}`,
        config: {},
        answer: status,
        entry: { delivered: false, status, detail: `webhook returned ${status}` },
      })),
      {
        name: 'at an address where nobody listens',
        config: { url: 'http://127.0.0.1:1/x' },
        entry: { delivered: false, status: 0, detail: 'connection refused' },
      },
    ]
    for (const { name, config, entry, ...row } of rows) {
      test(name, async (t) => {
        verifies(
          'alerts.state.muted',
          'alerts.state.below',
          'alerts.state.no-webhook',
          'alerts.no-config-logged',
          'alerts.state.delivered',
          'alerts.state.failed',
          'alerts.state.threw',
          'alerts.log.delivered',
          'events.drift',
        )
        const env = { PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.1:1' }
        const { hook, set, drift, settle, readLog } = await startOn(t, { env })
        if ('answer' in row) hook.answer(row.answer)
        if (config !== null) await set(config)
        await drift()
        await settle()
        const asked = entry.status > 0 ? 1 : 0
        assert.equal(hook.sent.length, asked)
        assert.deepEqual(await readLog(), [
          {
            ts: '2026-01-15T12:00:00.000Z',
            run_id: 'run',
            reason: 'goal-drift',
            severity: 'critical',
            phi: 0.45,
            ...entry,
          },
        ])
      })
    }

    test('the answer to a step does not wait for the webhook', async (t) => {
      verifies('events.drift')
      const { hook, set, drift } = await startOn(t)
      await set()
      hook.hang()
      // The webhook never answers, so this would not go on.
      await drift('one')
      await hook.wait(1)
      await drift('two')
    })

    test('steps that do not drift, and steps that are refused, emit nothing', async (t) => {
      verifies('events.drift')
      const { set, log, post, settle, hook, readLog } = await startOn(t)
      await set()
      await log({ goal: errand })
      await log({ goal: errand, progress: 'stuck', distance: 5 })
      assert.equal((await post('/v1/drift', { goal: astray, tokens: -1 })).status, 400)
      assert.equal((await post('/v1/check', { ground: errand, goal: astray })).status, 200)
      await settle()
      assert.deepEqual([await readLog(), hook.sent.length], [[], 0])
    })

    test('a step that is replayed sends one event', async (t) => {
      verifies('idempotency.step-id')
      const { set, log, settle, hook, readLog } = await startOn(t)
      await set()
      await log({ goal: errand })
      for (let again = 0; again < 3; again++) await log({ goal: astray, step_id: 'astray' })
      await settle()
      assert.deepEqual([(await readLog()).length, hook.sent.length], [1, 1])
    })

    test('every drifting step of a batch sends an event, in order', async (t) => {
      verifies('events.drift')
      const { set, logAll, settle, hook } = await startOn(t)
      await set()
      const goals = Array.from({ length: 120 }, (_, index) => `refund order ${2_000 + index}`)
      await logAll([{ goal: errand }, ...goals.map((goal) => ({ goal }))])
      await settle()
      assert.deepEqual(
        hook.sent.map(({ body }) => body.goal),
        goals,
      )
    })
  })

  describe('the request', () => {
    test('is a POST with the structured event', async (t) => {
      verifies('events.request', 'events.structured', 'key.opaque-account', 'verdict.events')
      const { account, hook, set, log, settle, app } = await startOn(t)
      await set()
      await log({ run_id: 'plan Ω', goal: errand })
      app.advance(1234)
      const { advice, ground, why } = await log({ run_id: 'plan Ω', goal: astray })
      await settle()
      const [{ method, path, headers, body }] = hook.sent as [Sent]
      assert.deepEqual([method, path], ['POST', hookPath])
      assert.equal(headers['content-type'], 'application/json')
      assert.equal(headers['user-agent'], 'svc-alerts/1')
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('webhook-')),
        [],
      )
      assert.deepEqual(body, {
        event: 'drift',
        account,
        run_id: 'plan Ω',
        goal: astray,
        reason: 'goal-drift',
        severity: 'critical',
        phi: 0.45,
        advice,
        ts: '2026-01-15T12:00:01.234Z',
        ground,
        why,
        step: 2,
        agent_id: '',
        drift_probability: 0.95,
        swap: { ground: 'order 1041', goal: 'order 2093', kind: 'number' },
        state: 'opened',
      })
      assert.match(body.account, /^acct_/)
      assert.match(why, /"1041" in the ground is "2093" in the goal/)
    })

    test('says where the dashboard shows its run, if the address of the server is set', async (t) => {
      verifies('events.url')
      const { hook, set, post, log, settle } = await startOn(t, {
        env: { PLUMBLINE_BASE_URL: 'https://plumbline.example/' },
      })
      await set()
      for (const goal of [errand, astray]) await log({ run_id: 'plan Ω/1', goal })
      await post('/v1/escalation', { run_id: 'plan Ω/1', reason: 'lost' })
      await post('/v1/alerts/test', {})
      await settle()
      const urls = Object.fromEntries(hook.sent.map(({ body }) => [body.reason, body.url]))
      const url = 'https://plumbline.example/app/runs/plan%20%CE%A9%2F1'
      assert.deepEqual(urls, { 'goal-drift': url, 'escalation:lost': url, stalled: undefined })
    })

    test('says null where there is no goal', async (t) => {
      verifies('events.structured')
      const { account, app, hook, set, settle } = await startOn(t)
      await set()
      await app.running.store.tx(({ alerts }) =>
        alerts.emit({
          account,
          run_id: 'run',
          dialogue: false,
          agent_id: '',
          goal: null,
          reason: 'escalation:help',
          phi: 0,
          advice: '',
          ts: app.running.service.now(),
        }),
      )
      await settle()
      const { goal, severity, reason, advice } = hook.sent[0]!.body
      assert.deepEqual([goal, severity, reason, advice], [null, 'warn', 'escalation:help', ''])
    })

    test('goes to the url of its mode, when that is set and valid', async (t) => {
      verifies('alerts.mode-url')
      const { hook, set, drift, log, settle } = await startOn(t)
      const own = `${hook.url}/own`
      await set({ modes: { 'goal-drift': { url: own }, ungrammatical: { url: 'nonsense' } } })
      await drift()
      await log({ goal: ' ' })
      await settle()
      const paths = hook.sent.map(({ path, body }) => [body.reason, path])
      assert.deepEqual(paths, [
        ['goal-drift', `${hookPath}/own`],
        ['ungrammatical', hookPath],
      ])
    })

    test('is a text where a chat receives it', async (t) => {
      verifies('events.team-chat', 'events.community-chat', 'events.structured')
      const hosts = {
        'hooks.slack.com': 'text',
        'discord.com': 'content',
        'canary.discord.com': 'content',
        'a.b.discord.com': 'content',
        'discordapp.com': 'content',
        'cdn.discordapp.com': 'event',
        'evildiscord.com': 'event',
        'discord.com.evil.example': 'event',
        'slack.com': 'event',
        'a.hooks.slack.com': 'event',
        'evilhooks.slack.com': 'event',
        'hooks.slack.com.evil.example': 'event',
      }
      const env = { PLUMBLINE_WEBHOOK_ALLOW: Object.keys(hosts).join() }
      const { hook, set, drift, settle } = await startOn(t, {
        env,
        resolve: async () => ['127.0.0.1'],
      })
      for (const [host, field] of Object.entries(hosts)) {
        await set({ url: `http://${host}:${hook.port}/discord.com/hooks.slack.com` })
        await drift(host)
        await settle()
        const { body, headers } = hook.sent.at(-1)!
        assert.equal(headers.host, `${host}:${hook.port}`)
        if (field === 'event') assert.deepEqual([body.event, body.run_id], ['drift', host])
        else assert.deepEqual(Object.keys(body), [field], host)
        const bold = { text: '*goal-drift*', content: '**goal-drift**', event: '' }[field]!
        const text: string = body[field]
        assert.ok(text.includes(bold) && text.includes('***') === false, text)
        if (field === 'text') assert.ok(!text.includes('**'), text)
      }
    })
  })

  describe('an attempt that failed', () => {
    test('is repeated with growing pauses, and given up after six', async (t) => {
      verifies('settings.alert-retries', 'alerts.log.all')
      const { app, hook, set, drift, settle, deliveries, readLog } = await startOn(t, {
        random: () => 0.5,
      })
      await set()
      hook.answer(500)
      await drift()
      await settle()
      for (const [after, pauseMs] of [
        5_000,
        minuteMs,
        5 * minuteMs,
        30 * minuteMs,
        2 * hourMs,
      ].entries()) {
        app.advance(pauseMs - 1)
        await settle()
        assert.equal(hook.sent.length, after + 1, `not before ${pauseMs} ms`)
        app.advance(1)
        await settle()
        assert.equal(hook.sent.length, after + 2, `after ${pauseMs} ms`)
      }
      app.advance(dayMs)
      await settle()
      assert.equal(hook.sent.length, 6)
      assert.equal(new Set(hook.sent.map(({ text }) => text)).size, 1, 'it says the same each time')
      assert.equal((await readLog()).length, 6)
      const [{ state, next, detail, attempts }] = await deliveries()
      assert.deepEqual([state, next, detail], ['failed', null, 'webhook returned 500'])
      assert.deepEqual(
        attempts.map(({ attempt, host, delivered, status, bytes }: Record<string, unknown>) => [
          attempt,
          host,
          delivered,
          status,
          bytes,
        ]),
        [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, '127.0.0.1', false, 500, 4]),
      )
    })

    for (const [retries, requests] of [
      ['0', 1],
      ['2', 3],
      ['7', 8],
    ] as const) {
      test(`is repeated ${retries} times when PLUMBLINE_ALERT_RETRIES says so`, async (t) => {
        verifies('settings.alert-retries')
        const env = { PLUMBLINE_ALERT_RETRIES: retries }
        const { app, hook, set, drift, settle, deliveries } = await startOn(t, { env })
        await set()
        hook.answer(503)
        await drift()
        for (let look = 0; look < 12; look++) {
          await settle()
          app.advance(3 * hourMs)
        }
        assert.equal(hook.sent.length, requests)
        assert.equal((await deliveries())[0].state, 'failed')
      })
    }

    for (const status of [301, 400, 401, 403, 404, 410, 422, 499]) {
      test(`is not repeated after ${status}`, async (t) => {
        verifies('alerts.state.failed')
        const { app, hook, set, drift, settle } = await startOn(t)
        await set()
        hook.answer(status)
        await drift()
        for (let look = 0; look < 3; look++) {
          await settle()
          app.advance(3 * hourMs)
        }
        assert.equal(hook.sent.length, 1)
      })
    }

    test('is repeated after 408, 409, 425, 429 and whatever a server cannot', async (t) => {
      verifies('alerts.state.failed', 'alerts.state.delivered')
      const { app, hook, set, drift, settle, readLog } = await startOn(t)
      await set()
      for (const [index, status] of [408, 409, 425, 429, 500, 502, 599].entries()) {
        hook.answer(status)
        await drift(`run-${index}`)
        await settle()
        assert.equal(hook.sent.length, 2 * index + 1, String(status))
        hook.answer(200)
        app.advance(7_000)
        await settle()
        assert.equal(hook.sent.length, 2 * index + 2, String(status))
        assert.deepEqual(
          [(await readLog())[0].delivered, (await readLog())[1].status],
          [true, status],
        )
      }
    })

    test('is repeated when the receiver wants it, up to an hour later', async (t) => {
      verifies('alerts.state.failed')
      const { app, hook, set, drift, settle } = await startOn(t)
      await set()
      for (const [header, waitMs] of [
        ['retry-after: 600', 600_000],
        ['retry-after: 999999', hourMs],
      ] as const) {
        hook.answer(429, [header])
        const before = hook.sent.length
        await drift(header)
        await settle()
        app.advance(waitMs - 1)
        await settle()
        assert.equal(hook.sent.length, before + 1, header)
        hook.answer(200)
        app.advance(1)
        await settle()
        assert.equal(hook.sent.length, before + 2, header)
      }
    })
  })

  describe('an address that keeps failing', () => {
    /** Has it fail ten times within ten minutes. */
    async function wearOut({ app, hook, drift, settle }: Alerted): Promise<void> {
      hook.answer(500)
      for (let failed = 0; failed < 10; failed++) {
        if (failed === 9) app.advance(10 * minuteMs - 9_000)
        await drift(`early-${failed}`)
        await settle()
        app.advance(1_000)
      }
      assert.equal(hook.sent.length, 10)
    }

    test('is left alone but for a probe every five minutes, until one succeeds', async (t) => {
      verifies('alerts.log.all')
      const env = { PLUMBLINE_ALERT_RETRIES: '0' }
      const alerted = await startOn(t, { env })
      const { app, hook, set, drift, settle, readLog, deliveries } = alerted
      await set()
      await wearOut(alerted)
      const before = (await readLog()).length
      for (let held = 0; held < 3; held++) await drift(`held-${held}`)
      await settle()
      const log = await readLog()
      assert.deepEqual(
        log.slice(0, 3).map(({ run_id, status, detail }) => [run_id, status, detail]),
        [2, 1, 0].map((held) => [`held-${held}`, 0, 'endpoint paused after 10 failures']),
      )
      assert.deepEqual([hook.sent.length, log.length], [10, before + 3])
      const [last] = await deliveries()
      assert.deepEqual([last.state, last.attempts], ['waiting', []])
      app.advance(5 * minuteMs)
      await settle()
      assert.equal(hook.sent.length, 11, 'one probe')
      assert.equal(hook.sent.at(-1)!.body.run_id, 'held-0')
      app.advance(4 * minuteMs)
      await settle()
      assert.equal(hook.sent.length, 11)
      hook.answer(200)
      app.advance(minuteMs)
      await settle()
      assert.deepEqual(
        hook.sent.slice(11).map(({ body }) => body.run_id),
        ['held-1', 'held-2'],
      )
      const details = (await readLog()).map(({ detail }) => detail)
      const paused = details.filter((detail) => detail?.startsWith('endpoint paused'))
      assert.equal(paused.length, 3, 'once for each event')
      await drift('after')
      await settle()
      assert.equal(hook.sent.length, 14)
    })

    test('is tried again at once when it is set anew', async (t) => {
      verifies('alerts.set.replaces')
      const alerted = await startOn(t, { env: { PLUMBLINE_ALERT_RETRIES: '0' } })
      const { hook, set, drift, settle } = alerted
      await set()
      await wearOut(alerted)
      await drift('held')
      await settle()
      assert.equal(hook.sent.length, 10)
      hook.answer(200)
      await set()
      await settle()
      assert.equal(hook.sent.at(-1)!.body.run_id, 'held')
      assert.equal(hook.sent.length, 11)
    })

    test('is not paused by ten failures in a moment', async (t) => {
      verifies('alerts.state.failed')
      const { hook, set, drift, settle } = await startOn(t, {
        env: { PLUMBLINE_ALERT_RETRIES: '0' },
      })
      await set()
      hook.answer(500)
      for (let failed = 0; failed < 12; failed++) await drift(`run-${failed}`)
      await settle()
      assert.equal(hook.sent.length, 12)
    })

    test('that says it is gone is paused at once', async (t) => {
      verifies('alerts.state.failed')
      const { app, hook, set, drift, settle, readLog } = await startOn(t)
      await set()
      hook.answer(410)
      await drift('one')
      await settle()
      await drift('two')
      await settle()
      assert.equal(hook.sent.length, 1)
      assert.deepEqual((await readLog())[0].detail, 'endpoint paused after 410')
      hook.answer(200)
      app.advance(5 * minuteMs)
      await settle()
      assert.deepEqual(hook.sent[1]!.body.run_id, 'two')
    })

    test('leaves another address of the account its events', async (t) => {
      verifies('alerts.mode-url')
      const alerted = await startOn(t, { env: { PLUMBLINE_ALERT_RETRIES: '0' } })
      const { hook, set, log, settle } = alerted
      await set({ modes: { ungrammatical: { url: `${hook.url}/other` } } })
      await wearOut(alerted)
      await log({ goal: ' ' })
      await settle()
      assert.deepEqual([hook.sent.length, hook.sent.at(-1)!.path], [11, `${hookPath}/other`])
    })
  })

  describe('a config that changes while events wait', () => {
    async function startWaiting(t: TestContext): Promise<Alerted> {
      const alerted = await startOn(t)
      await alerted.set()
      alerted.hook.answer(500)
      await alerted.drift()
      await alerted.settle()
      alerted.hook.answer(200)
      return alerted
    }

    test('that was deleted calls nobody any more', async (t) => {
      verifies('alerts.delete', 'alerts.state.no-webhook')
      const { app, hook, request, settle, readLog, deliveries } = await startWaiting(t)
      await request('DELETE', '/v1/alerts')
      app.advance(hourMs)
      await settle()
      assert.equal(hook.sent.length, 1)
      const detail = 'no valid webhook configured'
      assert.deepEqual((await readLog())[0].detail, detail)
      const [delivery] = await deliveries()
      assert.deepEqual([delivery.state, delivery.detail], ['failed', detail])
    })

    test('that was replaced says where they go', async (t) => {
      verifies('alerts.set.replaces')
      const { app, hook, set, settle } = await startWaiting(t)
      await set({ url: `${hook.url}/new` })
      app.advance(hourMs)
      await settle()
      assert.deepEqual(
        hook.sent.map(({ path }) => path),
        [hookPath, `${hookPath}/new`],
      )
      assert.equal(hook.sent[0]!.text, hook.sent[1]!.text)
    })

    test('that mutes them now holds them back', async (t) => {
      verifies('alerts.state.muted')
      const { app, hook, set, settle, readLog } = await startWaiting(t)
      await set({ modes: { 'goal-drift': { on: false } } })
      app.advance(hourMs)
      await settle()
      assert.equal(hook.sent.length, 1)
      assert.deepEqual((await readLog())[0].detail, 'goal-drift muted')
    })
  })

  describe('GET /v1/alerts/deliveries', () => {
    test('lists events with their attempts, page by page and by state', async (t) => {
      verifies('list.cursor', 'alerts.log.all')
      const { app, hook, set, drift, settle, deliveries, get } = await startOn(t, {
        random: () => 0.5,
      })
      await set()
      for (const run of ['a', 'b', 'c']) await drift(run)
      await settle()
      hook.answer(404)
      await drift('gone')
      await settle()
      hook.answer(500)
      await drift('late')
      await settle()
      const runs = (found: { run_id: string }[]) => found.map(({ run_id }) => run_id)
      assert.deepEqual(runs(await deliveries()), ['late', 'gone', 'c', 'b', 'a'])
      assert.deepEqual(runs(await deliveries('?state=delivered')), ['c', 'b', 'a'])
      assert.deepEqual(runs(await deliveries('?state=failed')), ['gone'])
      const [late] = await deliveries('?state=waiting')
      assert.equal(late.next, '2026-01-15T12:00:05.000Z')
      assert.equal(late.detail, 'webhook returned 500')
      assert.ok(Number.isSafeInteger(late.attempts[0].latency_ms))
      const pages = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const from: string = cursor === '' ? '' : `&cursor=${cursor}`
        const { body } = await get(`/v1/alerts/deliveries?limit=2${from}`)
        pages.push(runs(body.deliveries))
        cursor = body.next_cursor
      }
      assert.deepEqual(pages, [['late', 'gone'], ['c', 'b'], ['a']])
      for (const query of ['state=lost', 'limit=0', 'cursor=x']) {
        assert.equal((await get(`/v1/alerts/deliveries?${query}`)).status, 400, query)
      }
      app.advance(31 * dayMs)
      await settle()
      assert.deepEqual(await deliveries(), [])
      app.advance(31 * dayMs)
      await settle()
      const { db } = app.running.store
      for (const table of ['alert_events', 'alert_attempts', 'alert_log', 'alert_endpoints']) {
        assert.deepEqual(await db.all(`SELECT account FROM ${table}`), [], table)
      }
    })

    test('goes with its run', async (t) => {
      verifies('run.delete')
      const { set, drift, settle, deliveries, request } = await startOn(t)
      await set()
      await drift('one')
      await drift('two')
      await settle()
      assert.equal((await request('DELETE', '/v1/drift/run?run_id=one')).status, 200)
      await settle()
      assert.deepEqual(
        (await deliveries()).map(({ run_id }) => run_id),
        ['two'],
      )
    })
  })

  describe('POST /v1/alerts/deliveries/replay', () => {
    const replay = '/v1/alerts/deliveries/replay'

    test('sends one again under its id, with all its attempts', async (t) => {
      verifies('settings.alert-retries')
      const { app, hook, set, drift, settle, post, deliveries, request } = await startOn(t)
      await request('POST', '/v1/alerts/secret')
      await set()
      hook.answer(404)
      await drift()
      await settle()
      const [failed] = await deliveries()
      hook.answer(500)
      assert.deepEqual((await post(replay, { id: failed.id })).body, {
        ok: true,
        replayed: 1,
        more: false,
      })
      await settle()
      assert.deepEqual((await deliveries())[0].state, 'waiting')
      const again = await post(replay, { id: failed.id })
      assert.equal(again.body.replayed, 0, 'it is on its way already')
      hook.answer(200)
      app.advance(7_000)
      await settle()
      const [delivered] = await deliveries()
      assert.deepEqual([delivered.state, delivered.attempts.length], ['delivered', 3])
      await post(replay, { id: failed.id })
      await settle()
      assert.equal(hook.sent.length, 4, 'one that was delivered is sent again too')
      const ids = hook.sent.map(({ headers }) => headers['webhook-id'])
      assert.deepEqual(new Set(ids), new Set([failed.id]))
    })

    test('sends all that failed since a time', async (t) => {
      verifies('alerts.log.all')
      const { app, hook, set, drift, settle, post, deliveries } = await startOn(t)
      await set()
      hook.answer(404)
      for (const run of ['a', 'b', 'c']) {
        await drift(run)
        await settle()
        app.advance(minuteMs)
      }
      hook.answer(200)
      const { body } = await post(replay, { since: '2026-01-15T12:01:00Z' })
      assert.deepEqual(body, { ok: true, replayed: 2, more: false })
      await settle()
      assert.deepEqual(
        (await deliveries()).map(({ state }) => state),
        ['delivered', 'delivered', 'failed'],
      )
    })

    test('refuses what it cannot do', async (t) => {
      verifies('alerts.key')
      const { post, app, set, drift, settle, deliveries } = await startOn(t)
      await set()
      await drift()
      await settle()
      const [{ id }] = await deliveries()
      const both = { id, since: '2026-01-15T12:00:00Z' }
      for (const body of [{}, both, { since: 'noon' }, { id: '' }, { id: 7 }]) {
        assert.equal((await post(replay, body)).status, 400, JSON.stringify(body))
      }
      const other = await newCaller(app)
      for (const [caller, asked] of [
        [other, id],
        [{ post }, 'msg_x_y_z'],
        [{ post }, 'nonsense'],
        [{ post }, id.replace('_1', '_001')],
      ] as const) {
        const { status, body } = await caller.post(replay, { id: asked })
        assert.deepEqual([status, body.error], [404, 'no_delivery'], asked)
      }
    })
  })

  describe('a signed event', () => {
    test('is known to its receiver by the secret, and by the one before for a day', async (t) => {
      verifies('events.structured')
      const { app, hook, set, drift, settle, request, post } = await startOn(t)
      await set()
      const first = (await post('/v1/alerts/secret', '')).body
      assert.match(first.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.equal(first.old_secret_until, null)
      // The package compares with the real clock.
      const knows = (secret: string, { text, headers }: Sent) => {
        const seconds = Number(headers['webhook-timestamp'])
        t.mock.timers.enable({ apis: ['Date'], now: seconds * 1000 })
        try {
          new Webhook(secret).verify(text, headers)
          return true
        } catch {
          return false
        } finally {
          t.mock.timers.reset()
        }
      }
      await drift('one')
      await settle()
      assert.ok(knows(first.secret, hook.sent[0]!))
      assert.equal(
        hook.sent[0]!.headers['webhook-timestamp'],
        String(Date.UTC(2026, 0, 15, 12) / 1000),
      )
      const second = (await post('/v1/alerts/secret', {})).body
      assert.equal(second.old_secret_until, '2026-01-16T12:00:00.000Z')
      await drift('two')
      await settle()
      for (const secret of [first.secret, second.secret]) assert.ok(knows(secret, hook.sent[1]!))
      assert.ok(!knows(second.secret, hook.sent[0]!))
      app.advance(dayMs)
      await post('/v1/alerts/test', {})
      assert.ok(knows(second.secret, hook.sent[2]!))
      assert.ok(!knows(first.secret, hook.sent[2]!))
      assert.equal((await request('GET', '/v1/alerts')).text.includes('whsec_'), false)
      await request('DELETE', '/v1/alerts/secret')
      await drift('three')
      await settle()
      assert.equal(hook.sent[3]!.headers['webhook-signature'], undefined)
    })

    test('has one id and a timestamp for each attempt', async (t) => {
      verifies('events.structured')
      const { app, hook, set, drift, settle, post, deliveries } = await startOn(t)
      await set()
      await post('/v1/alerts/secret', {})
      hook.answer(500)
      await drift()
      await settle()
      app.advance(10_000)
      await settle()
      const [one, two] = hook.sent.map(({ headers }) => headers)
      assert.equal(one!['webhook-id'], two!['webhook-id'])
      assert.equal((await deliveries())[0].id, one!['webhook-id'])
      assert.equal(Number(two!['webhook-timestamp']) - Number(one!['webhook-timestamp']), 10)
    })

    test('is never a text for a chat', async (t) => {
      verifies('events.team-chat')
      const { hook, set, drift, settle, post } = await startOn(t, {
        env: { PLUMBLINE_WEBHOOK_ALLOW: 'hooks.slack.com' },
        resolve: async () => ['127.0.0.1'],
      })
      await set({ url: `http://hooks.slack.com:${hook.port}/x` })
      await post('/v1/alerts/secret', {})
      await drift()
      await settle()
      const names = Object.keys(hook.sent[0]!.headers)
      assert.deepEqual(
        names.filter((name) => name.startsWith('webhook-')),
        [],
      )
    })
  })

  test('an account has one request in flight at a time, in the order of the events', async (t) => {
    verifies('events.drift')
    const env = { DATABASE_URL: await database.createUrl() }
    const alerted = await startAlerted(t, { env })
    const { hook, set, drift, app } = alerted
    const allow = { PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${hook.port}` }
    // On SQLite there is one server; there the same one looks twice.
    const beside =
      database.name === 'postgres' ? await start(t, { env: { ...env, ...allow } }) : app
    await set()
    const runs = Array.from({ length: 30 }, (_, index) => `run-${index}`)
    for (const run of runs) await drift(run)
    await Promise.all([settle(app), settle(beside)])
    await Promise.all([settle(app), settle(beside)])
    assert.deepEqual(
      hook.sent.map(({ body }) => body.run_id),
      runs,
    )
  })

  test('the oldest events are given up when very many wait', async (t) => {
    verifies('alerts.log.all')
    const { app, hook, set, drift, settle, logAll, deliveries, readLog } = await startOn(t)
    await set()
    hook.answer(410)
    await drift('first')
    await settle()
    const steps = Array.from({ length: 1_010 }, (_, index) => ({
      goal: `refund order ${2_000 + index}`,
    }))
    await logAll([{ goal: errand }, ...steps])
    await settle()
    const failed = await deliveries('?state=failed')
    const detail = 'more than 1000 events waited'
    assert.equal(failed.filter((each) => each.detail === detail).length, 10)
    assert.equal((await readLog()).length, 50)
    app.advance(5 * minuteMs)
    await settle()
    const goals = hook.sent.map(({ body }) => body.goal)
    assert.deepEqual(
      goals,
      [astray, 'refund order 2010'],
      'the oldest that still waits is the probe',
    )
  })

  test('neither the path of a webhook nor a secret is ever logged', async (t) => {
    verifies('process.log.no-webhook-path')
    const { app, hook, set, drift, settle, post } = await startOn(t, {
      env: { LOG_LEVEL: 'trace' },
    })
    const { secret } = (await post('/v1/alerts/secret', {})).body
    for (const status of [200, 500, 410]) {
      hook.answer(status)
      await set({ modes: { stalled: { url: `${hook.url}/stalled` } } })
      await post('/v1/alerts/test', {})
      await drift(`run-${status}`)
      await settle()
      app.advance(hourMs)
      await settle()
    }
    await post('/v1/alerts', { url: `http://10.0.0.1${hookPath}` })
    const logged = JSON.stringify(app.log)
    assert.ok(logged.includes('/v1/alerts/test') && hook.sent.length > 5)
    for (const word of [hookPath, 'S3CRET', secret, secret.slice(6)]) {
      assert.ok(!logged.includes(word), word)
    }
  })

  test('a process that stops finishes the request in flight and leaves the others', async (t) => {
    verifies('process.sigterm.deliveries')
    const url = await database.createUrl()
    const env = { DATABASE_URL: url }
    const alerted = await startAlerted(t, { env })
    const { hook, set, drift, app } = alerted
    await set()
    hook.hang()
    await drift('one')
    await drift('two')
    await hook.wait(1)
    const stopped = app.running.stop()
    hook.answer(200)
    hook.release()
    await stopped
    const allow = { PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${hook.port}` }
    const next = await start(t, { env: { ...env, ...allow } })
    await settle(next)
    assert.deepEqual(
      hook.sent.map(({ body }) => body.run_id),
      ['one', 'two'],
      'each once: none was lost, none was sent twice',
    )
  })

  test('a worker that is killed in the middle of an attempt loses no event', async (t) => {
    verifies('process.sigterm.deliveries')
    const hook = await startHook(t)
    hook.hang()
    const env = {
      DATABASE_URL: await database.createUrl(),
      PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${hook.port}`,
    }
    const setup = await start(t, { env, now: Date.now })
    const { key } = await createAccount(setup.running.service, 'enterprise', null)
    await setup.running.stop()
    const headers = { authorization: `Bearer ${key.key}` }
    const { child, ended, url } = await spawnServe(t, { env })
    const post = (path: string, body: object) =>
      fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    await post('/v1/alerts/secret', {})
    await post('/v1/alerts', { url: hook.url })
    const steps = ['one', 'two', 'three'].flatMap((run_id) => [
      { run_id, goal: errand },
      { run_id, goal: astray },
    ])
    const batch = await post('/v1/drift/batch', { steps })
    assert.match(await batch.text(), /goal-drift/)
    await hook.wait(1)
    child.kill('SIGKILL')
    assert.equal(await ended, 'SIGKILL')
    hook.answer(200)
    // Its lease ends by itself; nobody waits for that here.
    const app = await start(t, { env, now: () => Date.now() + minuteMs })
    await settle(app)
    const sent = hook.sent.map(({ headers, body }) => [body.run_id, headers['webhook-id']])
    const ids = new Map(sent.map(([run, id]) => [run, id]))
    assert.deepEqual([...ids.keys()], ['one', 'two', 'three'])
    assert.deepEqual(sent[0], sent[1], 'the attempt that was cut off, again under its id')
    assert.equal(sent.length, 4)
    const log = await app.get('/v1/alerts/log', headers)
    assert.deepEqual(
      log.body.log.map(({ run_id, delivered }: Record<string, unknown>) => [run_id, delivered]),
      [
        ['three', true],
        ['two', true],
        ['one', true],
      ],
    )
  })
})

test('one host of many hanging webhooks leaves others their turn', async (t) => {
  verifies('events.timeout')
  const [hanging, healthy] = [await startHook(t), await startHook(t)]
  hanging.hang()
  const app = await start(t, {
    env: {
      DATABASE_URL: await databases[0]!.createUrl(),
      PLUMBLINE_WEBHOOK_ALLOW: 'slow.example,127.0.0.1',
    },
    resolve: async () => ['127.0.0.1'],
    now: Date.now,
  })
  for (let index = 0; index < 20; index++) {
    const { set, drift } = alertedOf(await newCaller(app), hanging)
    await set({ url: `http://slow.example:${hanging.port}/x` })
    await drift()
  }
  await hanging.wait(3)
  const { set, drift } = alertedOf(await newCaller(app), healthy)
  await set()
  await drift()
  await healthy.wait(1)
  assert.equal(hanging.sent.length, 3, 'no more than three at a time, and none has ended yet')
})
