import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { newDialogue, takeTurn } from '../src/core/runs/dialogue.ts'
import { createStore } from '../src/storage/store.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const goal = 'settle how the colony is governed'

/** The numbers 1 to `count`. */
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

onEachDatabase((database) => {
  async function startKeyed(t: TestContext, tier?: 'ground') {
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url } })
    return { app, url, me: await newCaller(app, tier) }
  }

  /** The verdict on a turn that is in order. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async function say(caller: Caller, turn: object): Promise<any> {
    const answer = await caller.post('/v1/dialogue', { conv_id: 'talk', agent: 'a', ...turn })
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async function read(caller: Caller, query = 'conv_id=talk'): Promise<any> {
    const answer = await caller.get(`/v1/dialogue?${query}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }

  test('a turn needs a key and gets a verdict on the dialogue', async (t) => {
    verifies('dialogue.key', 'dialogue.answer', 'dialogue.first')
    const { app, me } = await startKeyed(t)
    const turn = { conv_id: 'talk', agent: 'a', position: 'a council', distance: 7, goal }
    for (const answer of [await app.post('/v1/dialogue', turn), await app.get('/v1/dialogue')]) {
      assert.deepEqual([answer.status, answer.body.error], [401, 'no_key'])
    }
    const { advice, ...first } = await say(me, turn)
    assert.deepEqual(first, {
      conv_id: 'talk',
      turn: 1,
      reason: 'grounded',
      drifting: false,
      phi: 0,
      echo: 0,
      self_echo: 0,
      dist: 7,
    })
    assert.match(advice, /shared goal is set/)
    const second = await say(me, { agent: 'b', position: 'a council by lot', distance: 6 })
    assert.deepEqual(
      [second.turn, second.reason, second.phi, second.echo, second.self_echo, second.dist],
      [2, 'advancing', 1, 0.5, 0, 6],
    )
    const third = await say(me, { agent: 'a', position: 'a council', goal: 'book a flight' })
    assert.deepEqual(
      [
        third.turn,
        third.reason,
        third.drifting,
        third.phi,
        third.echo,
        third.self_echo,
        third.dist,
      ],
      [3, 'topic-drift', true, 1, 0.5, 1, 5],
    )
    const { conversation } = await read(me)
    assert.equal(conversation.goal, goal)
  })

  test('without a goal the first position is the goal, and phi speaks of what was said', async (t) => {
    verifies('dialogue.first', 'dialogue.phi')
    const { me } = await startKeyed(t)
    const first = await say(me, { position: 'paint garden shed blue' })
    assert.deepEqual([first.reason, first.phi], ['grounded', 0])
    const phis = []
    for (const turn of [
      { position: 'paint garden shed blue' },
      { position: 'paint garden fence' },
      { position: 'lunch' },
      { position: 'lunch', goal: 'paint garden shed' },
      { position: 'paint garden shed blue', goal: 'lunch' },
      { position: '' },
    ]) {
      phis.push((await say(me, turn)).phi)
    }
    assert.deepEqual(phis, [0, 0.6, 1, 0.25, 1, 0])
  })

  test('every reason, and whether it drifts', async (t) => {
    verifies(
      'dialogue.topic-drift',
      'dialogue.echo-spiral',
      'dialogue.deliberation-stall',
      'dialogue.ungrammatical',
    )
    const { me } = await startKeyed(t)
    const scenarios: Record<string, [position: string, distance: number, restated?: string][]> = {
      'grounded advancing advancing echo-spiral echo-spiral!': [
        ['a council', 7],
        ['a council', 7],
        ['a council', 7],
        ['a council', 7],
        ['a council', 7],
      ],
      'grounded advancing advancing deliberation-stall deliberation-stall!': [
        ['a council', 7],
        ['random lottery', 7],
        ['one elder', 7],
        ['no rule', 7],
        ['majority vote', 9],
      ],
      'grounded advancing advancing advancing': [
        ['a council', 7],
        ['a council', 7],
        ['a council', 6],
        ['a council', 5],
      ],
      'grounded topic-drift! advancing': [
        ['a council', 7],
        ['soup', 6, 'choose a restaurant for lunch'],
        ['a council', 5, goal],
      ],
      'grounded ungrammatical! ungrammatical! advancing': [
        ['a council', 7],
        ['', 7],
        ['the of and', 7],
        ['a council', 6],
      ],
      'ungrammatical! grounded': [
        ['  ', 7],
        ['a council', 7],
      ],
    }
    for (const [expected, turns] of Object.entries(scenarios)) {
      const told: string[] = []
      for (const [at, [position, distance, restated]] of turns.entries()) {
        const agent = at % 2 === 0 ? 'a' : 'b'
        const first = at === 0 && position.trim() !== '' ? { goal } : {}
        const turn = { conv_id: expected, agent, position, distance, ...first }
        const { reason, drifting } = await say(
          me,
          restated === undefined ? turn : { ...turn, goal: restated },
        )
        told.push(drifting ? `${reason}!` : reason)
      }
      assert.equal(told.join(' '), expected)
    }
  })

  test('the fields of a turn are read leniently where they are measured, strictly where they name', async (t) => {
    verifies('dialogue.ungrammatical', 'dialogue.answer')
    const { me } = await startKeyed(t)
    await say(me, { position: 'begin', goal })
    const distances: [unknown, number][] = [
      ...([
        [0, 0],
        ['8abc', 8],
        [7.9, 7],
        [-3, 0],
        [99, 10],
        [null, 5],
        ['x', 5],
        [undefined, 5],
      ] as [unknown, number][]),
    ]
    for (const [distance, dist] of distances) {
      assert.equal((await say(me, { position: 'on', distance })).dist, dist, String(distance))
    }
    const turn = { conv_id: 'talk', agent: 'a', position: 'on' }
    const faults: [field: string, values: unknown[]][] = [
      ['conv_id', [undefined, null, '', 5, 'x'.repeat(201)]],
      ['agent', [undefined, null, '', {}, 'x'.repeat(201)]],
      ['position', [undefined, null, 5, [], 'x'.repeat(4001)]],
      ['goal', [5, ['x'], 'x'.repeat(4001)]],
    ]
    const before = await read(me)
    for (const [field, values] of faults) {
      for (const value of values) {
        const answer = await me.post('/v1/dialogue', { ...turn, [field]: value })
        assert.deepEqual([answer.status, answer.body.error], [400, 'bad_request'])
        assert.ok(answer.body.detail.startsWith(`${field}: `), answer.body.detail)
      }
    }
    for (const body of ['', 'null', '[]', '5', '{']) {
      assert.equal((await me.post('/v1/dialogue', body)).status, 400, body)
    }
    assert.deepEqual(await read(me), before)

    const broken = { conv_id: 'a\0b', agent: 'c\ud800', position: '  d\0e  ', goal: ' f\udfffg ' }
    const answer = await say(me, { ...broken, surplus: 1 })
    assert.equal(answer.conv_id, 'a\ufffdb')
    const { conversation, turns } = await read(me, `conv_id=${encodeURIComponent('a\ufffdb')}`)
    assert.equal(conversation.goal, 'f\ufffdg')
    assert.deepEqual(
      [turns[0].agent, turns[0].position, turns[0].goal],
      ['c\ufffd', 'd\ufffde', 'f\ufffdg'],
    )
  })

  test('a team’s role styles the verdict, and an unknown one never loses the turn', async (t) => {
    verifies('dialogue.modulation')
    const { me } = await startKeyed(t)
    await me.post('/v1/recursion-team', {
      name: 'own',
      task: 'talk',
      roles: [{ role: 'listener', recurse: 'tight', modes: ['topic-drift'], return: 'Listen.' }],
    })
    await say(me, { position: 'begin', goal, distance: 9 })
    const drift = { position: 'soup', goal: 'choose lunch' }
    const deep = await say(me, { ...drift, team: 'deep-search', role: 'explorer' })
    assert.deepEqual(
      [deep.modulation.return, deep.modulation.basis, deep.modulation.team, deep.modulation.role],
      [true, 'deep', 'deep-search', 'explorer'],
    )
    const own = await say(me, { ...drift, team: 'own', role: 'listener' })
    assert.deepEqual(own.modulation, {
      return: true,
      advice: 'Listen.',
      basis: 'modes',
      team: 'own',
      role: 'listener',
    })
    const calm = await say(me, { position: 'a vote', distance: 1, team: 'own', role: 'listener' })
    assert.deepEqual([calm.reason, calm.modulation.return], ['advancing', false])
    assert.ok(!('modulation' in (await say(me, drift))))
    const alone = await say(me, { ...drift, role: 'listener' })
    assert.deepEqual([alone.modulation.return, alone.modulation.basis], [true, 'unstyled'])
    let { turns } = (await read(me)).conversation
    for (const unknown of [
      { team: 'nobody', role: 'listener' },
      { team: 'own', role: 'nobody' },
      { team: 'own' },
      { team: 5, role: 'listener' },
      { team: 'own', role: {} },
      { team: '', role: '' },
      { team: 'x'.repeat(5000), role: 'y' },
    ]) {
      const answer = await say(me, { ...drift, ...unknown })
      assert.deepEqual(
        [answer.reason, answer.modulation, answer.turn],
        ['topic-drift', null, ++turns],
      )
    }
    assert.equal((await read(me)).turns.length, turns)
  })

  test('conversations are listed by their last turn, page by page', async (t) => {
    verifies('dialogue.list', 'dialogue.key')
    const { app, me } = await startKeyed(t)
    assert.deepEqual(await read(me, ''), { conversations: [], next_cursor: null })
    for (const number of upTo(7)) {
      await say(me, { conv_id: `talk ${number}`, position: `topic ${number}`, distance: 3 })
      app.advance(1000)
    }
    await say(me, { conv_id: 'talk 2', position: 'soup', goal: 'lunch' })
    app.advance(1000)
    // Two turns at one time are told apart by their names.
    await say(me, { conv_id: 'same a', position: '' })
    await say(me, { conv_id: 'same b', position: 'x' })
    const { conversations, next_cursor } = await read(me, '')
    const names = conversations.map(({ conv_id }: { conv_id: string }) => conv_id)
    assert.deepEqual(names, [
      'same b',
      'same a',
      'talk 2',
      ...[7, 6, 5, 4, 3, 1].map((number) => `talk ${number}`),
    ])
    assert.equal(next_cursor, null)
    assert.deepEqual(conversations[2], {
      conv_id: 'talk 2',
      goal: 'topic 2',
      turns: 2,
      last_reason: 'topic-drift',
      drifting: true,
      created: '2026-01-15T12:00:01.000Z',
      updated: '2026-01-15T12:00:07.000Z',
    })
    assert.equal(conversations[1].goal, null)

    const paged: string[] = []
    let query = 'limit=2'
    for (;;) {
      const page = await read(me, query)
      assert.ok(page.conversations.length <= 2)
      paged.push(...page.conversations.map(({ conv_id }: { conv_id: string }) => conv_id))
      if (page.next_cursor === null) break
      query = `limit=2&cursor=${page.next_cursor}`
    }
    assert.deepEqual(paged, names)
    for (const bad of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'conv_id=']) {
      assert.equal((await me.get(`/v1/dialogue?${bad}`)).status, 400, bad)
    }
  })

  test('a conversation is read with its turns, oldest first, page by page', async (t) => {
    verifies('dialogue.read')
    const { app, me } = await startKeyed(t)
    for (const number of upTo(5)) {
      await say(me, {
        agent: number % 2 === 0 ? 'b' : 'a',
        position: `say ${number}`,
        distance: 10 - number,
        ...(number === 3 ? { goal: 'lunch' } : {}),
      })
      app.advance(1000)
    }
    const { conversation, turns, next_cursor } = await read(me)
    assert.deepEqual(conversation, {
      conv_id: 'talk',
      goal: 'say 1',
      turns: 5,
      last_reason: 'advancing',
      drifting: false,
      created: '2026-01-15T12:00:00.000Z',
      updated: '2026-01-15T12:00:04.000Z',
    })
    assert.equal(next_cursor, null)
    assert.deepEqual(turns[2], {
      turn: 3,
      ts: '2026-01-15T12:00:02.000Z',
      agent: 'a',
      position: 'say 3',
      goal: 'lunch',
      distance: 7,
      reason: 'topic-drift',
      drifting: true,
      phi: 1,
      echo: 0.33,
      self_echo: 0.33,
    })
    assert.ok(!('goal' in turns[1]))
    const paged = []
    let query = 'conv_id=talk&limit=2'
    for (;;) {
      const page = await read(me, query)
      paged.push(...page.turns)
      if (page.next_cursor === null) break
      query = `conv_id=talk&limit=2&cursor=${page.next_cursor}`
    }
    assert.deepEqual(paged, turns)
    const missing = await me.get('/v1/dialogue?conv_id=other')
    assert.deepEqual([missing.status, missing.body.error], [404, 'no_conversation'])
    for (const bad of ['limit=0', 'limit=10001', 'cursor=x']) {
      assert.equal((await me.get(`/v1/dialogue?conv_id=talk&${bad}`)).status, 400, bad)
    }
    assert.equal((await read(me, 'conv_id=talk&limit=10000')).turns.length, 5)
  })

  for (const count of [1, 2]) {
    if (count === 2 && database.name === 'sqlite') continue
    test(`turns of writers at ${count === 1 ? 'one node' : 'two nodes'} are strictly ordered`, async (t) => {
      verifies('dialogue.answer', 'process.nodes-equal')
      const url = await database.createUrl()
      const nodes: App[] = []
      for (const _ of upTo(count)) nodes.push(await start(t, { env: { DATABASE_URL: url } }))
      const first = await newCaller(nodes[0]!)
      const callers = nodes.map((node) => first.at(node))
      const answers = await Promise.all(
        upTo(48).map((writer) =>
          say(callers[writer % count]!, {
            agent: `agent ${writer % 3}`,
            position: `position ${writer % 5}`,
            distance: writer % 7,
            goal: writer % 4 === 0 ? 'lunch today' : `position ${writer % 5}`,
          }),
        ),
      )
      const ordered = answers.toSorted((a, b) => a.turn - b.turn)
      assert.deepEqual(
        ordered.map(({ turn }) => turn),
        upTo(48),
      )
      const { conversation, turns } = await read(callers[0]!)
      assert.equal(conversation.turns, 48)
      // Each turn was judged by the memory that all turns before it had left.
      let memory = newDialogue()
      for (const [at, { agent, position, distance, ...turn }] of turns.entries()) {
        const taken = takeTurn(memory, { agent, position, distance, goal: turn.goal ?? null })
        memory = taken.memory
        const { advice, ...verdict } = taken.verdict
        const { conv_id: _, turn: number, ...answered } = ordered[at]
        assert.deepEqual(answered, { ...verdict, advice })
        assert.deepEqual(
          [turn.turn, turn.reason, turn.echo],
          [number, verdict.reason, verdict.echo],
        )
      }
    })
  }

  test('a conversation goes on after a restart, and a lost answer is not a second turn', async (t) => {
    verifies('dialogue.answer', 'idempotency.replay')
    const { app, url, me } = await startKeyed(t)
    await say(me, { position: 'a council', distance: 7, goal })
    const turn = { conv_id: 'talk', agent: 'b', position: 'a council', distance: 7 }
    const once = await me.post('/v1/dialogue', turn, { 'idempotency-key': 'k' })
    await app.running.stop()
    const again = me.at(await start(t, { env: { DATABASE_URL: url } }))
    const replayed = await again.post('/v1/dialogue', turn, { 'idempotency-key': 'k' })
    assert.deepEqual(
      [replayed.text, replayed.headers.get('idempotent-replayed')],
      [once.text, 'true'],
    )
    const third = await say(again, { position: 'a council', distance: 7 })
    assert.deepEqual([third.turn, third.echo, third.self_echo], [3, 1, 1])
    const fourth = await say(again, { agent: 'b', position: 'a council', distance: 7 })
    assert.equal(fourth.reason, 'echo-spiral')
  })

  test('a step_id is kept with its conversation', async (t) => {
    verifies('dialogue.answer', 'idempotency.step-id')
    const { me } = await startKeyed(t)
    const turn = { agent: 'b', position: 'a council', distance: 7, step_id: 's' }
    for (const conv_id of ['talk', 'run', '界'.repeat(200)]) {
      for (const time of ['first', 'again']) {
        const answer = await me.post('/v1/dialogue', { ...turn, conv_id })
        assert.deepEqual([answer.status, answer.body.turn], [200, 1], `${conv_id} ${time}`)
      }
      const other = await me.post('/v1/dialogue', { ...turn, conv_id, distance: 6 })
      assert.deepEqual([other.status, other.body.error], [409, 'idempotency_conflict'])
    }
    const tooLong = await me.post('/v1/dialogue', { ...turn, conv_id: '字'.repeat(4_000) })
    assert.equal(tooLong.status, 400)
  })

  test('a conversation lives as long as its tier keeps runs, from its last turn', async (t) => {
    verifies('retention.expires', 'retention.job', 'dialogue.read')
    const { app, url, me } = await startKeyed(t, 'ground')
    const db = await openFor(t, url)
    const store = createStore(db)
    const rows = async () => {
      const counts: number[] = []
      for (const table of ['conversations', 'conversation_turns']) {
        const row = await db.get<{ count: number }>(
          `SELECT COUNT(*) AS count FROM ${table} WHERE conv_id = 'talk'`,
        )
        counts.push(row?.count ?? 0)
      }
      return counts
    }
    for (const number of upTo(12)) await say(me, { position: `say ${number}`, goal })
    app.advance(dayMs - 1)
    await say(me, { position: 'on' })
    app.advance(dayMs - 1)
    assert.equal((await read(me)).turns.length, 13)
    app.advance(1)
    assert.equal((await me.get('/v1/dialogue?conv_id=talk')).status, 404)
    assert.deepEqual((await read(me, '')).conversations, [])
    assert.deepEqual(await rows(), [1, 13])

    const anew = await say(me, { position: 'something else' })
    assert.deepEqual([anew.turn, anew.reason], [1, 'grounded'])
    assert.deepEqual(await rows(), [1, 1])
    for (const number of upTo(12)) await say(me, { position: `say ${number}` })
    await say(me, { conv_id: 'young', position: 'stay' })
    app.advance(dayMs - 1)
    await say(me, { conv_id: 'young', position: 'stay' })
    // The job is next due in an hour, so that it cannot run between the lines that follow.
    await app.running.runDue()
    app.advance(1)
    const at = app.running.service.now()
    // Slice by slice, its own row last, so that what is left of it is found again.
    assert.equal(await store.tx(({ conversations }) => conversations.expire(at, 5)), true)
    assert.deepEqual(await rows(), [1, 8])
    app.advance(hourMs)
    await app.running.runDue()
    assert.deepEqual(await rows(), [0, 0])
    assert.equal((await read(me, 'conv_id=young')).turns.length, 2)
  })

  test('drifting turns, and no others, emit an event under the name of the conversation', async (t) => {
    verifies('events.dialogue', 'alerts.dialogue-run')
    const events: Record<string, unknown>[] = []
    const receiver = createServer(async (request, response) => {
      events.push((await json(request)) as Record<string, unknown>)
      response.end()
    }).listen(0, '127.0.0.1')
    t.after(() => receiver.close())
    await once(receiver, 'listening')
    const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const env = { DATABASE_URL: await database.createUrl(), PLUMBLINE_WEBHOOK_ALLOW: host }
    const app = await start(t, { env })
    const me = await newCaller(app)
    const entries = async () => (await me.get('/v1/alerts/log')).body.log

    await say(me, { position: 'begin', goal, distance: 8 })
    assert.deepEqual(await entries(), [])
    const drift = await say(me, { agent: 'b', position: 'soup', goal: 'choose lunch', distance: 7 })
    const [suppressed] = await entries()
    assert.deepEqual(suppressed, {
      ts: '2026-01-15T12:00:00.000Z',
      run_id: 'talk',
      reason: 'topic-drift',
      severity: 'warn',
      phi: 1,
      delivered: false,
      status: 0,
      detail: 'no valid webhook configured',
    })

    assert.equal((await me.post('/v1/alerts', { url: `http://${host}/in` })).status, 200)
    await say(me, { position: 'begin', distance: 6 })
    await say(me, { agent: 'b', position: '', distance: 5 })
    await say(me, { position: 'tea', goal: 'choose lunch', distance: 5 })
    while ((await app.running.runDue()) > 0);
    const common = {
      event: 'drift',
      account: me.account,
      run_id: 'talk',
      severity: 'warn',
      ts: '2026-01-15T12:00:00.000Z',
      state: 'opened',
    }
    const [first, second, ...more] = events
    assert.deepEqual(more, [])
    const { advice, ...spelling } = first ?? {}
    assert.deepEqual(spelling, { ...common, goal, reason: 'ungrammatical', phi: 0 })
    assert.match(String(advice), /no word/)
    assert.deepEqual(second, {
      ...common,
      goal: 'choose lunch',
      reason: 'topic-drift',
      phi: 1,
      advice: drift.advice,
    })
    assert.deepEqual(
      (await entries()).map(({ run_id, delivered }: Entry) => [run_id, delivered]),
      [
        ['talk', true],
        ['talk', true],
        ['talk', false],
      ],
    )
  })

  test('an incident of a dialogue ends when any agent is back on the shared goal', async (t) => {
    verifies('events.dialogue', 'alerts.dialogue-run')
    const { app, me } = await startKeyed(t)
    const set = await me.post('/v1/alerts', { url: 'https://hooks.example.org/', incidents: true })
    assert.equal(set.status, 200, set.text)
    const closed = async () => {
      const { incidents } = (await me.get('/v1/alerts/incidents')).body
      return incidents.map(({ run_id, reason, closed }: Incident) => [
        run_id,
        reason,
        closed !== null,
      ])
    }
    await say(me, { position: 'begin', goal, distance: 9 })
    for (const agent of ['a', 'b']) {
      await say(me, { agent, position: 'soup', goal: 'choose lunch', distance: 8 })
      app.advance(1000)
    }
    assert.deepEqual(await closed(), [['talk', 'topic-drift', false]])
    await say(me, { agent: 'c', position: 'a council', goal, distance: 7 })
    assert.deepEqual(await closed(), [['talk', 'topic-drift', true]])
  })

  test('a conversation whose stored state is damaged says so and can still be read', async (t) => {
    verifies('dialogue.read')
    const { url, me } = await startKeyed(t)
    await say(me, { position: 'begin', goal })
    const db = await openFor(t, url)
    await db.run("UPDATE conversations SET memory = '{' WHERE conv_id = 'talk'")
    const answer = await me.post('/v1/dialogue', { conv_id: 'talk', agent: 'a', position: 'on' })
    assert.deepEqual([answer.status, answer.body.error], [500, 'internal'])
    assert.match(answer.body.detail, /another conv_id/)
    assert.equal((await read(me)).turns.length, 1)
    assert.equal((await say(me, { conv_id: 'next', position: 'on' })).turn, 1)
  })
})

interface Entry {
  run_id: string
  delivered: boolean
}

interface Incident {
  run_id: string
  reason: string
  closed: string | null
}
