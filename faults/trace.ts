import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Stage } from './stage.ts'

/** Why system calls cannot be traced here, or null. */
export function whyNoTrace(): string | null {
  const { status } = spawnSync('strace', ['-o', '/dev/null', 'true'])
  if (status === 0) return null
  return 'strace is not installed or may not trace (it is in the package strace)'
}

/** Attaches strace to a running process. Resolves when it is attached, with the function that detaches it. */
export async function trace(
  stage: Stage,
  pid: number,
  options: readonly string[],
): Promise<() => Promise<void>> {
  const strace = spawn('strace', ['-f', ...options, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(strace, 'exit')
  async function detach(): Promise<void> {
    if (strace.exitCode === null && strace.signalCode === null) strace.kill('SIGINT')
    await ended
  }
  stage.after(detach)
  let said = ''
  const attached = new Promise<void>((resolve) => {
    // Read the output to its end: strace ends when it writes to a closed pipe.
    strace.stderr.on('data', (text) => {
      said += text
      if (said.includes(' attached')) resolve()
    })
  })
  await Promise.race([attached, ended])
  if (!said.includes(' attached')) throw new Error(`strace did not attach: ${said}`)
  return detach
}
