import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { onEachDatabase, openFor } from './backends.ts'
import { type Caller, newCaller } from './caller.ts'
import { type Answer, type App, start } from './harness.ts'
import { verifies } from './verifies.ts'

const hour = 3_600_000

interface Member {
  account: string
  label: string
  role: string
}

onEachDatabase((database) => {
  /** A service, and where there can be one a second node beside it. */
  async function startNodes(t: TestContext): Promise<{ url: string; app: App; beside: App }> {
    const url = await database.createUrl()
    const env = { DATABASE_URL: url }
    const app = await start(t, { env })
    return { url, app, beside: database.name === 'postgres' ? await start(t, { env }) : app }
  }

  async function startApp(t: TestContext): Promise<App> {
    return (await startNodes(t)).app
  }

  async function codeOf(owner: Caller, body: object = {}): Promise<string> {
    const answer = await owner.post('/v1/team/invite', body)
    assert.equal(answer.status, 201, answer.text)
    return answer.body.code
  }

  async function join(owner: Caller, member: Caller, label?: string): Promise<void> {
    const answer = await member.post('/v1/team/join', { code: await codeOf(owner), label })
    assert.equal(answer.status, 200, answer.text)
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async function teamOf(caller: Caller): Promise<any> {
    return (await caller.get('/v1/team')).body.team
  }

  function assertRefused(answer: Answer, status: number, word: string): void {
    assert.deepEqual([answer.status, answer.body.error], [status, word], answer.text)
    assert.equal(typeof answer.body.detail, 'string')
  }

  test('an invite needs no body, and one that is no object is told what to send', async (t) => {
    verifies('team.invite')
    const app = await startApp(t)
    const [owner, ground] = [await newCaller(app, 'group'), await newCaller(app, 'ground')]
    assert.equal((await owner.request('POST', '/v1/team/invite')).status, 201)
    assert.equal((await ground.request('POST', '/v1/team/invite')).status, 402)
    for (const body of ['[]', 'null', '5', '{', '"text"']) {
      const refused = await owner.post('/v1/team/invite', body)
      assert.deepEqual(
        [refused.status, refused.body],
        [400, { error: 'bad_request', detail: 'body: send a JSON object' }],
        body,
      )
    }
  })

  test('the first invite makes a team that is named after its owner', async (t) => {
    verifies('team.read', 'team.first-invite', 'team.invite', 'team.routes', 'me.fields')
    const app = await startApp(t)
    const owner = await newCaller(app, 'group')
    assert.deepEqual((await owner.get('/v1/team')).body, { team: null })
    assert.equal((await owner.get('/v1/me')).body.team, null)
    const invited = await owner.post('/v1/team/invite', { label: 'Ada' })
    assert.equal(invited.status, 201)
    assert.deepEqual(Object.keys(invited.body), ['code', 'expires'])
    assert.match(invited.body.code, /^inv_[0-9A-Za-z]{22}$/)
    assert.equal(invited.body.expires, '2026-01-18T12:00:00.000Z')
    const team = await teamOf(owner)
    assert.deepEqual(team, {
      id: team.id,
      name: 'Ada',
      owner: owner.account,
      seats_used: 2,
      seats_max: 10,
      share_goals: false,
      members: [
        { account: owner.account, label: 'Ada', role: 'owner', joined: '2026-01-15T12:00:00.000Z' },
      ],
    })
    assert.deepEqual((await owner.get('/v1/me')).body.team, {
      id: team.id,
      name: 'Ada',
      role: 'owner',
    })
    await codeOf(owner, { label: 'Grace' })
    assert.equal((await teamOf(owner)).name, 'Ada')
    const silent = await newCaller(app, 'pro')
    await codeOf(silent)
    assert.equal((await teamOf(silent)).name, silent.account)
  })

  test('an invite lasts as long as was asked, 1 to 720 hours', async (t) => {
    verifies('team.invite')
    const app = await startApp(t)
    const owner = await newCaller(app)
    const cases: [unknown, string | null][] = [
      [undefined, '2026-01-18T12:00:00.000Z'],
      [1, '2026-01-15T13:00:00.000Z'],
      [1.5, '2026-01-15T13:30:00.000Z'],
      [720, '2026-02-14T12:00:00.000Z'],
      [0, null],
      [720.5, null],
      [-1, null],
      ['72', null],
      [null, null],
    ]
    for (const [expires_in_hours, expires] of cases) {
      const answer = await owner.post('/v1/team/invite', { expires_in_hours })
      if (expires === null) assertRefused(answer, 400, 'bad_request')
      else assert.equal(answer.body.expires, expires)
    }
  })

  test('teams are for group and above', async (t) => {
    verifies('team.invite', 'quota.what-counts')
    const app = await startApp(t)
    const cases = [
      ['ground', 402],
      ['solo', 402],
      ['group', 201],
      ['pro', 201],
      ['enterprise', 201],
    ] as const
    for (const [tier, status] of cases) {
      const caller = await newCaller(app, tier)
      const answer = await caller.post('/v1/team/invite', {})
      assert.equal(answer.status, status, tier)
      if (status === 201) continue
      assertRefused(answer, 402, 'upgrade_required')
      assert.equal(typeof answer.body.upgrade, 'string')
      assert.equal((await caller.get('/v1/me')).body.usage.writes, 0)
      assert.equal(await teamOf(caller), null)
    }
  })

  test('a code gives one seat, and a member keeps its own tier', async (t) => {
    verifies('team.join', 'team.no-invite')
    const app = await startApp(t)
    const owner = await newCaller(app, 'group')
    const code = await codeOf(owner, { label: 'Ada' })
    const member = await newCaller(app, 'ground')
    app.advance(hour)
    const joined = await member.post('/v1/team/join', { code: ` ${code}\n`, label: 'Grace' })
    assert.equal(joined.status, 200)
    assert.deepEqual(Object.keys(joined.body), ['ok', 'team'])
    assert.deepEqual(joined.body.team, await teamOf(owner))
    assert.deepEqual(joined.body.team, await teamOf(member))
    assert.equal(joined.body.team.seats_used, 2)
    assert.deepEqual(joined.body.team.members[1], {
      account: member.account,
      label: 'Grace',
      role: 'member',
      joined: '2026-01-15T13:00:00.000Z',
    })
    const me = (await member.get('/v1/me')).body
    assert.deepEqual([me.tier, me.team.role, me.usage.writes_limit], ['ground', 'member', 1_000])
    const late = await newCaller(app)
    assertRefused(await late.post('/v1/team/join', { code }), 404, 'no_invite')
    app.advance(1)
    const named = await codeOf(owner, { label: 'Edsger' })
    await late.post('/v1/team/join', { code: named })
    const labels = (await teamOf(owner)).members.map(({ label }: Member) => label)
    assert.deepEqual(labels, ['Ada', 'Grace', 'Edsger'])
  })

  test('an unknown, a used and an expired code look the same', async (t) => {
    verifies('team.no-invite')
    const app = await startApp(t)
    const owner = await newCaller(app)
    const used = await codeOf(owner)
    await (await newCaller(app)).post('/v1/team/join', { code: used })
    const expired = await codeOf(owner, { expires_in_hours: 1 })
    app.advance(hour)
    const seated = await newCaller(app)
    await join(owner, seated)
    const ended = await newCaller(app)
    const dissolved = await codeOf(ended)
    await ended.post('/v1/team/leave', {})
    const codes = ['inv_0000000000000000000000', 'x', used, expired, dissolved]
    for (const caller of [await newCaller(app), seated]) {
      const texts = new Set<string>()
      for (const code of codes) {
        const answer = await caller.post('/v1/team/join', { code })
        assertRefused(answer, 404, 'no_invite')
        texts.add(answer.text)
      }
      assert.equal(texts.size, 1)
    }
    for (const body of [{}, { code: 5 }, { code: '' }, { code: 'x'.repeat(201) }]) {
      assertRefused(await seated.post('/v1/team/join', body), 400, 'bad_request')
    }
  })

  test('a code is good to the millisecond, and the job forgets it later', async (t) => {
    verifies('team.no-invite', 'team.seats')
    const { url, app } = await startNodes(t)
    const db = await openFor(t, url)
    const owner = await newCaller(app, 'group')
    const stored = async () => (await db.all('SELECT hash FROM team_invites')).length
    const code = await codeOf(owner, { expires_in_hours: 1 })
    app.advance(hour - 1)
    assert.equal((await teamOf(owner)).seats_used, 2)
    await app.running.runDue()
    assert.equal(await stored(), 1)
    app.advance(1)
    assert.equal((await teamOf(owner)).seats_used, 1)
    const late = await newCaller(app)
    assertRefused(await late.post('/v1/team/join', { code }), 404, 'no_invite')
    app.advance(hour)
    await app.running.runDue()
    assert.equal(await stored(), 0)
  })

  test('the code itself is stored nowhere, not even for a replay', async (t) => {
    verifies('team.invite', 'idempotency.replay')
    const { url, app } = await startNodes(t)
    const db = await openFor(t, url)
    const owner = await newCaller(app)
    const key = { 'idempotency-key': 'once' }
    const first = await owner.post('/v1/team/invite', {}, key)
    const again = await owner.post('/v1/team/invite', {}, key)
    assert.equal(again.text, first.text)
    assert.equal((await teamOf(owner)).seats_used, 2)
    const rows = JSON.stringify([
      await db.all('SELECT hash, team, label FROM team_invites'),
      await db.all('SELECT answer FROM idempotency'),
    ])
    assert.ok(rows.length > 100)
    assert.ok(!rows.includes(first.body.code))
    const logged = JSON.stringify(app.log)
    assert.ok(!logged.includes(first.body.code))
  })

  test('of 20 accounts that redeem a code at once, one gets the seat', async (t) => {
    verifies('team.join', 'process.nodes-equal')
    const { app, beside } = await startNodes(t)
    const owner = await newCaller(app)
    const code = await codeOf(owner)
    const callers = await Promise.all(Array.from({ length: 20 }, () => newCaller(app)))
    const answers = await Promise.all(
      callers.map((caller, at) =>
        caller.at(at % 2 === 0 ? app : beside).post('/v1/team/join', { code }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 404)])
    const { members, seats_used } = await teamOf(owner)
    assert.deepEqual([members.length, seats_used], [2, 2])
  })

  test('an account that redeems many codes at once gets one seat, and the other codes survive', async (t) => {
    verifies('team.join-conflict', 'process.nodes-equal')
    const { app, beside } = await startNodes(t)
    const member = await newCaller(app)
    const owners = await Promise.all(Array.from({ length: 8 }, () => newCaller(app)))
    const codes = await Promise.all(owners.map((owner) => codeOf(owner)))
    const answers = await Promise.all(
      codes.map((code, at) =>
        member.at(at % 2 === 0 ? app : beside).post('/v1/team/join', { code }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, ...Array.from({ length: 7 }, () => 409)])
    const left = codes.filter((_, at) => answers[at]!.status === 409)
    for (const code of left) {
      const other = await newCaller(app)
      assert.equal((await other.post('/v1/team/join', { code })).status, 200)
    }
  })

  test('seats are those of the owner’s tier now, and pending invites hold one', async (t) => {
    verifies('team.seats', 'team.join-conflict')
    const { app, beside } = await startNodes(t)
    const owner = await newCaller(app, 'group')
    const invites = await Promise.all(
      Array.from({ length: 15 }, (_, at) =>
        owner.at(at % 2 === 0 ? app : beside).post('/v1/team/invite', {}),
      ),
    )
    const codes = invites.filter(({ status }) => status === 201).map(({ body }) => body.code)
    assert.equal(codes.length, 9)
    for (const answer of invites) if (answer.status !== 201) assertRefused(answer, 409, 'conflict')
    const members = await Promise.all(codes.map(() => newCaller(app, 'ground')))
    for (const [at, member] of members.slice(0, 8).entries()) {
      assert.equal((await member.post('/v1/team/join', { code: codes[at] })).status, 200)
    }
    assertRefused(await owner.post('/v1/team/invite', {}), 409, 'conflict')
    assert.equal((await owner.post('/v1/team/seat', { account: members[0]!.account })).status, 200)
    const extra = await codeOf(owner)

    const setTier = (tier: 'solo' | 'pro') =>
      app.running.store.accounts.setTier(owner.account, tier)
    await setTier('solo')
    const last = { code: codes[8] }
    assertRefused(await members[8]!.post('/v1/team/join', last), 409, 'conflict')
    const shrunk = await teamOf(members[1]!)
    assert.deepEqual([shrunk.seats_used, shrunk.seats_max, shrunk.members.length], [10, 1, 8])
    await setTier('pro')
    assert.equal((await members[8]!.post('/v1/team/join', last)).status, 200)
    assert.equal((await members[0]!.post('/v1/team/join', { code: extra })).status, 200)
    assert.equal((await teamOf(owner)).seats_max, 50)
  })

  test('who has a seat takes no other, and the code survives', async (t) => {
    verifies('team.join-conflict')
    const app = await startApp(t)
    const [owner, other, member] = [
      await newCaller(app),
      await newCaller(app),
      await newCaller(app),
    ]
    await join(owner, member)
    const [own, foreign] = [await codeOf(owner), await codeOf(other)]
    const cases: [Caller, string][] = [
      [owner, own],
      [owner, foreign],
      [member, own],
      [member, foreign],
      [other, own],
    ]
    for (const [caller, code] of cases) {
      for (const headers of [{}, { 'idempotency-key': `${caller.account}${code}` }]) {
        assertRefused(await caller.post('/v1/team/join', { code }, headers), 409, 'conflict')
      }
    }
    for (const code of [own, foreign]) {
      const newcomer = await newCaller(app)
      assert.equal((await newcomer.post('/v1/team/join', { code })).status, 200)
    }
  })

  test('a member can leave, an owner only alone', async (t) => {
    verifies('team.leave')
    const app = await startApp(t)
    const [owner, member] = [await newCaller(app), await newCaller(app)]
    assertRefused(await member.post('/v1/team/leave', {}), 404, 'no_seat')
    await join(owner, member)
    assertRefused(await owner.post('/v1/team/leave', {}), 409, 'conflict')
    const left = await member.request('POST', '/v1/team/leave')
    assert.deepEqual([left.status, left.body], [200, { ok: true }])
    assert.equal(await teamOf(member), null)
    const pending = await codeOf(owner)
    assert.equal((await owner.post('/v1/team/leave', {})).status, 200)
    assert.equal(await teamOf(owner), null)
    assertRefused(await member.post('/v1/team/join', { code: pending }), 404, 'no_invite')
    await codeOf(member, { label: 'Anew' })
    await join(member, owner)
    assert.equal((await teamOf(owner)).name, 'Anew')
  })

  test('nobody sits down in a team that ends at the same moment', async (t) => {
    verifies('team.leave', 'process.nodes-equal')
    const { app, beside } = await startNodes(t)
    const pairs = await Promise.all(
      Array.from({ length: 24 }, async () => {
        const [owner, member] = [await newCaller(app), await newCaller(app)]
        return { owner, member, code: await codeOf(owner) }
      }),
    )
    await Promise.all(
      pairs.map(async ({ owner, member, code }, at) => {
        const joining = member.at(beside).post('/v1/team/join', { code })
        // Neither is first every time.
        for (let turn = 0; turn < at % 4; turn++) await app.get('/v1/tiers')
        const left = await owner.post('/v1/team/leave', {})
        const joined = await joining
        const seats = [await teamOf(owner), await teamOf(member)].map((team) => team?.seats_used)
        const [expected, both] =
          left.status === 200
            ? [
                [200, 404],
                [undefined, undefined],
              ]
            : [
                [409, 200],
                [2, 2],
              ]
        assert.deepEqual([[left.status, joined.status], seats], [expected, both])
      }),
    )
  })

  test('an owner removes members, and nobody else does', async (t) => {
    verifies('team.seat')
    const app = await startApp(t)
    const [owner, member, other] = [
      await newCaller(app),
      await newCaller(app),
      await newCaller(app),
    ]
    const [stranger, ownerOfOther] = [await newCaller(app), await newCaller(app)]
    await join(owner, member)
    await join(owner, other)
    await join(ownerOfOther, stranger)
    const seat = (caller: Caller, account: unknown) => caller.post('/v1/team/seat', { account })
    for (const caller of [member, stranger, await newCaller(app)]) {
      for (const account of [owner.account, other.account, caller.account, 'acct_0']) {
        assertRefused(await seat(caller, account), 403, 'forbidden')
      }
    }
    assertRefused(await member.post('/v1/team/invite', {}), 403, 'forbidden')
    for (const account of [stranger.account, ownerOfOther.account, 'acct_0']) {
      assertRefused(await seat(owner, account), 404, 'no_seat')
    }
    assertRefused(await seat(owner, owner.account), 409, 'conflict')
    assertRefused(await seat(owner, undefined), 400, 'bad_request')
    const removed = await seat(owner, member.account)
    assert.deepEqual([removed.status, removed.body], [200, { ok: true }])
    assertRefused(await seat(owner, member.account), 404, 'no_seat')
    assert.equal(await teamOf(member), null)
    assert.equal((await member.get('/v1/team/fleet')).body.members.length, 1)
    const accounts = (await teamOf(owner)).members.map(({ account }: Member) => account)
    assert.deepEqual(accounts, [owner.account, other.account])
    assert.equal((await teamOf(stranger)).members.length, 2)
  })

  test('an owner sets what the team is called and shares, a member its own label', async (t) => {
    verifies('team.privacy')
    const app = await startApp(t)
    const [owner, member] = [await newCaller(app), await newCaller(app)]
    assertRefused(await owner.post('/v1/team', { label: 'x' }), 403, 'forbidden')
    await join(owner, member)
    const changed = await owner.post('/v1/team', { name: 'Crew', share_goals: true, label: 'Ada' })
    assert.deepEqual([changed.status, Object.keys(changed.body)], [200, ['ok', 'team']])
    const labelled = await member.post('/v1/team', { label: 'Grace' })
    const { name, share_goals, members } = labelled.body.team
    assert.deepEqual([name, share_goals], ['Crew', true])
    assert.deepEqual(
      members.map(({ label }: Member) => label),
      ['Ada', 'Grace'],
    )
    for (const body of [{ name: 'Mine' }, { share_goals: false, label: 'Boss' }]) {
      assertRefused(await member.post('/v1/team', body), 403, 'forbidden')
    }
    for (const body of [{ name: '' }, { share_goals: 'yes' }, { label: 'x'.repeat(201) }]) {
      assertRefused(await owner.post('/v1/team', body), 400, 'bad_request')
    }
    assert.deepEqual(await teamOf(owner), labelled.body.team)
  })

  test('the fleet adds up what the members’ runs say', async (t) => {
    verifies('team.fleet')
    const app = await startApp(t)
    const [owner, member] = [await newCaller(app), await newCaller(app)]
    await owner.logAll([
      { run_id: 'a', goal: 'refund order 1041', tokens: 10 },
      { run_id: 'a', goal: 'refund order 2093', tokens: 5 },
      { run_id: 'b', goal: 'file the tax return', tokens: 1 },
    ])
    const nothing = { runs: 0, drifting_runs: 0, steps: 0, tokens: 0, last_seen: null }
    const mine = {
      runs: 2,
      drifting_runs: 1,
      steps: 3,
      tokens: 16,
      last_seen: '2026-01-15T12:00:00.000Z',
    }
    const alone = { account: owner.account, label: owner.account, ...mine }
    const expected = { members: [alone], totals: mine, collisions: [], compared: 2 }
    assert.deepEqual((await owner.get('/v1/team/fleet')).body, expected)
    await join(owner, member, 'Grace')
    const label = { account: member.account, label: 'Grace' }
    const empty = { ...expected, members: [alone, { ...label, ...nothing }] }
    assert.deepEqual((await member.get('/v1/team/fleet')).body, empty)
    app.advance(60_000)
    await member.log({ run_id: 'a', goal: 'water the plants', tokens: 4 })
    const last_seen = '2026-01-15T12:01:00.000Z'
    const theirs = { ...label, runs: 1, drifting_runs: 0, steps: 1, tokens: 4, last_seen }
    assert.deepEqual((await owner.get('/v1/team/fleet')).body, {
      members: [alone, theirs],
      totals: { runs: 3, drifting_runs: 1, steps: 4, tokens: 20, last_seen },
      collisions: [],
      compared: 3,
    })
    await owner.request('DELETE', '/v1/drift/run?run_id=b')
    assert.equal((await member.get('/v1/team/fleet')).body.totals.runs, 2)
  })

  test('live runs of different members collide from an overlap of 0.60', async (t) => {
    verifies('team.collisions')
    const app = await startApp(t)
    const [owner, one, two] = [await newCaller(app), await newCaller(app), await newCaller(app)]
    await join(owner, one)
    await join(owner, two)
    await one.log({ run_id: 'five', goal: 'alpha beta gamma delta epsilon' })
    await one.log({ run_id: 'own', goal: 'alpha beta gamma delta epsilon' })
    await one.log({ run_id: 'done', goal: 'kappa sigma omega' })
    await two.log({ run_id: 'three', goal: 'alpha beta gamma' })
    await two.log({ run_id: 'two', goal: 'alpha beta' })
    await two.log({ run_id: 'finished', goal: 'kappa sigma omega' })
    await two.post('/v1/drift/outcome', { run_id: 'finished', outcome: 'success' })
    await (await newCaller(app)).log({ run_id: 'stranger', goal: 'alpha beta gamma delta epsilon' })
    const fleet = async () => (await owner.get('/v1/team/fleet')).body
    const [pair, ...more] = (await fleet()).collisions
    assert.equal(pair.overlap, 0.6)
    assert.ok(pair.runs.includes('three') && pair.accounts.includes(two.account))
    assert.deepEqual([more.length, more[0].overlap, (await fleet()).compared], [1, 0.6, 5])
    await two.log({ run_id: 'all five', goal: 'Epsilon, delta: gamma beta ALPHA' })
    const { collisions } = await fleet()
    assert.deepEqual(
      collisions.map(({ overlap }: { overlap: number }) => overlap),
      [1, 1, 0.6, 0.6],
    )
    app.advance(24 * hour)
    assert.deepEqual([(await fleet()).collisions, (await fleet()).compared], [[], 0])
    await two.log({ run_id: 'three', goal: 'alpha beta gamma' })
    await one.log({ run_id: 'own', goal: 'alpha beta gamma delta' })
    assert.equal((await fleet()).collisions.length, 1)
  })

  test('a bounded number of runs is compared, and of collisions told', async (t) => {
    verifies('team.collisions')
    const app = await startApp(t)
    const owner = await newCaller(app)
    const members = await Promise.all(Array.from({ length: 11 }, () => newCaller(app)))
    for (const member of members) await join(owner, member)
    for (const member of members) {
      await member.logAll(
        Array.from({ length: 25 }, (_, at) => ({ run_id: `r${at}`, goal: 'mend the boat' })),
      )
    }
    const { compared, collisions, totals } = (await owner.get('/v1/team/fleet')).body
    assert.deepEqual([compared, collisions.length, totals.runs], [200, 100, 275])
  })

  test('a member sees no goal of another, nor the name of its runs, unless the owner shares', async (t) => {
    verifies('team.privacy')
    const app = await startApp(t)
    const [owner, one, two] = [await newCaller(app), await newCaller(app), await newCaller(app)]
    await join(owner, one)
    await join(owner, two)
    await one.log({ run_id: 'firing-bob', goal: 'prepare the firing of bob' })
    await two.log({ run_id: 'mine', goal: 'prepare the firing of bob quietly' })
    const fleetOf = async (caller: Caller) => caller.get('/v1/team/fleet')
    const seen = await fleetOf(two)
    const [hidden] = seen.body.collisions
    assert.equal(seen.body.collisions.length, 1)
    assert.ok(hidden.runs.includes('mine') && hidden.accounts.includes(one.account))
    assert.ok(hidden.runs.some((run: string) => /^run_[\w-]{22}$/.test(run)))
    for (const word of ['firing', 'bob', 'prepare']) assert.ok(!seen.text.includes(word), word)
    assert.equal((await fleetOf(two)).text, seen.text)
    assert.ok(!(await two.get('/v1/team')).text.includes('firing'))
    const owned = await fleetOf(owner)
    assert.deepEqual(owned.body.collisions[0].runs.toSorted(), ['firing-bob', 'mine'])
    assert.ok(!owned.text.includes('prepare'))

    await owner.post('/v1/team', { share_goals: true })
    const [shared] = (await fleetOf(two)).body.collisions
    assert.deepEqual(shared.runs.toSorted(), ['firing-bob', 'mine'])
    assert.deepEqual(shared.grounds.toSorted(), [
      'prepare the firing of bob',
      'prepare the firing of bob quietly',
    ])
    await owner.post('/v1/team', { share_goals: false })
    assert.equal((await fleetOf(two)).text, seen.text)
  })

  test('the accounts of a team know one another', async (t) => {
    const app = await startApp(t)
    const [owner, member, stranger] = [
      await newCaller(app),
      await newCaller(app),
      await newCaller(app),
    ]
    await join(owner, member)
    const { teams } = app.running.store
    const both = [owner.account, member.account].sort()
    assert.deepEqual(await teams.membersOf(owner.account), both)
    assert.deepEqual(await teams.membersOf(member.account), both)
    assert.deepEqual(await teams.membersOf(stranger.account), [stranger.account])
  })
})
