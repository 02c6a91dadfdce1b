import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStore } from '../src/storage/store.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

const errand = 'ship the release'
const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** An act that cannot be undone, and one that can. */
const final = { kind: 'deploy', target: 'web', reversible: false, outward: true }
const harmless = { kind: 'edit', target: 'notes.txt', reversible: true, outward: false }

/** The numbers 1 to `count`. */
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

onEachDatabase((database) => {
  async function startKeyed(t: TestContext) {
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url } })
    return { app, url, me: await newCaller(app) }
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async function consult(caller: Caller, act: object): Promise<any> {
    const answer = await caller.post('/v1/operator/consult', { run_id: 'a', ...final, ...act })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  const reasonOf = async (caller: Caller, act: object) => (await consult(caller, act)).reason

  async function escalate(caller: Caller, run_id: string): Promise<string> {
    const answer = await caller.post('/v1/escalation', { run_id, reason: 'stuck' })
    assert.equal(answer.status, 201, answer.text)
    return answer.body.esc_id
  }

  /** A second account that has joined the team of the first. */
  async function joinTeam(owner: Caller): Promise<Caller> {
    const member = await newCaller(owner.app)
    const invited = await owner.post('/v1/team/invite', { label: 'crew' })
    assert.equal(invited.status, 201, invited.text)
    const joined = await member.post('/v1/team/join', { code: invited.body.code })
    assert.equal(joined.status, 200, joined.text)
    return member
  }

  test('a consult needs a key and answers with what it looked at', async (t) => {
    verifies('operator.answer')
    const { app, me } = await startKeyed(t)
    const keyless = await app.post('/v1/operator/consult', { run_id: 'a', ...final })
    assert.deepEqual([keyless.status, keyless.body.error], [401, 'no_key'])
    await me.log({ run_id: 'a', goal: errand })
    const { detail, ...answer } = await consult(me, { command: 'rm -rf build' })
    assert.deepEqual(answer, {
      allow: true,
      reason: 'clear',
      checked: { drift: 'grounded', group: 0, command: 'recursive-force-delete' },
    })
    assert.match(detail, /recursive-force-delete/)
    for (const run_id of ['b', 'c']) await consult(me, { ...harmless, run_id })
    const { checked } = await consult(me, {})
    assert.deepEqual(checked, { drift: 'grounded', group: 2, command: null })
  })

  test('what can be undone and stays inside always passes', async (t) => {
    verifies('operator.clear', 'operator.order')
    const { me } = await startKeyed(t)
    await me.log({ run_id: 'drifts', goal: errand })
    await me.log({ run_id: 'drifts', goal: `do not ${errand}` })
    await escalate(me, 'escalated')
    for (const run_id of ['unchecked', 'drifts', 'escalated', 'other']) {
      for (const command of [undefined, null, '', 'ls -la', 'echo "rm -rf /"']) {
        const { allow, reason } = await consult(me, { ...harmless, run_id, command })
        assert.deepEqual([allow, reason], [true, 'clear'], run_id)
      }
    }
    for (const act of [{ reversible: false }, { outward: true }]) {
      const { allow, reason } = await consult(me, { ...harmless, ...act, run_id: 'unchecked' })
      assert.deepEqual([allow, reason], [false, 'unchecked'])
    }
  })

  test('a command makes an act irreversible whatever was declared, and none makes one reversible', async (t) => {
    verifies('operator.command')
    const { me } = await startKeyed(t)
    const commands: [string, string][] = [
      ['git push --force', 'force-push'],
      ['git reset --hard HEAD~1', 'hard-reset'],
      ['sudo rm -r -f /srv', 'recursive-force-delete'],
      ['npm publish', 'package-publish'],
      ['vercel --prod', 'production-deploy'],
      ['psql -c "DROP TABLE users"', 'table-drop'],
      ['TRUNCATE users', 'table-truncate'],
      ['kubectl delete namespace web', 'cloud-delete'],
      ['mkfs.ext4 /dev/sdb1', 'disk-format'],
      ['find -exec '.repeat(40), 'unreadable'],
    ]
    for (const [command, label] of commands) {
      const { allow, reason, checked, detail } = await consult(me, { ...harmless, command })
      assert.deepEqual([allow, reason, checked.command], [false, 'unchecked', label])
      assert.match(detail, new RegExp(label))
    }
    const declared = await consult(me, { ...final, outward: false, command: 'ls' })
    assert.deepEqual(
      [declared.allow, declared.reason, declared.checked.command],
      [false, 'unchecked', null],
    )
  })

  test('of what stands against an act the first is told, in their order', async (t) => {
    verifies(
      'operator.escalated',
      'operator.unchecked',
      'operator.drifting',
      'operator.duplicate',
      'operator.order',
    )
    const { me } = await startKeyed(t)
    await me.log({ run_id: 'first', goal: errand })
    assert.equal(await reasonOf(me, { run_id: 'first' }), 'clear')

    // All four stand against the run; one after another is taken away.
    const pending = await escalate(me, 'a')
    const refusals: [string, string | null][] = []
    const ask = async () => {
      const { allow, reason, checked } = await consult(me, {})
      refusals.push([allow ? `${reason}!` : reason, checked.drift])
    }
    await ask()
    await me.post('/v1/escalation/decide', { id: pending, decision: 'allow' })
    await ask()
    await me.log({ run_id: 'a', goal: errand })
    await me.log({ run_id: 'a', goal: `do not ${errand}` })
    await ask()
    await me.log({ run_id: 'a', goal: '' })
    await ask()
    const again = await escalate(me, 'a')
    await ask()
    await me.post('/v1/escalation/decide', { id: again, decision: 'return' })
    await me.log({ run_id: 'a', goal: errand })
    await ask()
    me.app.advance(10 * minuteMs)
    await ask()
    const stopped = await escalate(me, 'a')
    await me.post('/v1/escalation/decide', { id: stopped, decision: 'stop' })
    await ask()
    assert.deepEqual(refusals, [
      ['escalated', null],
      ['unchecked', null],
      ['goal-drift', 'goal-drift'],
      ['ungrammatical', 'ungrammatical'],
      ['escalated', 'ungrammatical'],
      ['duplicate', 'advancing'],
      ['clear!', 'advancing'],
      ['escalated', 'advancing'],
    ])
    await me.log({ run_id: 'b', goal: errand })
    assert.equal(await reasonOf(me, { run_id: 'b', target: 'elsewhere' }), 'clear')
  })

  test('a sign that only warns is no drift, and a run of sub-agents alone is unchecked', async (t) => {
    verifies('operator.drifting', 'operator.unchecked')
    const { me } = await startKeyed(t)
    await me.log({ run_id: 'a', goal: errand })
    await me.log({ run_id: 'a', goal: errand, progress: 'stuck' })
    const warned = await consult(me, {})
    assert.deepEqual([warned.allow, warned.checked.drift], [true, 'self-report:stuck'])
    await me.log({ run_id: 'a', goal: errand, progress: 'stuck' })
    assert.equal(await reasonOf(me, {}), 'self-report:stuck')
    await me.log({ run_id: 'b', goal: errand, agent_id: 'sub' })
    assert.equal(await reasonOf(me, { run_id: 'b', target: 'other' }), 'unchecked')
    me.app.advance(366 * 24 * hourMs)
    assert.equal(await reasonOf(me, {}), 'unchecked')
  })

  test('the same kind on the same target is a duplicate for ten minutes from its beginning', async (t) => {
    verifies('operator.duplicate')
    const { app, me } = await startKeyed(t)
    for (const run_id of ['a', 'b', 'c', 'd']) await me.log({ run_id, goal: errand })
    assert.equal(await reasonOf(me, { run_id: 'a' }), 'clear')
    assert.equal(await reasonOf(me, { run_id: 'a' }), 'clear')
    const refused = await consult(me, { run_id: 'b' })
    assert.deepEqual(
      [refused.allow, refused.reason, refused.checked.group],
      [false, 'duplicate', 1],
    )
    for (const act of [{ kind: 'DEPLOY ' }, { target: ' web ' }]) {
      assert.equal(await reasonOf(me, { run_id: 'b', ...act }), 'duplicate')
    }
    for (const act of [{ kind: 'restart' }, { target: 'web2' }, { target: 'Web' }]) {
      assert.equal(await reasonOf(me, { run_id: 'b', ...act }), 'clear')
    }
    // A refused consult begins nothing, and one of the same run begins anew.
    app.advance(5 * minuteMs)
    assert.equal(await reasonOf(me, { run_id: 'b' }), 'duplicate')
    assert.equal(await reasonOf(me, { run_id: 'a' }), 'clear')
    app.advance(10 * minuteMs - 1)
    assert.equal(await reasonOf(me, { run_id: 'c' }), 'duplicate')
    app.advance(1)
    assert.equal(await reasonOf(me, { run_id: 'c' }), 'clear')
    assert.equal(await reasonOf(me, { run_id: 'a' }), 'duplicate')
    // What passed without a question began as well.
    assert.equal(await reasonOf(me, { ...harmless, run_id: 'a' }), 'clear')
    assert.equal(await reasonOf(me, { ...harmless, run_id: 'b' }), 'clear')
    assert.equal(await reasonOf(me, { ...harmless, reversible: false, run_id: 'd' }), 'duplicate')
  })

  test('runs of other groups are not compared, those of none are', async (t) => {
    verifies('operator.duplicate')
    const { me } = await startKeyed(t)
    for (const run_id of ['a', 'b', 'c', 'd']) await me.log({ run_id, goal: errand })
    assert.equal(await reasonOf(me, { run_id: 'a', group: 'shop' }), 'clear')
    const elsewhere = await consult(me, { run_id: 'b', group: 'blog' })
    assert.deepEqual([elsewhere.reason, elsewhere.checked.group], ['clear', 0])
    assert.equal(await reasonOf(me, { run_id: 'c', group: 'shop' }), 'duplicate')
    assert.equal(await reasonOf(me, { run_id: 'd' }), 'duplicate')
  })

  test('runs of a team stand in each other’s way, those of strangers do not', async (t) => {
    verifies('operator.duplicate')
    const { me } = await startKeyed(t)
    const member = await joinTeam(me)
    const stranger = await newCaller(me.app)
    for (const caller of [me, member, stranger]) await caller.log({ run_id: 'a', goal: errand })
    assert.equal(await reasonOf(me, {}), 'clear')
    const refused = await consult(member, {})
    assert.deepEqual([refused.reason, refused.checked.group], ['duplicate', 1])
    assert.match(refused.detail, /team/)
    assert.ok(!JSON.stringify(refused).includes(me.account))
    const foreign = await consult(stranger, {})
    assert.deepEqual([foreign.reason, foreign.checked.group], ['clear', 0])
    await member.post('/v1/team/leave', {})
    assert.equal(await reasonOf(member, {}), 'clear')
  })

  for (const count of [1, 2]) {
    if (count === 2 && database.name === 'sqlite') continue
    test(`of runs that ask at once at ${count === 1 ? 'one node' : 'two nodes'} one begins`, async (t) => {
      verifies('operator.duplicate', 'process.nodes-equal')
      const url = await database.createUrl()
      const nodes: App[] = []
      for (const _ of upTo(count)) nodes.push(await start(t, { env: { DATABASE_URL: url } }))
      const owner = await newCaller(nodes[0]!)
      const member = await joinTeam(owner)
      const callers = [owner, member].flatMap((caller) => nodes.map((node) => caller.at(node)))
      for (const caller of [owner, member]) {
        await caller.logAll(upTo(24).map((run) => ({ run_id: `run ${run}`, goal: errand })))
      }
      for (const round of upTo(4)) {
        const answers = await Promise.all(
          upTo(24).map((run) =>
            consult(callers[run % callers.length]!, {
              run_id: `run ${run}`,
              target: `target ${round}`,
            }),
          ),
        )
        const reasons = answers.map(({ reason }) => reason).sort()
        assert.deepEqual(reasons, ['clear', ...Array(23).fill('duplicate')])
      }
    })
  }

  test('acts are forgotten, and what they were done to is not stored', async (t) => {
    verifies('operator.duplicate')
    const { app, url, me } = await startKeyed(t)
    await me.log({ run_id: 'a', goal: errand })
    await consult(me, { target: 'secret-server', command: 'deploy --token xylophone' })
    const db = await openFor(t, url)
    const acts = () => db.all<object>('SELECT * FROM acts')
    const stored = JSON.stringify(await acts())
    assert.ok(!stored.includes('secret-server') && !stored.includes('xylophone'), stored)
    app.advance(hourMs)
    await consult(me, { target: 'other' })
    // The scheduler's own poll may have run the hourly chore already.
    app.advance(hourMs)
    await app.running.runDue()
    assert.equal((await acts()).length, 1)
    const { tx } = createStore(db)
    assert.equal(await tx((store) => store.acts.expire(app.running.service.now() + 1, 500)), 1)
  })

  test('what is missing or at fault is named', async (t) => {
    verifies('operator.answer')
    const { url, me } = await startKeyed(t)
    const act = { run_id: 'a', ...harmless }
    const faults: Record<string, unknown[]> = {
      run_id: [undefined, null, '', 5, 'x'.repeat(201)],
      kind: [undefined, '', {}, 'x'.repeat(201)],
      target: [undefined, '', 5, 'x'.repeat(4001)],
      reversible: [undefined, null, 'true', 1],
      outward: [undefined, null, 'false', 0],
      command: [5, ['ls'], 'x'.repeat(4001)],
      group: [5, '', 'x'.repeat(201)],
    }
    for (const [field, values] of Object.entries(faults)) {
      for (const value of values) {
        const answer = await me.post('/v1/operator/consult', { ...act, [field]: value })
        assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'], field)
        assert.ok(answer.body.detail.startsWith(`${field}: `), answer.body.detail)
      }
    }
    const db = await openFor(t, url)
    assert.deepEqual(await db.all('SELECT act FROM acts'), [])
  })
})
