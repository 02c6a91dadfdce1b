import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { HookMode } from '../../core/hosts/hook-settings.ts'
import {
  addEntries,
  entriesFor,
  type HookEntry,
  type InstallHost,
  installHosts,
  lacksSwitch,
  ownEntries,
  removeEntries,
  switchedOff,
} from '../../core/hosts/install.ts'
import { type FileHost, fileHosts } from '../../core/hosts/install-files.ts'
import type { PrivacyLevel } from '../../core/hosts/privacy.ts'
import { policyAgainst, readPolicy } from './claude-policy.ts'
import { type CliSettings, type CliWorld, type Command, exitCodes, parse } from './command.ts'
import { connect } from './connection.ts'
import { probe, shimIn } from './hook-shim.ts'
import {
  backUp,
  type HostFile,
  hostFileOf,
  originOf,
  projectFileOf,
  readHostFile,
  replaceFile,
  settingsBefore,
  textLike,
} from './host-file.ts'
import { filesNow, filesToWrite, writeFiles } from './host-files.ts'
import { lineDiff } from './line-diff.ts'
import { noteMade } from './made-folders.ts'
import { levelFor, readLevel } from './relay.ts'
import { readRelaySettings } from './relay-file.ts'
import { isHere, readServer } from './server-address.ts'
import { telemetryLines } from './telemetry-lines.ts'
import { usageFault } from './usage-fault.ts'
import { homeOf, hooksFolderOf, readSettings, type Where, whereOf } from './user-home.ts'

/** Puts hooks into the settings of a host, so that it reports to a server. */
export const initCommand: Command = {
  name: 'init',
  summary: 'let a coding agent report to the server by its hooks',
  usage:
    'plumbline init [HOST] [--server URL] [--level L] [--relay] [--key KEY] [--advise | --gate] [--project | --plugin] [--otel] [--dry-run]',
  details: `HOST is ${[...installHosts, ...fileHosts].join(', ')}. Without HOST it says which of them are on this machine.

  --server URL  the address of the server (PLUMBLINE_BASE_URL, or this machine at HOST and PORT)
  --level L     what is told: words, hashes or counts (as before; at first words, and hashes if the
                server is elsewhere)
  --relay       by the relay also to a server on this machine: it reads in session files what hooks do not say,
                such as how the commands of Codex ended. It stays until plumbline uninstall
  --key KEY     a key of the server (PLUMBLINE_KEY, which other users of the machine cannot see)
  --advise      let the server tell the agent when its run has left the errand, as a fact
  --gate        also hold commands that cannot be undone while it has
  --project     into the settings of the project in this folder, without a key: whoever works in it reports if they
                have run plumbline init, and nothing happens to others
  --otel        also print how the host exports its telemetry to the server
  --plugin      write only what the plugin of the host needs, and leave its settings alone
  --dry-run     print what would change in the host's settings, and change nothing

Adds hooks to the user's own settings of the host, after those of others, and keeps a copy of the
file beside it (.plumbline-backup), or those of a project. Comments in it stay. The hooks run a small
program in ~/.plumbline (PLUMBLINE_HOME), which needs sh, takes curl or Node, and never stops the agent; a key
that may only report events stands there in a file that only you may read. If the server is on another
machine, the hooks go to plumbline relay on this one, which answers at once, tells no more than the
level allows, and keeps events while the server is away. Doing it twice is doing it once, and
plumbline uninstall HOST undoes it.`,
  run: runInit,
}

/** What is to be done, decided before anything is written. */
interface Plan {
  host: InstallHost
  /** The settings of the host. */
  file: string
  folder: string
  /** Whether they are those of a project. */
  isProject: boolean
  url: string
  level: PrivacyLevel | null
  now: HostFile | null
  /** The text that the file shall have. */
  text: string
  added: number
  /** Whether the file is to be copied first. */
  copies: boolean
  notes: string[]
}

async function runInit(args: string[], world: CliWorld): Promise<number> {
  const { values, positionals } = parse(args, {
    server: { type: 'string' },
    key: { type: 'string' },
    level: { type: 'string' },
    relay: { type: 'boolean' },
    advise: { type: 'boolean' },
    gate: { type: 'boolean' },
    plugin: { type: 'boolean' },
    project: { type: 'boolean' },
    otel: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
  })
  const settings = readSettings(world)
  if (positionals.length === 0) return offer(world)
  const mode = values.gate === true ? 'gate' : values.advise === true ? 'advise' : null
  const key = readKey(values.key ?? settings.key ?? undefined)
  const url = readServer(values.server ?? settings.serverUrl)
  const chosen = readLevel(values.level)
  const known = readRelaySettings(hooksFolderOf(world, settings))
  const level = levelFor(url, chosen, known)
  if (chosen === undefined && known !== null) {
    const from = level === known.level ? 'is kept' : `takes the place of ${known.level}`
    world.out(`The level ${level} ${from}; --level changes it.\n`)
  }
  // Only who has chosen it has a relay that tells a server on this machine the words.
  const isChosen = values.relay === true || (known?.url === url && known.level === 'words')
  // A server on this machine keeps no more than the words; less needs somebody who takes them away before it.
  const byRelay = !isHere(url) || level !== 'words' || isChosen
  const where = whereOf(world, values.project === true)
  if (where.isProject && values.plugin === true)
    throw usageFault('--plugin leaves the settings alone, so it does not go with --project.')
  const telemetry = values.otel === true ? telemetryLines(positionals[0], url, byRelay) : []
  const fileHost = fileHosts.find((each) => each === positionals[0])
  if (fileHost !== undefined && positionals.length === 1) {
    return initByFiles(fileHost, {
      where,
      url,
      key,
      mode,
      level: byRelay ? level : null,
      isDry: values['dry-run'] === true,
      world,
      settings,
    })
  }
  const host = readHost(positionals)
  const plan = planOf(host, {
    url,
    level: byRelay ? level : null,
    // Claude Code has the key only if the environment from which it is started has it, as this one.
    byUrl: !byRelay && key !== null && world.environment.PLUMBLINE_KEY === key,
    holds: mode === 'gate',
    where,
    world,
    settings,
  })
  if (values['dry-run'] === true) {
    const diff = lineDiff(plan.now?.text ?? '', plan.text)
    world.out(`${plan.file} would change so; nothing is written.\n\n${diff}`)
    return exitCodes.ok
  }
  if (key === null) throw lacksKey()
  await carryOut(values.plugin === true ? withoutHooks(plan) : plan, key, mode, world)
  if (byRelay && host !== 'claude-code') warnOfCalls(world, settings)
  for (const line of telemetry) world.out(`${line}\n`)
  return exitCodes.ok
}

/** Says so if Claude Code's own hooks still call a server themselves, and so tell more than a relay would. */
function warnOfCalls(world: CliWorld, settings: CliSettings): void {
  const { file } = placesOf('claude-code', world, settings)
  // Not read as JSON: what is wrong with it is no matter of this host.
  if (!existsSync(file) || !readFileSync(file, 'utf8').includes('/v1/hooks/')) return
  world.out(
    'Claude Code still calls a server itself, past the relay: plumbline init claude-code lets it go by the relay too.\n',
  )
}

/** A plan that leaves the settings of the host as they are: its plugin brings the hooks. */
function withoutHooks(plan: Plan): Plan {
  return { ...plan, text: plan.now?.text ?? '', added: 0, notes: [] }
}

function lacksKey(): Error {
  return usageFault(
    'set PLUMBLINE_KEY, or name a --key; the first start of a server writes a key to data/first-key, and plumbline keys create makes one.',
  )
}

/** Lets a host report that reads files of its own, which hold nothing else. */
async function initByFiles(
  host: FileHost,
  {
    url,
    key,
    mode,
    level,
    isDry,
    where,
    world,
    settings,
  }: Pick<Given, 'url' | 'level' | 'where' | 'world' | 'settings'> & {
    key: string | null
    mode: HookMode | null
    isDry: boolean
  },
): Promise<number> {
  const folder = hooksFolderOf(world, settings)
  if (isDry) {
    const files = filesToWrite(host, where, folder)
    for (const { path, text } of files) world.out(`${path} would be\n\n${lineDiff('', text)}\n`)
    world.out(files.length === 0 ? 'Nothing would change.\n' : 'Nothing is written.\n')
    return exitCodes.ok
  }
  if (key === null) throw lacksKey()
  const way = await connect({ url, key, folder, label: `hooks of ${host}`, mode, level, world })
  const paths = filesToWrite(host, where, folder).map(({ path }) => path)
  const written = noteMade(folder, paths, where.isProject, () => writeFiles(host, where, folder))
  const told = written.map((path) => `Wrote ${path}.`)
  const { foreign } = filesNow(host, where)
  const kept = foreign.map(
    (path) => `Kept ${path}, which is not of Plumbline: that event is not reported.`,
  )
  const notes = [
    ...way.notes,
    ...(told.length > 0 ? told : ['The files are there already.']),
    ...kept,
  ]
  for (const note of notes) world.out(`${note}\n`)
  world.out(`${await probe({ host, folder, ...way, environment: world.environment })}\n`)
  return exitCodes.ok
}

async function carryOut(
  plan: Plan,
  key: string,
  mode: HookMode | null,
  world: CliWorld,
): Promise<void> {
  const { host, file, folder, isProject, url, level, now, text, added } = plan
  const label = `hooks of ${host}`
  const way = await connect({ url, key, folder, label, mode, level, world })
  if (added === 0) {
    world.out(`${file} is left alone: the plugin of ${host} brings the hooks.\n`)
  } else if (now?.text === text) {
    world.out(`${file} has its hooks already.\n`)
  } else {
    const copied = now !== null && plan.copies ? ` It was copied to ${backUp(file)}.` : ''
    noteMade(folder, [file], isProject, () => replaceFile(file, text))
    world.out(`Put ${added} hooks into ${file}.${copied}\n`)
  }
  for (const note of [...way.notes, ...plan.notes]) world.out(`${note}\n`)
  world.out(`${await probe({ host, folder, ...way, environment: world.environment })}\n`)
}

interface Given {
  url: string
  /** What a relay tells the server; null without one. */
  level: PrivacyLevel | null
  byUrl: boolean
  /** Whether commands are to be held. */
  holds: boolean
  where: Where
  world: CliWorld
  settings: CliSettings
}

function planOf(
  host: InstallHost,
  { url, level, byUrl, holds, where, world, settings }: Given,
): Plan {
  const { file, folder } = placesOf(host, world, settings, where)
  const calls = byUrl && host === 'claude-code'
  const shim = where.isProject ? null : shimIn(folder)
  const entries = entriesFor(host, { shim, url: calls ? url : null, holds })
  const now = readHostFile(host, file)
  const base = baseOf(host, file, now, entries)
  const added = addEntries(host, base.settings, entries)
  return {
    host,
    file,
    folder,
    isProject: where.isProject,
    url,
    level,
    now,
    text: base.isDone ? base.text : textLike(base.text, added),
    added: entries.length,
    copies: base.copies,
    notes: notesOf(host, {
      calls,
      byRelay: level !== null,
      settings: base.settings,
      policy: host === 'claude-code' ? policyAgainst(readPolicy(world.policyFolder)) : null,
    }),
  }
}

/** The settings into which the hooks go: those of the file, without hooks of an earlier time. */
function baseOf(
  host: InstallHost,
  file: string,
  now: HostFile | null,
  entries: readonly HookEntry[],
): HostFile & { isDone: boolean; copies: boolean } {
  if (now === null) return { text: '', settings: {}, isDone: false, copies: false }
  const own = ownEntries(now.settings)
  if (own.length === 0) return { ...now, isDone: false, copies: true }
  const isDone = sortedText(own) === sortedText(entries) && !lacksSwitch(host, now.settings)
  if (isDone) return { ...now, isDone, copies: false }
  // Nothing is lost of a file that can be made again from its copy.
  const origin = originOf(host, file, now)
  if (origin !== null) return { ...origin, isDone, copies: false }
  const settings = removeEntries(host, now.settings, settingsBefore(host, file))
  return { text: now.text, settings, isDone, copies: true }
}

/** The hosts whose hooks were read from documentation alone. */
const unverified: ReadonlySet<InstallHost> = new Set(['cursor', 'vscode'])

function sortedText(entries: readonly HookEntry[]): string {
  return entries
    .map(({ event, matcher, handler }) => JSON.stringify([event, matcher, handler]))
    .sort()
    .join('\n')
}

function notesOf(
  host: InstallHost,
  {
    calls,
    byRelay,
    settings,
    policy,
  }: {
    calls: boolean
    byRelay: boolean
    settings: HostFile['settings']
    /** Why a policy lets no hook run; null if it does. */
    policy: string | null
  },
): string[] {
  const off = switchedOff(settings)
  return [
    host !== 'claude-code' || byRelay
      ? 'Every event goes by the program.'
      : calls
        ? 'Claude Code calls the server itself, with PLUMBLINE_KEY of the environment from which you start it; only SessionStart goes by the program.'
        : 'Every event goes by the program. With PLUMBLINE_KEY in the environment of this command, Claude Code would call the server itself.',
    ...(host === 'codex'
      ? ['Open /hooks in Codex and trust the hooks: until then none runs.']
      : []),
    ...(host === 'codex' && !byRelay
      ? [
          'Codex tells its hooks no exit code. --relay has the relay read it in the session file, and so does plumbline watch codex --server beside the hooks.',
        ]
      : []),
    ...(unverified.has(host)
      ? ['This was made from the documentation of the host and has not been tried in it.']
      : []),
    ...(host === 'vscode'
      ? [
          'Copilot CLI reads this folder too. If its sessions appear as vscode beside copilot, uninstall one of the two.',
        ]
      : []),
    ...(lacksSwitch(host, settings)
      ? ['hooksConfig.enabled was not set, and is true now: without it no hook runs.']
      : []),
    ...(off === null ? [] : [`The host runs no hooks as it is: ${off}.`]),
    ...(policy === null ? [] : [`A policy of this machine lets no hook run: ${policy}.`]),
  ]
}

/** Says which hosts are on this machine, and how each is told to report. */
function offer(world: CliWorld): number {
  const home = homeOf(world.environment)
  const found = installHosts.filter((host) => hasFolder(host, world))
  const byFiles = fileHosts.filter((host) => existsSync(join(home, foldersOf[host])))
  if (found.length + byFiles.length === 0) {
    throw usageFault(
      `none of ${[...installHosts, ...fileHosts].join(', ')} has its folder in ${home}; name a HOST.`,
    )
  }
  world.out('On this machine:\n')
  for (const host of found) {
    const file = hostFileOf(host, home, world.environment)
    const has = ownEntries(readHostFile(host, file)?.settings).length > 0
    world.out(offered(host, has, file))
  }
  for (const host of byFiles) {
    const has = filesNow(host, whereOf(world, false)).own.length > 0
    world.out(offered(host, has, join(home, foldersOf[host])))
  }
  return exitCodes.ok
}

function offered(host: string, has: boolean, place: string): string {
  const says = has ? `has its hooks in ${place}` : `plumbline init ${host} puts hooks into ${place}`
  return `  ${host.padEnd(12)} ${says}\n`
}

/** Whether a host keeps settings on this machine. */
export function hasFolder(host: InstallHost, { environment }: CliWorld): boolean {
  const home = homeOf(environment)
  // The folder of its hooks belongs to another program, and need not be there.
  if (host === 'vscode') return existsSync(join(home, '.vscode'))
  return existsSync(dirname(hostFileOf(host, home, environment)))
}

/** The folders of the hosts that read files of their own, from the home of the user. */
export const foldersOf: Record<FileHost, string> = { opencode: '.config/opencode', cline: '.cline' }

/** The file of a host, and the folder of what its hooks need. */
export function placesOf(
  host: InstallHost,
  world: CliWorld,
  settings: CliSettings,
  { root, isProject }: Where = whereOf(world, false),
): { file: string; folder: string } {
  return {
    file: isProject ? projectFileOf(host, root) : hostFileOf(host, root, world.environment),
    folder: hooksFolderOf(world, settings),
  }
}

/** The one host that the arguments name. */
export function readHost([name, ...more]: readonly string[]): InstallHost {
  const host = installHosts.find((known) => known === name)
  if (host === undefined) {
    const said = name === undefined ? 'name a host' : `there is no host "${name}"`
    throw usageFault(`${said}; send one of ${[...installHosts, ...fileHosts].join(', ')}.`)
  }
  if (more.length > 0) throw usageFault(`unexpected argument "${more[0]}".`)
  return host
}

/** A key, as a file of curl can hold it. */
function readKey(value: unknown): string | null {
  if (value === undefined) return null
  const key = String(value).trim()
  if (/^[!#-[\]-~]+$/.test(key)) return key
  throw usageFault('the key has characters that no key has; copy it again.')
}
