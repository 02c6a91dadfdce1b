import { existsSync, readFileSync } from 'node:fs'
import { type Config, readConfig } from './config.ts'
import { operations } from './operations/all.ts'
import { realWorld, startService } from './service.ts'
import { latestVersion, migrate } from './storage/migrations.ts'
import { openDatabase } from './storage/open-database.ts'
import { type CliWorld, runCommand } from './surfaces/cli.ts'
import { describeHttp } from './surfaces/http.ts'
import { usageFault } from './surfaces/usage-fault.ts'

const defaultBaseUrl = 'http://127.0.0.1:8787'

const world: CliWorld = {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  input: process.stdin,
  version: JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version,
  serve,
  async migrate() {
    const database = await openDatabase(config().databaseUrl)
    await migrate(database)
    await database.close()
    return `The database is at schema version ${latestVersion}.`
  },
  openapi: () => `${JSON.stringify(describeHttp(operations, [defaultBaseUrl]), null, 2)}\n`,
}

function config(): Config {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const read = readConfig(process.env)
  if ('faults' in read)
    throw usageFault(`the settings are at fault:\n  ${read.faults.join('\n  ')}`)
  return read
}

async function serve(): Promise<void> {
  const running = await startService(config(), realWorld)
  process.stdout.write(`Plumbline listens on ${running.url}

Try it:
  curl -s ${running.url}/v1/check -d '{"ground":"add rate limiting to the login endpoint","goal":"redesign the logo"}'
`)
  if (running.metricsUrl !== null) process.stdout.write(`Metrics on ${running.metricsUrl}\n`)
  await new Promise<void>((resolve) => {
    let stopping = false
    const stop = () => {
      if (stopping) process.exit(1)
      stopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
  await running.stop()
}

// Whoever reads the output may have seen enough, as `| head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runCommand(process.argv.slice(2), world)
