import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { tierNames } from '../src/core/accounts/tiers.ts'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { start } from './harness.ts'
import {
  type Alerted,
  alertedOf,
  astray,
  errand,
  hookPath,
  startAlerted,
  startHook,
} from './hook.ts'
import { verifies } from './verifies.ts'

const url = 'https://hooks.example.com/services/abc'
const noon = '2026-01-15T12:00:00.000Z'
const dayMs = 86_400_000

onEachDatabase((database) => {
  async function startOn(t: TestContext, env: Record<string, string> = {}): Promise<Alerted> {
    return startAlerted(t, { env: { DATABASE_URL: await database.createUrl(), ...env } })
  }

  describe('GET, POST and DELETE /v1/alerts', () => {
    test('nothing is set at first, and every mode has its default severity', async (t) => {
      verifies('alerts.get', 'alerts.get.modes', 'alerts.modes')
      const { get } = await startOn(t)
      assert.deepEqual((await get('/v1/alerts')).body, {
        alert: null,
        modes: [
          { reason: 'ungrammatical', default_severity: 'warn' },
          { reason: 'goal-drift', default_severity: 'critical' },
          { reason: 'self-report:stuck', default_severity: 'warn' },
          { reason: 'self-report:circling', default_severity: 'warn' },
          { reason: 'stalled', default_severity: 'info' },
        ],
      })
    })

    test('no route answers without a good key', async (t) => {
      verifies('alerts.key')
      const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
      for (const [method, path] of [
        ['GET', '/v1/alerts'],
        ['POST', '/v1/alerts'],
        ['DELETE', '/v1/alerts'],
        ['GET', '/v1/alerts/log'],
        ['POST', '/v1/alerts/test'],
        ['POST', '/v1/alerts/secret'],
        ['DELETE', '/v1/alerts/secret'],
        ['GET', '/v1/alerts/deliveries'],
        ['POST', '/v1/alerts/deliveries/replay'],
        ['GET', '/v1/alerts/incidents'],
      ] as const) {
        const none = await app.request(method, path)
        assert.deepEqual([none.status, none.body.error], [401, 'no_key'], path)
        assert.equal(typeof none.body.detail, 'string')
        const bad = await app.request(method, path, { headers: { authorization: 'Bearer bad' } })
        assert.deepEqual([bad.status, bad.body], [401, { error: 'bad_key' }], path)
      }
    })

    test('tier ground alone may not set or test, and may do everything else', async (t) => {
      verifies(
        'alerts.set.tier',
        'alerts.set.402',
        'alerts.test.402',
        'alerts.get',
        'alerts.delete',
        'alerts.log',
      )
      const app = await start(t, {
        env: {
          DATABASE_URL: await database.createUrl(),
          PLUMBLINE_UPGRADE_URL: 'https://plumbline.example/upgrade',
        },
        resolve: async () => ['10.0.0.1'],
      })
      for (const tier of tierNames) {
        const { get, post, request } = await newCaller(app, tier)
        assert.equal((await get('/v1/alerts')).body.alert, null)
        assert.deepEqual((await get('/v1/alerts/log')).body, { log: [] })
        // Refused for the tier before the body is looked at.
        const set = await post('/v1/alerts', tier === 'ground' ? 'nonsense' : { url })
        const tested = await post('/v1/alerts/test', '')
        if (tier === 'ground') {
          const upgrade = 'https://plumbline.example/upgrade'
          const error = 'upgrade_required'
          const detail = 'Alerts are a group feature; the check and drift history stay free.'
          assert.deepEqual([set.status, set.body], [402, { error, detail, upgrade }])
          assert.deepEqual(
            [tested.status, tested.body],
            [402, { error, detail: 'Alerts are a group feature.', upgrade }],
          )
        } else {
          assert.deepEqual([set.status, tested.status], [200, 200], tier)
        }
        assert.deepEqual((await request('DELETE', '/v1/alerts')).body, { ok: true })
        assert.deepEqual((await request('DELETE', '/v1/alerts')).body, { ok: true })
        assert.equal((await get('/v1/alerts')).body.alert, null)
      }
    })

    const plain = { url, min_phi: 0, created: noon }
    const nested = '[['.repeat(200) + ']]'.repeat(200)
    test('the config is read leniently', async (t) => {
      verifies(
        'alerts.set.answer',
        'alerts.config',
        'alerts.set.url',
        'alerts.set.min-phi',
        'alerts.set.modes-known',
        'alerts.set.mode-on',
        'alerts.set.mode-severity',
        'alerts.set.mode-url',
        'alerts.set.mode-min-phi',
        'alerts.set.modes-empty',
        'alerts.set.replaces',
      )
      const { get, post } = await startOn(t)
      const rows: [sent: object | string, stored: object][] = [
        [{ url }, plain],
        [{ url: `  ${url}\n` }, plain],
        [{ url: [url] }, plain],
        ...([0.4, '0.4', ' 0.4 ', [0.4]] as const).map((min_phi): [object, object] => [
          { url, min_phi },
          { ...plain, min_phi: 0.4 },
        ]),
        ...([null, '', 'high', {}, [], [1, 2], { toString: 1 }, -1, -0.01, false] as const).map(
          (min_phi): [object, object] => [{ url, min_phi }, plain],
        ),
        ...([1, 7, '8', true] as const).map((min_phi): [object, object] => [
          { url, min_phi },
          { ...plain, min_phi: 1 },
        ]),
        [`{"url":"${url}","min_phi":1e999}`, { ...plain, min_phi: 1 }],
        [`{"url":"${url}","min_phi":${nested}}`, plain],
        ...([null, 'all', 3, [], [{ on: false }], {}] as const).map((modes): [object, object] => [
          { url, modes },
          plain,
        ]),
        [{ url, modes: { advancing: { on: false }, oscillating: { on: false } } }, plain],
        [`{"url":"${url}","modes":{"__proto__":{"on":false},"constructor":{"on":false}}}`, plain],
        [{ url, modes: { stalled: false, 'goal-drift': null, ungrammatical: [] } }, plain],
        [
          { url, modes: { stalled: {}, 'goal-drift': {}, nonsense: {} } },
          {
            ...plain,
            modes: {
              stalled: { on: true, severity: 'info' },
              'goal-drift': { on: true, severity: 'critical' },
            },
          },
        ],
        ...(
          [
            [false, false],
            [0, true],
            ['false', true],
            [null, true],
          ] as const
        ).map(([on, stored]): [object, object] => [
          { url, modes: { stalled: { on } } },
          { ...plain, modes: { stalled: { on: stored, severity: 'info' } } },
        ]),
        ...(
          [
            ['critical', 'critical'],
            ['warn', 'warn'],
            ['Critical', 'warn'],
            ['fatal', 'warn'],
            [1, 'warn'],
          ] as const
        ).map(([severity, stored]): [object, object] => [
          { url, modes: { ungrammatical: { severity } } },
          { ...plain, modes: { ungrammatical: { on: true, severity: stored } } },
        ]),
        ...(['', ' ', 'http://a.example', 'https://10.0.0.1/', 'nonsense', null, 7] as const).map(
          (own): [object, object] => [
            { url, modes: { stalled: { url: own } } },
            { ...plain, modes: { stalled: { on: true, severity: 'info' } } },
          ],
        ),
        [
          { url, modes: { stalled: { url: ' https://b.example/x ', min_phi: '0.9' } } },
          {
            ...plain,
            modes: {
              stalled: { on: true, severity: 'info', url: 'https://b.example/x', min_phi: 0.9 },
            },
          },
        ],
        ...(
          [
            [null, undefined],
            [0, 0],
            ['x', 0],
            [3, 1],
          ] as const
        ).map(([min_phi, stored]): [object, object] => {
          const own = {
            on: true,
            severity: 'info',
            ...(stored === undefined ? {} : { min_phi: stored }),
          }
          return [
            { url, modes: { stalled: { min_phi } } },
            { ...plain, modes: { stalled: own } },
          ]
        }),
        [
          { url, incidents: true },
          { ...plain, incidents: true },
        ],
        [{ url, incidents: 'yes', renotify_minutes: 5 }, plain],
        [
          { url, incidents: true, renotify_minutes: '90.7' },
          { ...plain, incidents: true, renotify_minutes: 90 },
        ],
        [
          { url, incidents: true, renotify_minutes: 0.5 },
          { ...plain, incidents: true },
        ],
        [
          { url, incidents: true, renotify_minutes: 1e9 },
          { ...plain, incidents: true, renotify_minutes: 10_080 },
        ],
        [{ url, extra: 1, created: 'yesterday' }, plain],
      ]
      for (const [sent, stored] of rows) {
        const full = { min_phi: 1, incidents: true, modes: { stalled: { on: false } } }
        assert.equal((await post('/v1/alerts', { url: 'https://c.example', ...full })).status, 200)
        const answer = await post('/v1/alerts', sent)
        assert.equal(answer.status, 200, JSON.stringify(sent))
        assert.deepEqual(answer.body, { ok: true, alert: stored }, JSON.stringify(sent))
        assert.deepEqual((await get('/v1/alerts')).body.alert, stored)
      }
    })

    test('a number inside many lists is read, however deep', async (t) => {
      verifies('alerts.set.min-phi')
      const { post, hook } = await startOn(t)
      const nested = (value: string, depth: number) => '['.repeat(depth) + value + ']'.repeat(depth)
      for (const field of ['min_phi', 'renotify_minutes']) {
        for (const [value, min_phi] of [
          [nested('0.5', 3), 0.5],
          [nested('0.5', 50_000), 0.5],
          [nested('', 50_000), 0],
          [nested('0.5, 1', 2), 0],
        ] as const) {
          const sent = `{"url":"${hook.url}","incidents":true,"${field}":${value}}`
          const { status, body } = await post('/v1/alerts', sent)
          assert.equal(status, 200, `${field} ${value.slice(0, 9)}`)
          if (field === 'min_phi') assert.equal(body.alert.min_phi, min_phi)
          else assert.equal(body.alert.renotify_minutes, undefined)
        }
      }
    })

    test('created is the time of the last write', async (t) => {
      verifies('alerts.config')
      const { app, get, post } = await startOn(t)
      await post('/v1/alerts', { url })
      app.advance(61_000)
      await post('/v1/alerts', { url })
      assert.equal((await get('/v1/alerts')).body.alert.created, '2026-01-15T12:01:01.000Z')
    })

    const refused = [
      ...['', 'null', '[]', '{}', '{', '"https://a.example"', '7', 'false'],
      ...[
        undefined,
        null,
        '',
        '   ',
        {},
        7,
        'a.example/x',
        'http://a.example/x',
        'ftp://a.example/x',
        'javascript:alert(1)',
        'https://localhost/x',
        'https://app.localhost/x',
        'https://db.internal/x',
        'https://printer.local/x',
        'https://intranet/x',
        'https://127.0.0.1/x',
        'https://127.1/x',
        'https://2130706433/x',
        'https://0x7f.0.0.1/x',
        'https://0.0.0.0/x',
        'https://0.1.2.3/x',
        'https://10.1.2.3/x',
        'https://172.16.0.1/x',
        'https://172.31.255.255/x',
        'https://192.168.1.1/x',
        'https://169.254.169.254/x',
        'https://[::1]/x',
        'https://[::]/x',
        'https://[fd00::1]/x',
        'https://[fdff::1]/x',
        'https://[fe80::1]/x',
        'https://[::ffff:10.0.0.1]/x',
        'https://LOCALHOST./x',
      ].map((each) => JSON.stringify({ url: each })),
    ]
    test('a webhook that is not https on a public host is refused, and what was set stays', async (t) => {
      verifies('alerts.set.https', 'alerts.set.hosts', 'alerts.set.400', 'alerts.set.body')
      const { get, post } = await startOn(t)
      await post('/v1/alerts', { url })
      for (const body of refused) {
        const answer = await post('/v1/alerts', body)
        const detail = 'Provide an https:// URL on a public host.'
        assert.deepEqual(
          [answer.status, answer.body],
          [400, { error: 'invalid_webhook', detail }],
          body,
        )
      }
      assert.equal((await get('/v1/alerts')).body.alert.url, url)
    })

    test('a host that only looks private passes', async (t) => {
      verifies('alerts.set.hosts')
      const { post } = await startOn(t)
      for (const passed of [
        'https://172.15.0.1/x',
        'https://172.32.0.1/x',
        'https://11.0.0.1/x',
        'https://192.169.0.1/x',
        'https://mylocalhost.example/x.local',
        'https://internal.example/x',
        'https://[2606:4700::1111]/x',
      ]) {
        assert.equal((await post('/v1/alerts', { url: passed })).status, 200, passed)
      }
    })
  })

  describe('GET /v1/alerts/log', () => {
    test('holds every attempt and suppression, newest first', async (t) => {
      verifies('alerts.log.all', 'alerts.log.fields', 'alerts.log.newest-first')
      const { set, drift, settle, hook, readLog, app } = await startOn(t)
      await drift('unset')
      app.advance(1000)
      await set({ modes: { 'goal-drift': { on: false } } })
      await drift('muted')
      app.advance(1000)
      await set({ min_phi: 0.9 })
      await drift('below')
      app.advance(1000)
      await set()
      await drift('sent')
      await settle()
      app.advance(1000)
      hook.answer(404)
      await drift('refused')
      await settle()
      const entry = { reason: 'goal-drift', severity: 'critical', phi: 0.45 }
      const off = { ...entry, delivered: false, status: 0 }
      const second = (seconds: number) => `2026-01-15T12:00:0${seconds}.000Z`
      assert.deepEqual(await readLog(), [
        {
          ts: second(4),
          run_id: 'refused',
          ...off,
          status: 404,
          detail: 'webhook returned 404',
        },
        { ts: second(3), run_id: 'sent', ...entry, delivered: true, status: 200 },
        { ts: second(2), run_id: 'below', ...off, detail: 'below min_phi' },
        { ts: second(1), run_id: 'muted', ...off, detail: 'goal-drift muted' },
        { ts: second(0), run_id: 'unset', ...off, detail: 'no valid webhook configured' },
      ])
      assert.equal(hook.sent.length, 2)
    })

    test('orders an attempt that took long by when it began', async (t) => {
      verifies('alerts.log.newest-first')
      const { set, drift, settle, hook, readLog, app } = await startOn(t)
      await set({ modes: { 'self-report:stuck': { on: false } } })
      hook.hang()
      await drift('slow')
      await hook.wait(1)
      app.advance(1000)
      await set({ modes: { 'goal-drift': { on: false } } })
      await drift('muted')
      hook.answer(200)
      hook.release()
      await settle()
      assert.deepEqual(
        (await readLog()).map(({ ts, run_id }) => [ts, run_id]),
        [
          ['2026-01-15T12:00:01.000Z', 'muted'],
          ['2026-01-15T12:00:00.000Z', 'slow'],
        ],
      )
    })

    test('keeps 50 entries, for 30 days, and outlives the config', async (t) => {
      verifies('alerts.log.newest-first', 'alerts.log.retention', 'alerts.delete.log-stays')
      const { app, logAll, readLog, set, request, settle } = await startOn(t)
      await set()
      await request('DELETE', '/v1/alerts')
      const steps = Array.from({ length: 70 }, (_, index) => [
        { run_id: `run-${index}`, goal: errand },
        { run_id: `run-${index}`, goal: astray },
      ])
      for (const { reason } of await logAll(steps.flat())) {
        assert.ok(['grounded', 'goal-drift'].includes(reason))
      }
      const ids = (await readLog()).map(({ run_id }) => run_id)
      assert.deepEqual(
        ids,
        Array.from({ length: 50 }, (_, index) => `run-${69 - index}`),
      )
      app.advance(30 * dayMs - 1)
      assert.equal((await readLog()).length, 50)
      await logAll([
        { run_id: 'late', goal: errand },
        { run_id: 'late', goal: astray },
      ])
      app.advance(1)
      assert.deepEqual(
        (await readLog()).map(({ run_id }) => run_id),
        ['late'],
      )
      await settle()
      const rows = await app.running.store.db.all('SELECT seq FROM alert_log')
      assert.equal(rows.length, 1, 'the job deletes what is too old')
    })

    test('steps of two nodes are all in it, each once', async (t) => {
      verifies('alerts.log.all')
      const env = { DATABASE_URL: await database.createUrl() }
      const alerted = await startAlerted(t, { env })
      const beside = database.name === 'postgres' ? await start(t, { env }) : alerted.app
      const nodes = [alerted, alerted.at(beside)]
      const runs = Array.from({ length: 40 }, (_, index) => `run-${index}`)
      await Promise.all(
        runs.map(async (run_id, index) => {
          const { logAll } = nodes[index % 2]!
          await logAll([
            { run_id, goal: errand },
            { run_id, goal: astray },
          ])
        }),
      )
      const ids = (await alerted.readLog()).map(({ run_id }) => run_id)
      assert.deepEqual(ids.toSorted(), runs.toSorted())
    })
  })

  describe('POST /v1/alerts/test', () => {
    const sentence = 'The webhook is wired: alerts of drift will arrive here.'

    test('sends a fixed event at once and tells what became of it', async (t) => {
      verifies(
        'alerts.test.event',
        'alerts.test.answer',
        'alerts.test.detail',
        'alerts.test.status',
        'alerts.test.logged',
        'alerts.test.sent',
      )
      const { set, post, hook, readLog, account } = await startOn(t)
      await set()
      for (const [status, detail] of [
        [200, ''],
        [204, ''],
        [302, 'webhook returned 302'],
        [500, 'webhook returned 500'],
      ] as const) {
        hook.answer(status)
        const delivered = detail === ''
        const answer = await post('/v1/alerts/test', 'this is not even JSON')
        const { latency_ms, body, ...told } = answer.body
        assert.deepEqual([answer.status, told], [200, { ok: true, delivered, status, detail }])
        assert.ok(Number.isInteger(latency_ms) && latency_ms >= 0)
        assert.equal(body, hook.sent.at(-1)!.text)
        const [entry] = await readLog()
        assert.deepEqual(entry, {
          ts: noon,
          run_id: 'test',
          reason: 'stalled',
          severity: 'info',
          phi: 0.62,
          delivered,
          status,
          ...(delivered ? {} : { detail }),
        })
      }
      assert.equal(hook.sent.length, 4, 'one attempt each')
      assert.deepEqual(hook.sent[0]!.body, {
        event: 'drift',
        account,
        run_id: 'test',
        goal: 'test alert',
        reason: 'stalled',
        severity: 'info',
        phi: 0.62,
        advice: sentence,
        ts: noon,
        state: 'opened',
      })
    })

    test('a request that gets no answer is status 0 with at most 200 characters', async (t) => {
      verifies('alerts.test.status', 'alerts.test.detail', 'alerts.state.threw')
      const { set, post, readLog } = await startOn(t, { PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.1:1' })
      await set({ url: 'http://127.0.0.1:1/x' })
      const { body } = await post('/v1/alerts/test', {})
      assert.deepEqual([body.ok, body.delivered, body.status], [true, false, 0])
      assert.ok(body.detail.length > 0 && body.detail.length <= 200, body.detail)
      assert.deepEqual((await readLog())[0].detail, body.detail)
    })

    test('a stored webhook that has become invalid is not called', async (t) => {
      verifies(
        'alerts.test.status',
        'alerts.test.detail',
        'alerts.test.sent',
        'alerts.state.no-webhook',
      )
      const env = { DATABASE_URL: await database.createUrl() }
      const before = await startAlerted(t, { env })
      await before.set()
      await before.app.running.stop()
      const app = await start(t, { env })
      const { post, readLog, drift, settle, hook } = alertedOf(before.at(app), before.hook)
      const detail = 'no valid webhook configured'
      const { body } = await post('/v1/alerts/test', {})
      const unsent = { latency_ms: 0, body: null }
      assert.deepEqual(body, { ok: true, delivered: false, status: 0, detail, ...unsent })
      await drift()
      await settle()
      const log = await readLog()
      assert.deepEqual(
        log.map((entry) => [entry.run_id, entry.delivered, entry.status, entry.detail]),
        [
          ['run', false, 0, detail],
          ['test', false, 0, detail],
        ],
      )
      assert.equal(hook.sent.length, 0)
    })

    test('is sent though its mode is muted or below min_phi, and goes to the url of its mode', async (t) => {
      verifies('alerts.test.bypass', 'alerts.test.override')
      const { set, post, hook } = await startOn(t)
      const own = `${hook.url}/stalled`
      for (const [stalled, path, severity] of [
        [{ on: false, min_phi: 1 }, hookPath, 'info'],
        [{ url: own, severity: 'critical' }, `${hookPath}/stalled`, 'critical'],
        [{ url: 'https://10.0.0.1/', severity: 'warn' }, hookPath, 'warn'],
      ] as const) {
        await set({ min_phi: 1, modes: { stalled } })
        assert.equal((await post('/v1/alerts/test', {})).body.delivered, true)
        const { path: sentTo, body } = hook.sent.at(-1)!
        assert.deepEqual([sentTo, body.severity], [path, severity])
      }
    })

    test('without a config it is refused', async (t) => {
      verifies('alerts.test.no-config')
      const { post, readLog } = await startOn(t)
      const { status, body } = await post('/v1/alerts/test', {})
      const detail = 'Set a webhook first: POST /v1/alerts { url }'
      assert.deepEqual([status, body], [400, { error: 'no_config', detail }])
      assert.deepEqual(await readLog(), [])
    })

    test('sends once for one idempotency key', async (t) => {
      verifies('idempotency.replay')
      const { set, post, hook, readLog } = await startOn(t)
      await set()
      const once = { 'idempotency-key': 'once' }
      const answers = await Promise.all([1, 2, 3].map(() => post('/v1/alerts/test', {}, once)))
      for (const { status, text } of answers) {
        assert.deepEqual([status, text], [200, answers[0]!.text])
      }
      assert.deepEqual([hook.sent.length, (await readLog()).length], [1, 1])
    })

    test('a test that hangs holds up neither the outbox nor, beyond three, other tests', async (t) => {
      verifies('alerts.test.answer')
      const alerted = await startOn(t)
      const slow = await startHook(t)
      slow.hang()
      const app = await start(t, {
        env: {
          DATABASE_URL: await database.createUrl(),
          PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${slow.port},127.0.0.1:${alerted.hook.port}`,
        },
      })
      const tester = await newCaller(app)
      const beside = alertedOf(await newCaller(app), alerted.hook)
      await tester.post('/v1/alerts', { url: slow.url })
      await beside.set()
      const test = async () => (await tester.post('/v1/alerts/test', {})).body
      const hanging = [test(), test(), test()]
      await slow.wait(3)
      await beside.drift()
      const first = await Promise.race([beside.hook.wait(1).then(() => 'told'), ...hanging])
      assert.equal(first, 'told')
      const detail = 'too many requests are under way; try again'
      const refused = await test()
      assert.deepEqual([refused.delivered, refused.status, refused.detail], [false, 0, detail])
      assert.equal(slow.sent.length, 3)
      slow.answer(200)
      slow.release()
      for (const each of await Promise.all(hanging)) assert.equal(each.delivered, true)
      assert.equal((await test()).delivered, true)
    })

    test('may be made 30 times a minute', async (t) => {
      verifies('alerts.test.answer')
      const { app, set, post, hook } = await startOn(t)
      await set()
      app.advance(15_000)
      for (let sent = 1; sent <= 30; sent++) {
        assert.equal((await post('/v1/alerts/test', {})).status, 200)
      }
      const refused = await post('/v1/alerts/test', {})
      assert.deepEqual(
        [refused.status, refused.body.error, refused.body.retry_after_s],
        [429, 'rate_limit', 45],
      )
      assert.equal(refused.headers.get('retry-after'), '45')
      app.advance(45_000)
      assert.equal((await post('/v1/alerts/test', {})).status, 200)
      assert.equal(hook.sent.length, 31)
    })
  })
})
