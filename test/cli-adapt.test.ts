import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { onEachDatabase } from './backends.ts'
import { newCaller } from './caller.ts'
import { runHere } from './command.ts'
import { published, start } from './harness.ts'
import { freshFolder, spawnPlumbline } from './spawned.ts'
import { verifies } from './verifies.ts'

const kinds = [
  { subject: 'Throttle requests', files: ['src/gate/bucket.ts', 'test/bucket.test.ts'] },
  { subject: 'Translate the labels', files: ['locale/catalog.po'] },
]

/** A repository with a commit a day from 2020 on, alternating between kinds of work. */
function newRepository(t: TestContext, commits: number) {
  const folder = freshFolder(t)
  const git = (args: string[], env: Record<string, string> = {}) =>
    execFileSync('git', ['-C', folder, ...args], {
      env: {
        ...process.env,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_SYSTEM: '/dev/null',
        ...env,
      },
    }).toString()
  git(['init', '-q', '-b', 'main'])
  git(['config', 'user.name', 'Tester'])
  git(['config', 'user.email', 'tester@example.org'])
  /** Commits with git itself, one process after another. */
  function commit(subject: string, files: readonly string[], day: number) {
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), `${subject} ${day}\n`)
    }
    git(['add', '-A'])
    const date = new Date(Date.UTC(2020, 0, 1 + day)).toISOString()
    git(['commit', '-q', '-m', subject], { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date })
  }
  const history = Array.from({ length: commits }, (_, day) => {
    const { subject, files } = kinds[day % kinds.length]!
    const at = Date.UTC(2020, 0, 1 + day) / 1000
    const changes = files.map((file) => `M 100644 inline ${file}\n${data(`${subject} ${day}\n`)}`)
    return [
      'commit refs/heads/main',
      `committer Tester <tester@example.org> ${at} +0000`,
      data(`${subject} ${day}`),
      ...changes,
    ].join('\n')
  })
  // All of them in one process.
  execFileSync('git', ['-C', folder, 'fast-import', '--quiet'], { input: history.join('\n') })
  git(['reset', '-q', '--hard'])
  return { folder, git, commit }
}

/** A text as `git fast-import` reads it. */
const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}`

/** `plumbline adapt` in a process of its own. */
async function adapt(t: TestContext, args: string[], env: Record<string, string> = {}) {
  const { folder, written, ended } = spawnPlumbline(t, ['adapt', ...args], { env })
  return { folder, code: await ended, ...written }
}

const wordsOf = (rows: [string, number][]) => Object.fromEntries(rows)

describe('plumbline adapt --git', () => {
  test('writes a table of the words of commits and of the files they changed', async (t) => {
    verifies('command.adapt')
    const { folder: repository, git, commit } = newRepository(t, 40)
    git(['checkout', '-q', '-b', 'side'])
    commit(
      'Vendor a library',
      Array.from({ length: 80 }, (_, file) => `vendor/part${file}.c`),
      40,
    )
    const made = await adapt(t, ['--git', repository])
    assert.deepEqual([made.code, made.err], [0, ''])
    assert.match(
      made.out,
      /plumbline-adaptation\.json: the table git-[0-9a-f]{16}, from 40 commits/,
    )
    const file = join(made.folder, 'plumbline-adaptation.json')
    const text = readFileSync(file, 'utf8')
    const table = JSON.parse(text)
    assert.deepEqual([table.from, table.examples], ['git', 40])
    assert.deepEqual(wordsOf(table.errands), { label: 20, request: 20, throttl: 20, translat: 20 })
    const parts = wordsOf(table.parts)
    assert.deepEqual([parts.bucket, parts.catalog, parts.vendor], [20, 20, undefined])

    const again = await adapt(t, ['--git', repository, '--out', 'again.json'])
    assert.equal(again.code, 0, again.err)
    assert.equal(readFileSync(join(again.folder, 'again.json'), 'utf8'), text)
  })

  test('reads only what is older, and only so many', async (t) => {
    const { folder } = newRepository(t, 50)
    const examples = async (...args: string[]) => {
      const table = join(folder, 'table.json')
      const made = await runHere(['adapt', '--git', folder, '--out', table, ...args])
      assert.equal(made.code, 0, made.err)
      return JSON.parse(readFileSync(table, 'utf8')).examples
    }
    assert.equal(await examples('--until', '2020-01-30T12:00:00Z'), 30)
    assert.equal(await examples('--commits', '24'), 24)
  })

  test('the table reaches verdicts on the command line and by the setting, and only then', async (t) => {
    verifies('command.adapt')
    const { folder: repository } = newRepository(t, 40)
    const { folder, out } = await adapt(t, ['--git', repository, '--out', 'own.json'])
    const [version] = /git-[0-9a-f]{16}/.exec(out) ?? []
    assert.ok(version)
    const table = join(folder, 'own.json')
    const [ground, goal] = ['throttle requests', 'look into the bucket']
    const check = async (...more: string[]) => {
      const args = ['check', '--ground', ground, '--goal', goal, '--json', ...more]
      const { code, out, err } = await runHere(args)
      assert.equal(code, 0, err)
      return JSON.parse(out)
    }
    const alone = await check()
    const adapted = await check('--adaptation', table)
    assert.deepEqual([alone.adaptation, adapted.adaptation], [undefined, version])
    assert.ok(adapted.phi < alone.phi)

    const env = { PLUMBLINE_ADAPTATION: table }
    const app = await start(t, { env })
    const { body } = await app.post('/v1/check', { ground, goal })
    assert.deepEqual([body.verdict.adaptation, body.verdict.phi], [version, adapted.phi])
    const me = await newCaller(app)
    const answer = await me.log({ run_id: 'r', ground, goal })
    assert.deepEqual([answer.adaptation, answer.phi], [version, adapted.phi])
    const other = { run_id: 'o', detector: 'overlap', ground, goal }
    assert.equal((await me.log(other)).adaptation, undefined)

    const data = join(folder, 'pairs.jsonl')
    writeFileSync(data, `${JSON.stringify({ ground, goal, label: 'same' })}\n`)
    const scores = []
    for (const more of [[], ['--adaptation', table]]) {
      const predictions = join(folder, 'out.jsonl')
      const args = ['eval', data, '--predictions', predictions, ...more]
      const { code, err } = await runHere(args)
      assert.equal(code, 0, err)
      scores.push(JSON.parse(readFileSync(predictions, 'utf8')).score)
    }
    assert.ok(scores[1] < scores[0], `${scores}`)
  })

  test('says what is wrong and writes nothing', async (t) => {
    const { folder: few } = newRepository(t, 4)
    const empty = freshFolder(t)
    const none = join(empty, 'none.json')
    for (const [args, says] of [
      [[], /name either --git DIR or --history/],
      [['--git', few, '--history'], /either --git DIR or --history/],
      [['--git', few, 'more'], /unexpected argument "more"/],
      [['--git', few, '--account', 'acct_1'], /--account goes with --history/],
      [['--history', '--until', '2020-01-01'], /go with --git/],
      [['--git', few, '--commits', '0'], /send a number from 1/],
      [['--git', few], /4 commits to learn from/],
      [['--git', empty], /cannot be read: not a git repository/],
      [['--git', join(empty, 'gone')], /cannot be read: /],
      [['--git', '--output=x'], /--git/],
    ] as const) {
      const { code, err, out } = await runHere(['adapt', ...args, '--out', none])
      assert.deepEqual([code, out], [2, ''], `${args} ${err}`)
      assert.match(err, says)
      assert.doesNotMatch(err, /\bat .*\.ts/)
      assert.equal(statSync(none, { throwIfNoEntry: false }), undefined)
    }
    writeFileSync(join(empty, 'other.json'), '{}')
    for (const [file, says] of [
      ['none.json', /^PLUMBLINE_ADAPTATION: .*none\.json: it cannot be read.*; send a file/],
      ['other.json', /^PLUMBLINE_ADAPTATION: .*other\.json: it is no table.*; send a file/],
    ] as const) {
      const PLUMBLINE_ADAPTATION = join(empty, file)
      const config = readConfig({ PLUMBLINE_ADAPTATION })
      assert.match('faults' in config ? config.faults.join() : '', says)
      const texts = ['--ground', 'a', '--goal', 'b', '--adaptation', PLUMBLINE_ADAPTATION]
      const { code, err } = await runHere(['check', ...texts])
      assert.equal(code, 2, err)
      assert.match(err, new RegExp(`^plumbline check: .*${file}`))
    }
    const { code, err } = await adapt(t, ['--git', few], { PATH: empty })
    assert.equal(code, 2)
    assert.match(err, /git is not installed/)
  })
})

onEachDatabase((database) => {
  test('plumbline adapt --history learns from runs that succeeded, and from what did not drift in them', async (t) => {
    verifies('command.adapt')
    const DATABASE_URL = await database.createUrl()
    const app = await start(t, { env: { DATABASE_URL, ...published } })
    const me = await newCaller(app)
    const run = async (run_id: string, outcome: string | null, part: string) => {
      await me.log({ run_id, goal: 'throttle requests' })
      await me.log({ run_id, goal: `throttle the ${part}` })
      await me.log({ run_id, goal: 'order pizza' })
      app.advance(1000)
      await me.log({ run_id, goal: 'translate labels', user_turn: true })
      await me.log({ run_id, goal: 'translate labels catalog', agent_id: 'other' })
      app.advance(1000)
      await me.log({ run_id, goal: 'translate catalog labels' })
      if (outcome !== null) await me.post('/v1/drift/outcome', { run_id, outcome })
    }
    for (let place = 0; place < 12; place++)
      await run(`good ${place}`, 'success', 'bucket requests')
    await run('failed', 'failure', 'kettle requests')
    await run('open', null, 'kettle requests')
    const made = await adapt(t, ['--history', '--out', 'own.json'], { DATABASE_URL })
    assert.equal(made.code, 0, made.err)
    assert.match(made.out, /the table history-[0-9a-f]{16}, from 24 runs/)
    const table = JSON.parse(readFileSync(join(made.folder, 'own.json'), 'utf8'))
    assert.deepEqual(wordsOf(table.errands), { label: 12, request: 12, throttl: 12, translat: 12 })
    const parts = wordsOf(table.parts)
    assert.deepEqual(
      [parts.bucket, parts.catalog, parts.pizza, parts.kettl],
      [12, 12, undefined, undefined],
    )

    await newCaller(app)
    const again = (...args: string[]) =>
      runHere(['adapt', '--history', '--out', join(made.folder, 'again.json'), ...args], {
        withService: (work) => work(app.running.service),
      })
    const unnamed = await again()
    assert.equal(unnamed.code, 2)
    assert.match(unnamed.err, /several accounts; name one with --account/)
    const named = await again('--account', me.account)
    assert.equal(named.code, 0, named.err)
    const gone = await again('--account', 'acct_x')
    assert.match(gone.err, /there is no account "acct_x"/)
  })
})
