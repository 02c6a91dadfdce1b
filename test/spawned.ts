import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const command = join(import.meta.dirname, '../bin/plumbline.js')

/** A `plumbline` process, in a folder and an environment of its own. */
export interface Spawned {
  readonly child: ChildProcess
  /** The folder it runs in, empty but for what it makes. */
  readonly folder: string
  /** What it has written so far. */
  readonly written: { out: string; err: string }
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
}

interface SpawnOptions {
  env?: Record<string, string>
  folder?: string
}

/** Runs `plumbline` with these arguments; it is killed when the test is over, or after 30 seconds. */
export function spawnPlumbline(
  t: TestContext,
  args: readonly string[],
  options: SpawnOptions = {},
): Spawned {
  return spawnProgram(t, process.execPath, [command, ...args], options)
}

/** Runs a program; it and all its children are killed when the test is over. */
export function spawnProgram(
  t: TestContext,
  file: string,
  args: readonly string[],
  { env = {}, folder = freshFolder(t) }: SpawnOptions = {},
): Spawned {
  const { PATH = '' } = process.env
  const child = spawn(file, args, {
    cwd: folder,
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which can be killed whole.
    detached: true,
  })
  const written = { out: '', err: '' }
  child.stdout.on('data', (text) => {
    written.out += text
  })
  child.stderr.on('data', (text) => {
    written.err += text
  })
  const kill = () => killGroup(child.pid!)
  // However busy this machine is.
  const late = setTimeout(kill, 120_000)
  t.after(() => {
    clearTimeout(late)
    kill()
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  return { child, folder, written, ended }
}

/** Kills a process and the children that it left; nothing happens when none of them lives. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Starts `plumbline serve` on a free port unless told otherwise, and waits until it listens. */
export async function spawnServe(
  t: TestContext,
  options: SpawnOptions = {},
): Promise<Spawned & { url: string }> {
  return untilListening(
    spawnPlumbline(t, ['serve'], { ...options, env: { PORT: '0', ...options.env } }),
  )
}

/** Waits until a server says where it listens. */
export async function untilListening(spawned: Spawned): Promise<Spawned & { url: string }> {
  const { child, written, ended } = spawned
  const listening = /^Plumbline listens on (\S+)$/m
  while (!listening.test(written.out)) {
    const exit = await Promise.race([once(child.stdout!, 'data').then(() => null), ended])
    if (exit !== null) throw new Error(`it ended with ${exit}: ${written.err}`)
  }
  return { ...spawned, url: listening.exec(written.out)![1]! }
}

/** An empty folder that is gone after the test. */
export function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-run-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
