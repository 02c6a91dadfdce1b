import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { newKey } from '../src/service.ts'
import { readSchemaVersion } from '../src/storage/database/health.ts'
import { migrate } from '../src/storage/database/migrations.ts'
import { migrations } from '../src/storage/database/schema.ts'
import { onEachDatabase, openFor } from './backends.ts'
import { newCaller } from './caller.ts'
import { type Ran, runHere } from './command.ts'
import { type App, start } from './harness.ts'
import { freshFolder, type Spawned, spawnPlumbline, spawnProgram, spawnServe } from './spawned.ts'
import { verifies } from './verifies.ts'

const spelledKey = /pl_live_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}/
const spelledKeys = new RegExp(spelledKey, 'g')
const wholeKey = new RegExp(`^${spelledKey.source}$`)
/** Runs a command as if a person watched it. */
const terminal = '/usr/bin/script'
const command = join(import.meta.dirname, '../bin/plumbline.js')

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

onEachDatabase((database) => {
  /** `plumbline keys …` in a process of its own. */
  function keysOn(t: TestContext, url: string) {
    return async (...args: string[]): Promise<Ran> => {
      const { written, ended } = spawnPlumbline(t, ['keys', ...args], {
        env: { DATABASE_URL: url },
      })
      return { code: Number(await ended), ...written }
    }
  }

  /** `plumbline keys …` in this process, on the database of a service. */
  const keysOf =
    ({ running }: App) =>
    (...args: string[]): Promise<Ran> =>
      runHere(['keys', ...args], { withService: (work) => work(running.service) })

  const countKeys = async (t: TestContext, url: string): Promise<number> =>
    (await (await openFor(t, url)).all('SELECT id FROM keys')).length

  describe('plumbline keys', () => {
    test('create leaves an older schema alone', async (t) => {
      verifies('command.no-silent-migration')
      const url = await database.createEmptyUrl()
      const db = await openFor(t, url)
      await migrate(db, migrations.slice(0, 3))
      const keys = spawnPlumbline(t, ['keys', 'list'], { env: { DATABASE_URL: url } })
      assert.equal(await keys.ended, 2)
      assert.match(keys.written.err, /schema version 3 and .* run plumbline migrate/)
      assert.equal(await readSchemaVersion(db), 3)
    })

    test('create makes an account with a key, on a new database too', async (t) => {
      verifies('command.keys-create')
      const url = await database.createEmptyUrl()
      const keys = keysOn(t, url)
      const made = await keys('create', '--tier', 'group', '--email', 'a@example.com', '--json')
      assert.deepEqual([made.code, made.err], [0, ''])
      const { account, key, id, prefix, tier, email, created, expires } = JSON.parse(made.out)
      assert.match(key, spelledKey)
      assert.match(account, /^acct_[0-9A-Za-z]{22}$/)
      assert.match(id, /^key_[0-9A-Za-z]{22}$/)
      assert.deepEqual([prefix, tier, email], [key.slice(0, 14), 'group', 'a@example.com'])
      assert.deepEqual([new Date(created).toISOString(), expires], [created, null])

      const app = await start(t, { env: { DATABASE_URL: url } })
      const me = (await app.get('/v1/me', bearer(key))).body
      assert.deepEqual([me.account, me.tier, me.email], [account, 'group', 'a@example.com'])
    })

    test('create, list and revoke work beside a running server', async (t) => {
      verifies(
        'command.keys-create',
        'command.keys-list',
        'command.keys-revoke',
        'process.sqlite-cli',
      )
      const url = await database.createEmptyUrl()
      const keys = keysOn(t, url)
      const app = await start(t, { env: { DATABASE_URL: url } })
      const caller = await newCaller(app, 'enterprise')
      let goesOn = true
      const load = Promise.all(
        Array.from({ length: 8 }, async (_, writer) => {
          let steps = 0
          for (; goesOn; steps++) await caller.log({ goal: 'fix it', run_id: `run ${writer}` })
          return steps
        }),
      )
      const made = await keys('create', '--tier', 'solo')
      assert.deepEqual([made.code, made.err], [0, ''])
      const [key = ''] = made.out.match(spelledKey) ?? []
      assert.equal((await app.get('/v1/me', bearer(key))).body.tier, 'solo')
      const account = /acct_\w+/.exec(made.out)![0]
      const here = keysOf(app)
      const second = await here('create', '--account', account, '--json')
      const { key: secondKey, id: secondId, tier } = JSON.parse(second.out)
      assert.equal(tier, 'solo')
      assert.equal((await app.get('/v1/me', bearer(secondKey))).body.account, account)

      const listed = await here('list')
      assert.deepEqual([listed.code, listed.err], [0, ''])
      const [headings, ...rows] = listed.out.trimEnd().split('\n')
      assert.match(headings!, /^KEY +BEGINS +CREATED .* TIER +MAIL$/)
      assert.equal(rows.length, 3)
      assert.equal(rows.filter((row) => row.includes(account)).length, 2)
      assert.ok(rows.some((row) => row.includes(secondId) && row.includes(secondKey.slice(0, 14))))
      assert.ok(!listed.out.includes(secondKey.slice(14, 51)))
      const asJson = JSON.parse((await here('list', '--json')).out)
      assert.deepEqual(
        asJson.map(({ id }: { id: string }) => id).sort(),
        rows.map((row) => row.split(' ')[0]!).sort(),
      )

      const revoked = await keys('revoke', secondId)
      assert.deepEqual([revoked.code, revoked.err], [0, ''])
      app.advance(5_000)
      assert.equal((await app.get('/v1/me', bearer(secondKey))).status, 401)
      assert.equal((await app.get('/v1/me', bearer(key))).status, 200)
      assert.ok(!(await here('list')).out.includes(secondId))
      goesOn = false
      for (const [writer, steps] of (await load).entries()) {
        assert.equal((await caller.read(`run ${writer}`)).run.steps, steps)
      }
    })

    test('create for a person shows the key once, on a line of its own', async (t) => {
      verifies('command.keys-create')
      const keys = keysOf(await start(t, { env: { DATABASE_URL: await database.createUrl() } }))
      const { out } = await keys('create', '--tier', 'pro', '--email', 'a@example.com')
      assert.match(out, /^Account acct_\w+ \(pro, a@example\.com\)$/m)
      assert.match(out, /^Key key_\w+, shown this once:$/m)
      assert.match(out, /^ {2}pl_live_\w+$/m)
      assert.equal(out.match(spelledKeys)?.length, 1)
    })

    test('list of an empty database says how to make a key', async (t) => {
      verifies('command.keys-list')
      const keys = keysOf(await start(t, { env: { DATABASE_URL: await database.createUrl() } }))
      const listed = await keys('list')
      assert.deepEqual([listed.code, listed.err], [0, ''])
      assert.match(listed.out, /plumbline keys create --tier/)
      assert.equal((await keys('list', '--json')).out, '[]\n')
    })
  })

  describe('the first start', () => {
    test('makes an account and writes its key to a file, with lines that work', async (t) => {
      verifies('command.start-key', 'command.start-curl')
      const { env, keyFile } = await setting(t)
      // A file that another start has left, which everybody may read.
      writeFileSync(keyFile, 'old', { mode: 0o644 })
      const first = await spawnServe(t, { env, folder: dirname(dirname(keyFile)) })
      const lines = await waitForLines(first)
      assert.doesNotMatch(first.written.out + first.written.err, spelledKey)
      assert.ok(first.written.out.includes(`Its key is in ${keyFile},`))
      assert.match(readFileSync(keyFile, 'utf8').replace(/\n$/, ''), wholeKey)
      assert.equal(statSync(keyFile).mode & 0o777, 0o600)
      const answers = []
      for (const line of lines) {
        assert.ok(line.includes(first.url))
        answers.push(JSON.parse((await promisify(execFile)('sh', ['-c', line])).stdout))
      }
      assert.equal(answers.length, 3)
      assert.equal(answers[0].verdict.reason, 'goal-drift')
      assert.deepEqual([answers[1].reason, answers[1].step], ['grounded', 1])
      assert.deepEqual([answers[2].tier, answers[2].usage.writes], ['enterprise', 1])
      first.child.kill('SIGTERM')
      assert.equal(await first.ended, 0)
      assert.doesNotMatch(first.written.err, /pl_live_/)

      const second = await spawnServe(t, { env })
      second.child.kill('SIGTERM')
      assert.equal(await second.ended, 0)
      assert.doesNotMatch(second.written.out, /pl_live_/)
      assert.match(second.written.out, /^Another key: plumbline keys create --tier enterprise$/m)
      assert.equal(await countKeys(t, env.DATABASE_URL), 1)
    })

    test('says so when the key cannot be written, and how to make another', async (t) => {
      verifies('command.start-key')
      const { env, keyFile } = await setting(t)
      mkdirSync(keyFile)
      const served = await spawnServe(t, { env, folder: dirname(dirname(keyFile)) })
      served.child.kill('SIGTERM')
      assert.equal(await served.ended, 0)
      assert.match(
        served.written.out,
        /could not be written .* is lost\. Another key: plumbline keys create --tier enterprise$/m,
      )
    })

    test('in a terminal shows the key once', { skip: !existsSync(terminal) }, async (t) => {
      verifies('command.start-key')
      const { env, keyFile } = await setting(t)
      const inTerminal = ['--quiet', '--flush', '--command', `${process.execPath} ${command} serve`]
      const served = spawnProgram(t, terminal, [...inTerminal, '/dev/null'], {
        env: { PORT: '0', ...env },
      })
      await waitForLines(served)
      assert.equal(new Set(served.written.out.match(spelledKeys)).size, 1)
      assert.ok(!existsSync(keyFile))
    })

    test('takes the key that it is given, and prints none', async (t) => {
      verifies('settings.bootstrap-key')
      const { env, keyFile } = await setting(t)
      const generated = await runHere(['keys', 'generate'], { newKey })
      assert.equal(generated.code, 0)
      const key = generated.out.trimEnd()
      assert.match(key, wholeKey)
      const given = { ...env, PLUMBLINE_BOOTSTRAP_KEY: key }
      for (const told of [
        /Its key is the value of PLUMBLINE_BOOTSTRAP_KEY\.$/m,
        /^Another key: /m,
      ]) {
        const served = await spawnServe(t, { env: given })
        const me = await fetch(`${served.url}/v1/me`, { headers: bearer(key) })
        assert.equal(((await me.json()) as { tier: string }).tier, 'enterprise')
        served.child.kill('SIGTERM')
        assert.equal(await served.ended, 0)
        assert.match(served.written.out, told)
        assert.doesNotMatch(served.written.out + served.written.err, /pl_live_/)
      }
      assert.ok(!existsSync(keyFile))
    })

    test('makes none where there is one', async (t) => {
      verifies('command.start-key')
      const { env, keyFile } = await setting(t)
      const before = await start(t, { env })
      await before.newAccount('ground')
      await before.running.stop()
      const served = await spawnServe(t, { env })
      served.child.kill('SIGTERM')
      assert.equal(await served.ended, 0)
      assert.doesNotMatch(served.written.out, /pl_live_/)
      assert.ok(!existsSync(keyFile))
    })

    const alone = database.name === 'sqlite' && 'a SQLite file has one server'
    test('of several nodes at once makes one', { skip: alone }, async (t) => {
      verifies('command.start-key', 'process.nodes-equal')
      const { env } = await setting(t)
      const nodes = await Promise.all([1, 2, 3].map(() => spawnServe(t, { env })))
      for (const { child } of nodes) child.kill('SIGTERM')
      for (const { ended } of nodes) assert.equal(await ended, 0)
      const told = nodes.filter(({ written }) => written.out.includes('Its key is in'))
      assert.equal(told.length, 1)
      assert.equal(await countKeys(t, env.DATABASE_URL), 1)
    })
  })

  /** A database without accounts, and where the first key of a server that runs in its folder goes. */
  async function setting(t: TestContext) {
    const url = await database.createEmptyUrl()
    const folder = join(freshFolder(t), 'data')
    mkdirSync(folder)
    const isFile = database.name === 'sqlite'
    const env = { DATABASE_URL: isFile ? `sqlite:${folder}/x.db` : url }
    return { env, keyFile: join(folder, 'first-key') }
  }
})

test('a database in memory shows its first key, which ends with it', async (t) => {
  verifies('command.start-key')
  const served = await spawnServe(t, { env: { DATABASE_URL: 'sqlite::memory:' } })
  await waitForLines(served)
  assert.equal(new Set(served.written.out.match(spelledKeys)).size, 1)
})

/** The curl lines a server has printed, once all of them are there. */
async function waitForLines({ child, written }: Spawned) {
  const lines = () => [...written.out.matchAll(/^ +(curl .*?)\r?\n/gm)].map(([, line]) => line!)
  while (lines().length < 3) await new Promise((next) => child.stdout!.once('data', next))
  return lines()
}

test('plumbline keys says what is wrong and exits with 2', async (t) => {
  verifies('command.keys-create', 'command.keys-revoke')
  const app = await start(t)
  for (const [args, says] of [
    [[], /use keys create, keys list, keys revoke, keys generate/],
    [['make'], /there is no "keys make"/],
    [['create'], /name a --tier; send ground, solo, group, pro, enterprise/],
    [['create', '--tier', 'gold'], /--tier is "gold"; send ground/],
    [['create', '--tier', 'solo', '--email', 'nobody'], /--email is "nobody"; send a mail address/],
    [['create', '--tier', 'solo', '--account', 'acct_x'], /leave out --tier/],
    [['create', '--account', 'acct_x'], /there is no account "acct_x"/],
    [['create', '--tier', 'solo', 'more'], /unexpected argument "more"/],
    [['create', '--colour', 'red'], /--colour/],
    [['list', 'more'], /unexpected argument "more"/],
    [['revoke'], /name the ID of a key/],
    [['revoke', 'key_x'], /there is no key "key_x"/],
    [['revoke', 'key_x', 'key_y'], /unexpected argument "key_y"/],
  ] as const) {
    const { code, out, err } = await runHere(['keys', ...args], {
      withService: (work) => work(app.running.service),
    })
    assert.equal(code, 2, args.join(' '))
    assert.match(err, says)
    assert.deepEqual([out, err.split('\n').length], ['', 2])
  }
})

test('plumbline keys says which database it cannot have, without its password', async (t) => {
  for (const [url, says] of [
    ['sqlite::memory:', /no other process can reach/],
    ['postgres://nobody:secret@127.0.0.1:1/none', /not available/],
  ] as const) {
    const { written, ended } = spawnPlumbline(t, ['keys', 'list'], { env: { DATABASE_URL: url } })
    assert.equal(await ended, 2)
    assert.match(written.err, says)
    assert.ok(!written.err.includes('secret'))
  }
})
