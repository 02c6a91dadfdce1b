import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openDatabase } from '../src/storage/database/open-database.ts'
import { onEachDatabase } from './backends.ts'
import { runHere } from './command.ts'
import { start } from './harness.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const errand = 'refund order 1041'
const onErrand = 'look up order 1041'
const other = 'refund order 2093'

/** Runs a command line inside this process, with this text as its standard input. */
const run = (argv: readonly string[], input = '') => runHere(argv, { input })

const check = (...args: string[]) => run(['check', ...args])
const twoGoals = ['--ground', errand, '--goal', onErrand]

function stepsFile(t: TestContext, lines: readonly unknown[]): string {
  const file = join(freshFolder(t), 'steps.jsonl')
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

function verdictsOf(out: string): Record<string, unknown>[] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('plumbline check', () => {
  test('prints one verdict that a person can read', async () => {
    verifies('command.check')
    const good = await check(...twoGoals)
    assert.equal(good.err, '')
    assert.match(good.out, /^on the errand: advancing \(phi 0\.\d\d, confidence [01]\.\d\d\)/)
    assert.match(good.out, /shares order, 1041 with the ground/)
    const drifting = await check('--ground', errand, '--goal', other)
    assert.match(drifting.out, /^DRIFTING: goal-drift \(phi 0\.45, .*\) {2}refund/)
    assert.equal(drifting.out.match(/\b(DRIFTING|on the errand|uncertain):/g)?.length, 1)
  })

  test('says the same as the server, without one', async (t) => {
    verifies('command.check', 'command.check.options')
    const app = await start(t)
    for (const [distance, progress] of [
      [undefined, undefined],
      ['3', undefined],
      ['8abc', 'advancing'],
      ['99', 'stuck'],
      ['-3', 'circling'],
      ['', 'stuck'],
    ]) {
      const body = { ground: ` ${errand} `, goal: other, distance, progress }
      const { verdict } = (await app.post('/v1/check', body)).body
      const options = Object.entries(body).flatMap(([name, value]) =>
        value === undefined ? [] : [`--${name}=${value}`],
      )
      const { out, err } = await check(...options, '--json')
      assert.deepEqual([verdictsOf(out), err], [[verdict], ''])
    }
    const named = await check(...twoGoals, '--json', '--detector', 'overlap')
    assert.equal(verdictsOf(named.out)[0]?.detector, 'overlap')
  })

  test('exits 0 on the errand, 1 drifting, 2 on bad usage, 3 uncertain', async (t) => {
    verifies('command.check.exit', 'command.check.uncertain')
    const file = stepsFile(t, [{ goal: errand }, { goal: other }, { goal: onErrand }])
    const drifting = stepsFile(t, [{ goal: errand }, { goal: onErrand }, { goal: other }])
    const bad = stepsFile(t, [{ goal: errand }, { gaol: errand }])
    for (const [args, code] of [
      [twoGoals, 0],
      [[...twoGoals, '--json'], 0],
      [[...twoGoals, '--distance', 'soon'], 0],
      [['--ground', errand, '--goal', other], 1],
      [['--ground', errand, '--goal', other, '--json'], 1],
      [[...twoGoals, '--progress', 'sideways'], 2],
      [[...twoGoals, '--progress', 'stuck'], 0],
      [['--ground', errand, '--goal', 'qwzx vrtk plmn'], 3],
      [['--ground', errand, '--goal', 'qwzx vrtk plmn', '--json'], 3],
      [['--steps', file], 0],
      [['--steps', drifting, '--json'], 1],
      [[], 2],
      [['--ground', errand], 2],
      [['--goal', errand], 2],
      [['--ground', ' ', '--goal', errand], 2],
      [['--ground', errand, '--goal', ''], 2],
      [['--ground', errand, '--goal', 'x'.repeat(4_001)], 2],
      [['--ground', errand, '--goal'], 2],
      [['add', 'rate', 'limiting'], 2],
      [[...twoGoals, 'more'], 2],
      [[...twoGoals, '--unknown'], 2],
      [[...twoGoals, '--json=yes'], 2],
      [[...twoGoals, '--detector', 'vibes'], 2],
      [['--steps', file, ...twoGoals], 2],
      [['--steps', file, '--distance', '3'], 2],
      [['--steps', bad], 2],
      [['--steps', join(file, 'nothing')], 2],
      [['--steps', '.'], 2],
      [['--steps', '/dev/null'], 2],
    ] as const) {
      const ran = await check(...args)
      assert.equal(ran.code, code, args.join(' '))
      if (code === 2) assert.match(ran.err, /^plumbline check: .+\n$/)
      else assert.equal(ran.err, '')
    }
  })

  test('reads a sequence of any length, a verdict a line', async (t) => {
    verifies('command.check.steps')
    const steps = Array.from({ length: 3_000 }, (_, at) => ({
      goal: `${errand} part ${at}`,
      progress: at % 500 === 499 ? 'stuck' : 'advancing',
      distance: `${9 - (at % 10)} left`,
    }))
    const json = await check('--steps', stepsFile(t, steps), '--json')
    const verdicts = verdictsOf(json.out)
    assert.equal(verdicts.length, 3_000)
    assert.deepEqual(
      verdicts.map(({ goal, progress }) => ({ goal, progress })),
      steps.map(({ goal, progress }) => ({ goal, progress })),
    )
    assert.deepEqual([verdicts[0]?.reason, verdicts[2_999]?.ground], ['grounded', steps[0]?.goal])
    const text = await check('--steps', stepsFile(t, steps.slice(0, 5)))
    assert.equal(text.out.match(/^(DRIFTING|on the errand|uncertain): /gm)?.length, 5)
  })

  test('says the same of a sequence as the server', async (t) => {
    verifies('command.check.steps')
    const app = await start(t)
    const goals = [errand, onErrand, other, other, onErrand, 'the', other, errand, '登录', other]
    const steps = goals.map((goal, at) => ({ goal, distance: at, parent_goal: errand }))
    const { body } = await app.post('/v1/check', { steps })
    const { out } = await check('--steps', stepsFile(t, steps), '--json')
    assert.deepEqual(verdictsOf(out), body.steps)
  })

  test('reads standard input as -, with any line ends, and names a bad line', async () => {
    verifies('command.check.steps', 'command.check.exit')
    const lines = [errand, other].map((goal) => JSON.stringify({ goal }))
    const piped = ['check', '--steps', '-', '--json']
    for (const input of [lines.join('\n'), `\r\n${lines.join('\r\n\r\n')}\r\n`]) {
      const { code, out } = await run(piped, input)
      assert.deepEqual([code, verdictsOf(out).length], [1, 2])
    }
    for (const bad of ['{', 'null', '5', '[]', '{}', '{"goal":" "}', '{"goal":5}']) {
      const { code, out, err } = await run(piped, `${lines[0]}\n\n${bad}\n${lines[1]}\n`)
      assert.equal(code, 2)
      assert.match(err, /^plumbline check: - line 3\b/)
      assert.equal(verdictsOf(out).length, 1)
    }
  })
})

describe('plumbline', () => {
  test('judges by meaning unless told otherwise', async () => {
    verifies('meaning.default', 'command.check.options')
    const { out } = await run(['check', ...twoGoals, '--json'])
    assert.equal(verdictsOf(out)[0]?.detector, 'meaning')
  })

  test('helps, and knows its commands', async () => {
    verifies('command.check.exit')
    for (const argv of [[], ['help'], ['--help'], ['-h']]) {
      const { code, out, err } = await run(argv)
      assert.deepEqual([code, err], [0, ''])
      for (const name of ['serve', 'check', 'eval', 'init', 'uninstall', 'migrate', 'openapi']) {
        assert.match(out, new RegExp(`^ +${name} +\\w`, 'm'))
        const help = await run([name, '--help'])
        assert.equal(help.code, 0)
        assert.match(help.out, new RegExp(`^ +plumbline ${name}`, 'm'))
        const unknown = await run([name, '--nonsense'])
        assert.equal(unknown.code, 2)
        assert.match(unknown.err, new RegExp(`^plumbline ${name}: .*--nonsense`))
      }
    }
    for (const name of ['chekc', '', '__proto__', 'toString']) {
      const { code, out, err } = await run([name])
      assert.deepEqual([code, out], [2, ''])
      assert.match(err, /there is no command .*\n\nPlumbline:/)
    }
    for (const name of ['--version', '-v', 'version']) {
      assert.deepEqual(await run([name]), { code: 0, out: '1.2.3\n', err: '' })
    }
    assert.deepEqual(await run(['help', 'check']), await run(['check', '--help']))
    const unknown = await run(['help', 'chekc'])
    assert.deepEqual([unknown.code, unknown.out], [2, ''])
    assert.match(unknown.err, /there is no command "chekc"/)
    const serve = await run(['serve', '--help'])
    assert.match(serve.out, /PORT, DATABASE_URL, PLUMBLINE_ONE/)
  })

  test('is one with its processes', async (t) => {
    verifies('command.check', 'command.check.exit')
    const goals = ['--ground', errand, '--goal', other]
    const drifting = spawnPlumbline(t, ['check', ...goals, '--json'])
    const bad = spawnPlumbline(t, ['check'])
    assert.deepEqual(await Promise.all([drifting.ended, bad.ended]), [1, 2])
    assert.equal(verdictsOf(drifting.written.out)[0]?.reason, 'goal-drift')
    assert.match(bad.written.err, /^plumbline check: name --ground and --goal/)
  })

  test('stops quietly when nobody reads on', async (t) => {
    verifies('command.check.steps')
    const file = stepsFile(t, Array(3_000).fill({ goal: errand }))
    const { child, written, ended } = spawnPlumbline(t, ['check', '--steps', file])
    child.stdout?.once('data', () => child.stdout?.destroy())
    assert.equal(await ended, 0)
    assert.equal(written.err, '')
  })
})

onEachDatabase((database) => {
  test('plumbline migrate brings a database to the current schema', async (t) => {
    verifies('command.migrate')
    const DATABASE_URL = await database.createEmptyUrl()
    const { written, ended } = spawnPlumbline(t, ['migrate'], { env: { DATABASE_URL } })
    assert.equal(await ended, 0, written.err)
    assert.match(written.out, /^The database is at schema version [1-9]\d*\.\n$/)
    const db = await openDatabase(DATABASE_URL)
    t.after(() => db.close())
    assert.equal(await db.get('SELECT used FROM counters'), undefined)
    const migrated = await db.get<{ version: number }>(
      'SELECT MAX(version) AS version FROM migrations',
    )
    assert.ok(migrated!.version >= 1)
  })
})
