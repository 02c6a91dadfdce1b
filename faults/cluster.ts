import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import type { Setting } from './server.ts'
import type { Stage } from './stage.ts'

/** A PostgreSQL server for one trial, durable as in production. */
export interface Cluster {
  readonly setting: Setting
  /** Crashes the server and starts it. Resolves when it accepts connections. */
  crashAndStart(): Promise<void>
  query(sql: string): Promise<pg.QueryResult>
  /** The schema of the database as statements. */
  schema(): string
  /** Creates the database anew. */
  empty(): Promise<void>
}

const startLimitS = 30

/** Why no cluster can run here, or null. */
export function whyNoCluster(): string | null {
  return findPrograms() === null ? 'no PostgreSQL server is installed' : null
}

/** Starts a cluster with `options` (lines of postgresql.conf) on a free port of the loopback address. */
export async function startCluster(
  stage: Stage,
  options: readonly string[] = [],
): Promise<Cluster> {
  const programs = findPrograms()
  if (programs === null) throw new Error('no PostgreSQL server is installed')
  const home = join(stage.folder, 'postgres')
  mkdirSync(home, { mode: 0o700 })
  const account = serverAccount()
  if (account.uid !== undefined && account.gid !== undefined) {
    chownSync(home, account.uid, account.gid)
    // The server's account needs access to its folder.
    chmodSync(stage.folder, 0o711)
  }
  const data = join(home, 'data')
  const port = await freePort()
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${home}`,
    ...options,
  ]
  const flags = settings.map((setting) => `-c ${setting}`).join(' ')
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(programs, program), args, {
      ...account,
      cwd: home,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const start = [
    '--pgdata',
    data,
    '--log',
    join(home, 'log'),
    '--options',
    flags,
    '--wait',
    `--timeout=${startLimitS}`,
  ]
  run('initdb', [
    '--pgdata',
    data,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ])
  stage.after(() => {
    try {
      run('pg_ctl', ['stop', '--pgdata', data, '--mode=immediate', '--wait'])
    } catch {
      // The cluster has stopped already.
    }
  })
  const address = `postgres://postgres@127.0.0.1:${port}`

  /** Runs without blocking the event loop, because the writers must go on. */
  async function control(action: string, more: readonly string[]): Promise<void> {
    const child = spawn(join(programs ?? '', 'pg_ctl'), [action, ...start, ...more], {
      ...account,
      cwd: home,
      stdio: 'ignore',
    })
    const [code] = await once(child, 'exit')
    if (code !== 0)
      throw new Error(
        `pg_ctl ${action} failed: ${readFileSync(join(home, 'log'), 'utf8').slice(-500)}`,
      )
  }

  async function ask(database: string, sql: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: `${address}/${database}` })
    await client.connect()
    return client.query(sql).finally(() => client.end())
  }

  /**
   * Creates the database with a linguistic collation, which reveals code that depends on the order of texts.
   * Servers before 15 have none for a database.
   */
  const create = async () => {
    const plain = 'CREATE DATABASE plumbline TEMPLATE template0'
    const icu = `${plain} ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'`
    await ask('postgres', icu).catch(() => ask('postgres', plain))
  }

  await control('start', [])
  await create()
  return {
    setting: { env: { DATABASE_URL: `${address}/plumbline` } },
    crashAndStart: () => control('restart', ['--mode=immediate']),
    query: (sql) => ask('plumbline', sql),
    schema: () =>
      run('pg_dump', ['--schema-only', '--no-owner', `--dbname=${address}/plumbline`])
        .split('\n')
        // Newer versions print a random token around the statements.
        .filter((line) => !/^(--|\\|$)/.test(line))
        .join('\n'),
    async empty() {
      await ask('postgres', 'DROP DATABASE plumbline WITH (FORCE)')
      await create()
    },
  }
}

/** The folder with the programs of the newest installed server, or null. */
function findPrograms(): string | null {
  const debian = '/usr/lib/postgresql'
  const versions = listFolder(debian).sort((a, b) => Number(b) - Number(a))
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  const names = ['initdb', 'pg_ctl', 'pg_dump', 'postgres']
  return folders.find((folder) => names.every((name) => canRun(join(folder, name)))) ?? null
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The account that runs the server, because it refuses to run as root. */
function serverAccount(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const account = ['postgres', 'nobody']
    .flatMap((name) => accounts.filter(([own]) => own === name))
    .at(0)
  if (account === undefined) throw new Error('neither an account postgres nor nobody exists')
  return { uid: Number(account[2]), gid: Number(account[3]) }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
