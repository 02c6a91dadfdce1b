import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { InstallHost } from '../../core/hosts/install.ts'
import type { FileHost } from '../../core/hosts/install-files.ts'
import type { Results } from '../../storage/alerts/results.ts'
import type { Database } from '../../storage/database/database.ts'
import { readClock, readHeartbeat, readSchemaVersion } from '../../storage/database/health.ts'
import { latestVersion } from '../../storage/database/migrations.ts'
import { openDatabase, sqlitePath } from '../../storage/database/open-database.ts'
import { checkSqliteFile } from '../../storage/database/sqlite-file.ts'
import { createStore } from '../../storage/store.ts'
import type { CliWorld } from './command.ts'

/** The finding of one check. A fault keeps the service from working; a warning may lead to a fault. */
export interface Finding {
  check:
    | 'settings'
    | 'database'
    | 'damage'
    | 'schema'
    | 'writing'
    | 'clock'
    | 'jobs'
    | 'results'
    | 'disk'
    | 'log'
    | 'program'
    | 'relay'
    | 'server'
    | InstallHost
    | FileHost
  state: 'ok' | 'warning' | 'fault'
  says: string
}

const mib = 1024 * 1024
const smallestFree = 64 * mib
const comfortablyFree = 512 * mib
const largeLog = 64 * mib
const clockToleranceMs = 5_000

/** Checks settings and store, one finding after another. It leaves out checks that depend on a fault. */
export async function* examine(world: CliWorld): AsyncGenerator<Finding> {
  const settings = world.settings()
  if ('faults' in settings) {
    for (const says of settings.faults) yield { check: 'settings', state: 'fault', says }
    return
  }
  const { databaseUrl, unknownSettings, laterSettings, otlp } = settings
  const warnings = [
    ...(unknownSettings.length === 0 ? [] : [`not known: ${unknownSettings.join(', ')}`]),
    ...(laterSettings.length === 0 ? [] : [`not in this version yet: ${laterSettings.join(', ')}`]),
  ]
  yield warnings.length === 0
    ? { check: 'settings', state: 'ok', says: 'every setting is known and in order' }
    : { check: 'settings', state: 'warning', says: warnings.join('; ') }

  const path = sqlitePath(databaseUrl)
  if (path === ':memory:') {
    const says = 'in memory: the data is lost when the server stops'
    yield { check: 'database', state: 'warning', says }
    return
  }
  if (path !== null) {
    yield examineDisk(path)
    if (!existsSync(path)) {
      const says = `there is no ${path} yet; the first start creates it`
      yield { check: 'database', state: 'warning', says }
      return
    }
    yield examineLog(path)
    const damage = examineDamage(path)
    yield damage
    if (damage.state === 'fault') return
  }
  yield* examineDatabase(databaseUrl, path ?? nameOf(databaseUrl), world.now(), otlp?.url ?? null)
}

async function* examineDatabase(
  url: string,
  name: string,
  now: number,
  collector: string | null,
): AsyncGenerator<Finding> {
  let check: Finding['check'] = 'database'
  let db: Database | null = null
  try {
    db = await openDatabase(url)
    const version = await readSchemaVersion(db)
    yield { check, state: 'ok', says: `${name} answers` }

    check = 'schema'
    yield judgeVersion(version)
    if (version === 0 || version > latestVersion) return

    check = 'clock'
    const heartbeat = await readHeartbeat(db)
    yield judgeClock(now, await readClock(db), heartbeat)

    check = 'writing'
    const store = createStore(db)
    // Never earlier than the last one, or the next check would not see that the clock was set back.
    await store.writable(Math.max(now, heartbeat ?? 0))
    yield { check, state: 'ok', says: 'a row was written' }

    check = 'jobs'
    if (version < latestVersion) return
    yield judgeJobs(await store.jobs.count(now))

    check = 'results'
    yield judgeResults(collector, await store.results.count())
  } catch (error) {
    yield { check, state: 'fault', says: error instanceof Error ? error.message : String(error) }
  } finally {
    await db?.close()
  }
}

function judgeVersion(version: number): Finding {
  const check = 'schema'
  if (version === latestVersion) return { check, state: 'ok', says: `version ${version}` }
  if (version > latestVersion) {
    const says = `version ${version}, and this program knows ${latestVersion}: start the newer release`
    return { check, state: 'fault', says }
  }
  const says = `version ${version} of ${latestVersion}: the next start, or plumbline migrate, brings the rest`
  return { check, state: 'warning', says }
}

/** On PostgreSQL a server uses the clock of the database; on SQLite all times come from its own clock. */
function judgeClock(now: number, server: number | null, heartbeat: number | null): Finding {
  const check = 'clock'
  const offMs = server === null ? 0 : Math.abs(server - now)
  if (offMs > clockToleranceMs) {
    const says = `${Math.round(offMs / 1000)} s off the clock of the database server`
    return { check, state: 'warning', says }
  }
  if (heartbeat !== null && heartbeat > now + clockToleranceMs) {
    const says = `behind the last write, ${new Date(heartbeat).toISOString()}: was it set back?`
    return { check, state: 'warning', says }
  }
  return { check, state: 'ok', says: new Date(now).toISOString() }
}

function judgeJobs(
  counts: readonly { due: number; later: number; held: number; gave_up: number; kind: string }[],
): Finding {
  const check = 'jobs'
  const failed = counts.filter(({ gave_up }) => gave_up > 0)
  if (failed.length > 0) {
    const says = failed.map(({ kind, gave_up }) => `${gave_up} of kind ${kind}`).join(', ')
    return { check, state: 'warning', says: `gave up for good: ${says}` }
  }
  const waiting = counts.reduce((sum, { due, later, held }) => sum + due + later + held, 0)
  return { check, state: 'ok', says: `${waiting} waiting or in flight, none gave up` }
}

/** `collector` is the address that results go to, or null. Its path may hold a secret, and is not told. */
function judgeResults(
  collector: string | null,
  { waiting, failed, detail }: Awaited<ReturnType<Results['count']>>,
): Finding {
  const check = 'results'
  const to =
    collector === null ? 'off: PLUMBLINE_OTLP_URL is not set' : `to ${new URL(collector).origin}`
  const why = detail === null ? '' : ` (${detail})`
  const says = `${to}; ${waiting} waiting, ${failed} given up${why}`
  const isWell = detail === null && (collector !== null || waiting === 0)
  return { check, state: isWell ? 'ok' : 'warning', says }
}

function examineDamage(path: string): Finding {
  const check = 'damage'
  const { faults } = checkSqliteFile(path)
  if (faults.length === 0) return { check, state: 'ok', says: 'every page of the file was read' }
  const says = `${faults.join('; ')}. Stop the server and restore a backup: plumbline restore FILE --force`
  return { check, state: 'fault', says: says.replaceAll('\n', ' ') }
}

function examineDisk(path: string): Finding {
  const check = 'disk'
  let folder = dirname(resolve(path))
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const says = `${sizeOf(free)} free in ${folder}`
  if (free < smallestFree) return { check, state: 'fault', says }
  const wanted = Math.max(comfortablyFree, existsSync(path) ? statSync(path).size : 0)
  if (free >= wanted) return { check, state: 'ok', says }
  return { check, state: 'warning', says: `${says}: less than a backup may need` }
}

/** SQLite empties the log all the time, unless a reader never ends or a process stopped without warning. */
function examineLog(path: string): Finding {
  const check = 'log'
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const says = `write-ahead log of ${sizeOf(size)}`
  if (size <= largeLog) return { check, state: 'ok', says }
  const why =
    'a process has been reading for very long, or the disk cannot keep up; stopping the server empties it'
  return { check, state: 'warning', says: `${says}: ${why}` }
}

/** Bytes in MiB, for a person. */
export function sizeOf(bytes: number): string {
  return `${(bytes / mib).toFixed(1)} MiB`
}

/** The server and database of a url, without the credentials in it. */
function nameOf(url: string): string {
  if (!URL.canParse(url)) return 'the database'
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
