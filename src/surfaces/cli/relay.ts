import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fieldsOf } from '../../core/hosts/fields.ts'
import { isStricter, type PrivacyLevel, privacyLevels } from '../../core/hosts/privacy.ts'
import { isoTime } from '../../core/time.ts'
import type { Clock } from '../relay/clock.ts'
import { type RelayStatus, startRelay } from '../relay/relay.ts'
import { type RelaySettings, relayFolderIn } from '../relay/settings.ts'
import { type CliSettings, type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { asked } from './hook-key.ts'
import { replaceFile } from './host-file.ts'
import { newSecret, readRelaySettings, relayPort, writeRelaySettings } from './relay-file.ts'
import { isHere, readServer } from './server-address.ts'
import { usageFault } from './usage-fault.ts'
import { hooksFolderOf, readSettings } from './user-home.ts'

const mostLogLines = 1000
/** How long a relay may take to start, in looks and milliseconds between them. */
const looks = 80
const betweenLooksMs = 100

/** Stands between the hosts of this machine and a server on another one. */
export const relayCommand: Command = {
  name: 'relay',
  summary: 'answer the hooks of hosts at once, and bring what may be told to a server elsewhere',
  usage: 'plumbline relay [--server URL] [--level words|hashes|counts] [--port N] [--ensure]',
  details: `plumbline init HOST --server URL sets it up and hosts start it, so that it seldom needs to be run by hand.
It listens on 127.0.0.1 alone. Options are kept in ~/.plumbline/relay.json (PLUMBLINE_HOME).

  --server URL  the server that it reports to, with PLUMBLINE_KEY
  --level L     what it tells: words (what looks like a secret is left out), hashes (paths and
                commands only as hashes with a key of this machine), or counts (no text at all:
                no verdict on drift). hashes, and words for a server on this machine
  --port N      where it listens (${relayPort})
  --ensure      start it in the background unless it is up, and return at once

A relay that is up heeds a change at once. What waits is dropped if it tells more than the level allows
now, or was meant for another server.

Events wait in ~/.plumbline/relay while the server is away, at most 20 MB of them. File contents,
outputs of tools and values of commands never leave the machine, whatever the level.`,
  run: runRelay,
}

async function runRelay(args: string[], world: CliWorld): Promise<number> {
  const { values, positionals } = parse(args, {
    server: { type: 'string' },
    level: { type: 'string' },
    port: { type: 'string' },
    ensure: { type: 'boolean' },
  })
  if (positionals.length > 0) throw usageFault(`unexpected argument "${positionals[0]}".`)
  const settings = readSettings(world)
  const folder = hooksFolderOf(world, settings)
  const known = readRelaySettings(folder)
  const relay = settingsFor(folder, known, settings, values)
  if (known !== null && known.port !== relay.port) await leavePort(known, relay, folder)
  const up = await relayStatus(relay)
  if (up !== null) {
    const where = `http://127.0.0.1:${relay.port}`
    world.out(`The relay is up on ${where}; it tells ${up.server} ${up.level}.\n`)
    return exitCodes.ok
  }
  if (values.ensure === true) {
    await ensureRelay(relay, folder, world)
    return exitCodes.ok
  }
  let logged = 0
  const running = await startRelay({
    settings: () => readRelaySettings(folder),
    folder,
    clock: clockOf(world),
    // A server that comes and goes must not fill the disk.
    log: (line) => {
      if (logged++ < mostLogLines) world.err(`${isoTime(world.now())} ${line}\n`)
    },
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw usageFault(`port ${relay.port} is in use by another program; name a --port.`)
  })
  world.out(`The relay listens on ${running.url}; it tells ${relay.url} ${relay.level}.\n`)
  await Promise.race([running.ended, world.stopped()])
  await running.stop()
  return exitCodes.ok
}

/** What the options and the file say together; options are kept in the file. */
function settingsFor(
  folder: string,
  known: RelaySettings | null,
  settings: CliSettings,
  { server, level, port }: Record<string, unknown>,
): RelaySettings {
  const url = server === undefined ? known?.url : readServer(server)
  if (url === undefined) {
    throw usageFault('name a --server, or let plumbline init HOST --server URL set the relay up.')
  }
  const chosen = readLevel(level)
  const listened = port === undefined ? undefined : readPort(port)
  const key = url === known?.url ? known.key : settings.key
  if (key === null) throw usageFault(`set PLUMBLINE_KEY to a key of ${url}.`)
  const next: RelaySettings = {
    url,
    key,
    level: levelFor(url, chosen, known),
    port: listened ?? known?.port ?? relayPort,
    localKey: known?.localKey ?? newSecret(),
    hashKey: known?.hashKey ?? newSecret(),
  }
  if (JSON.stringify(next) !== JSON.stringify(known)) writeRelaySettings(folder, next)
  return next
}

/** A level by its name, or a usage fault; undefined if none is named. */
export function readLevel(value: unknown): PrivacyLevel | undefined {
  if (value === undefined) return undefined
  const level = privacyLevels.find((each) => each === value)
  if (level !== undefined) return level
  throw usageFault(`--level is "${value}"; send ${privacyLevels.join(', ')}.`)
}

/**
 * What is told: what somebody chooses, else what was told before, and to another server no more than it is told unless
 * somebody chooses.
 */
export function levelFor(
  url: string,
  chosen: PrivacyLevel | undefined,
  known: RelaySettings | null,
): PrivacyLevel {
  const usual = isHere(url) ? 'words' : 'hashes'
  if (chosen !== undefined) return chosen
  if (known === null) return usual
  return known.url !== url && isStricter(usual, known.level) ? usual : known.level
}

/** Ends the relay that listens on the port of before, as only one may have the spool, and leads hooks to the new one. */
async function leavePort(
  known: RelaySettings,
  relay: RelaySettings,
  folder: string,
): Promise<void> {
  if (await stopRelay(known)) await untilDown(known)
  const file = join(folder, 'url')
  const led = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (led === `http://127.0.0.1:${known.port}`) {
    replaceFile(file, `http://127.0.0.1:${relay.port}\n`, 0o600)
  }
}

function readPort(value: unknown): number {
  const port = Number(value)
  if (/^\d+$/.test(String(value)) && port < 65_536) return port
  throw usageFault(`--port is "${value}"; send a number from 0 to 65535.`)
}

/** Starts the relay of a folder in the background unless it is up. Returns whether it may come up, as known so far. */
export async function ensureRelay(
  settings: RelaySettings,
  folder: string,
  { program, environment }: CliWorld,
): Promise<() => boolean> {
  if ((await relayStatus(settings)) !== null) return () => true
  const [file = '', ...words] = program
  const logFolder = relayFolderIn(folder)
  mkdirSync(logFolder, { recursive: true, mode: 0o700 })
  const log = openSync(join(logFolder, 'log'), 'a', 0o600)
  const child = spawn(file, [...words, 'relay'], {
    cwd: folder,
    env: { ...environment, PLUMBLINE_HOME: folder },
    detached: true,
    stdio: ['ignore', log, log],
  })
  let isGone = false
  for (const event of ['error', 'exit']) {
    child.on(event, () => {
      isGone = true
    })
  }
  child.unref()
  closeSync(log)
  return () => !isGone
}

/** What the relay of these settings says of itself; null if it is not up. */
export async function relayStatus({ port, localKey }: RelaySettings): Promise<RelayStatus | null> {
  const { status, body } = await asked(`http://127.0.0.1:${port}`, localKey, 'GET', '/relay')
  return status === 200 && typeof fieldsOf(body).waiting === 'number'
    ? (body as unknown as RelayStatus)
    : null
}

/** Ends the relay of these settings if it is up. */
export async function stopRelay({ port, localKey }: RelaySettings): Promise<boolean> {
  const { status } = await asked(`http://127.0.0.1:${port}`, localKey, 'POST', '/relay/stop')
  return status === 200
}

/** Waits until the relay of these settings is down, or for eight seconds. */
export async function untilDown(settings: RelaySettings): Promise<void> {
  for (let look = 0; look < looks && (await relayStatus(settings)) !== null; look++) {
    await pause(betweenLooksMs)
  }
}

/** Waits until the relay of these settings is up and returns what it says; null if it does not come. */
export async function untilUp(
  settings: RelaySettings,
  mayCome: () => boolean,
): Promise<RelayStatus | null> {
  for (let look = 0; look < looks && mayCome(); look++) {
    const status = await relayStatus(settings)
    if (status !== null) return status
    await pause(betweenLooksMs)
  }
  return null
}

/** The clock of the process. */
export function clockOf({ now }: CliWorld): Clock {
  return {
    now,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    later(ms, work) {
      const timer = setTimeout(work, ms)
      return () => clearTimeout(timer)
    },
  }
}
