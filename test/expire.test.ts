import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createClock } from '../src/storage/database/clock.ts'
import type { Database } from '../src/storage/database/database.ts'
import { deleteExpiredRuns } from '../src/storage/runs/expiry.ts'
import { createStore, type OpenStore } from '../src/storage/store.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const runTables = ['runs', 'steps', 'agents', 'grounds', 'openings']

async function countRows(db: Database, table: string, where = ''): Promise<number> {
  const row = await db.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table} ${where}`)
  return row?.count ?? 0
}

/** How many rows each table has of a run. */
async function rowsOf(db: Database, runId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of runTables)
    counts[table] = await countRows(db, table, `WHERE run_id = '${runId}'`)
  return counts
}

const gone = { runs: 0, steps: 0, agents: 0, grounds: 0, openings: 0 }

onEachDatabase((database) => {
  interface Setting {
    app: App
    caller: Caller
    store: OpenStore
    /** The time of the service. */
    now(): number
    wait(ms: number): void
  }

  /** A service with an account whose runs live for a day. */
  async function startWithRuns(t: TestContext): Promise<Setting> {
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url } })
    const caller = await newCaller(app, 'ground')
    let now = Date.UTC(2026, 0, 15, 12)
    return {
      app,
      caller,
      store: createStore(await openFor(t, url)),
      now: () => now,
      wait(ms) {
        now += ms
        app.advance(ms)
      },
    }
  }

  test('expired and deleted runs are removed with all that hangs on them, and no others', async (t) => {
    verifies('retention.job')
    const { app, caller, store, wait } = await startWithRuns(t)
    await caller.log({ run_id: 'old', goal: 'fix the login form' })
    await caller.log({ run_id: 'old', goal: 'write its tests', agent_id: 'tester' })
    await caller.log({ run_id: 'deleted', goal: 'paint the shed' })
    assert.equal((await caller.request('DELETE', '/v1/drift/run?run_id=deleted')).status, 200)
    wait(dayMs - hourMs)
    await caller.log({ run_id: 'young', goal: 'fix the login form' })
    await app.running.runDue()
    assert.deepEqual(await rowsOf(store.db, 'deleted'), gone)
    assert.deepEqual(await rowsOf(store.db, 'old'), {
      runs: 1,
      steps: 2,
      agents: 2,
      grounds: 2,
      openings: 2,
    })
    wait(hourMs)
    await app.running.runDue()
    assert.deepEqual(await rowsOf(store.db, 'old'), gone)
    const { run, trace } = await caller.read('young')
    assert.deepEqual([run.steps, trace.length, run.ground], [1, 1, 'fix the login form'])
  })

  test('the rows of a deleted run go at once', async (t) => {
    const { app, caller, store } = await startWithRuns(t)
    await app.running.runDue()
    await caller.log({ run_id: 'deleted', goal: 'paint the shed' })
    assert.equal((await caller.request('DELETE', '/v1/drift/run?run_id=deleted')).status, 200)
    await app.running.runDue()
    assert.deepEqual(await rowsOf(store.db, 'deleted'), gone)
  })

  test('contexts shrink with the runs that opened them', async (t) => {
    verifies('drift.recurrence-kept')
    const { app, caller, store, wait } = await startWithRuns(t)
    const seen = async (run_id: string, goal: string) => {
      const { recurrence, ceiling } = await caller.log({ run_id, goal, distance: 4 })
      return [recurrence, ceiling]
    }
    const remove = async (runId: string) => {
      assert.equal((await caller.request('DELETE', `/v1/drift/run?run_id=${runId}`)).status, 200)
      await app.running.runDue()
    }
    await seen('one', 'fix the login form')
    await seen('one', 'paint the shed')
    await seen('two', 'fix the login form')
    assert.deepEqual(await seen('three', 'fix the login form'), [2, 4])
    assert.equal(await countRows(store.db, 'contexts'), 2)
    await remove('one')
    assert.equal(await countRows(store.db, 'contexts'), 1, 'nobody else has painted the shed')
    assert.deepEqual(await seen('four', 'fix the login form'), [2, 4])
    assert.deepEqual(await seen('five', 'paint the shed'), [undefined, undefined])
    for (const runId of ['two', 'three', 'four']) await remove(runId)
    assert.equal(await countRows(store.db, 'contexts'), 1)
    assert.deepEqual(await seen('six', 'fix the login form'), [undefined, undefined])
    wait(dayMs)
    // An expired run that begins anew before the job has come is not an earlier run of itself.
    assert.deepEqual(await seen('six', 'fix the login form'), [undefined, undefined])
    assert.deepEqual(await seen('seven', 'fix the login form'), [1, 4])
    wait(dayMs)
    await app.running.runDue()
    assert.equal(await countRows(store.db, 'contexts'), 0)
    assert.equal(await countRows(store.db, 'openings'), 0)
  })

  test('contexts are right when a long run goes in slices and others step meanwhile', async (t) => {
    verifies('drift.recurrence-kept')
    const { app, caller, store, now, wait } = await startWithRuns(t)
    const goals = Array.from({ length: 60 }, (_, index) => `task${index} word${index}`)
    await caller.logAll(goals.map((goal) => ({ run_id: 'long', goal })))
    await caller.logAll(goals.map((goal) => ({ run_id: 'other', goal })))
    wait(dayMs)
    await caller.logAll(goals.map((goal) => ({ run_id: 'young', goal })))
    const slice = () => store.db.tx((tx) => deleteExpiredRuns(tx, store.db.kind, now(), 25))
    await Promise.all([
      slice().then(slice).then(slice).then(slice),
      ...goals.map((goal) => caller.log({ run_id: 'younger', goal })),
    ])
    const countsOf = () => store.db.all<{ runs: number }>('SELECT DISTINCT runs FROM contexts')
    // The scheduler may be running the job meanwhile, past the runs that were locked. It is due again in an hour.
    for (let again = 0; again < 3 && (await countsOf()).some(({ runs }) => runs !== 2); again++) {
      wait(hourMs)
      await app.running.runDue()
    }
    assert.deepEqual(await countsOf(), [{ runs: 2 }])
    assert.equal(await countRows(store.db, 'contexts'), 60)
  })

  test('the numbers of alerts are forgotten with the last that has one', async (t) => {
    const { app, caller, store, wait } = await startWithRuns(t)
    const accounts = () => countRows(store.db, 'alert_accounts')
    await caller.log({ run_id: 'a', goal: 'refund order 1041' })
    assert.equal(await accounts(), 0, 'a run that does not drift has no number')
    await caller.log({ run_id: 'a', goal: 'refund order 2093' })
    assert.equal(await accounts(), 1)
    wait(29 * dayMs)
    await app.running.runDue()
    assert.deepEqual([await countRows(store.db, 'runs'), await accounts()], [0, 1])
    wait(2 * dayMs)
    await app.running.runDue()
    assert.deepEqual([await countRows(store.db, 'alert_log'), await accounts()], [0, 0])
    const config = { url: 'https://example.com/hook', min_phi: 0, created: '' }
    await store.tx(({ alerts }) => alerts.setConfig(caller.account, config, 0))
    assert.equal(await accounts(), 1)
    await store.tx(({ alerts }) => alerts.setConfig(caller.account, null, 0))
    assert.equal(await accounts(), 0)
  })

  test('the stored answers about a run go with it, and no others', async (t) => {
    verifies('run.delete-answers')
    const { app, caller, store } = await startWithRuns(t)
    const named = 'a "quoted" \\ rün'
    const step = (run_id: string) => ({ run_id, goal: 'fix the login form' })
    const key = (name: string) => ({ 'idempotency-key': name })
    await caller.post('/v1/drift', step(named), key('own'))
    await caller.post('/v1/drift', { ...step(named), step_id: 'own-step' })
    await caller.post('/v1/drift/batch', { steps: [step(named), step(named)] }, key('own-batch'))
    await caller.post('/v1/drift/batch', { steps: [step('b'), step(named)] }, key('shared'))
    await caller.post('/v1/drift/batch', { steps: [step('b'), step('c')] }, key('others'))
    const outcome = { run_id: named, outcome: 'success' }
    await caller.post('/v1/drift/outcome', outcome, key('outcome'))
    await caller.post('/v1/drift', { ...step('b'), parent_goal: `"run_id":"${named}"` }, key('b'))
    const path = `/v1/drift/run?run_id=${encodeURIComponent(named)}`
    assert.equal((await caller.request('DELETE', path)).status, 200)
    await app.running.runDue()
    const left = await store.db.all<{ key: string }>('SELECT key FROM idempotency ORDER BY key')
    assert.deepEqual(left, [{ key: 'b' }, { key: 'others' }])
    const again = await caller.post('/v1/drift', step('b'), key('b'))
    assert.equal(again.status, 409, 'the key of what is left is still known')
  })

  test('idempotency records, counters and jobs that gave up go when their time is over', async (t) => {
    const { app, caller, store, now, wait } = await startWithRuns(t)
    const step = { run_id: 'a', goal: 'fix the login form' }
    await caller.post('/v1/drift', step, { 'idempotency-key': 'old' })
    await store.tx(async ({ jobs }) => {
      await jobs.add({ id: 'a', kind: 'unknown', input: '', due: now() })
      const [job] = await jobs.take('unknown', now(), 1, 1)
      await jobs.giveUp(job!, 'no', now())
    })
    wait(dayMs - hourMs)
    await caller.post('/v1/drift', step, { 'idempotency-key': 'young' })
    await app.running.runDue()
    assert.equal(await countRows(store.db, 'idempotency'), 2)
    wait(hourMs)
    await app.running.runDue()
    const left = await store.db.all<{ key: string }>('SELECT key FROM idempotency')
    assert.deepEqual(left, [{ key: 'young' }])
    const today = Math.floor(now() / dayMs)
    const countersBefore = (day: number) => countRows(store.db, 'counters', `WHERE day < ${day}`)
    assert.ok((await countersBefore(today)) > 0, 'yesterday is kept, lest the clock goes back')
    const read = await caller.get('/v1/me')
    assert.equal(read.body.usage.writes, 1)
    const keptJobs = () => countRows(store.db, 'jobs', "WHERE kind = 'unknown'")
    assert.equal(await keptJobs(), 1)
    wait(30 * dayMs)
    await app.running.runDue()
    assert.equal(await keptJobs(), 0)
    assert.equal(await countersBefore(today + 1), 0)
  })

  test('a long run goes in slices, its own row last, and can be begun anew in between', async (t) => {
    const { app, caller, store, now, wait } = await startWithRuns(t)
    const steps = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        run_id: 'long',
        goal: `task${index} word${index} thing${index}`,
        agent_id: `agent${index % 30}`,
        user_turn: index % 2 === 0,
      }))
    await caller.logAll(steps(250))
    await caller.log({ run_id: 'short', goal: 'fix the login form' })
    const sumRows = async () => {
      const counts = Object.values(await rowsOf(store.db, 'long'))
      return counts.reduce((sum, count) => sum + count, 0)
    }
    // The clock of the service stands still, so that its own job finds nothing to delete meanwhile.
    const later = now() + dayMs
    const slice = () => store.db.tx((tx) => deleteExpiredRuns(tx, store.db.kind, later, 100))
    let before = await sumRows()
    assert.ok(before > 500)
    for (let more = true; more; ) {
      more = await slice()
      const after = await sumRows()
      assert.ok(before - after <= 101, `${before - after} rows in one transaction`)
      assert.equal((await rowsOf(store.db, 'long')).runs, after > 0 ? 1 : 0)
      before = after
    }
    assert.equal(before, 0)
    assert.deepEqual(await rowsOf(store.db, 'short'), gone)

    await caller.logAll(steps(250))
    wait(dayMs)
    await slice()
    const { step } = await caller.log({ run_id: 'long', goal: 'fix the login form' })
    assert.equal(step, 1)
    await app.running.runDue()
    assert.deepEqual(await rowsOf(store.db, 'long'), {
      runs: 1,
      steps: 1,
      agents: 1,
      grounds: 1,
      openings: 1,
    })
  })

  test('what is too much for one run of the job is the next one’s, at once', async (t) => {
    const { app, store, wait } = await startWithRuns(t)
    wait(hourMs)
    await store.db.run(
      `INSERT INTO counters (bucket, day, used)
       WITH RECURSIVE numbers(number) AS (
         SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 60000
       )
       SELECT CAST(number AS TEXT), 1, 1 FROM numbers`,
    )
    await app.running.runDue()
    await app.running.runDue()
    assert.equal(await countRows(store.db, 'counters', 'WHERE day = 1'), 0)
  })

  test('when keys were last used is stored every minute', async (t) => {
    const { app, caller, store, wait } = await startWithRuns(t)
    const lastUsed = async () => {
      const [row] = await store.db.all<{ last_used: number | null }>('SELECT last_used FROM keys')
      return row?.last_used
    }
    const at = Date.UTC(2026, 0, 15, 12)
    await caller.get('/v1/tiers')
    await caller.log({ goal: 'fix the login form' })
    assert.equal(await lastUsed(), null)
    wait(60_000)
    await app.running.runDue()
    assert.equal(await lastUsed(), at)
  })

  if (database.name === 'postgres') {
    test('a node whose clock is a day ahead deletes nothing and works no key twice', async (t) => {
      verifies('process.clock', 'retention.job', 'idempotency.replay')
      const env = { DATABASE_URL: await database.createUrl() }
      const world = { env, keepsOwnTime: false }
      const right = await start(t, { ...world, now: Date.now })
      const ahead = await start(t, { ...world, now: () => Date.now() + 25 * hourMs })
      const caller = await newCaller(right, 'ground')
      const step = { run_id: 'a', goal: 'fix the login form' }
      const once = { 'idempotency-key': 'once' }
      const first = await caller.post('/v1/drift', step, once)
      assert.equal(first.status, 200)
      for (let look = 0; look < 3; look++) await ahead.running.runDue()
      const again = await caller.at(ahead).post('/v1/drift', step, once)
      assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [first.text, 'true'])
      for (const node of [right, ahead])
        assert.equal((await caller.at(node).read('a')).run.steps, 1)
      const warnings = [right, ahead].map(({ log }) => log.filter(({ ahead_s }) => ahead_s))
      assert.deepEqual(
        warnings.map((lines) => lines.map(({ level, ahead_s }) => [level, ahead_s])),
        [[], [[40, 90_000]]],
      )
    })

    test('a clock that is set while the node runs changes nothing', async (t) => {
      verifies('process.clock')
      const db = await openFor(t, await database.createUrl())
      let aheadMs = 0
      const noted: number[] = []
      const now = await createClock(
        db,
        () => Date.now() + aheadMs,
        (ms) => noted.push(Math.round(ms / hourMs)),
      )
      for (const hours of [25, -3]) {
        aheadMs = hours * hourMs
        assert.ok(Math.abs(now() - Date.now()) < hourMs)
        while (noted.at(-1) !== hours) {
          now()
          await new Promise(setImmediate)
        }
        assert.ok(Math.abs(now() - Date.now()) < hourMs)
      }
    })

    test('an expired run that a step is being added to is passed over', async (t) => {
      const { caller, store, now, wait } = await startWithRuns(t)
      await caller.log({ run_id: 'a', goal: 'fix the login form' })
      await caller.log({ run_id: 'b', goal: 'fix the login form' })
      wait(dayMs)
      await store.db.tx(async (tx) => {
        await tx.all("SELECT run_id FROM runs WHERE run_id = 'a' FOR UPDATE")
        await store.db.tx((other) => deleteExpiredRuns(other, 'postgres', now(), 100))
      })
      assert.equal((await rowsOf(store.db, 'a')).steps, 1)
      assert.deepEqual(await rowsOf(store.db, 'b'), gone)
    })
  }
})
