import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  accessSync,
  chownSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, afterEach, describe, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Database, Queries, Value } from '../src/storage/database/database.ts'
import { migrate } from '../src/storage/database/migrations.ts'
import { openDatabase } from '../src/storage/database/open-database.ts'

/** A kind of database that suites run on. */
export interface TestDatabase {
  readonly name: 'sqlite' | 'postgres'
  /** Why it cannot be had here, or false. */
  readonly skip: string | false
  /**
   * The DATABASE_URL of an empty database, which is the test's own until it is over. On PostgreSQL it has
   * its tables already, because a service would make them slowly.
   */
  createUrl(): Promise<string>
  /** The same without tables, for a test of how they are made. */
  createEmptyUrl(): Promise<string>
}

/** Every database the service runs on. */
export const databases: readonly TestDatabase[] = [
  { name: 'sqlite', skip: false, createUrl: createSqliteUrl, createEmptyUrl: createSqliteUrl },
  {
    name: 'postgres',
    skip: await whyNoPostgres(),
    createUrl: lendSchema,
    createEmptyUrl: async () => urlOf(await createSchema([])),
  },
]

/** Runs a suite once for each database; `openFresh` opens an empty one and closes it after the test. */
export function onEachDatabase(
  suite: (database: TestDatabase, openFresh: (t: TestContext) => Promise<Database>) => void,
): void {
  for (const database of databases) {
    describe(database.name, { skip: database.skip }, () => {
      suite(database, async (t) => openFor(t, await database.createEmptyUrl()))
    })
  }
}

/** Opens a database and closes it after the test. */
export async function openFor(t: TestContext, url: string): Promise<Database> {
  const db = await openDatabase(url)
  t.after(() => db.close())
  return db
}

const cleanups: (() => Promise<void> | void)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

let folder: string | null = null

async function createSqliteUrl(): Promise<string> {
  if (folder === null) {
    const made = mkdtempSync(join(memoryFolder(), 'plumbline-test-'))
    cleanups.push(() => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return `sqlite:${join(folder, randomUUID(), 'test.db')}`
}

/** The least free bytes of a file system in memory that tests use. */
const ROOM_IN_MEMORY = 1_000_000_000

/** A folder in memory where there is one with room, because a disk is waited for at every commit. */
function memoryFolder(): string {
  const shared = '/dev/shm'
  try {
    accessSync(shared, constants.W_OK)
    const { bavail, bsize } = statfsSync(shared)
    return bavail * bsize > ROOM_IN_MEMORY ? shared : tmpdir()
  } catch {
    return tmpdir()
  }
}

const SERVER_URL = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/test'
let home: Promise<Home> | null = null

/** The database that holds the schemas of this process's tests. */
interface Home {
  url: string
  /** Whether this process made it, and drops it with all that it holds. */
  isOwn: boolean
  /** A connection to it that stays open. */
  admin: pg.Client
}

/** Schemas with tables: those that the running test has, and those of tests that are over. */
const lent: string[] = []
const returned: string[] = []
afterEach(() => void returned.push(...lent.splice(0)))

/** The url of a schema with empty tables. One that is free is emptied: new tables cost forty times that. */
async function lendSchema(): Promise<string> {
  const schema = (await takeReturned()) ?? (await createSchema(await recordMigrations()))
  lent.push(schema)
  return urlOf(schema)
}

/** Dead rows of a test that left more than these would slow down the tests after it. */
const MOST_ROWS_LEFT = 2_000

/** A returned schema to which nothing is connected any more, emptied; null where there is none. */
async function takeReturned(): Promise<string | null> {
  if (returned.length === 0) return null
  const { admin } = await openHome()
  const { rows } = await admin.query('SELECT application_name AS name FROM pg_stat_activity')
  const connected = new Set(rows.map(({ name }) => name))
  const at = returned.findIndex((schema) => !connected.has(schema))
  const [schema] = at === -1 ? [] : returned.splice(at, 1)
  if (schema === undefined) return null
  const tables = await admin.query(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migrations'",
    [schema],
  )
  const deletions = tables.rows.map(({ name }) => `DELETE FROM ${schema}.${name}`)
  const deleted: unknown = await admin.query(deletions.join(';\n'))
  const left = (deleted as pg.QueryResult[]).reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0)
  return left > MOST_ROWS_LEFT ? takeReturned() : schema
}

/** Makes a schema in which these statements have run. */
async function createSchema(statements: readonly string[]): Promise<string> {
  const { admin, url, isOwn } = await openHome()
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  const setting = [`CREATE SCHEMA ${schema}`, `SET LOCAL search_path = ${schema}`]
  await admin.query([...setting, ...statements].join(';\n'))
  if (!isOwn) cleanups.push(() => query(url, `DROP SCHEMA ${schema} CASCADE`))
  return schema
}

/** The url under which everything happens in a schema, and connections have its name. */
async function urlOf(schema: string): Promise<string> {
  const own = new URL((await openHome()).url)
  own.searchParams.set('options', `-csearch_path=${schema}`)
  own.searchParams.set('application_name', schema)
  return own.href
}

function openHome(): Promise<Home> {
  home ??= canConnect(SERVER_URL)
    .then((reachable) => (reachable ? SERVER_URL : startServer()))
    .then(createHome)
  return home
}

/** What \`migrate\` asks of an empty PostgreSQL database. */
async function recordMigrations(): Promise<string[]> {
  const statements: string[] = []
  let version: Value | undefined = 0
  const queries: Queries = {
    all: async () => [],
    get: async <Row>() => ({ version }) as Row,
    async run(sql, ...values) {
      if (values.length > 0) [version] = values
      statements.push(values.length > 0 ? sql.replace('?', String(version)) : sql)
      return 0
    },
  }
  await migrate({
    ...queries,
    kind: 'postgres',
    tx: (work) => work(queries),
    close: async () => {},
  })
  return statements
}

/** Milliseconds after which the database of a run that was killed is dropped; no file takes that long. */
const LEFT_BEHIND_MS = 3_600_000

/**
 * A database of this process's own, so that what tests make and drop does not slow the next run down.
 * Its locale sorts as people do, so that a statement which depends on the locale fails. Where the
 * server makes none, the database that was given.
 */
async function createHome(base: string): Promise<Home> {
  const now = Date.now()
  const name = `plumbline_test_${now}_${process.pid}`
  const url = new URL(base)
  url.pathname = `/${name}`
  try {
    await query(
      base,
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'
       LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'`,
    )
  } catch (error) {
    process.stderr.write(`No PostgreSQL database with an ICU locale: ${error}\n`)
    return { url: base, isOwn: false, admin: await connectAdmin(base) }
  }
  cleanups.push(() => dropDatabase(base, name))
  // Nothing of a test has to outlast a crash of the server, so no commit waits for its disk.
  await query(base, `ALTER DATABASE ${name} SET synchronous_commit = off`)
  const found = await withClient(base, (client) =>
    client.query<{ datname: string }>('SELECT datname FROM pg_database'),
  )
  for (const { datname } of found.rows) {
    const made = /^plumbline_test_(\d+)_\d+$/.exec(datname)?.[1]
    if (made !== undefined && Number(made) < now - LEFT_BEHIND_MS) await dropDatabase(base, datname)
  }
  return { url: url.href, isOwn: true, admin: await connectAdmin(url.href) }
}

async function connectAdmin(url: string): Promise<pg.Client> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  cleanups.push(() => admin.end())
  return admin
}

/** Drops a database that another process may be dropping too. */
function dropDatabase(base: string, name: string): Promise<void> {
  return query(base, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

async function whyNoPostgres(): Promise<string | false> {
  if (findServer() !== null || (await canConnect(SERVER_URL))) return false
  return 'no PostgreSQL answers at TEST_DATABASE_URL and none is installed'
}

async function query(url: string, sql: string): Promise<void> {
  await withClient(url, (client) => client.query(sql))
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  await client.connect()
  return use(client).finally(() => client.end())
}

function canConnect(url: string): Promise<boolean> {
  return query(url, 'SELECT 1').then(
    () => true,
    () => false,
  )
}

/** The folder of the newest installed server's programs, or null. */
function findServer(): string | null {
  const debian = '/usr/lib/postgresql'
  const versions = listFolder(debian).sort((a, b) => Number(b) - Number(a))
  const candidates = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  return (
    candidates.find((bin) => ['initdb', 'postgres'].every((name) => runs(join(bin, name)))) ?? null
  )
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function runs(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Starts a server of this process's own and answers its url. */
async function startServer(): Promise<string> {
  const bin = findServer()
  if (bin === null) throw new Error('No PostgreSQL server is installed.')
  const home = mkdtempSync(join(tmpdir(), 'plumbline-postgres-'))
  const user = serverUser()
  if (user.uid !== undefined && user.gid !== undefined) chownSync(home, user.uid, user.gid)
  const data = join(home, 'data')
  const initialise = [
    '--pgdata',
    data,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  await finish(join(bin, 'initdb'), initialise, { ...user, cwd: home })
  const port = await findPort()
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${home}`,
    'fsync=off',
    'full_page_writes=off',
  ]
  // The shell outlives this process, however that ends: its input closes, and it clears up.
  const script = '"$@" & read -r _; kill -QUIT $!; wait; rm -rf "$PWD"'
  const command = [join(bin, 'postgres'), '-D', data, ...settings.flatMap((item) => ['-c', item])]
  const shell = spawn('sh', ['-c', script, 'sh', ...command], {
    ...user,
    cwd: home,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  cleanups.push(async () => {
    shell.ref()
    shell.stdin.end()
    if (shell.exitCode === null) await once(shell, 'exit')
  })
  shell.unref()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (await canConnect(url)) return url
    await wait(50)
  }
  throw new Error('The PostgreSQL server did not start within 10 s.')
}

/** The account to run the server as: initdb and postgres refuse root. */
function serverUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const account = ['postgres', 'nobody'].flatMap((name) =>
    accounts.filter(([own]) => own === name),
  )[0]
  if (account === undefined) throw new Error('Neither an account postgres nor nobody exists.')
  return { uid: Number(account[2]), gid: Number(account[3]) }
}

async function finish(
  program: string,
  args: string[],
  options: { cwd: string; uid?: number; gid?: number },
): Promise<void> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (text) => {
    complaint += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} failed: ${complaint}`)
}

async function findPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('No free port.')
  return address.port
}
