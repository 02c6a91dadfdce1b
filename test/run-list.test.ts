import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { start } from './harness.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const astray = 'refund order 2093'
const unclear = 'eine große Suppe kochen'

onEachDatabase((database) => {
  async function startHere(t: TestContext) {
    const app = await start(t, { env: { DATABASE_URL: await database.createUrl() } })
    return { app, me: await newCaller(app) }
  }

  /** Ids of the runs that a list shows, its pages together, and the number of its pages. */
  async function listed(me: Caller, query: string): Promise<[string[], number]> {
    const ids: string[] = []
    let cursor: string | null = ''
    let pages = 0
    while (cursor !== null) {
      const at = cursor === '' ? '' : `&cursor=${cursor}`
      const { status, text, body } = await me.get(`/v1/drift/runs?${query}${at}`)
      assert.equal(status, 200, text)
      ids.push(...body.runs.map(({ run_id }: { run_id: string }) => run_id))
      cursor = body.next_cursor
      pages++
    }
    return [ids, pages]
  }

  async function ids(me: Caller, query: string): Promise<string[]> {
    return (await listed(me, query))[0]
  }

  test('a search finds the runs that hold all its words', async (t) => {
    verifies('runs.search')
    const { app, me } = await startHere(t)
    for (const [run_id, ...goals] of [
      ['login', 'Add rate limiting to the LOGIN endpoint', 'write a token bucket'],
      ['soup', unclear, 'Äpfel schälen'],
      ['both', 'write the soup recipe', 'token of thanks'],
      ['sub', errand],
    ] as const) {
      for (const goal of goals) await me.log({ run_id, goal })
      app.advance(1)
    }
    await me.log({ run_id: 'sub', goal: 'peel the carrots', agent_id: 'cook' })
    app.advance(1)
    await me.log({ run_id: 'login', goal: 'go on', user_message: 'also the sign-up form' })
    const beside = await newCaller(app)
    await beside.log({ run_id: 'theirs', goal: 'write a token bucket' })
    const rows: [string, string[]][] = [
      ['token', ['login', 'both']],
      ['token write', ['login', 'both']],
      ['  Login\tBUCKET ', ['login']],
      ['limit', ['login']],
      ['token soup', ['both']],
      ['GROSSE suppe', []],
      ['GROßE äPFEL', ['soup']],
      ['carrots refund', ['sub']],
      ['sign-up', ['login']],
      ['%', []],
      ['nowhere', []],
      ['', ['login', 'sub', 'both', 'soup']],
    ]
    for (const [q, expected] of rows) {
      const query = `q=${encodeURIComponent(q)}`
      assert.deepEqual(await ids(me, query), expected, q)
      assert.deepEqual(await ids(me, `${query}&limit=1`), expected, q)
    }
    assert.deepEqual(await ids(me, 'q=token&outcome=success'), [])
  })

  test('a run has one state, by which lists are filtered and counted', async (t) => {
    verifies('runs.state')
    const { app, me } = await startHere(t)
    const ends = {
      calm: errand,
      drifting: astray,
      uncertain: unclear,
      asked: astray,
      'asked calm': errand,
    }
    for (const [run_id, goal] of Object.entries(ends)) {
      await me.logAll([errand, goal].map((goal) => ({ run_id, goal })))
      app.advance(1)
    }
    const asked = []
    for (const run_id of ['asked', 'asked calm', 'asked', 'not stored']) {
      asked.push((await me.post('/v1/escalation', { run_id, reason: 'lost' })).body.esc_id)
    }
    const states = async () => {
      const { runs, counts } = (await me.get('/v1/drift/runs')).body
      const { finished: _, ...byState } = counts
      for (const [state, count] of Object.entries(byState)) {
        const expected = runs.filter((run: { state: string }) => run.state === state)
        const found = await ids(me, `state=${state}&limit=1`)
        assert.deepEqual(
          found,
          expected.map(({ run_id }: { run_id: string }) => run_id),
        )
        assert.equal(count, found.length, state)
      }
      return Object.fromEntries(
        runs.map(({ run_id, state }: { run_id: string; state: string }) => [run_id, state]),
      )
    }
    const before = { calm: 'calm', drifting: 'drifting', uncertain: 'uncertain' }
    assert.deepEqual(await states(), { ...before, asked: 'waiting', 'asked calm': 'waiting' })
    const decide = (id: string) => me.post('/v1/escalation/decide', { id, decision: 'stop' })
    await decide(asked[0])
    await decide(asked[1])
    assert.deepEqual(await states(), { ...before, asked: 'waiting', 'asked calm': 'calm' })
    await decide(asked[2])
    await me.log({ run_id: 'drifting', goal: errand })
    await me.log({ run_id: 'uncertain', goal: astray, agent_id: 'helper', ground: errand })
    assert.deepEqual(await states(), {
      calm: 'calm',
      drifting: 'calm',
      uncertain: 'uncertain',
      asked: 'drifting',
      'asked calm': 'calm',
    })
    await me.request('DELETE', '/v1/drift/run?run_id=asked')
    assert.equal((await me.get('/v1/drift/runs')).body.counts.drifting, 0)
    const { counts } = (await (await newCaller(app)).get('/v1/drift/runs')).body
    assert.deepEqual(counts, { waiting: 0, drifting: 0, uncertain: 0, calm: 0, finished: 0 })
  })

  test('finished runs are found and counted, whatever their state', async (t) => {
    verifies('runs.finished')
    const { app, me } = await startHere(t)
    for (const [run_id, goal] of [
      ['calm', errand],
      ['drifting', astray],
      ['open', errand],
    ] as const) {
      await me.logAll([errand, goal].map((goal) => ({ run_id, goal })))
      app.advance(1)
    }
    assert.deepEqual(await ids(me, 'finished=true'), [])
    for (const run_id of ['calm', 'drifting']) {
      await me.post('/v1/drift/outcome', { run_id, outcome: 'unknown' })
    }
    assert.deepEqual(await ids(me, 'finished=true&limit=1'), ['drifting', 'calm'])
    assert.deepEqual(await ids(me, 'finished=true&state=drifting'), ['drifting'])
    assert.deepEqual(await ids(me, 'finished=false'), ['open'])
    const { counts } = (await me.get('/v1/drift/runs')).body
    assert.deepEqual([counts.finished, counts.drifting, counts.calm], [2, 1, 2])
    assert.equal((await me.get('/v1/drift/runs?finished=maybe')).status, 400)
  })

  test('since and until cut out a span of time', async (t) => {
    verifies('runs.until')
    const { app, me } = await startHere(t)
    for (const run_id of ['a', 'b', 'c', 'd']) {
      await me.log({ run_id, goal: errand })
      app.advance(1_000)
    }
    const at = (second: number) => `2026-01-15T12:00:0${second}Z`
    assert.deepEqual(await ids(me, `until=${at(2)}`), ['b', 'a'])
    assert.deepEqual(await ids(me, `until=${at(2)}&limit=1`), ['b', 'a'])
    assert.deepEqual(await ids(me, `since=${at(1)}&until=${at(3)}`), ['c', 'b'])
    assert.deepEqual(await ids(me, `until=${at(0)}`), [])
  })

  test('a spark shows the course of a run in at most 40 points', async (t) => {
    verifies('runs.spark')
    const { me } = await startHere(t)
    await me.logAll([errand, unclear, astray, errand].map((goal) => ({ run_id: 'short', goal })))
    const long = Array.from({ length: 118 }, (_, at) => (at === 117 ? astray : errand))
    await me.logAll(long.map((goal) => ({ run_id: 'long', goal })))
    const { runs } = (await me.get('/v1/drift/runs')).body
    const sparks = Object.fromEntries(
      runs.map((run: Record<string, unknown>) => [run.run_id, run.spark]),
    )
    const { trace } = await me.read('short')
    assert.deepEqual(
      sparks.short,
      trace.map(({ phi, drifting, uncertain }: Record<string, unknown>) => [
        phi,
        drifting ? 'drifting' : uncertain ? 'uncertain' : 'calm',
      ]),
    )
    assert.deepEqual(
      sparks.short.map(([, state]: [number, string]) => state),
      ['calm', 'uncertain', 'drifting', 'calm'],
    )
    assert.equal(sparks.long.length, 40)
    assert.deepEqual(sparks.long[0], [0, 'calm'])
    assert.equal(sparks.long.at(-1)[1], 'drifting')
  })

  test('one call looks at a bounded number of runs and steps', async (t) => {
    verifies('runs.bounded')
    const { app, me } = await startHere(t)
    await me.logAll([
      { run_id: 'first', goal: 'water the plants' },
      { run_id: 'first', goal: errand },
    ])
    app.advance(1)
    const others = Array.from({ length: 1_100 }, (_, at) => ({ run_id: `run ${at}`, goal: errand }))
    await me.logAll(others)
    app.advance(1)
    assert.deepEqual(await listed(me, 'q=plants'), [['first'], 2])
    assert.deepEqual(await listed(me, 'outcome=success'), [[], 2])
    // Longer than what one call reads, so that only its first steps count.
    const goal = errand
    for (let at = 0; at < 20_500; at += 500) {
      await me.logAll(Array(500).fill({ run_id: 'long', goal }))
    }
    await me.log({ run_id: 'long', goal: 'paint the shed' })
    app.advance(1)
    await me.log({ run_id: 'last', goal })
    assert.deepEqual(await ids(me, 'q=shed'), [])
    assert.deepEqual(await ids(me, 'q=plants'), ['first'])
    const { counts } = (await me.get('/v1/drift/runs?limit=1')).body
    assert.deepEqual(counts, {
      waiting: 0,
      drifting: 0,
      uncertain: 2,
      calm: 1_000,
      finished: 0,
    })
  })
})
