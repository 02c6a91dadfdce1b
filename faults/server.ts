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
  /** The time from spawning the process to the first 200 of /readyz. */
  readonly readyMs: number
  /** The warnings and errors in its log so far. */
  log(): string
  isRunning(): boolean
  /** Sends a signal and resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<Exit>
  /** Kills the process and all its children, even after the process has ended. */
  sweep(): void
}

/** The end of a process. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The way to start `plumbline`. */
export interface Setting {
  /** The whole environment of the process. It inherits nothing of ours. */
  readonly env: Readonly<Record<string, string>>
  /** Modules of preloads/ with a deliberate fault. */
  readonly preloads?: readonly string[]
  /** A folder whose `npm start` runs instead of the command. Preloads do not apply to npm. */
  readonly npmFolder?: string
}

/** The folder of our package.json. */
export const root = fileURLToPath(new URL('..', import.meta.url))

const command = fileURLToPath(new URL('../bin/plumbline.js', import.meta.url))
const readyLimitMs = 30_000
const commandLimitMs = 60_000

/** Starts a server on a free port and resolves when it is ready. Rejects if it ends before. */
export async function startServer(stage: Stage, setting: Setting): Promise<Server> {
  const began = performance.now()
  const { npmFolder } = setting
  const { child, printed } =
    npmFolder === undefined
      ? spawnPlumbline(stage, setting, ['serve'])
      : spawnNpm(stage, setting, npmFolder)
  // Its output stays open as long as a child of it holds the pipe.
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

/** The result of a command. */
export interface Ended extends Exit {
  readonly out: string
  readonly err: string
}

/** Runs a command such as `plumbline migrate`. Kills it after `killMs` if that is given. */
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

/** Creates an account with a key, with the command line beside the server, as the operator does. */
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
    // The process gets a group of its own, so that all of it can be killed.
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

/** Kills a process and its remaining children. Does nothing if none of them lives. */
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
