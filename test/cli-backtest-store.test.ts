import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { shareOf } from '../src/core/figures.ts'
import { openDatabaseToRead } from '../src/storage/database/open-database.ts'
import { createStore } from '../src/storage/store.ts'
import type { CliWorld } from '../src/surfaces/cli/command.ts'
import { openTerminal } from '../src/surfaces/cli/terminal.ts'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { runHere } from './command.ts'
import { start } from './harness.ts'
import { claudeLines, strayingSession } from './session-lines.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'add rate limiting to the login endpoint'
const astray = 'redesign the hero image of the landing page'
/** Two errands that are told apart at once. */
const refund = 'refund order 1041'
const other = 'refund order 2093'

/** A terminal at which somebody presses these keys, one after the other, and then none. */
function pressing(...keys: string[]): Pick<CliWorld, 'terminal'> {
  return {
    terminal: () => {
      const input = new PassThrough()
      for (const key of keys) input.write(key)
      input.end()
      return openTerminal(input)
    },
  }
}

onEachDatabase((database) => {
  /** A server with the runs of an account, and the back-test of its store beside it. */
  async function startHere(t: TestContext) {
    const url = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL: url } })
    const me = await newCaller(app)
    const home = freshFolder(t)
    const run = (args: readonly string[], world: Partial<Omit<CliWorld, 'input'>> = {}) =>
      runHere(['backtest', '--from', 'store', '--account', me.account, ...args], {
        environment: { HOME: home },
        now: app.running.service.now,
        settings: () => readConfig({ DATABASE_URL: url }),
        withService: (work) => work(app.running.service),
        async readStore(work) {
          const db = await openDatabaseToRead(url)
          try {
            return await work(createStore(db))
          } finally {
            await db.close()
          }
        },
        ...world,
      })
    return { app, me, run, url, home }
  }

  test('a back-test of the store shows what the server has said, beside the server', async (t) => {
    verifies('hosts.backtest.store')
    const { app, me, run, url } = await startHere(t)
    await me.logAll([refund, other, other, refund].map((goal) => ({ run_id: 'a', goal })))
    app.advance(3_600_000)
    await me.logAll([errand, errand].map((goal) => ({ run_id: 'b', goal, agent_id: 'x' })))
    await me.log({ run_id: 'b', goal: refund, user_turn: true })
    await me.log({ run_id: 'b', goal: other })
    await (await newCaller(app)).log({ run_id: 'theirs', goal: errand })
    const { trace } = await me.read('a')
    const found = JSON.parse((await run(['--json'])).out)
    assert.deepEqual(
      [found.sessions, found.steps, found.alarms.length, found.evidence],
      [2, 8, 2, {}],
    )
    const [first, second] = found.alarms
    assert.deepEqual(
      [first.run_id, first.step, first.ground, first.why, first.ts],
      ['a', 2, refund, trace[1].why, trace[1].ts],
    )
    assert.deepEqual([second.run_id, second.step, second.ground], ['b', 4, refund])
    assert.match(
      (await run([])).out,
      /^store: 2 sessions \(2026-01-15 to 2026-01-15\), 8 steps, judged by the server$/m,
    )
    app.advance(86_400_000)
    await me.log({ run_id: 'b', goal: refund })
    assert.equal(JSON.parse((await run(['--json', '--since', '1'])).out).sessions, 1)

    // In a process of its own, which opens the database of the running server itself.
    const { ended, written } = spawnPlumbline(t, ['backtest', '--from', 'store', '--json'], {
      env: { DATABASE_URL: url },
    })
    assert.equal(await ended, 0, written.err)
    assert.deepEqual(JSON.parse(written.out).sessions, 2)
    await me.log({ run_id: 'b', goal: refund })
    assert.equal((await me.read('b')).run.steps, 6)
  })

  test('steps of the store are judged anew as they were judged, by another detector, and for a budget', async (t) => {
    verifies('hosts.backtest.store', 'hosts.backtest.budget')
    const { me, run } = await startHere(t)
    const plan = ['write a token bucket', 'test the login endpoint']
    await me.logAll([
      { run_id: 'a', goal: 'read the login handler', ground: errand, plan, distance: 9 },
      { run_id: 'a', goal: 'write a token bucket', distance: 8 },
      { run_id: 'a', goal: astray, distance: 8 },
      { run_id: 'a', goal: 'pick a brighter palette', parent_goal: astray, distance: 7 },
      { run_id: 'a', goal: 'test the login endpoint', distance: 6 },
      { run_id: 'a', goal: 'restyle the hero', user_message: 'now restyle the hero section' },
      { run_id: 'a', goal: 'animate the hero section' },
      { run_id: 'a', goal: 'look at the order', agent_id: 'sub', ground: refund },
      { run_id: 'a', goal: refund, agent_id: 'sub' },
      { run_id: 'a', goal: other, agent_id: 'sub' },
      ...[refund, other, refund, other].map((goal) => ({ run_id: 'b', goal })),
    ])
    const asked = JSON.parse((await run(['--json'])).out)
    const anew = JSON.parse((await run(['--json', '--words', '--against', 'overlap'])).out)
    const seen = ({ alarms }: { alarms: Record<string, unknown>[] }) =>
      alarms.map(({ run_id, step, ground, reason, why }) => [run_id, step, ground, reason, why])
    assert.deepEqual(seen(anew), seen(asked))
    assert.ok(asked.alarms.length >= 3)
    const { alarms, added, removed } = anew.against
    assert.ok(added > 0)
    assert.equal(alarms, asked.alarms.length + added - removed)
    const { budget } = JSON.parse((await run(['--json', '--words', '--budget', '500/1000'])).out)
    assert.deepEqual([budget.per_1000, budget.lacks], [500, null])
    assert.equal(budget.alarms, asked.alarms.length + budget.added - budget.removed)
    assert.match((await run(['--budget', '5'])).out, /too few steps to find a limit for 5 alarms/)
  })

  test('labels of a back-test of the store are labels of the account', async (t) => {
    verifies('hosts.backtest.label', 'labels.add')
    const { me, run } = await startHere(t)
    for (let nth = 1; nth <= 12; nth++)
      await me.logAll([refund, other].map((goal) => ({ run_id: `r${nth}`, goal })))
    await me.post('/v1/drift/label', { run_id: 'r1', step: 2, label: 'useful', note: 'seen' })
    const walked = await run(
      ['--label'],
      pressing('u', 'x', 'F', 'his wish', '\x7f', '!\r', 's', 'q'),
    )
    assert.match(walked.err, /^11 alarms without a label\./)
    assert.match(walked.err, /Stored 2 labels\./)
    assert.match(
      walked.out,
      /3 are labelled right or wrong, 2 of them useful: a precision is told from 10 on/,
    )
    assert.match(walked.out, /^ {3}label {3}false alarm: his wis!$/m)
    assert.match(walked.out, /^ {3}label {3}useful: seen$/m)
    const stored = (await me.get('/v1/drift/labels')).text.trimEnd().split('\n')
    assert.equal(stored.length, 3)
    assert.deepEqual(
      stored.map((line) => JSON.parse(line).note).filter((note) => note !== null),
      ['seen', 'his wis!'],
    )
    const rest = JSON.parse((await run(['--label', '--json'], pressing('uuuuuuuuuu'))).out)
    assert.deepEqual(rest.quality, {
      alarms: 12,
      labelled: 12,
      useful: 11,
      precision: shareOf(11, 12),
      known: true,
      withheld: null,
    })
    const { body } = await me.get('/v1/quality')
    assert.deepEqual([body.labelled, body.precision], [12, shareOf(11, 12)])
    const none = await run(['--label'], pressing('u'))
    assert.match(none.err, /^There is no alarm without a label\.$/m)
    const anew = await run(['--label', '--words'], pressing('u'))
    assert.equal(anew.code, 2)
    assert.match(anew.err, /leave out --detector, --words and --budget/)
  })

  test('a store that is read cannot be written to', async (t) => {
    verifies('hosts.backtest.store')
    const { url } = await startHere(t)
    const db = await openDatabaseToRead(url)
    t.after(() => db.close())
    assert.equal((await db.get<{ found: number }>('SELECT COUNT(*) AS found FROM runs'))?.found, 0)
    await assert.rejects(db.run("DELETE FROM runs WHERE run_id = 'a'"))
    await assert.rejects(db.tx((tx) => tx.run("DELETE FROM runs WHERE run_id = 'a'")))
  })
})

test('a back-test of a store says what it cannot read', async (t) => {
  verifies('hosts.backtest.store')
  const folder = freshFolder(t)
  for (const [env, args, says] of [
    [{ DATABASE_URL: 'sqlite:./none.db' }, [], /there is no database \.\/none\.db yet/],
    [{ DATABASE_URL: 'sqlite::memory:' }, [], /which no other process can reach/],
    [{ DATABASE_URL: 'sqlite:./empty.db' }, [], /holds nothing yet/],
    [{ DATABASE_URL: 'sqlite:./none.db' }, ['a.jsonl'], /store has no FILEs/],
  ] as const) {
    writeFileSync(join(folder, 'empty.db'), '')
    const { ended, written } = spawnPlumbline(t, ['backtest', '--from', 'store', ...args], {
      env,
      folder,
    })
    assert.equal(await ended, 2)
    assert.match(written.err, says)
    assert.equal(written.out, '')
  }
  const other = await runHere(['backtest', '--from', 'codex', '--account', 'acct_1'])
  assert.match(other.err, /--account goes with --from store/)
})

test('labels of session files are kept in a file, and a second back-test counts them', async (t) => {
  verifies('hosts.backtest.label')
  const home = freshFolder(t)
  const paths = Array.from({ length: 11 }, (_, nth) => {
    const path = join(home, `s${nth}.jsonl`)
    writeFileSync(path, claudeLines(`s${nth}`, strayingSession(), Date.UTC(2026, 10, 1 + nth)))
    return path
  })
  const run = (args: readonly string[], world: Partial<Omit<CliWorld, 'input'>> = {}) =>
    runHere(['backtest', '--from', 'claude-code', '--words', ...args, ...paths], {
      environment: { HOME: home },
      ...world,
    })
  const nobody = await run(['--label'])
  assert.equal(nobody.code, 2)
  assert.match(nobody.err, /--label asks a person, and this is no terminal/)
  const first = await run(['--label'], pressing('U', 'yes, a landing page', '\r', 'c', 'r'))
  assert.match(
    first.err,
    /^11 alarms without a label\..*\n? useful\nreason: yes, a landing page\n/ms,
  )
  assert.match(first.err, /quit\n\nStored 3 labels\./)
  assert.match(
    first.out,
    /of the alarms 2 are labelled right or wrong, 1 of them useful: a precision is told from 10 on/,
  )
  const file = join(home, '.plumbline/backtest-labels.jsonl')
  const lines = readFileSync(file, 'utf8')
  assert.deepEqual(JSON.parse(lines.split('\n')[0]!), {
    at: '1970-01-01T00:00:00.000Z',
    run_id: 'claude-code:s0',
    step: 7,
    ground: errand,
    goal: JSON.parse((await run(['--json'])).out).alarms[0].goal,
    reason: 'goal-drift',
    label: 'useful',
    note: 'yes, a landing page',
  })
  writeFileSync(
    file,
    `${lines}no label\n{"run_id":"claude-code:s5","step":7,"goal":"x","label":"useful"}\n`,
  )
  const second = await run(['--label'], pressing(...'uuuuuuuff'))
  assert.match(second.err, /^8 alarms without a label\./)
  const page = join(home, 'report.html')
  const { out } = await run(['--html', page])
  assert.match(
    out,
    /of the alarms 10 are labelled right or wrong, 8 of them useful: a precision of 80 % \(95 %: 49 to 94\)/,
  )
  const html = readFileSync(page, 'utf8')
  assert.match(html, /<span class="said">Labelled useful: yes, a landing page<\/span>/)
  assert.match(html, /<dd>80 %<\/dd><dt>precision<\/dt>/)
})

test('a terminal gives keys as they are pressed, and is left as it was', async () => {
  verifies('hosts.backtest.label')
  const input = new PassThrough()
  const modes: boolean[] = []
  const terminal = openTerminal(
    Object.assign(input, { setRawMode: (isRaw: boolean) => modes.push(isRaw) }),
  )
  assert.deepEqual(modes, [])
  const key = terminal.key()
  input.write('é\x1b')
  input.write('\x1b[A')
  assert.equal(await key, 'é')
  assert.deepEqual([await terminal.key(), await terminal.key()], ['\x1b', '\x1b[A'])
  terminal.close()
  assert.deepEqual(modes, [true, false])
})
