import { existsSync, realpathSync, statSync } from 'node:fs'
import { latestVersion } from '../../storage/database/migrations.ts'
import { sqlitePath } from '../../storage/database/open-database.ts'
import {
  backUpSqliteFile,
  checkSqliteFile,
  replaceSqliteFile,
} from '../../storage/database/sqlite-file.ts'
import { type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { examine, type Finding, sizeOf } from './doctor.ts'
import { examineHosts } from './doctor-hosts.ts'
import { settingsFault, usageFault } from './usage-fault.ts'

/** Copies the embedded database while the server runs. */
export const backupCommand: Command = {
  name: 'backup',
  summary: 'copy the embedded database to a file, while the server runs',
  usage: 'plumbline backup FILE',
  details: `The copy holds everything that was answered before the command began. The command reads
and checks the whole copy before FILE appears. FILE must not exist. The copy holds goals and the
hashes of keys, and only its owner may read it. For PostgreSQL use pg_dump.`,
  async run(args, world) {
    const { positionals } = parse(args, {})
    const file = onlyFile(positionals)
    const database = databaseFile(world, 'pg_dump --format=custom')
    if (!existsSync(database)) throw usageFault(`there is no database ${database} yet.`)
    if (existsSync(file)) throw usageFault(`${file} exists; name a new file.`)
    const { version } = backUpSqliteFile(database, file)
    const size = sizeOf(statSync(file).size)
    world.out(`Copied ${database} to ${file}: ${size}, schema version ${version}, no damage.\n`)
    return exitCodes.ok
  },
}

/** Replaces the embedded database with a backup. */
export const restoreCommand: Command = {
  name: 'restore',
  summary: 'replace the embedded database with a backup',
  usage: 'plumbline restore FILE [--force]',
  details: `  --force  replace the existing database

The command checks FILE first and does not change it. Stop the server before: the command refuses
while a process has the database open. An interruption leaves either the old database or the new
one. For PostgreSQL use pg_restore.`,
  async run(args, world) {
    const { values, positionals } = parse(args, { force: { type: 'boolean' } })
    const file = onlyFile(positionals)
    const database = databaseFile(world, 'pg_restore')
    if (!existsSync(file)) throw usageFault(`there is no file ${file}.`)
    const { version, faults } = checkSqliteFile(file)
    if (faults.length > 0) throw usageFault(`${file} is damaged: ${faults.join('; ')}.`)
    if (version === 0) throw usageFault(`${file} is not a Plumbline database.`)
    if (version > latestVersion) {
      throw usageFault(
        `${file} has schema version ${version}, and this program knows ${latestVersion}; restore it with the newer release.`,
      )
    }
    if (existsSync(database) && statSync(database).size > 0) {
      if (realpathSync(file) === realpathSync(database)) {
        throw usageFault(`${file} is the database itself.`)
      }
      if (values.force !== true) {
        throw usageFault(`there is a database ${database}; --force replaces it for good.`)
      }
    }
    replaceSqliteFile(file, database)
    const later = version < latestVersion ? `; the next start brings it to ${latestVersion}` : ''
    world.out(`Restored ${file} to ${database}: schema version ${version}${later}.\n`)
    return exitCodes.ok
  },
}

/** Reports what is wrong with settings and store, and what soon will be. */
export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check the settings and the store',
  usage: 'plumbline doctor [--hosts] [--json]',
  details: `Checks the settings, the clock, the jobs that gave up, and the database: whether it
answers, whether it accepts writes, and its schema. For the embedded database it also checks every
page of the file, the disk and the log. Safe while the server runs. Reading every page takes about a
second per gigabyte.

  --hosts  check the hooks of coding agents on this machine instead: whether each reports, and if not, why
  --json   print the findings as JSON

Exits with 1 if there is a fault, else with 0.`,
  async run(args, world) {
    const { values, positionals } = parse(args, {
      hosts: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    if (positionals.length > 0) throw usageFault(`unexpected argument "${positionals[0]}".`)
    const findings: Finding[] = []
    for await (const finding of values.hosts === true ? examineHosts(world) : examine(world)) {
      findings.push(finding)
      if (values.json !== true) world.out(lineOf(finding))
    }
    const ok = findings.every(({ state }) => state !== 'fault')
    if (values.json === true) world.out(`${JSON.stringify({ ok, findings })}\n`)
    return ok ? exitCodes.ok : exitCodes.fault
  },
}

function lineOf({ check, state, says }: Finding): string {
  return `${state.padEnd('warning'.length)}  ${check.padEnd('claude-code'.length)}  ${says}\n`
}

function onlyFile([file, ...more]: readonly string[]): string {
  if (file === undefined || more.length > 0) throw usageFault('name one FILE.')
  return file
}

/** Returns the file of the configured database. `instead` names the PostgreSQL tool for the purpose. */
function databaseFile(world: CliWorld, instead: string): string {
  const settings = world.settings()
  if ('faults' in settings) throw settingsFault(settings.faults)
  const path = sqlitePath(settings.databaseUrl)
  if (path === null) {
    throw usageFault(`DATABASE_URL names a PostgreSQL database; use its own ${instead}.`)
  }
  if (path === ':memory:') {
    throw usageFault('DATABASE_URL is sqlite::memory:, which no other process can reach.')
  }
  return path
}
