import { existsSync } from 'node:fs'
import { type Config, type ConfigFaults, readConfig, settingNames } from './config.ts'
import { createFirstAccount, type NewAccount } from './operations/accounts.ts'
import { operations } from './operations/all.ts'
import type { Service } from './operations/operation.ts'
import { createService, realWorld, startService } from './service.ts'
import { latestVersion, migrate } from './storage/migrations.ts'
import { openDatabase, sqlitePath } from './storage/open-database.ts'
import { createStore } from './storage/store.ts'
import { runCommand } from './surfaces/cli.ts'
import type { CliWorld } from './surfaces/command.ts'
import { describeHttp } from './surfaces/http.ts'
import { settingsFault, usageFault } from './surfaces/usage-fault.ts'

// Long enough for the connections that clients opened before they could know.
const lastConnectionsMs = 1000
const defaultBaseUrl = 'http://127.0.0.1:8787'

const world: CliWorld = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  input: process.stdin,
  output: process.stdout,
  version: realWorld.version,
  now: realWorld.now,
  settingNames,
  settings,
  serve,
  async migrate() {
    const database = await openDatabase(config().databaseUrl)
    await migrate(database)
    await database.close()
    return `The database is at schema version ${latestVersion}.`
  },
  openapi: () => `${JSON.stringify(describeHttp(operations, [defaultBaseUrl]), null, 2)}\n`,
  offline: (work) =>
    withServiceOver({ ...config(), checkPerDay: 0, toolsPerDay: 0 }, 'sqlite::memory:', work),
  withService,
}

function settings(): Config | ConfigFaults {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return readConfig(process.env)
}

function config(): Config {
  const read = settings()
  if ('faults' in read) throw settingsFault(read.faults)
  return read
}

async function withService<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const settings = config()
  if (sqlitePath(settings.databaseUrl) === ':memory:') {
    throw usageFault('DATABASE_URL is sqlite::memory:, which no other process can reach.')
  }
  return withServiceOver(settings, settings.databaseUrl, work)
}

async function withServiceOver<T>(
  settings: Config,
  databaseUrl: string,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(databaseUrl)
  const store = createStore(database)
  try {
    await migrate(database)
    return await work(
      createService(
        settings,
        store,
        realWorld,
        () => settings.baseUrl ?? defaultBaseUrl,
        () => {},
        { info: () => {} },
      ),
    )
  } finally {
    await store.close()
  }
}

function welcome(url: string, { account, key }: NewAccount): string {
  return `
There was no account yet, so one was made (${account.id}, tier ${account.tier}). Its key, shown this once:

  ${key.key}

With it a run remembers its ground, and what the account has used is told:
  curl -s ${url}/v1/drift -H 'authorization: Bearer ${key.key}' -d '{"run_id":"first","goal":"add rate limiting to the login endpoint"}'
  curl -s ${url}/v1/me -H 'authorization: Bearer ${key.key}'
`
}

/** Resolves at the first signal to stop; at the second the process exits at once. */
function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    const stop = () => {
      if (stopping) process.exit(1)
      stopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}

async function serve(): Promise<void> {
  const running = await startService(config(), realWorld)
  const { url } = running
  const told = toldToStop()
  // A server without anybody to answer would go on listening.
  const first = await createFirstAccount(running.service, running.store).catch(async (error) => {
    await running.stop()
    throw error
  })
  process.stdout.write(`Plumbline listens on ${url}

Try it:
  curl -s ${url}/v1/check -d '{"ground":"refund order 1234 to the customer","goal":"refund order 9876 to the customer"}'
`)
  if (first !== null) process.stdout.write(welcome(url, first))
  if (running.metricsUrl !== null) process.stdout.write(`Metrics on ${running.metricsUrl}\n`)
  await told
  await running.stop({ graceMs: lastConnectionsMs })
}

// Whoever reads the output may have seen enough, as `| head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runCommand(process.argv.slice(2), world)
