import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { operations } from '../src/operations/all.ts'
import type { Database } from '../src/storage/database/database.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type Answer, start } from './harness.ts'
import { settle } from './hook.ts'
import { verifies } from './verifies.ts'

/** A request, as anyone may send it. */
interface Reach {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  body?: object
}

const get = (path: string): Reach => ({ method: 'GET', path })
const post = (path: string, body: object): Reach => ({ method: 'POST', path, body })
const remove = (path: string): Reach => ({ method: 'DELETE', path })

/** How a route is reached for an object of the account. */
interface Named {
  /** 404 unless given. */
  status?: number
  word: string
  kind: 'run' | 'key' | 'escalation' | 'account' | 'delivery'
  reach(id: string): Reach[]
}

/** Routes that name an object of the account: how each reaches for one, and the word for one that is not there. */
const naming: Record<string, Named> = {
  'alerts.replay': {
    word: 'no_delivery',
    kind: 'delivery',
    reach: (id) => [post('/v1/alerts/deliveries/replay', { id })],
  },
  'escalation.read': {
    word: 'no_escalation',
    kind: 'escalation',
    reach: (id) => [get(`/v1/escalation?id=${id}`), get(`/v1/escalation?id=${id}&wait=30`)],
  },
  'escalation.decide': {
    word: 'no_escalation',
    kind: 'escalation',
    reach: (id) => [
      post('/v1/escalation/decide', { id, decision: 'stop' }),
      post('/v1/escalation/decide', { esc_id: id, decision: 'allow', note: 'mine now' }),
    ],
  },
  'escalation.delete': {
    word: 'no_escalation',
    kind: 'escalation',
    reach: (id) => [remove(`/v1/escalation?id=${id}`)],
  },
  'me.erase': {
    status: 400,
    word: 'bad_request',
    kind: 'account',
    reach: (account) => [remove(`/v1/me?confirm=${account}`)],
  },
  'dialogue.delete': {
    word: 'no_conversation',
    kind: 'run',
    reach: (id) => [remove(`/v1/dialogue?conv_id=${id}`)],
  },
  'self.delete': {
    word: 'no_self',
    kind: 'run',
    reach: (id) => [remove(`/v1/self?identity=${id}`)],
  },
  'team.remove': {
    status: 403,
    word: 'forbidden',
    kind: 'account',
    reach: (account) => [post('/v1/team/seat', { account })],
  },
  'dialogue.read': {
    word: 'no_conversation',
    kind: 'run',
    reach: (id) => [get(`/v1/dialogue?conv_id=${id}`), get(`/v1/dialogue?conv_id=${id}&limit=1`)],
  },
  'templates.read': {
    word: 'no_template',
    kind: 'run',
    reach: (name) => [get(`/v1/recursion-team?name=${name}`)],
  },
  'templates.delete': {
    word: 'no_template',
    kind: 'run',
    reach: (name) => [remove(`/v1/recursion-team?name=${name}`)],
  },
  'runs.read': {
    word: 'no_run',
    kind: 'run',
    reach: (id) => [get(`/v1/drift/run?run_id=${id}`), get(`/v1/drift/run?id=${id}&limit=1`)],
  },
  'labels.add': {
    word: 'no_step',
    kind: 'run',
    reach: (run_id) => [post('/v1/drift/label', { run_id, step: 1, label: 'unclear' })],
  },
  'runs.look': {
    word: 'no_run',
    kind: 'run',
    reach: (run_id) => [post('/v1/drift/look', { run_id })],
  },
  'runs.set-outcome': {
    word: 'no_run',
    kind: 'run',
    reach: (run_id) => [
      post('/v1/drift/outcome', { run_id, outcome: 'failure', score: 0, note: 'mine now' }),
      post('/v1/drift/outcome', { run_id, outcome: 'failure', step_id: 'guessable' }),
    ],
  },
  'runs.delete': {
    word: 'no_run',
    kind: 'run',
    reach: (id) => [remove(`/v1/drift/run?run_id=${id}`), remove(`/v1/drift/run?id=${id}`)],
  },
  'me.revoke-key': {
    word: 'not_found',
    kind: 'key',
    reach: (id) => [remove(`/v1/me/keys?id=${id}`)],
  },
  'me.rotate-key': {
    word: 'not_found',
    kind: 'key',
    reach: (id) => [post('/v1/me/keys/rotate', { id, grace_hours: 0 })],
  },
}

/** Routes that name a run and make it where the account has none. */
const making: Record<string, (runId: string) => Reach> = {
  'drift.log': (run_id) => post('/v1/drift', { run_id, goal: 'look around', step_id: 'guessable' }),
  'modulate.log': (run_id) => post('/v1/modulate', { run_id, goal: 'look around' }),
  'drift.log-batch': (run_id) =>
    post('/v1/drift/batch', { steps: [{ run_id, goal: 'look around' }] }),
}

/** Routes that answer all the account has, and name nothing. */
const answeringAll: Record<string, Reach> = {
  'runs.list': get('/v1/drift/runs?limit=200'),
  'runs.export': get('/v1/export'),
  'labels.export': get('/v1/drift/labels'),
  'budget.read': get('/v1/budget'),
  'quality.read': get('/v1/quality'),
  'cost.read': get('/v1/cost'),
  'clock.read': get('/v1/drift/clock'),
  'experiment.read': get('/v1/experiment'),
  'me.read': get('/v1/me'),
  'me.export': get('/v1/me/export'),
  'dialogue.list': get('/v1/dialogue?limit=200'),
  'templates.list': get('/v1/recursion-team'),
  'alerts.read': get('/v1/alerts'),
  'alerts.log': get('/v1/alerts/log'),
  'alerts.deliveries': get('/v1/alerts/deliveries?limit=200'),
  'alerts.incidents': get('/v1/alerts/incidents?limit=200'),
  'escalation.list': get('/v1/escalation?limit=200'),
  'team.read': get('/v1/team'),
  'team.fleet': get('/v1/team/fleet'),
  'self.read': get('/v1/self'),
  'digest.read': get('/v1/digest'),
  'digest.preview': get('/v1/digest/preview'),
  'hooks.read-settings': get('/v1/hooks'),
}

/** Answers that name the account itself, so that no two are the same. */
const namingTheCaller = ['me.read', 'me.export', 'team.fleet']

/** Routes that change what is the caller's own, whatever name is sent. */
const changingOwn: Record<string, (name: string) => Reach> = {
  'escalation.create': (run_id) => post('/v1/escalation', { run_id, reason: 'mine' }),
  'alerts.test': () => post('/v1/alerts/test', {}),
  'alerts.set': () => post('/v1/alerts', { url: 'https://mine.example/x' }),
  'alerts.rotate-secret': () => post('/v1/alerts/secret', {}),
  'alerts.delete-secret': () => remove('/v1/alerts/secret'),
  'alerts.delete': () => remove('/v1/alerts'),
  'self.set': (identity) => post('/v1/self', { identity, note: 'mine' }),
  'team.change': (name) => post('/v1/team', { name, share_goals: true }),
  'dialogue.take': (conv_id) => post('/v1/dialogue', { conv_id, agent: 'a', position: 'mine' }),
  'templates.store': (name) =>
    post('/v1/recursion-team', { name, task: 'mine', roles: [{ role: 'one', recurse: 'deep' }] }),
  'operator.consult': (run_id) =>
    post('/v1/operator/consult', {
      run_id,
      kind: 'deploy',
      target: 'web',
      reversible: false,
      outward: true,
    }),
  'hooks.change-settings': (run_id) => post('/v1/hooks', { run_id, mode: 'gate' }),
  'budget.set': () => ({ method: 'PUT', path: '/v1/budget', body: { per_day: 7 } }),
  'team.leave': () => post('/v1/team/leave', {}),
  'digest.set': () =>
    post('/v1/digest', {
      cadence: 'daily',
      hour_utc: 6,
      channel: 'webhook',
      url: 'https://hook.test/stranger',
    }),
  'digest.delete': () => remove('/v1/digest'),
  'digest.test': () => post('/v1/digest/test', {}),
  'me.set-email': () => post('/v1/me/email', { email: 'stranger@reader.test' }),
  'team.invite': (label) => post('/v1/team/invite', { label }),
}

/** Routes that neither name nor answer what is stored. */
const touchingNothing = ['data.measure', 'me.create-key', 'session.first-key', 'upgrade.read']

/** Answers without an end, which test/stream.test.ts reads. */
const endless = ['stream.listen']

/** Routes to what belongs to the holder of the secret that is sent. */
const byCapability = ['team.join']

test('every keyed route is among those whose isolation is tested', () => {
  const keyed = operations.filter(({ access }) => access === 'keyed').map(({ name }) => name)
  const tested = [
    ...Object.keys({ ...naming, ...making, ...answeringAll, ...changingOwn }),
    ...touchingNothing,
    ...endless,
    ...byCapability,
  ]
  assert.deepEqual(
    keyed.filter((name) => !tested.includes(name)),
    [],
    'say in this file how an account would reach for what belongs to another through it',
  )
})

const secret = 'xylophone'
const runId = `${secret}-run`

onEachDatabase((database) => {
  /** An owner with all kinds of things, and a stranger at another node where there can be one. */
  async function startOwned(t: TestContext) {
    const url = await database.createUrl()
    const env = { DATABASE_URL: url }
    // No webhook is reached, so that nothing changes after a first attempt.
    const resolve = async () => ['10.0.0.1']
    const app = await start(t, { env, resolve })
    const beside = database.name === 'postgres' ? await start(t, { env, resolve }) : app
    const owner = await newCaller(app)
    await owner.post('/v1/alerts', { url: `https://${secret}.example/x`, incidents: true })
    await owner.post('/v1/alerts/secret', {})
    await owner.request('PUT', '/v1/budget', { per_day: 1_000 })
    const digest = { cadence: 'daily', hour_utc: 6, channel: 'webhook' }
    await owner.post('/v1/hooks', { mode: 'advise' })
    await owner.post('/v1/digest', { ...digest, url: `https://${secret}.example/digest` })
    for (const goal of [`buy a ${secret} today`, `sell a ${secret} tomorrow`]) {
      await owner.log({ run_id: `${runId}alert`, goal })
    }
    for (const node of [app, beside]) await settle(node)
    await owner.post('/v1/drift/label', { run_id: `${runId}alert`, step: 1, label: 'missed' })
    await owner.logAll(
      ['treatment', 'control'].flatMap((arm) => [
        { run_id: `${runId}${arm}`, goal: `tune the ${secret}`, pair: secret, arm, tokens: 111 },
        { run_id: `${runId}${arm}`, goal: `sell the ${secret}`, agent_id: secret, tokens: 222 },
      ]),
    )
    await owner.logAll([
      { run_id: runId, goal: `tune the ${secret}`, tokens: 333, overhead: true },
      { run_id: runId, goal: `polish the ${secret}`, user_turn: true, parent_goal: secret },
      { run_id: runId, goal: 'look around', agent_id: secret },
    ])
    const outcome = { run_id: runId, outcome: 'success', score: 0.75, note: secret }
    await owner.post('/v1/drift/outcome', outcome, { 'idempotency-key': 'guessable' })
    await owner.log({ run_id: runId, goal: `play the ${secret}`, step_id: 'guessable' })
    const escalated = await owner.post('/v1/escalation', { run_id: runId, reason: secret })
    await owner.post('/v1/self', { note: secret })
    await owner.post('/v1/dialogue', { conv_id: runId, agent: secret, position: secret })
    const roles = [{ role: secret, recurse: 'deep', return: secret }]
    await owner.post('/v1/recursion-team', { name: runId, task: secret, roles })
    const act = { run_id: runId, kind: 'deploy', target: 'web', reversible: true, outward: false }
    await owner.post('/v1/operator/consult', act)
    await owner.post('/v1/self', { identity: runId, note: secret })
    const member = await newCaller(app)
    const { code } = (await owner.post('/v1/team/invite', { label: secret })).body
    await member.post('/v1/team/join', { code })
    await owner.post('/v1/team/invite', {})
    const stranger = await newCaller(app)
    const db = await openFor(t, url)
    return {
      owner,
      escalationId: escalated.body.esc_id,
      memberId: member.account,
      deliveryId: (await owner.get('/v1/alerts/deliveries')).body.deliveries.at(-1).id,
      strangers: [stranger, stranger.at(beside)],
      newStranger: () => newCaller(app),
      db,
    }
  }

  /** Sends a request with the key in the header, and again with it in the address. */
  async function sendBothWays({ app, key, request }: Caller, reach: Reach): Promise<Answer[]> {
    const { method, path, body } = reach
    const withKey = `${path}${path.includes('?') ? '&' : '?'}key=${key}`
    const options = body === undefined ? {} : { body: JSON.stringify(body) }
    return [await request(method, path, body), await app.request(method, withKey, options)]
  }

  /** Every row of every table that is an account's, but for what its own requests change. */
  async function rowsOf(db: Database, account: string): Promise<Record<string, unknown[]>> {
    const columns = await db.all<{ name: string; field: string }>(
      db.kind === 'sqlite'
        ? `SELECT tables.name AS name, fields.name AS field
           FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS fields
           WHERE tables.type = 'table'`
        : `SELECT table_name AS name, column_name AS field FROM information_schema.columns
           WHERE table_schema = current_schema()`,
    )
    const rows: Record<string, unknown[]> = {}
    for (const [name, fields] of Map.groupBy(columns, ({ name }) => name)) {
      const names = fields.map(({ field }) => field).filter((field) => field !== 'last_used')
      const owner = name === 'accounts' ? 'id' : 'account'
      if (!names.includes(owner)) continue
      rows[name] = await db.all(
        `SELECT ${names.join(', ')} FROM ${name} WHERE ${owner} = ? ORDER BY ${names.join(', ')}`,
        account,
      )
    }
    return rows
  }

  /** What of an answer may differ from one request to the next left out. */
  function comparable({ status, headers, text }: Answer): unknown {
    const varying = ['x-request-id', 'date']
    return [status, text, [...headers].filter(([name]) => !varying.includes(name))]
  }

  function assertSilent(text: string): void {
    assert.ok(!text.includes(secret), text)
  }

  test('what belongs to another account answers as what does not exist', async (t) => {
    verifies('tenant.isolation', 'run.missing', 'process.nodes-equal')
    const { owner, strangers, db, escalationId, memberId, deliveryId } = await startOwned(t)
    const before = await rowsOf(db, owner.account)
    const ids = {
      run: runId,
      key: owner.keyId,
      escalation: escalationId,
      account: memberId,
      delivery: deliveryId,
    }
    for (const { status: refused = 404, word, kind, reach } of Object.values(naming)) {
      const foreign = reach(ids[kind])
      const missing = reach(ids[kind].replace(/...$/, '000'))
      for (const stranger of strangers) {
        for (const [index, each] of foreign.entries()) {
          const answers = await sendBothWays(stranger, each)
          const expected = await sendBothWays(stranger, missing[index]!)
          for (const { status, body } of answers)
            assert.deepEqual([status, body.error], [refused, word])
          assert.deepEqual(answers.map(comparable), expected.map(comparable))
          for (const { text } of answers) assertSilent(text)
        }
      }
    }
    assert.deepEqual(await rowsOf(db, owner.account), before)
    assert.deepEqual(await owner.log({ run_id: 'last', goal: secret }).then(({ step }) => step), 1)
  })

  test('a stranger who logs under another account’s names begins runs of its own', async (t) => {
    verifies('tenant.isolation', 'id.length', 'drift.recurrence', 'idempotency.scope')
    const { owner, newStranger, db } = await startOwned(t)
    const before = await rowsOf(db, owner.account)
    for (const reach of Object.values(making)) {
      const { method, path, body } = reach(runId)
      const keys: Record<string, string> = { 'idempotency-key': 'guessable' }
      for (const headers of [{}, keys]) {
        const [one, other] = [await newStranger(), await newStranger()]
        const absent = runId.replaceAll('n', '0')
        const answer = await one.request(method, path, body, headers)
        const expected = await other.request(method, path, reach(absent).body, headers)
        assert.equal(answer.status, 200, answer.text)
        assert.equal(answer.headers.get('idempotent-replayed'), null)
        assert.equal(answer.text.replaceAll(runId, absent), expected.text)
        const [verdict] = answer.body.results ?? [answer.body]
        assert.deepEqual(
          [verdict.step, verdict.reason, verdict.revision, verdict.recurrence],
          [1, 'grounded', 1, undefined],
        )
        const { run, trace } = await one.read(runId)
        assert.deepEqual([run.outcome, run.tokens, run.agents, trace.length], [null, 0, [], 1])
        assert.deepEqual((await one.request('DELETE', `/v1/drift/run?id=${runId}`)).body.deleted, 1)
      }
    }
    assert.deepEqual(await rowsOf(db, owner.account), before)
  })

  test('what is answered of all is of the own account alone', async (t) => {
    verifies('tenant.isolation', 'runs.list', 'export.ndjson')
    const { owner, strangers, newStranger, db } = await startOwned(t)
    const empty = await newStranger()
    const before = await rowsOf(db, owner.account)
    for (const stranger of strangers) {
      for (const [name, reach] of Object.entries(answeringAll)) {
        const [mine] = await sendBothWays(owner, reach)
        const answers = await sendBothWays(stranger, reach)
        for (const answer of answers) {
          assert.equal(answer.status, 200, `${name}: ${answer.text}`)
          assertSilent(answer.text)
          assert.ok(!answer.text.includes(owner.account), answer.text)
        }
        assert.notEqual(answers[0]!.text, mine!.text)
        if (namingTheCaller.includes(name)) continue
        const [nothing] = await sendBothWays(empty, reach)
        for (const { text } of answers) assert.equal(text, nothing!.text, name)
      }
    }
    const { next_cursor } = (await owner.get('/v1/drift/runs?limit=1')).body
    const page = await strangers[0]!.get(`/v1/drift/runs?cursor=${next_cursor}`)
    const counts = { waiting: 0, drifting: 0, uncertain: 0, calm: 0, finished: 0 }
    assert.deepEqual(page.body, { runs: [], counts, next_cursor: null })
    assert.deepEqual(await rowsOf(db, owner.account), before)
  })

  test('what a stranger changes is its own, whatever names it sends', async (t) => {
    verifies('tenant.isolation')
    const { owner, strangers, db, memberId } = await startOwned(t)
    const [ofOwner, ofMember] = [await rowsOf(db, owner.account), await rowsOf(db, memberId)]
    for (const stranger of strangers) {
      for (const reach of Object.values(changingOwn)) {
        for (const { text } of await sendBothWays(stranger, reach(runId))) {
          for (const account of [owner.account, memberId]) assert.ok(!text.includes(account), text)
        }
      }
    }
    assert.deepEqual(await rowsOf(db, owner.account), ofOwner)
    assert.deepEqual(await rowsOf(db, memberId), ofMember)
    const { self, log } = (await owner.get(`/v1/self?identity=${runId}`)).body
    assert.deepEqual([self.note, log.length], [secret, 1])
  })

  test('two accounts keep runs of one name apart', async (t) => {
    verifies('tenant.isolation', 'id.length', 'list.cursor')
    const { owner, strangers } = await startOwned(t)
    const stranger = strangers[1]!
    const mine = await owner.read(runId)
    const steps = ['mow the lawn', 'water the lawn', 'mow the lawn'].map((goal) => ({
      run_id: runId,
      goal,
      tokens: 1,
    }))
    const results = await stranger.logAll(steps)
    assert.deepEqual(
      results.map(({ step, ground }) => [step, ground]),
      [1, 2, 3].map((step) => [step, 'mow the lawn']),
    )
    await stranger.post('/v1/drift/outcome', { run_id: runId, outcome: 'failure' })
    const theirs = await stranger.read(runId)
    assert.deepEqual([theirs.run.tokens, theirs.run.outcome], [3, 'failure'])
    assert.deepEqual(await owner.read(runId), mine)
    const { runs } = (await stranger.get('/v1/drift/runs')).body
    const [{ state, spark, swap, ...listed }] = runs
    assert.deepEqual(
      [listed, state, spark.length, swap, runs.length],
      [theirs.run, 'calm', 3, null, 1],
    )
    const lines = (await stranger.get('/v1/export')).text.trimEnd().split('\n')
    assert.equal(lines.length, 4)
    await stranger.request('DELETE', `/v1/drift/run?run_id=${runId}`)
    assert.deepEqual(await owner.read(runId), mine)
    assert.equal((await stranger.get(`/v1/drift/run?run_id=${runId}`)).status, 404)
  })

  test('a key that was used by another account is a new one', async (t) => {
    verifies('tenant.isolation', 'idempotency.scope', 'idempotency.step-id')
    const { owner, strangers } = await startOwned(t)
    const outcome = { run_id: runId, outcome: 'success', score: 0.75, note: secret }
    const step = { run_id: runId, goal: `play the ${secret}`, step_id: 'guessable' }
    for (const stranger of strangers) {
      const headers = { 'idempotency-key': 'guessable' }
      assert.equal((await stranger.post('/v1/drift/outcome', outcome, headers)).status, 404)
    }
    const logged = await strangers[0]!.post('/v1/drift', step)
    assert.deepEqual([logged.body.step, logged.headers.get('idempotent-replayed')], [1, null])
    const again = await owner.post('/v1/drift', step)
    assert.deepEqual([again.body.step, again.headers.get('idempotent-replayed')], [4, 'true'])
  })

  test('an account that has used up its quota leaves others theirs', async (t) => {
    verifies('tenant.isolation', 'quota.account')
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    const [one, other] = [await newCaller(app, 'ground'), await newCaller(app, 'ground')]
    const steps = { steps: [{ goal: 'mow the lawn' }] }
    const leftOf = async (caller: Caller) =>
      (await caller.post('/v1/drift/batch', steps)).headers.get('x-ratelimit-remaining')
    for (const left of ['999', '998', '997']) assert.equal(await leftOf(one), left)
    assert.equal(await leftOf(other), '999')
    assert.equal(await leftOf(one), '996')
  })
})
