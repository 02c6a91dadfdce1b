import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { get } from './http.ts'
import type { Stage } from './stage.ts'
import { pause } from './time.ts'

/** `plumbline serve` in a process of its own. */
export interface Server {
  readonly url: string
  readonly pid: number
  /** From spawning the process to /readyz answering 200. */
  readonly readyMs: number
  /** What it has logged so far, of warnings and errors. */
  log(): string
  isRunning(): boolean
  /** Sends a signal and resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<Exit>
  /** Kills what was started and all that it has started, also when the former has ended. */
  sweep(): void
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** How `plumbline` is started. */
export interface Setting {
  /** Settings and whatever else the process is to see; it sees nothing of our environment. */
  readonly env: Readonly<Record<string, string>>
  /** Modules of preloads/ that make it wrong on purpose. */
  readonly preloads?: readonly string[]
  /** A folder whose `npm start` is run instead of the command itself; preloads are none of npm's. */
  readonly npmFolder?: string
}

/** The folder whose package.json is ours. */
export const root = fileURLToPath(new URL('..', import.meta.url))

const command = fileURLToPath(new URL('../bin/plumbline.js', import.meta.url))
const readyLimitMs = 30_000
const commandLimitMs = 60_000

/** Starts a server on a free port and resolves when it is ready; rejects when it ends before. */
export async function startServer(stage: Stage, setting: Setting): Promise<Server> {
  const began = performance.now()
  const { npmFolder } = setting
  const { child, printed } =
    npmFolder === undefined
      ? spawnPlumbline(stage, setting, ['serve'])
      : spawnNpm(stage, setting, npmFolder)
  // Its output stays open as long as a child that it leaves holds it.
  const exit = endOf(child, 'exit')
  const address = () => /listens on (http:\S+)/.exec(printed.out)?.[1]
  const late = began + readyLimitMs
  while (address() === undefined || !(await isReady(address() ?? ''))) {
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > late) {
      child.kill('SIGKILL')
      throw new Error(`the server did not become ready: ${printed.out}${printed.err}`)
    }
    await pause(10)
  }
  return {
    url: address() ?? '',
    pid: child.pid ?? 0,
    readyMs: performance.now() - began,
    log: () => printed.err,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    end(signal) {
      child.kill(signal)
      return exit
    },
    sweep: () => killGroup(child),
  }
}

/** A command that has ended. */
export interface Ended extends Exit {
  readonly out: string
  readonly err: string
}

/** Runs a command such as `plumbline migrate`, and kills it after `killMs` if that is given. */
export async function runPlumbline(
  stage: Stage,
  setting: Setting,
  args: readonly string[],
  killMs: number = commandLimitMs,
): Promise<Ended> {
  const { child, printed } = spawnPlumbline(stage, setting, args)
  const late = setTimeout(() => child.kill('SIGKILL'), killMs)
  const exit = await endOf(child, 'close')
  clearTimeout(late)
  return { ...exit, ...printed }
}

/** A key of a new account, made beside the server as whoever runs it does. */
export async function makeKey(stage: Stage, setting: Setting, tier: string): Promise<string> {
  const { code, out, err } = await runPlumbline(stage, { env: setting.env }, [
    'keys',
    'create',
    '--tier',
    tier,
    '--json',
  ])
  if (code !== 0) throw new Error(`keys create failed: ${err}`)
  return JSON.parse(out).key
}

/** The setting of a SQLite file in the folder of a stage. */
export function onSqlite({ folder }: Pick<Stage, 'folder'>): Setting {
  return { env: { DATABASE_URL: `sqlite:${folder}/plumbline.db` } }
}

function spawnPlumbline(
  stage: Stage,
  { env, preloads = [] }: Setting,
  args: readonly string[],
): { child: ChildProcess; printed: { out: string; err: string } } {
  const imports = preloads.flatMap((name) => [
    '--import',
    new URL(`preloads/${name}.js`, import.meta.url).href,
  ])
  return spawnOn(stage, process.execPath, [...imports, command, ...args], stage.folder, env)
}

function spawnNpm(
  stage: Stage,
  { env }: Setting,
  folder: string,
): { child: ChildProcess; printed: { out: string; err: string } } {
  const { PATH = '', HOME = '' } = process.env
  return spawnOn(stage, 'npm', ['start'], folder, { PATH, HOME, ...env })
}

function spawnOn(
  stage: Stage,
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): { child: ChildProcess; printed: { out: string; err: string } } {
  const child = spawn(program, args, {
    cwd,
    env: { PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which can be killed whole.
    detached: true,
  })
  const printed = { out: '', err: '' }
  child.stdout.on('data', (text) => {
    printed.out += text
  })
  child.stderr.on('data', (text) => {
    printed.err = (printed.err + text).slice(-logLength)
  })
  stage.after(async () => {
    const isOver = child.exitCode !== null || child.signalCode !== null
    killGroup(child)
    if (!isOver) await once(child, 'exit')
  })
  return { child, printed }
}

const logLength = 20_000

/** Kills a process and the children that it left; nothing happens when none of them lives. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<Exit> {
  await once(child, event)
  return { code: child.exitCode, signal: child.signalCode }
}

async function isReady(url: string): Promise<boolean> {
  const answer = await get(`${url}/readyz`)
  return 'status' in answer && answer.status === 200
}
