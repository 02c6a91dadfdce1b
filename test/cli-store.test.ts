import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PassThrough, Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { readConfig } from '../src/config.ts'
import { saveResults } from '../src/storage/alerts/results.ts'
import type { Database } from '../src/storage/database/database.ts'
import { latestVersion, migrate } from '../src/storage/database/migrations.ts'
import { openDatabase } from '../src/storage/database/open-database.ts'
import { createStore } from '../src/storage/store.ts'
import { runCommand } from '../src/surfaces/cli/cli.ts'
import { onEachDatabase } from './backends.ts'
import { freshFolder, type Spawned, spawnPlumbline, spawnServe } from './spawned.ts'
import { verifies } from './verifies.ts'

const noon = Date.UTC(2026, 0, 15, 12)

interface Ran {
  code: number
  out: string
  err: string
}

/** Runs a command on a database inside this process. */
async function run(
  argv: readonly string[],
  {
    DATABASE_URL,
    now = noon,
    ...env
  }: { DATABASE_URL: string; now?: number } & Record<string, string | number>,
): Promise<Ran> {
  const ran = { code: -1, out: '', err: '' }
  const unused = () => {
    throw new Error('not needed here')
  }
  ran.code = await runCommand(argv, {
    out: (text) => {
      ran.out += text
    },
    err: (text) => {
      ran.err += text
    },
    isTerminal: false,
    input: Readable.from([]),
    output: new PassThrough(),
    program: ['/bin/false'],
    stopped: () => new Promise(() => {}),
    offline: () => assert.fail('it needs no service'),
    reads: () => null,
    version: '1.2.3',
    newKey: () => '',
    now: () => now,
    cores: 1,
    folder: '/nowhere',
    policyFolder: '/nowhere',
    environment: {},
    settingNames: [],
    settings: () => readConfig({ DATABASE_URL, ...(env as Record<string, string>) }),
    serve: unused,
    migrate: unused,
    openapi: unused,
    withService: unused,
    readStore: unused,
    terminal: unused,
  })
  return ran
}

/** A migrated database with one account of this id. */
async function makeDatabase(path: string, account: string): Promise<string> {
  await withDatabase(`sqlite:${path}`, async (db) => {
    await migrate(db)
    await createStore(db).accounts.create({
      id: account,
      tier: 'ground',
      email: null,
      created: noon,
    })
  })
  return path
}

async function withDatabase(url: string, work: (db: Database) => Promise<void>): Promise<void> {
  const db = await openDatabase(url)
  await work(db)
  await db.close()
}

async function accountsIn(path: string): Promise<string[]> {
  let ids: string[] = []
  await withDatabase(`sqlite:${path}`, async (db) => {
    const rows = await db.all<{ id: string }>('SELECT id FROM accounts ORDER BY id')
    ids = rows.map(({ id }) => id)
  })
  return ids
}

/** Spoils the bytes of every page after the first. */
function damage(path: string): void {
  const descriptor = openSync(path, 'r+')
  const junk = Buffer.alloc(16, 0xff)
  for (let at = 4_096; at < statSync(path).size; at += 4_096) writeSync(descriptor, junk, 0, 16, at)
}

/** A place for a database and its backups, and a way to run commands there. */
function newPlace(t: TestContext) {
  const folder = freshFolder(t)
  const database = join(folder, 'data', 'plumbline.db')
  return {
    folder,
    database,
    file: join(folder, 'backup.db'),
    run: (...argv: string[]) => run(argv, { DATABASE_URL: `sqlite:${database}` }),
  }
}

describe('backup', () => {
  test('a copy that is made while the server writes holds what was answered before, in whole', async (t) => {
    verifies('command.backup', 'command.restore', 'process.sqlite-cli')
    const folder = freshFolder(t)
    const server = await spawnServe(t, { folder })
    const create = ['keys', 'create', '--tier', 'enterprise', '--json']
    const created = spawnPlumbline(t, create, { folder })
    assert.equal(await created.ended, 0, created.written.err)
    const headers = { authorization: `Bearer ${JSON.parse(created.written.out).key}` }
    const answered = Array.from({ length: 6 }, () => 0)
    let writing = true
    const writers = answered.map(async (_, writer) => {
      for (let step = 1; writing; step += 1) {
        const body = JSON.stringify({ run_id: `run ${writer}`, goal: `fix the login form ${step}` })
        const answer = await fetch(`${server.url}/v1/drift`, { method: 'POST', headers, body })
        assert.equal(answer.status, 200, await answer.text())
        answered[writer] = step
      }
    })
    const written = Promise.all(writers)
    while (Math.min(...answered) < 50) {
      await Promise.race([written, new Promise((next) => setTimeout(next, 5))])
    }
    const before = [...answered]
    const backup = spawnPlumbline(t, ['backup', 'copy.db'], { folder })
    assert.equal(await backup.ended, 0, backup.written.err)
    const after = [...answered]
    writing = false
    await written
    assert.ok(Math.min(...after) > Math.min(...before), 'the server wrote meanwhile')
    assert.match(
      backup.written.out,
      /^Copied .\/data\/plumbline\.db to copy\.db: [\d.]+ MiB, schema/,
    )
    assert.equal(statSync(join(folder, 'copy.db')).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(folder).sort(), ['copy.db', 'data'])

    const elsewhere = freshFolder(t)
    const copy = join(folder, 'copy.db')
    const restore = spawnPlumbline(t, ['restore', copy], { folder: elsewhere })
    assert.equal(await restore.ended, 0, restore.written.err)
    const restored = await spawnServe(t, { folder: elsewhere })
    for (const [writer, least] of before.entries()) {
      const read = await fetch(
        `${restored.url}/v1/drift/run?limit=10000&run_id=${encodeURIComponent(`run ${writer}`)}`,
        { headers },
      )
      const { trace } = (await read.json()) as { trace: { step: number }[] }
      assert.deepEqual(
        trace.map(({ step }) => step),
        trace.map((_, index) => index + 1),
      )
      // One more may have been stored whose answer was under way.
      assert.ok(trace.length >= least && trace.length <= after[writer]! + 1)
    }
  })

  test('nothing is overwritten, and nothing half done is left', async (t) => {
    const place = newPlace(t)
    const none = await place.run('backup', place.file)
    assert.deepEqual([none.code, existsSync(place.database)], [2, false])
    assert.match(none.err, /there is no database .* yet/)
    await makeDatabase(place.database, 'acct_a')
    writeFileSync(place.file, 'precious')
    const existing = await place.run('backup', place.file)
    assert.deepEqual([existing.code, readFileSync(place.file, 'utf8')], [2, 'precious'])
    assert.match(existing.err, /backup\.db exists; name a new file/)
    const nowhere = await place.run('backup', join(place.folder, 'no/such/folder'))
    assert.equal(nowhere.code, 2)
    assert.equal((await place.run('backup')).code, 2)
    assert.equal((await place.run('backup', 'a', 'b')).code, 2)
    damage(place.database)
    const damaged = await place.run('backup', join(place.folder, 'damaged.db'))
    assert.equal(damaged.code, 2)
    assert.match(damaged.err, /malformed|damaged/)
    assert.deepEqual(readdirSync(place.folder).sort(), ['backup.db', 'data'])
  })

  test('a database of another kind is said what to do with', async () => {
    for (const command of ['backup', 'restore']) {
      const postgres = await run([command, 'x'], { DATABASE_URL: 'postgres://u:secret@h/x' })
      assert.equal(postgres.code, 2)
      assert.match(postgres.err, /PostgreSQL.* pg_(dump|restore)/)
      assert.doesNotMatch(postgres.err, /secret/)
      const memory = await run([command, 'x'], { DATABASE_URL: 'sqlite::memory:' })
      assert.equal(memory.code, 2)
      const unset = await run([command, 'x'], { DATABASE_URL: 'nonsense' })
      assert.match(unset.err, /settings are at fault:\n {2}DATABASE_URL/)
    }
  })
})

describe('restore', () => {
  test('a backup comes back where there is no database, and stays', async (t) => {
    const place = newPlace(t)
    await makeDatabase(place.file, 'acct_kept')
    const restored = await place.run('restore', place.file)
    assert.equal(restored.code, 0, restored.err)
    assert.equal(
      restored.out,
      `Restored ${place.file} to ${place.database}: schema version ${latestVersion}.\n`,
    )
    assert.equal(statSync(place.database).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(join(place.folder, 'data')), ['plumbline.db'])
    assert.deepEqual(await accountsIn(place.database), ['acct_kept'])
    assert.deepEqual(await accountsIn(place.file), ['acct_kept'])
  })

  test('a database that is there is replaced only when told so', async (t) => {
    const place = newPlace(t)
    await makeDatabase(place.file, 'acct_kept')
    await makeDatabase(place.database, 'acct_old')
    const refused = await place.run('restore', place.file)
    assert.equal(refused.code, 2)
    assert.match(refused.err, /there is a database .*--force replaces it/)
    assert.deepEqual(await accountsIn(place.database), ['acct_old'])
    assert.equal((await place.run('restore', place.file, '--force')).code, 0)
    assert.deepEqual(await accountsIn(place.database), ['acct_kept'])
    const itself = await place.run('restore', place.database, '--force')
    assert.match(itself.err, /is the database itself/)
  })

  test('a database that a server has open is left alone', async (t) => {
    const folder = freshFolder(t)
    const server = await spawnServe(t, { folder })
    const copy = await makeDatabase(join(folder, 'copy.db'), 'acct_kept')
    const restore = spawnPlumbline(t, ['restore', copy, '--force'], { folder })
    assert.equal(await restore.ended, 2)
    assert.match(restore.written.err, /a server, or another command, has .* open/)
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    await stop(server)
    const again = spawnPlumbline(t, ['restore', copy, '--force'], { folder })
    assert.equal(await again.ended, 0, again.written.err)
    assert.deepEqual(await accountsIn(join(folder, 'data/plumbline.db')), ['acct_kept'])
  })

  test('what a killed server left in its log does not come into the restored database', async (t) => {
    const folder = freshFolder(t)
    const server = await spawnServe(t, { folder })
    server.child.kill('SIGKILL')
    await server.ended
    assert.ok(existsSync(join(folder, 'data/plumbline.db-wal')))
    const copy = await makeDatabase(join(folder, 'copy.db'), 'acct_kept')
    const restore = spawnPlumbline(t, ['restore', copy, '--force'], { folder })
    assert.equal(await restore.ended, 0, restore.written.err)
    assert.deepEqual(readdirSync(join(folder, 'data')).sort(), [
      'first-key',
      'plumbline.db',
      'plumbline.db-server',
    ])
    assert.deepEqual(await accountsIn(join(folder, 'data/plumbline.db')), ['acct_kept'])
  })

  test('a database beyond repair is replaced, its log with it', async (t) => {
    const place = newPlace(t)
    await makeDatabase(place.file, 'acct_kept')
    mkdirSync(join(place.folder, 'data'))
    writeFileSync(place.database, 'x'.repeat(10_000))
    writeFileSync(`${place.database}-wal`, 'x'.repeat(10_000))
    const restored = await place.run('restore', place.file, '--force')
    assert.equal(restored.code, 0, restored.err)
    assert.deepEqual(readdirSync(join(place.folder, 'data')), ['plumbline.db'])
    assert.deepEqual(await accountsIn(place.database), ['acct_kept'])
  })

  test('what is no sound backup is refused, and the database stays', async (t) => {
    const place = newPlace(t)
    await makeDatabase(place.database, 'acct_old')
    const files: [string, RegExp][] = [
      ['missing', /there is no file/],
      ['empty', /is not a Plumbline database/],
      ['text', /is damaged: file is not a database/],
      ['other', /is not a Plumbline database/],
      ['newer', /schema version 99, and this program knows/],
      ['damaged', /is damaged/],
    ]
    const at = (name: string) => join(place.folder, name)
    writeFileSync(at('empty'), '')
    writeFileSync(at('text'), 'nothing of the kind. '.repeat(1_000))
    const other = new DatabaseSync(at('other'))
    other.exec('CREATE TABLE notes (text TEXT)')
    other.close()
    const newer = new DatabaseSync(await makeDatabase(at('newer'), 'acct_newer'))
    newer.exec('INSERT INTO migrations (version) VALUES (99)')
    newer.close()
    damage(await makeDatabase(at('damaged'), 'acct_damaged'))
    for (const [name, reason] of files) {
      const refused = await place.run('restore', at(name), '--force')
      assert.equal(refused.code, 2, name)
      assert.match(refused.err, reason)
    }
    assert.deepEqual(await accountsIn(place.database), ['acct_old'])
  })

  test('an older backup is restored as it is', async (t) => {
    const place = newPlace(t)
    const older = new DatabaseSync(place.file)
    older.exec('CREATE TABLE migrations (version INTEGER); INSERT INTO migrations VALUES (1)')
    older.close()
    const restored = await place.run('restore', place.file)
    assert.equal(restored.code, 0, restored.err)
    assert.match(restored.out, /schema version 1; the next start brings it to/)
  })
})

async function stop({ child, ended }: Spawned): Promise<void> {
  child.kill('SIGTERM')
  await ended
}

interface Finding {
  check: string
  state: string
  says: string
}

/** The findings of `doctor --json`, and that its lines and its exit code say the same. */
async function examine(
  env: { DATABASE_URL: string; now?: number } & Record<string, string | number>,
): Promise<Finding[]> {
  const { code, out } = await run(['doctor', '--json'], env)
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] }
  assert.equal(
    ok,
    findings.every(({ state }) => state !== 'fault'),
  )
  assert.equal(code, ok ? 0 : 1)
  const lines = await run(['doctor'], env)
  assert.equal(lines.code, code)
  const rows = lines.out.trimEnd().split('\n')
  assert.deepEqual(
    rows.map((row) => row.split(/ +/, 2)),
    findings.map(({ check, state }) => [state, check]),
  )
  return findings
}

const statesOf = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ check, state }) => [check, state]))

const saying = (findings: readonly Finding[], name: string) =>
  findings
    .filter(({ check }) => check === name)
    .map(({ says }) => says)
    .join('; ')

describe('doctor', () => {
  onEachDatabase((database) => {
    const answered = {
      settings: 'ok',
      database: 'ok',
      schema: 'ok',
      clock: 'ok',
      writing: 'ok',
      jobs: 'ok',
      results: 'ok',
      ...(database.name === 'sqlite' ? { disk: 'ok', log: 'ok', damage: 'ok' } : {}),
    }

    async function makeMigrated(): Promise<string> {
      const url = await database.createUrl()
      await withDatabase(url, migrate)
      return url
    }

    test('a sound store has nothing but good findings', async () => {
      verifies('command.doctor')
      const url = await makeMigrated()
      assert.deepEqual(statesOf(await examine({ DATABASE_URL: url, now: Date.now() })), answered)
      await withDatabase(url, async (db) => {
        const beat = await db.get<{ at: number }>('SELECT at FROM heartbeat')
        assert.ok(Math.abs(beat!.at - Date.now()) < 60_000)
      })
    })

    test('a schema that is not the program’s is told', async () => {
      const url = await database.createEmptyUrl()
      await withDatabase(url, (db) =>
        migrate(db, [['CREATE TABLE heartbeat (id BIGINT PRIMARY KEY, at BIGINT NOT NULL)']]),
      )
      const older = await examine({ DATABASE_URL: url, now: Date.now() })
      const { schema, writing, jobs } = statesOf(older)
      assert.deepEqual([schema, writing, jobs], ['warning', 'ok', undefined])
      await withDatabase(url, async (db) => {
        await db.run('INSERT INTO migrations (version) VALUES (99)')
      })
      const newer = await examine({ DATABASE_URL: url, now: Date.now() })
      assert.deepEqual([statesOf(newer).schema, statesOf(newer).writing], ['fault', undefined])
      assert.match(saying(newer, 'schema'), /version 99/)
    })

    test('where results go, and how many wait or were given up, is told', async () => {
      verifies('results.doctor')
      const url = await makeMigrated()
      const env = { DATABASE_URL: url, now: Date.now() }
      assert.equal(
        saying(await examine(env), 'results'),
        'off: PLUMBLINE_OTLP_URL is not set; 0 waiting, 0 given up',
      )
      const at = Date.now()
      const placed = (step: number) => ({
        ...{ account: 'acct_a', runId: 'r', step },
        result: { at, warns: true, span: null, attributes: {} },
      })
      await withDatabase(url, async (db) => {
        await db.tx(async (tx) => {
          saveResults(tx, database.name, [placed(1), placed(2), placed(3)])
        })
        const { results } = createStore(db)
        assert.equal((await results.next(9)).length, 3)
        await results.giveUp([placed(2)], 'the collector answered 400')
      })
      const secret = { PLUMBLINE_OTLP_URL: 'https://collector.example/S3CRET' }
      const findings = await examine({ ...env, ...secret })
      assert.equal(statesOf(findings).results, 'warning')
      assert.equal(
        saying(findings, 'results'),
        'to https://collector.example; 2 waiting, 1 given up (the collector answered 400)',
      )
    })

    test('a clock that is off, and jobs that gave up, are warned of', async () => {
      const url = await makeMigrated()
      await withDatabase(url, async (db) => {
        const store = createStore(db)
        await store.writable(Date.now())
        await store.tx(async ({ jobs }) => {
          await jobs.add({ id: 'a', kind: 'send', input: '', due: 0 })
          const [job] = await jobs.take('send', 0, 1, 1)
          await jobs.giveUp(job!, 'no', 0)
        })
      })
      const findings = await examine({ DATABASE_URL: url, now: Date.now() - 3_600_000 })
      assert.deepEqual(statesOf(findings), { ...answered, clock: 'warning', jobs: 'warning' })
      assert.match(saying(findings, 'jobs'), /1 of kind send/)
    })
  })

  test('every fault of the settings is told, and unknown ones are warned of', async () => {
    const faults = await examine({ DATABASE_URL: 'nonsense', PORT: 'x' })
    assert.deepEqual(
      faults.map(({ check, state }) => [check, state]),
      [
        ['settings', 'fault'],
        ['settings', 'fault'],
      ],
    )
    const unknown = await examine({ DATABASE_URL: 'sqlite::memory:', PLUMBLINE_TPYO: 'x' })
    assert.deepEqual(statesOf(unknown), { settings: 'warning', database: 'warning' })
    assert.match(saying(unknown, 'settings'), /PLUMBLINE_TPYO/)
  })

  test('a database that is not there yet is not made', async (t) => {
    const { folder, database } = newPlace(t)
    const findings = await examine({ DATABASE_URL: `sqlite:${database}` })
    assert.deepEqual(statesOf(findings), { settings: 'ok', disk: 'ok', database: 'warning' })
    assert.deepEqual(readdirSync(folder), [])
  })

  test('damaged pages are a fault, and nothing is written then', async (t) => {
    const { database } = newPlace(t)
    await makeDatabase(database, 'acct_a')
    damage(database)
    const before = readFileSync(database)
    const findings = await examine({ DATABASE_URL: `sqlite:${database}` })
    assert.equal(statesOf(findings).damage, 'fault')
    assert.match(saying(findings, 'damage'), /plumbline restore FILE/)
    assert.deepEqual(readFileSync(database), before)
  })

  test('a large log, and a database that cannot be written, are told', async (t) => {
    const { database } = newPlace(t)
    await makeDatabase(database, 'acct_a')
    const file = new DatabaseSync(database)
    file.exec(
      "CREATE TRIGGER full BEFORE INSERT ON heartbeat BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    file.close()
    const log = `${database}-wal`
    const lengthen = () => {
      writeFileSync(log, '')
      truncateSync(log, 65 * 1024 * 1024)
    }
    lengthen()
    const { out } = await run(['doctor'], { DATABASE_URL: `sqlite:${database}` })
    assert.match(out, /^warning +log +write-ahead log of 65\.0 MiB/m)
    assert.match(out, /^fault +writing +no room$/m)
  })

  test('a server that cannot be reached is a fault, told without its password', async () => {
    const findings = await examine({ DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/x' })
    assert.deepEqual(statesOf(findings), { settings: 'ok', database: 'fault' })
    assert.match(saying(findings, 'database'), /ECONNREFUSED/)
    assert.doesNotMatch(JSON.stringify(findings), /secret/)
  })
})
