import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { type Config, type ConfigFaults, readConfig, settingNames } from './config.ts'
import type { Reads } from './core/detector/contract/reads.ts'
import { type Encoder, shippedWeights } from './encoder/encoder.ts'
import { createReads } from './encoder/reads.ts'
import { createFirstAccount } from './operations/account/accounts.ts'
import { makeLocalLink } from './operations/account/local-link.ts'
import { operations } from './operations/all.ts'
import type { Service } from './operations/gate/context.ts'
import { warmUp } from './operations/hosts/warm-up.ts'
import {
  createService,
  newKey,
  openEncoder,
  type Running,
  realWorld,
  startService,
} from './service.ts'
import { createClock } from './storage/database/clock.ts'
import type { Database } from './storage/database/database.ts'
import { readSchemaVersion } from './storage/database/health.ts'
import { latestVersion, migrate } from './storage/database/migrations.ts'
import { openDatabase, openDatabaseToRead, sqlitePath } from './storage/database/open-database.ts'
import { createStore, type Store } from './storage/store.ts'
import { policyFolderOn } from './surfaces/cli/claude-policy.ts'
import { runCommand } from './surfaces/cli/cli.ts'
import type { CliWorld } from './surfaces/cli/command.ts'
import { openTerminal } from './surfaces/cli/terminal.ts'
import { settingsFault, usageFault } from './surfaces/cli/usage-fault.ts'
import { browserNotice, keysNotice } from './surfaces/cli/welcome.ts'
import { isLoopback } from './surfaces/http/address.ts'
import { describeHttp } from './surfaces/http/description.ts'

// Clients open connections until they notice the stop. This is long enough to accept those.
const lastConnectionsMs = 1000
const parentCheckMs = 250
const defaultBaseUrl = 'http://127.0.0.1:8787'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const world: CliWorld = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  input: process.stdin,
  output: process.stdout,
  terminal: () =>
    process.stdin.isTTY && process.stderr.isTTY ? openTerminal(process.stdin) : null,
  version: realWorld.version,
  now: realWorld.now,
  cores: availableParallelism(),
  newKey,
  folder: process.cwd(),
  policyFolder: policyFolderOn(process.platform),
  program: [process.execPath, process.argv[1] ?? ''],
  stopped: stopReason,
  environment: { ...process.env },
  settingNames,
  settings,
  reads,
  serve,
  async migrate() {
    const database = await openDatabase(config().databaseUrl)
    await migrate(database)
    await database.close()
    return `The database is at schema version ${latestVersion}.`
  },
  openapi: () => `${JSON.stringify(describeHttp(operations, [defaultBaseUrl]), null, 2)}\n`,
  async offline(work) {
    const settings = { ...config(), checkPerDay: 0, toolsPerDay: 0 }
    const encoder = openEncoder(settings.encoder, silent)
    try {
      return await withServiceOver(settings, 'sqlite::memory:', work, encoder)
    } finally {
      await encoder?.close()
    }
  },
  withService,
  readStore,
}

function settings(): Config | ConfigFaults {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return readConfig(process.env)
}

function reads(): Reads | null {
  const { encoder } = config()
  if (encoder === 'off') return null
  const weights = encoder ?? shippedWeights
  if (encoder === null && !existsSync(weights)) return null
  try {
    return createReads(weights)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw usageFault(
      `the encoder cannot be used: ${reason}. PLUMBLINE_ENCODER=off goes without it.`,
    )
  }
}

function config(): Config {
  const read = settings()
  if ('faults' in read) throw settingsFault(read.faults)
  return read
}

async function withService<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const settings = config()
  refuseMemory(settings.databaseUrl)
  return withServiceOver(settings, settings.databaseUrl, work)
}

async function withServiceOver<T>(
  settings: Config,
  databaseUrl: string,
  work: (service: Service) => Promise<T>,
  encoder: Encoder | null = null,
): Promise<T> {
  const database = await openDatabase(databaseUrl)
  const store = createStore(database)
  try {
    await migrateNew(database)
    return await work(
      createService(
        settings,
        store,
        { ...realWorld, now: await createClock(database, realWorld.now, () => {}) },
        () => settings.baseUrl ?? defaultBaseUrl,
        () => {},
        silent,
        encoder,
      ),
    )
  } finally {
    await store.close()
  }
}

async function readStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const { databaseUrl } = config()
  const file = sqlitePath(databaseUrl)
  refuseMemory(databaseUrl)
  if (file !== null && !existsSync(file)) {
    throw usageFault(`there is no database ${file} yet; DATABASE_URL names the one that is read.`)
  }
  const database = await openDatabaseToRead(databaseUrl)
  try {
    const version = await readSchemaVersion(database)
    if (version === 0) throw usageFault('the database that DATABASE_URL names holds nothing yet.')
    refuseOther(version)
    return await work(createStore(database))
  } finally {
    await database.close()
  }
}

function refuseMemory(databaseUrl: string): void {
  if (sqlitePath(databaseUrl) === ':memory:') {
    throw usageFault('DATABASE_URL is sqlite::memory:, which no other process can reach.')
  }
}

/** Migrates only a new database: a command must not change the schema of a running server. */
async function migrateNew(database: Database): Promise<void> {
  const version = await readSchemaVersion(database)
  if (version > 0 && version < latestVersion) refuseOther(version)
  await migrate(database)
}

function refuseOther(version: number): void {
  if (version === latestVersion) return
  throw usageFault(
    version < latestVersion
      ? `the database is at schema version ${version} and this program knows ${latestVersion}: stop its server and run plumbline migrate, or start the server of this release.`
      : `the database is at schema version ${version} and this program knows ${latestVersion}: run the program of its server.`,
  )
}

/** Resolves with the reason at the first signal to stop. The second signal ends the process at once. */
function stopReason(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false
    const stop = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(1)
      stopping = true
      resolve(signal)
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
    if (process.env.npm_lifecycle_event === 'npx') whenOrphaned(() => resolve('npx has ended'))
  })
}

/** npx starts commands through a shell. A SIGTERM ends that shell and does not reach the command. */
function whenOrphaned(stop: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, parentCheckMs)
  timer.unref()
}

async function serve(): Promise<void> {
  const settings = config()
  const running = await startService(settings, realWorld)
  const { url, log } = running
  log.info(
    {
      version: realWorld.version,
      node: process.versions.node,
      url,
      metrics_url: running.metricsUrl,
    },
    'started',
  )
  process.on('uncaughtExceptionMonitor', (err) => log.fatal({ err }, 'stopped by a fault'))
  const reason = stopReason()
  // Without the stop, the server would go on listening after the error.
  const { first, link } = await greetFirst(running, settings.bootstrapKey).catch(async (error) => {
    await running.stop()
    throw error
  })
  const welcome = {
    url,
    databaseUrl: settings.databaseUrl,
    isTerminal: process.stdout.isTTY,
    // After npm start the command is not on the path.
    command: process.env.npm_lifecycle_event === 'start' ? 'npm run -s plumbline --' : 'plumbline',
  }
  const keys = keysNotice(first, welcome)
  // The first line comes after the key file, so that its reader finds the key there.
  process.stdout.write(`Plumbline listens on ${url}

Try it:
  curl -s ${url}/v1/check -d '{"ground":"refund order 1234 to the customer","goal":"refund order 9876 to the customer"}'
${keys}${browserNotice(link, welcome)}`)
  if (!running.hasPages) {
    process.stdout.write('The pages of web/ are not built; npm start builds them.\n')
  }
  if (running.metricsUrl !== null) process.stdout.write(`Metrics on ${running.metricsUrl}\n`)
  void warmUp(running.service)
  log.info({ reason: await reason }, 'stopping')
  await running.stop({ graceMs: lastConnectionsMs })
}

/** Makes the first account if there is none, and a link that signs its owner in, where one can work. */
async function greetFirst({ service, store, url }: Running, bootstrapKey: string | null) {
  const first = await createFirstAccount(service, store, bootstrapKey)
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  if (first === null || !isLoopback(host)) return { first, link: null }
  return { first, link: (await makeLocalLink(service, first.account.id, url)).url }
}

// The reader of the output may close it early, such as `| head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runCommand(process.argv.slice(2), world)
