import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A server in a process of its own. */
export interface Server {
  /** The URL on which it listens, from its standard output. */
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** This checkout. */
const root = fileURLToPath(new URL('..', import.meta.url))

/** The arguments with which Node serves Plumbline, as for its users. */
export const plumbline = [programOf(root), 'serve']

function programOf(checkout: string): string {
  return join(checkout, 'bin/plumbline.js')
}

const stopLimitMs = 10_000

/**
 * Starts Node with `args` in `folder` and resolves when it has printed an address. Its environment is `env`
 * alone. Rejects if the process ends before.
 */
export async function startServer(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = () => child.kill('SIGKILL')
  process.on('exit', kill)
  const ended = once(child, 'exit')

  async function stop(): Promise<void> {
    const late = setTimeout(kill, stopLimitMs)
    child.kill()
    await ended
    clearTimeout(late)
    process.off('exit', kill)
  }

  const url = await new Promise<string>((resolve, reject) => {
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const found = /(http:\S+)\s/.exec(printed)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on('exit', (code) =>
      reject(new Error(`${args[0]} ended with code ${code} before it listened.`)),
    )
  })
  return { url, pid: child.pid!, stop }
}

/**
 * Starts the Plumbline of a checkout on a database, with the key of an account without limits. It reads with the words
 * alone unless `settings` name the weights: a new goal costs the encoder 10 ms, which `bench/encoder.ts` measures.
 */
export async function startWithKey(
  databaseUrl: string,
  folder: string,
  settings: Readonly<Record<string, string>> = {},
  checkout = root,
): Promise<{ server: Server; key: string }> {
  const own = { PORT: '0', DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', PLUMBLINE_ENCODER: 'off' }
  const env = { ...own, ...settings }
  const made = await promisify(execFile)(
    process.execPath,
    [programOf(checkout), 'keys', 'create', '--tier', 'enterprise', '--json'],
    { cwd: folder, env },
  )
  const { key } = JSON.parse(made.stdout)
  return { server: await startServer([programOf(checkout), 'serve'], folder, env), key }
}

/** Processor time that the threads of a process have used so far, in the kernel too, in microseconds. */
export function cpuMicrosOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanos = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanos.reduce((sum, value) => sum + value, 0) / 1000
}

/** Bytes that a process has written to disk so far. */
export function writtenBytesOf(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
}

/** Resident memory of a process, in MiB. */
export function residentMiBOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}
