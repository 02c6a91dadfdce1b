import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type Answer, type App, start } from './harness.ts'
import { setMemory } from './set-memory.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const dayMs = 86_400_000

/** The numbers 1 to `count`. */
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

interface Logged {
  run_id: string
  step: number
  goal: string
  reason: string
  ground: string
}

interface Shared {
  nodes: App[]
  /** The same account, once for each node. */
  callers: Caller[]
  /** The caller whose turn it is. */
  turn(number: number): Caller
  url: string
}

onEachDatabase((database) => {
  /** Nodes on one database, and an account that asks all of them. */
  async function startNodes(t: TestContext, count: number, tier?: 'ground'): Promise<Shared> {
    const url = await database.createUrl()
    const nodes: App[] = []
    for (const _ of upTo(count)) nodes.push(await start(t, { env: { DATABASE_URL: url } }))
    const first = await newCaller(nodes[0]!, tier)
    const callers = nodes.map((node) => first.at(node))
    return { nodes, callers, turn: (number) => callers[number % count]!, url }
  }

  /** Asserts that a run holds exactly the steps that were answered, in their order. */
  async function assertWhole(reader: Caller, runId: string, answered: readonly Logged[]) {
    const ordered = answered.toSorted((a, b) => a.step - b.step)
    assert.deepEqual(
      ordered.map(({ step }) => step),
      upTo(answered.length),
      runId,
    )
    const { run, trace } = await reader.read(runId)
    assert.deepEqual([run.steps, run.tokens], [answered.length, answered.length])
    assert.deepEqual(
      trace.map(({ step, goal, reason }: Logged) => [step, goal, reason]),
      ordered.map(({ step, goal, reason }) => [step, goal, reason]),
    )
    const [first, ...more] = ordered
    assert.equal(first?.reason, 'grounded')
    for (const { reason, ground } of more) {
      assert.notEqual(reason, 'grounded')
      assert.equal(ground, first?.goal)
    }
    assert.deepEqual(
      run.grounds.map(({ goal }: { goal: string }) => goal),
      [first?.goal],
    )
  }

  for (const count of database.name === 'postgres' ? [1, 2] : [1]) {
    describe(count === 1 ? 'one node' : `${count} nodes`, () => {
      test('32 writers of one run get every number once, in an order that all see', async (t) => {
        verifies('drift.order', 'process.nodes-equal')
        const { turn, callers } = await startNodes(t, count)
        const answered: Logged[] = []
        await Promise.all(
          upTo(32).map(async (writer) => {
            const own: number[] = []
            for (const round of upTo(8)) {
              const goal = `writer ${writer} round ${round}`
              const logged = await turn(writer + round).log({ run_id: 'shared', goal, tokens: 1 })
              assert.equal(logged.goal, goal)
              own.push(logged.step)
              answered.push(logged)
            }
            assert.deepEqual(
              own,
              own.toSorted((a, b) => a - b),
            )
          }),
        )
        assert.equal(answered.length, 256)
        for (const caller of callers) await assertWhole(caller, 'shared', answered)
      })

      test('steps and batches, with and without keys, share runs without a gap', async (t) => {
        verifies('drift.order', 'drift.batch', 'idempotency.replay')
        const { turn, callers } = await startNodes(t, count)
        const runs = upTo(5).map((run) => `run ${run}`)
        const answered: Logged[] = []
        await Promise.all(
          upTo(32).map(async (writer) => {
            const steps = upTo(10).map((at) => ({
              run_id: runs[(writer + at) % 5],
              goal: `writer ${writer} step ${at}`,
              tokens: 1,
            }))
            const [first, second, ...more] = steps
            const headers = { 'idempotency-key': `key ${writer}` }
            const send = async (path: string, body: object, more = {}) => {
              const answer = await turn(writer).post(path, body, more)
              assert.equal(answer.status, 200, answer.text)
              return answer.body
            }
            answered.push(await send('/v1/drift', first!))
            answered.push(await send('/v1/drift', second!, headers))
            const keyed = writer % 2 === 0 ? headers : {}
            const { results } = await send('/v1/drift/batch', { steps: more }, keyed)
            for (const run of runs) {
              const own = results.filter(({ run_id }: Logged) => run_id === run)
              assert.deepEqual(
                own.map(({ step }: Logged) => step),
                own.map((_: Logged, at: number) => own[0].step + at),
                'the steps of a batch follow each other within their run',
              )
            }
            answered.push(...results)
          }),
        )
        for (const run of runs) {
          const own = answered.filter(({ run_id }) => run_id === run)
          await assertWhole(callers.at(-1)!, run, own)
        }
      })

      test('batches in opposite orders never wait for each other', async (t) => {
        verifies('drift.order', 'drift.batch')
        const { turn } = await startNodes(t, count)
        const marks = ['z', 'B', 'a', 'é', 'Z', 'e', '界', '𠀀', '\uffee', '_', ' ', '10', '9']
        const names = upTo(300).map((at) => `${marks[at % marks.length]} ${(at * 37) % 300}`)
        const send = async (label: string, stepOf: (name: string, batch: number) => object) => {
          const answers = await Promise.all(
            upTo(8).map((batch) => {
              const order = batch % 2 === 0 ? names : names.toReversed()
              const steps = order.map((name) => stepOf(name, batch))
              // With a key each is a transaction of its own, also on one node.
              const headers = { 'idempotency-key': `${label} ${batch}` }
              return turn(batch).post('/v1/drift/batch', { steps }, headers)
            }),
          )
          for (const { status, text } of answers) assert.equal(status, 200, text)
        }
        await send('the same new runs', (name) => ({ run_id: name, goal: errand, tokens: 1 }))
        for (const name of [names[0]!, names[150]!, names[299]!]) {
          const { run, trace } = await turn(1).read(name)
          assert.deepEqual([run.steps, run.tokens, trace.length], [8, 8, 8])
        }
        await send('the same new contexts', (goal, batch) => ({ run_id: `own ${batch}`, goal }))
        const { recurrence } = await turn(1).log({ run_id: 'last', goal: names[0] })
        assert.equal(recurrence, 8)
      })

      test('what deletions count and what is left are all that was acknowledged', async (t) => {
        verifies('run.delete', 'drift.order')
        const { turn, callers } = await startNodes(t, count)
        let logged = 0
        let deleted = 0
        await Promise.all([
          ...upTo(24).map(async (writer) => {
            for (const round of upTo(10)) {
              await turn(writer + round).log({ run_id: 'shared', goal: errand, tokens: 1 })
              logged++
            }
          }),
          ...upTo(4).map(async (writer) => {
            for (const round of upTo(10)) {
              const answer = await turn(writer + round).request('DELETE', '/v1/drift/run?id=shared')
              assert.ok([200, 404].includes(answer.status), answer.text)
              if (answer.status === 200) deleted += answer.body.deleted
            }
          }),
        ])
        const answer = await callers[0]!.get('/v1/drift/run?id=shared')
        const left = answer.status === 404 ? [] : answer.body.trace
        assert.equal(deleted + left.length, logged)
        assert.deepEqual(
          left.map(({ step }: Logged) => step),
          upTo(left.length),
        )
      })

      test('writers who find a run expired begin it anew once', async (t) => {
        verifies('retention.expires', 'drift.order')
        const { nodes, turn, callers } = await startNodes(t, count, 'ground')
        const fill = upTo(3).map((at) => ({ run_id: 'shared', goal: `old goal ${at}`, tokens: 1 }))
        await turn(0).logAll(fill)
        for (const node of nodes) node.advance(dayMs)
        const answered = await Promise.all(
          upTo(32).map((writer) =>
            turn(writer).log({ run_id: 'shared', goal: `goal ${writer}`, tokens: 1 }),
          ),
        )
        for (const caller of callers) await assertWhole(caller, 'shared', answered)
      })

      test('of uses of one key at the same time one is worked and all get its answer', async (t) => {
        verifies('idempotency.waits', 'idempotency.replay', 'idempotency.step-id')
        const { turn } = await startNodes(t, count)
        const step = { run_id: 'mine', goal: errand }
        for (const [at, [body, headers]] of (
          [
            [step, { 'idempotency-key': 'a' }],
            [{ ...step, step_id: 'b' }, {}],
          ] as const
        ).entries()) {
          const answers = await Promise.all(
            upTo(16).map((writer) => turn(writer).post('/v1/drift', body, headers)),
          )
          for (const { status, text } of answers) {
            assert.equal(status, 200, text)
            assert.equal(text, answers[0]!.text)
          }
          assert.equal(answers.filter((answer) => !isReplay(answer)).length, 1)
          assert.equal((await turn(0).read('mine')).run.steps, at + 1)
        }
        const conflicting = await Promise.all(
          upTo(16).map((writer) =>
            turn(writer).post(
              '/v1/drift',
              { run_id: 'other', goal: `goal ${writer % 2}` },
              { 'idempotency-key': 'c' },
            ),
          ),
        )
        const statuses = conflicting.map(({ status }) => status).toSorted()
        assert.deepEqual(statuses, [...Array(8).fill(200), ...Array(8).fill(409)])
        assert.equal((await turn(0).read('other')).run.steps, 1)
      })
    })
  }

  /** A service on a database of its own, with an account. */
  async function startKeyed(t: TestContext) {
    const { nodes, callers, url } = await startNodes(t, 1)
    return { app: nodes[0]!, me: callers[0]!, url }
  }

  function isReplay({ headers }: Answer): boolean {
    return headers.get('idempotent-replayed') === 'true'
  }

  test('of keyed steps sent at once only those of a damaged run are refused, and not kept', async (t) => {
    verifies('idempotency.only-2xx', 'idempotency.replay', 'drift.order')
    const { me, url } = await startKeyed(t)
    const db = await openFor(t, url)
    await me.log({ run_id: 'hurt', goal: errand, tokens: 1 })
    const memories = await db.all<{ memory: string }>('SELECT memory FROM agents')
    await setMemory(db, 'hurt', 'nonsense')
    const send = (writer: number) => {
      const run_id = writer % 4 === 0 ? 'hurt' : 'whole'
      const headers = writer % 8 === 7 ? {} : { 'idempotency-key': `key ${writer}` }
      return me.post('/v1/drift', { run_id, goal: errand, tokens: 1 }, headers)
    }
    const answers = await Promise.all(upTo(32).map(send))
    const refused = answers.filter(({ status }) => status !== 200)
    assert.deepEqual(
      refused.map(({ status, body }) => [status, body.error]),
      Array(8).fill([500, 'internal']),
    )
    const logged = answers.filter(({ status }) => status === 200)
    await assertWhole(
      me,
      'whole',
      logged.map(({ body }) => body),
    )
    const first = await send(1)
    const hurt = await send(4)
    assert.deepEqual([first.text, isReplay(first)], [answers[0]!.text, true])
    assert.equal(hurt.status, 500)
    await setMemory(db, 'hurt', memories[0]!.memory)
    const healed = await send(4)
    assert.deepEqual([healed.status, healed.body.step, isReplay(healed)], [200, 2, false])
  })

  test('a step_id is kept with its run, whether that is named or not', async (t) => {
    verifies('idempotency.step-id', 'idempotency.conflict', 'drift.run-default')
    const { me } = await startKeyed(t)
    const first = await me.post('/v1/drift', { goal: errand, step_id: 's' })
    assert.equal(first.body.step, 1)
    const named = await me.post('/v1/drift', { run_id: 'run', goal: errand, step_id: 's' })
    assert.deepEqual([named.status, named.body.error], [409, 'idempotency_conflict'])
    assert.equal((await me.log({ run_id: 'other', goal: errand, step_id: 's' })).step, 1)
    const longest = { run_id: '界'.repeat(200), goal: errand, step_id: '界'.repeat(255) }
    assert.equal((await me.log(longest)).step, 1)
    assert.ok(isReplay(await me.post('/v1/drift', longest)))
  })

  test('a run_id that is too long is refused beside a step_id too', async (t) => {
    verifies('id.length', 'idempotency.step-id')
    const { me } = await startKeyed(t)
    const words = Array.from({ length: 30_000 }, (_, at) => (at * 7_919).toString(36)).join('')
    for (const run_id of [words.slice(0, 201), words.slice(0, 4_000), words]) {
      const answer = await me.post('/v1/drift', { run_id, goal: errand, step_id: 's' })
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'], answer.text)
      assert.match(answer.body.detail, /^run_id: /)
    }
  })

  if (database.name === 'postgres') {
    test('a step that finds its expired run being deleted begins it anew', async (t) => {
      verifies('retention.expires', 'drift.order')
      const { nodes, callers, url } = await startNodes(t, 1, 'ground')
      const me = callers[0]!
      const db = await openFor(t, url)
      for (const headers of [{}, { 'idempotency-key': 'a' }] as const) {
        await me.log({ run_id: 'old', goal: errand, tokens: 1 })
        nodes[0]!.advance(dayMs)
        const sending = await db.tx(async (tx) => {
          await tx.all("SELECT run_id FROM runs WHERE run_id = 'old' FOR UPDATE")
          const sending = me.post('/v1/drift', { run_id: 'old', goal: 'new', tokens: 1 }, headers)
          const waiting =
            'SELECT COUNT(*) AS count FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))'
          while ((await tx.get<{ count: number }>(waiting))?.count === 0);
          for (const table of ['steps', 'agents', 'grounds', 'openings', 'runs']) {
            await tx.run(`DELETE FROM ${table} WHERE run_id = 'old'`)
          }
          return { sending }
        })
        const answer = await sending.sending
        assert.equal(answer.status, 200, answer.text)
        await assertWhole(me, 'old', [answer.body])
      }
    })
  }
})
