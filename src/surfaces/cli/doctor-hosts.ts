import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { textOf } from '../../core/hosts/fields.ts'
import {
  entriesFor,
  type HookEntry,
  type InstallHost,
  installHosts,
  oddTimeouts,
  ownEntries,
  refusesUrl,
  refusesVariable,
  switchedOff,
} from '../../core/hosts/install.ts'
import { type FileHost, fileHosts } from '../../core/hosts/install-files.ts'
import type { RelaySettings } from '../relay/settings.ts'
import { policyAgainst, policyWithHooks, readPolicy, withPolicy } from './claude-policy.ts'
import { untrustedHooks } from './codex-trust.ts'
import type { CliSettings, CliWorld } from './command.ts'
import type { Finding } from './doctor.ts'
import { lastRun, reachedServer, toldOfHooks } from './doctor-last-run.ts'
import { asked, keyIn, probePath } from './hook-key.ts'
import { askerIn, hasCurl, shimIn } from './hook-shim.ts'
import { type HostFile, projectFileOf, projectHosts, readHostFile } from './host-file.ts'
import { filesNow } from './host-files.ts'
import { foldersOf, hasFolder, placesOf } from './init.ts'
import { relayStatus } from './relay.ts'
import { readRelaySettings } from './relay-file.ts'
import { isUsageFault } from './usage-fault.ts'
import { homeOf, hooksFolderOf, readSettings } from './user-home.ts'

/** Events of no effect that are sent to see how fast the server answers. */
const probes = 20
/** The milliseconds after which a hook goes on without an answer. */
const hookLimitMs = 300
const versionLimitMs = 10_000
const pauseMs = 30_000

/** The programs whose version is asked for. */
const programsOf: Record<InstallHost | FileHost, string> = {
  'claude-code': 'claude',
  codex: 'codex',
  'gemini-cli': 'gemini',
  'qwen-code': 'qwen',
  copilot: 'copilot',
  cursor: 'cursor-agent',
  vscode: 'code',
  opencode: 'opencode',
  cline: 'cline',
}

/** Says of each host on this machine whether it reports, and if not, why. It changes nothing. */
export async function* examineHosts(world: CliWorld): AsyncGenerator<Finding> {
  const settings = readSettings(world)
  const home = homeOf(world.environment)
  const folder = hooksFolderOf(world, settings)
  if (isSetUp(folder)) {
    yield await examineProgram(folder, world)
    const relay = readRelaySettings(folder)
    if (relay !== null) yield await examineRelay(relay)
    yield await examineServer(folder)
  } else {
    yield {
      check: 'program',
      state: 'ok',
      says: `nothing is set up yet (${shimIn(folder)} is not there); plumbline init says what to do`,
    }
  }
  for (const host of installHosts) {
    const ofProject = entriesOfProject(host, world.folder)
    if (!hasFolder(host, world) && ofProject === null) continue
    const judged = examineEntries(host, world, settings)
    yield await toldOf(host, orOfProject(judged, ofProject), world, settings)
  }
  for (const host of fileHosts) {
    const ofProject = filesOfProject(host, world.folder)
    if (!existsSync(join(home, foldersOf[host])) && ofProject === null) continue
    yield await toldOf(host, orOfProject(examineFiles(host, home), ofProject), world, settings)
  }
}

/** The hooks that the project of the working folder brings stand for those that the user lacks. */
function orOfProject(judged: Judged, ofProject: string | null): Judged {
  const lacks = judged.state === 'ok' && !judged.reports
  return lacks && ofProject !== null
    ? { state: 'ok', says: `${ofProject}, of this project`, reports: true }
    : judged
}

/** The hooks of a host in the settings of a project; null without any. */
function entriesOfProject(host: InstallHost, folder: string): string | null {
  if (!projectHosts.includes(host)) return null
  const file = projectFileOf(host, folder)
  try {
    const own = ownEntries(readHostFile(host, file)?.settings)
    return own.length === 0 ? null : `${own.length} hooks in ${file}`
  } catch (error) {
    if (!isUsageFault(error)) throw error
    return null
  }
}

function filesOfProject(host: FileHost, folder: string): string | null {
  const { own } = filesNow(host, { root: folder, isProject: true })
  if (own.length === 0) return null
  return own.length === 1 ? `${own[0]}` : `${own.length} files of hooks in ${folder}`
}

/** Whether there is anything of what hooks need: other commands keep files in the folder too. */
function isSetUp(folder: string): boolean {
  return (
    ['hook', 'curl.conf', 'url'].some((name) => existsSync(join(folder, name))) ||
    readRelaySettings(folder) !== null
  )
}

type Judged = Pick<Finding, 'state' | 'says'> & { reports: boolean }

/** Adds to what the files of a host say its version and its last run. */
async function toldOf(
  host: InstallHost | FileHost,
  { state, says, reports }: Judged,
  world: CliWorld,
  settings: CliSettings,
): Promise<Finding> {
  const version = await versionOf(programsOf[host], world.environment)
  const reached = reachedServer(hooksFolderOf(world, settings), settings)
  const named = version === null ? says : `${version}: ${says}`
  if (!reports) return { check: host, state, says: named }
  const { lastAt, told } = await toldOfHooks(host, reached)
  const last = await lastRun(host, world, reached, lastAt)
  return { check: host, state, says: [named, last, ...told].join('; ') }
}

async function examineProgram(
  folder: string,
  { now: clock, environment }: CliWorld,
): Promise<Finding> {
  const now = clock()
  const check = 'program'
  const shim = shimIn(folder)
  const again = 'plumbline init HOST writes it again'
  try {
    accessSync(shim, constants.X_OK)
  } catch {
    return { check, state: 'fault', says: `${shim} is not there, or not to be run; ${again}` }
  }
  const missing = ['curl.conf', 'url'].find((name) => !existsSync(join(folder, name)))
  if (missing !== undefined)
    return { check, state: 'fault', says: `${join(folder, missing)} is not there; ${again}` }
  const conf = join(folder, 'curl.conf')
  if (platform() !== 'win32' && (statSync(conf).mode & 0o077) !== 0) {
    const says = `others on this machine can read the key in ${conf}: chmod 600 ${conf}`
    return { check, state: 'warning', says }
  }
  const pause = join(folder, 'pause')
  const paused = existsSync(pause) ? Number(readFileSync(pause, 'utf8')) * 1000 : Number.NaN
  if (now >= paused && now < paused + pauseMs) {
    const says = `a hook had no answer ${Math.round((now - paused) / 1000)} s ago; events are lost until ${pauseMs / 1000} s after it`
    return { check, state: 'warning', says }
  }
  const asks = existsSync(askerIn(folder))
  if (!asks && !(await hasCurl(environment))) {
    return { check, state: 'fault', says: `there is no curl, so no event arrives; ${again}` }
  }
  const how = asks ? ', by a Node program because there was no curl: some 200 ms an event' : ''
  return { check, state: 'ok', says: `${shim}${how}` }
}

/** What the relay of this machine says of itself and of the server that it reports to. */
async function examineRelay(settings: RelaySettings): Promise<Finding> {
  const check = 'relay'
  const status = await relayStatus(settings)
  if (status === null) {
    const says = `not up on port ${settings.port}; the next event of a host starts it, and so does plumbline relay --ensure`
    return { check, state: 'warning', says }
  }
  const { server, level, waiting, bytes, dropped, refused, withheld, breaker, fault, sent_at } =
    status
  const parts = [
    `tells ${server} ${level}`,
    `${waiting} events wait (${Math.ceil(bytes / 1024)} KB)`,
    `breaker ${breaker}`,
    ...(sent_at === null ? [] : [`last sent ${sent_at}`]),
    ...(fault === null ? [] : [`the server takes no event: ${fault}`]),
    ...(dropped === 0 ? [] : [`${dropped} events were dropped`]),
    ...(refused === 0 ? [] : [`${refused} events were refused`]),
    ...(withheld === 0
      ? []
      : [`${withheld} events were dropped because the level or the server changed`]),
  ]
  const isWell = fault === null && dropped + refused === 0
  return { check, state: isWell ? 'ok' : 'warning', says: parts.join('; ') }
}

async function examineServer(folder: string): Promise<Finding> {
  const check = 'server'
  const url = existsSync(join(folder, 'url'))
    ? readFileSync(join(folder, 'url'), 'utf8').trim()
    : ''
  const key = keyIn(folder, url)
  if (key === null) return { check, state: 'fault', says: `${folder} names no server and key` }
  const times: number[] = []
  for (let nth = 0; nth < probes; nth++) {
    const began = performance.now()
    const answer = await asked(url, key, 'POST', probePath, {})
    times.push(performance.now() - began)
    if (answer.status !== 200) return { check, state: 'fault', says: `${url}: ${answer.says}` }
    if (answer.note !== null) {
      return { check, state: 'fault', says: `${url} takes no event: ${answer.note}` }
    }
  }
  times.sort((a, b) => a - b)
  const [median = 0, slowest = 0] = [times[probes / 2], times.at(-1)]
  const isRelay = readRelaySettings(folder) !== null
  const who = isRelay ? 'the relay at ' : ''
  // Only a relay tells less.
  const level = isRelay ? '' : '; it is told words'
  const says = `${who}${url} answers in ${median.toFixed(1)} ms (slowest of ${probes}: ${slowest.toFixed(1)} ms)${level}`
  return { check, state: median < hookLimitMs ? 'ok' : 'warning', says }
}

function examineEntries(host: InstallHost, world: CliWorld, settings: CliSettings): Judged {
  const { file, folder } = placesOf(host, world, settings)
  const policy = host === 'claude-code' ? readPolicy(world.policyFolder) : []
  const against = policyAgainst(policy)
  const ofPolicy = policyWithHooks(policy)
  let now: HostFile | null
  try {
    now = readHostFile(host, file)
  } catch (error) {
    if (!isUsageFault(error)) throw error
    return { state: 'fault', says: error.message, reports: false }
  }
  const own = now === null ? [] : ownEntries(now.settings)
  if (ofPolicy !== null && against?.includes('disableAllHooks') !== true) {
    const says = `${ofPolicy.hooks} hooks in ${ofPolicy.path}, a policy of this machine`
    return { state: 'ok', says, reports: true }
  }
  if (against !== null) {
    const says =
      own.length === 0 ? 'does not report, and hooks of the user would not run' : 'runs no hooks'
    const state = own.length === 0 ? 'ok' : 'fault'
    return { state, says: `${says} by a policy of this machine, ${against}`, reports: false }
  }
  if (now === null || own.length === 0) {
    return { state: 'ok', says: `does not report: plumbline init ${host} lets it`, reports: false }
  }
  const again = `plumbline init ${host} mends it`
  const off = switchedOff(now.settings)
  if (off !== null) return { state: 'fault', says: `runs no hooks: ${off}`, reports: true }
  const joined = withPolicy(now.settings, policy)
  const refused = own.find(({ handler }) => refusesUrl(joined, textOf(handler.url)))
  if (refused !== undefined) {
    const says = `runs no hook that calls ${textOf(refused.handler.url)}: allowedHttpHookUrls does not name it`
    return { state: 'fault', says, reports: true }
  }
  const direct = own.find(({ handler }) => textOf(handler.url) !== '')
  if (direct !== undefined && refusesVariable(joined, 'PLUMBLINE_KEY')) {
    const says = 'sends no key with its hooks: httpHookAllowedEnvVars does not name PLUMBLINE_KEY'
    return { state: 'fault', says, reports: true }
  }
  const unread = policy.find((each) => each.settings === null)
  if (unread !== undefined) {
    const says = `${own.length} hooks in ${file}; ${unread.path}, a policy of this machine, cannot be read and may keep them from running`
    return { state: 'warning', says, reports: true }
  }
  if (direct !== undefined && readRelaySettings(folder) !== null) {
    const says = `calls ${textOf(direct.handler.url)} itself, past the relay and its level; ${again}`
    return { state: 'warning', says, reports: true }
  }
  const astray = own.find((entry) => lacksProgram(entry, folder))
  if (astray !== undefined) {
    const says = `${file} runs another program than ${shimIn(folder)}; ${again}`
    return { state: 'warning', says, reports: true }
  }
  const events = new Set(own.map(({ event }) => event))
  const missing = entriesFor(host, { shim: '', url: null }).filter(
    ({ event }) => !events.has(event),
  )
  if (missing.length > 0) {
    const says = `lacks hooks for ${missing.map(({ event }) => event).join(', ')}; ${again}`
    return { state: 'warning', says, reports: true }
  }
  const odd = oddTimeouts(host, now.settings)
  if (odd.length > 0) {
    const says = `${file} has limits that look like another unit than the host's: ${odd.join(', ')}`
    return { state: 'warning', says, reports: true }
  }
  const says = `${own.length} hooks in ${file}`
  const untrusted = host === 'codex' ? untrustedHooks(file, now.settings) : []
  if (untrusted.length > 0) {
    const kinds = (['new', 'changed', 'off'] as const).flatMap((kind) => {
      const events = untrusted.filter(({ state }) => state === kind).map(({ event }) => event)
      const of = events.length === own.length ? 'any of them' : events.join(', ')
      return events.length === 0 ? [] : [`${of} (${untrustedWords[kind]})`]
    })
    const told = `${says}, and Codex does not run ${kinds.join(', ')}: open /hooks in Codex`
    return { state: 'warning', says: told, reports: true }
  }
  return { state: 'ok', says, reports: true }
}

function lacksProgram({ handler }: HookEntry, folder: string): boolean {
  const command = textOf(handler.command ?? handler.bash)
  return command !== '' && !command.startsWith(`"${shimIn(folder)}"`)
}

const untrustedWords = {
  new: 'not trusted yet',
  changed: 'changed since they were trusted',
  off: 'switched off',
} as const

function examineFiles(host: FileHost, home: string): Judged {
  const { own, foreign } = filesNow(host, { root: home, isProject: false })
  if (own.length === 0) {
    return { state: 'ok', says: `does not report: plumbline init ${host} lets it`, reports: false }
  }
  const says = own.length === 1 ? `${own[0]}` : `${own.length} files of hooks`
  return foreign.length === 0
    ? { state: 'ok', says, reports: true }
    : { state: 'warning', says: `${says}; not of Plumbline: ${foreign.join(', ')}`, reports: true }
}

/** What a program answers to --version; null if it is not on the path or does not answer. */
function versionOf(program: string, env: CliWorld['environment']): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { env, timeout: versionLimitMs }
    const child = execFile(program, ['--version'], options, (error, out) => {
      const [line = ''] = out.trim().split('\n')
      resolve(error === null && line !== '' ? line.slice(0, 80) : null)
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end()
  })
}
