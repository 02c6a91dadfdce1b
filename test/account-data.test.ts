import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { type DriftRequest, readDrift } from '../src/core/runs/step-request.ts'
import { hourMs, minuteMs } from '../src/core/time.ts'
import { ownedTables } from '../src/storage/owned.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { dumpTables } from './dump.ts'
import { furnish, marker, silentCollector } from './furnish.ts'
import { type App, start } from './harness.ts'
import { settle, startAlerted, startHook } from './hook.ts'
import { startMailbox } from './mailbox.ts'
import { spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const token = 'the-token-of-the-operator'
const errand = 'fix the login form'

/** Columns that the export leaves out: secrets, what stands for them, and numbers of our own. */
const leftOut = [
  'alert_accounts.old_secret',
  'alert_accounts.old_secret_until',
  'alert_accounts.secret',
  'alert_accounts.seq',
  'digests.token',
  'email_links.hash',
  'escalations.touched',
  'idempotency.answer',
  'idempotency.body_hash',
  'idempotency.key',
  'keys.hash',
  'selves.entries',
  'sessions.hash',
  'sign_in_links.hash',
  'stream_events.tx',
  'subscriptions.version',
  'teams.mask',
]

onEachDatabase((database) => {
  interface Setting {
    app: App
    url: string
    caller: Caller
    /** How many rows name the account, by table. */
    rowsOf(account: string): Promise<Record<string, number>>
  }

  async function startKeyed(t: TestContext, env: Record<string, string> = {}): Promise<Setting> {
    const url = await database.createUrl()
    const app = await start(t, {
      env: {
        DATABASE_URL: url,
        PLUMBLINE_ADMIN_TOKEN: token,
        PLUMBLINE_OTLP_URL: silentCollector,
        ...env,
      },
    })
    const db = await openFor(t, url)
    return {
      app,
      url,
      caller: await newCaller(app),
      async rowsOf(account) {
        const tables = Object.entries(await dumpTables(db))
        const counts = tables.map(([table, rows]) => [
          table,
          rows.filter((row) => JSON.stringify(row).includes(account)).length,
        ])
        return Object.fromEntries(counts.filter(([, count]) => count !== 0))
      },
    }
  }

  async function startFurnished(t: TestContext): Promise<Setting> {
    const hook = await startHook(t)
    const { env } = await startMailbox(t)
    const setting = await startKeyed(t, {
      PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${hook.port}`,
      PLUMBLINE_ALERT_RETRIES: '0',
      ...env,
    })
    await furnish(setting.app, setting.caller, hook)
    return setting
  }

  const remove = (caller: Caller) => caller.request('DELETE', `/v1/me?confirm=${caller.account}`)

  /** Has every job be done that is due within a minute. */
  async function waitAMinute(app: App): Promise<void> {
    await settle(app)
    await app.running.store.counters.flush()
    app.advance(minuteMs)
    await settle(app)
  }

  test('every table with an account is one of those that are erased and exported', async (t) => {
    verifies('me.delete-tables', 'me.export')
    const { url } = await startKeyed(t)
    const db = await openFor(t, url)
    const columns = await db.all<{ table: string; name: string }>(
      db.kind === 'postgres'
        ? `SELECT table_name AS "table", column_name AS name FROM information_schema.columns
           WHERE table_schema = current_schema()`
        : `SELECT tables.name AS "table", columns.name
           FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
           WHERE tables.type = 'table'`,
    )
    const byTable = Map.groupBy(columns, ({ table }) => table)
    const owned = [...byTable].filter(([, own]) => own.some(({ name }) => name === 'account'))
    assert.deepEqual(
      owned.map(([table]) => table).sort(),
      ownedTables.map(({ table }) => table).sort(),
    )
    const left = ownedTables.flatMap(({ table, exported }) =>
      (byTable.get(table) ?? [])
        .map(({ name }) => name)
        .filter((name) => name !== 'account' && !exported.includes(name))
        .map((name) => `${table}.${name}`),
    )
    assert.deepEqual(left.sort(), [...leftOut].sort())
  })

  test('what a request in flight stores for a deleted account is erased too', async (t) => {
    verifies('me.delete-in-flight', 'me.delete')
    const { app, caller, rowsOf } = await startKeyed(t)
    await caller.log({ run_id: 'a', goal: errand })
    const erased = await remove(caller)
    assert.equal(erased.status, 200, erased.text)
    assert.deepEqual([erased.body.erased.runs, erased.body.erased.steps], [1, 1])
    await settle(app)
    // As a request does that was let in before the key went.
    const { store, service } = app.running
    const request = readDrift({ run_id: 'late', goal: errand }) as DriftRequest
    const { account } = caller
    await store.log([
      {
        account,
        request,
        detector: service.settings.detector,
        now: service.now(),
        retentionDays: 1,
      },
    ])
    assert.ok('runs' in (await rowsOf(caller.account)))
    await waitAMinute(app)
    assert.deepEqual(await rowsOf(caller.account), {})
  })

  test('a large account is erased in slices, and others are served meanwhile', async (t) => {
    verifies('me.delete')
    const { app, caller, rowsOf } = await startKeyed(t)
    const other = await newCaller(app)
    const steps = Array.from({ length: 3_000 }, (_, index) => ({
      run_id: `run${index % 30}`,
      goal: `task${index} word${index} thing${index}`,
    }))
    await caller.logAll(steps)
    const { body } = await remove(caller)
    assert.deepEqual([body.erased.runs, body.erased.steps], [30, 3_000])
    assert.equal((await caller.get('/v1/me')).status, 401)
    const erasing = settle(app)
    for (let call = 0; call < 10; call++) await other.log({ run_id: 'b', goal: errand })
    await erasing
    await waitAMinute(app)
    assert.deepEqual(await rowsOf(caller.account), {})
    assert.equal((await other.read('b')).run.steps, 10)
  })

  test('the owner of a team with members is told to remove them, and the operator need not', async (t) => {
    verifies('me.delete-team', 'admin.delete-account')
    const { app, caller, rowsOf } = await startKeyed(t)
    const [member, leaving] = [await newCaller(app), await newCaller(app)]
    for (const each of [member, leaving]) {
      const { code } = (await caller.post('/v1/team/invite', {})).body
      assert.equal((await each.post('/v1/team/join', { code })).status, 200)
    }
    const refused = await remove(caller)
    assert.deepEqual([refused.status, refused.body.error], [409, 'conflict'])
    assert.match(refused.body.detail, /POST \/v1\/team\/seat/)
    assert.equal((await caller.get('/v1/me')).status, 200)
    assert.equal((await remove(leaving)).status, 200, 'a member gives up the seat')
    assert.equal((await caller.get('/v1/team')).body.team.members.length, 2)

    const operator = { headers: { authorization: `Bearer ${token}` } }
    const path = `/v1/admin/accounts?account=${caller.account}`
    const erased = await app.request('DELETE', path, operator)
    assert.equal(erased.status, 200, erased.text)
    assert.deepEqual([erased.body.account, erased.body.erased.keys], [caller.account, 1])
    const again = await app.request('DELETE', path, operator)
    assert.deepEqual([again.status, again.body.error], [404, 'no_account'])
    assert.equal((await member.get('/v1/team')).body.team, null)
    assert.equal((await caller.get('/v1/me')).status, 401)
    await waitAMinute(app)
    for (const account of [caller.account, leaving.account]) {
      assert.deepEqual(await rowsOf(account), {})
    }
  })

  test('the command line erases an account while a server runs, and asks to be sure', async (t) => {
    verifies('command.accounts-delete')
    const { app, url, caller, rowsOf } = await startKeyed(t)
    await caller.log({ run_id: 'a', goal: errand })
    const accounts = async (...args: string[]) => {
      const { written, ended } = spawnPlumbline(t, ['accounts', ...args], {
        env: { DATABASE_URL: url },
      })
      return { code: await ended, ...written }
    }
    const unsure = await accounts('delete', caller.account)
    assert.deepEqual([unsure.code, unsure.out], [2, ''])
    assert.match(unsure.err, /--yes/)
    assert.equal((await caller.get('/v1/me')).status, 200)
    const erased = await accounts('delete', caller.account, '--yes')
    assert.deepEqual([erased.code, erased.err], [0, ''])
    assert.match(erased.out, new RegExp(`^Erased ${caller.account}: keys 1, runs 1, steps 1`))
    const left = await rowsOf(caller.account)
    assert.deepEqual(
      Object.keys(left).filter((table) => table !== 'counters'),
      ['jobs'],
    )
    app.advance(5_000)
    assert.equal((await caller.get('/v1/me')).status, 401)
    // The command has the clock of the machine.
    app.advance(Date.now() - app.running.service.now())
    const again = await accounts('delete', caller.account, '--yes', '--json')
    assert.deepEqual([again.code, again.out], [2, ''])
    await waitAMinute(app)
    assert.deepEqual(await rowsOf(caller.account), {})
  })

  test('the export holds every row of the account, and no secret', async (t) => {
    verifies('me.export', 'me.export-readable')
    const { app, url, caller } = await startFurnished(t)
    const stranger = await newCaller(app)
    await stranger.log({ run_id: 'mine', goal: 'nobody else’s business' })
    await caller.logAll(
      Array.from({ length: 450 }, (_, index) => ({ run_id: 'long', goal: `${errand} ${index}` })),
    )
    const answer = await caller.get('/v1/me/export')
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/x-ndjson/)
    const lines = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const counts = Object.fromEntries(
      [...Map.groupBy(lines, ({ type }) => type)].map(([type, own]) => [type, own.length]),
    )
    const rows = await dumpTables(await openFor(t, url))
    const expected = ownedTables.map(({ table, type }) => [
      type,
      (rows[table] as { account: string }[]).filter(({ account }) => account === caller.account)
        .length,
    ])
    assert.deepEqual(counts, { account: 1, ...Object.fromEntries(expected) })
    assert.deepEqual(lines[0], {
      type: 'account',
      id: caller.account,
      tier: 'enterprise',
      email: `${marker}@reader.test`,
      created: '2026-01-15T12:00:00.000Z',
      email_verified: false,
    })
    const of = (type: string) => lines.find((line) => line.type === type)
    assert.equal(of('run').drifting, true)
    assert.equal(of('run').created, '2026-01-15T12:00:00.000Z')
    assert.equal(of('alert_settings').config.incidents, true)
    assert.equal(of('agent').memory.ground.goal.length > 0, true)
    for (const line of lines) {
      for (const [name, value] of Object.entries(line)) {
        const shown = `${line.type}.${name}: ${value}`
        assert.ok(typeof value !== 'string' || !/^[[{]/.test(value), `JSON is no text, ${shown}`)
      }
    }
    const times = answer.text.match(/"\w+":1[0-9]{12}\b/g)
    assert.equal(times, null, 'a time is ISO 8601, also in JSON')
    assert.equal(of('pending_span').span.traceId, marker)
    assert.equal(
      lines.filter(({ run_id, type }) => run_id === 'long' && type === 'step').length,
      450,
    )
    assert.ok(!answer.text.includes('nobody else'))
    const { keys, alert_accounts, digests, email_links, teams } = rows
    // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
    for (const row of [keys, alert_accounts, digests, email_links, teams].flat() as any[]) {
      for (const secret of [row.hash, row.secret, row.token, row.mask]) {
        if (secret) assert.ok(!answer.text.includes(secret))
      }
    }
  })

  test('a conversation is deleted with its turns and its events', async (t) => {
    verifies('dialogue.delete')
    const { app, url, caller } = await startFurnished(t)
    const path = `/v1/dialogue?conv_id=${marker}-conv`
    const deleted = await caller.request('DELETE', path)
    assert.deepEqual([deleted.status, deleted.body], [200, { ok: true, deleted: 3 }])
    const again = await caller.request('DELETE', path)
    assert.deepEqual([again.status, again.body.error], [404, 'no_conversation'])
    assert.equal((await caller.get(path)).status, 404)
    await settle(app)
    const rows = await dumpTables(await openFor(t, url))
    assert.deepEqual([rows.conversations, rows.conversation_turns], [[], []])
    assert.ok(!JSON.stringify(rows.alert_events).includes(`${marker}-conv`))
    assert.ok(JSON.stringify(rows.alert_events).includes(`${marker}-run`))
    assert.equal((await caller.request('DELETE', '/v1/dialogue')).status, 400)
  })

  test('an escalation is deleted, decided or not, and holds nothing back any more', async (t) => {
    verifies('escalation.delete')
    const { caller } = await startKeyed(t)
    await caller.log({ run_id: 'a', goal: errand })
    const ids = []
    for (let count = 0; count < 2; count++) {
      ids.push((await caller.post('/v1/escalation', { run_id: 'a', reason: 'stuck' })).body.esc_id)
    }
    await caller.post('/v1/escalation/decide', { id: ids[0], decision: 'stop' })
    for (const id of ids) {
      const deleted = await caller.request('DELETE', `/v1/escalation?id=${id}`)
      assert.deepEqual([deleted.status, deleted.body], [200, { ok: true }])
      const again = await caller.request('DELETE', `/v1/escalation?id=${id}`)
      assert.deepEqual([again.status, again.body.error], [404, 'no_escalation'])
    }
    assert.deepEqual((await caller.get('/v1/escalation')).body.escalations, [])
    const act = { kind: 'deploy', target: 'web', reversible: false, outward: true }
    const { body } = await caller.post('/v1/operator/consult', { run_id: 'a', ...act })
    assert.equal(body.allow, true)
  })

  test('an address that was deleted while it was asked is not remembered again', async (t) => {
    verifies('alerts.delete')
    const me = await startAlerted(t, { env: { DATABASE_URL: await database.createUrl() } })
    await me.set()
    me.hook.hang()
    await me.drift()
    const jobs = settle(me.app)
    await me.hook.wait(1)
    assert.equal((await me.request('DELETE', '/v1/alerts')).status, 200)
    me.hook.answer(500)
    me.hook.release()
    await jobs
    const db = me.app.running.store.db
    assert.deepEqual(await db.all('SELECT url FROM alert_endpoints'), [])
  })

  if (database.name === 'sqlite') {
    test('nothing of a deleted account can be read in the bytes of the file', async (t) => {
      verifies('storage.file-scrubbed')
      const { app, url, caller } = await startFurnished(t)
      const bytes = () =>
        ['', '-wal'].map((suffix) => readFileSync(url.slice('sqlite:'.length) + suffix, 'latin1'))
      assert.ok(bytes().some((part) => part.includes(marker)))
      await remove(caller)
      await waitAMinute(app)
      app.advance(hourMs)
      await settle(app)
      for (const part of bytes()) {
        assert.ok(!part.includes(marker))
        assert.ok(!part.includes(caller.account))
      }
    })

    test('nothing of a deleted run or webhook can be read in the bytes of the file', async (t) => {
      verifies('storage.file-scrubbed', 'run.delete-answers')
      const { app, url, caller } = await startKeyed(t)
      const hook = 'https://user:hunter2@example.com/secret-path'
      assert.equal((await caller.post('/v1/alerts', { url: hook })).status, 200)
      for (let count = 0; count < 200; count++) {
        const goal = `tune the ${marker} ${'and polish it '.repeat(count)}`
        const key = { 'idempotency-key': `${count}` }
        await caller.post('/v1/drift', { run_id: 'a', goal }, key)
      }
      await caller.request('DELETE', '/v1/alerts')
      await caller.request('DELETE', '/v1/drift/run?run_id=a')
      await settle(app)
      for (const suffix of ['', '-wal']) {
        const part = readFileSync(url.slice('sqlite:'.length) + suffix, 'latin1')
        for (const text of [marker, 'hunter2', 'secret-path']) assert.ok(!part.includes(text), text)
      }
    })
  }
})
