import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { dayMs, hourMs, minuteMs } from '../src/core/time.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { newCaller } from './caller.ts'
import { dumpTables } from './dump.ts'
import { exportSpan, furnish, furnishKeyless, marker, silentCollector } from './furnish.ts'
import { type App, start } from './harness.ts'
import { settle, startHook } from './hook.ts'
import { startMailbox } from './mailbox.ts'
import { verifies } from './verifies.ts'

/**
 * How each table of the schema shrinks, so that nobody adds one that only grows: its rows go when they
 * are old, with the run or the conversation they are of, or with their account; or there is a reason why
 * there are never many.
 */
const shrinks: Record<string, 'old' | 'run' | 'conversation' | 'account' | { bounded: string }> = {
  accounts: 'account',
  keys: 'account',
  teams: 'account',
  team_seats: 'account',
  selves: 'account',
  self_log: 'account',
  templates: 'account',
  digests: 'account',
  alert_accounts: 'account',
  runs: 'old',
  agents: 'run',
  grounds: 'run',
  steps: 'run',
  openings: 'run',
  contexts: 'run',
  conversations: 'old',
  conversation_turns: 'conversation',
  escalations: 'old',
  tool_sessions: 'old',
  host_sessions: 'old',
  hook_settings: 'account',
  alarms: 'run',
  labels: 'run',
  budgets: 'account',
  identities: 'account',
  subscriptions: 'account',
  payment_events: 'old',
  sessions: 'old',
  sign_in_links: 'old',
  stream_events: 'old',
  stream_listeners: 'old',
  unknown_events: 'account',
  pending_spans: 'old',
  evaluation_results: 'old',
  acts: 'old',
  idempotency: 'old',
  counters: 'old',
  alert_log: 'old',
  alert_events: 'old',
  alert_attempts: 'old',
  alert_endpoints: 'old',
  alert_incidents: 'old',
  team_invites: 'old',
  email_links: 'old',
  jobs: { bounded: 'of an account that is gone only those that recur are left' },
  field_samples: { bounded: 'a day of minutes' },
  field: { bounded: 'one row' },
  heartbeat: { bounded: 'one row' },
  migrations: { bounded: 'one row for each version of the schema' },
  secrets: { bounded: 'one row for each thing that is signed' },
}

onEachDatabase((database) => {
  async function startFurnished(t: TestContext) {
    const hook = await startHook(t)
    const mailbox = await startMailbox(t)
    const url = await database.createUrl()
    const app = await start(t, {
      env: {
        DATABASE_URL: url,
        PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${hook.port}`,
        PLUMBLINE_ALERT_RETRIES: '0',
        PLUMBLINE_OTLP_URL: silentCollector,
        ...mailbox.env,
      },
    })
    const db = await openFor(t, url)
    return { app, hook, db, rows: () => dumpTables(db) }
  }

  /** Lets time pass in steps that a job notices. */
  async function wait(app: App, ms: number): Promise<void> {
    app.advance(ms)
    await settle(app)
  }

  test('every table shrinks', async (t) => {
    verifies('retention.tables')
    const { app, hook, rows } = await startFurnished(t)
    const caller = await newCaller(app)
    await furnish(app, caller, hook)
    await furnishKeyless(app)
    await wait(app, minuteMs)
    await exportSpan(caller)
    const full = await rows()
    assert.deepEqual(Object.keys(full).sort(), Object.keys(shrinks).sort(), 'name it here')
    const empty = Object.keys(full).filter((table) => full[table]?.length === 0)
    assert.deepEqual(empty, [], 'furnish fills every table')

    assert.equal((await caller.request('DELETE', `/v1/me?confirm=${caller.account}`)).status, 200)
    for (let look = 0; look < 2; look++) await wait(app, 200 * dayMs)
    const left = await rows()
    for (const [table, how] of Object.entries(shrinks)) {
      if (typeof how === 'string') assert.deepEqual(left[table], [], table)
    }
    assert.ok(!JSON.stringify(left).includes(marker))
    assert.ok(!JSON.stringify(left).includes(caller.account))
    assert.ok((left.field_samples?.length ?? 0) <= 1)
    assert.deepEqual((left.jobs as { id: string }[]).map(({ id }) => id).sort(), [
      'expire',
      'field',
      'results',
    ])
  })

  test('what a caller without a key leaves is gone after a day', async (t) => {
    verifies('retention.keyless')
    const { app, rows } = await startFurnished(t)
    await furnishKeyless(app)
    assert.match(JSON.stringify(await rows()), /anon_/)
    await wait(app, dayMs)
    await wait(app, hourMs)
    const left = JSON.stringify(await rows())
    assert.ok(!left.includes('anon_') && !left.includes(marker), left)
  })

  test('what is old goes while its account stays', async (t) => {
    verifies('retention.tables')
    const { app, hook, rows } = await startFurnished(t)
    const caller = await newCaller(app)
    await furnish(app, caller, hook)
    await furnishKeyless(app)
    await caller.request('DELETE', '/v1/digest')
    await wait(app, 400 * dayMs)
    await wait(app, minuteMs)
    const left = await rows()
    for (const [table, how] of Object.entries(shrinks)) {
      if (typeof how === 'string' && how !== 'account') assert.deepEqual(left[table], [], table)
    }
    assert.equal(left.alert_accounts?.length, 1, 'the config of the account')
  })

  test('an account is deleted with every row that belongs to it, and no other', async (t) => {
    verifies('me.delete', 'me.delete-tables')
    const { app, hook, rows } = await startFurnished(t)
    const other = await newCaller(app)
    await furnish(app, other, hook)
    await wait(app, 60 * minuteMs)
    const before = await rows()
    const caller = await newCaller(app)
    await furnish(app, caller, hook)
    assert.equal((await caller.request('DELETE', '/v1/me')).status, 400)
    const wrong = await caller.request('DELETE', `/v1/me?confirm=${other.account}`)
    assert.deepEqual([wrong.status, wrong.body.error], [400, 'bad_request'])
    const deleted = await caller.request('DELETE', '/v1/me', { confirm: caller.account })
    assert.equal(deleted.status, 200, deleted.text)
    const { erased, ...answer } = deleted.body
    assert.deepEqual(answer, {
      ok: true,
      account: caller.account,
      gone_by: '2026-01-15T13:01:00.000Z',
      unended_subscriptions: [],
    })
    assert.deepEqual(erased, {
      ...{ keys: 1, runs: 5, steps: 8, conversations: 1, escalations: 1, selves: 1 },
      ...{ templates: 1, alerts: erased.alerts },
    })
    assert.equal((await caller.get('/v1/me')).status, 401)
    await settle(app)
    // Within a second of the real clock they are written by themselves.
    await app.running.store.counters.flush()
    await wait(app, minuteMs)
    const left = await rows()
    for (const [table, own] of Object.entries(left)) {
      assert.ok(!JSON.stringify(own).includes(caller.account), table)
    }
    const counted = (tables: Record<string, unknown[]>) =>
      Object.entries(tables)
        .filter(([table]) => !['field_samples', 'counters'].includes(table))
        .map(([table, own]) => [table, own.length])
    assert.deepEqual(counted(left), counted(before), 'what the other account has is still there')
    assert.equal((await other.get('/v1/me')).status, 200)
    assert.equal((await other.read(`${marker}-run`)).run.steps, 3)
  })
})
