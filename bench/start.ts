import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { plumbline, residentMiBOf, startServer } from './server.ts'
import { compared, type Row } from './table.ts'

const rounds = 7
const idleMs = 1000
const retryMs = 5
const readyLimitMs = 10_000

// The peer is plain JavaScript: the cost of TypeScript at the start counts for Plumbline.
const bareProgram = `
  const server = require('node:http').createServer((_, response) => response.end())
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write('http://127.0.0.1:' + server.address().port + '\\n')
  })
`

/** The measurements of one start. */
interface Sample {
  readyMs: number
  residentMiB: number
}

/** Time from spawn to the first 200, and resident memory after a second of rest, against a bare listening Node. */
export async function measureStart(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const env = { PORT: '0', DATABASE_URL: 'sqlite:./start.db', LOG_LEVEL: 'warn' }
  const startOurs = () => measured(plumbline, folder, env)
  const startBare = () => measured(['--eval', bareProgram], folder, {})
  try {
    // The first start creates the database and fills the caches of the file system.
    await startOurs()
    await startBare()
    const ours: Sample[] = []
    const bare: Sample[] = []
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`start: round ${round} of ${rounds}\n`)
      ours.push(await startOurs())
      bare.push(await startBare())
    }
    const row = (text: string, field: keyof Sample) =>
      compared(
        `start: ${text}`,
        ours.map((sample) => sample[field]),
        'bare node',
        bare.map((sample) => sample[field]),
      )
    return [
      row('spawn to the first 200 of /readyz, ms', 'readyMs'),
      row('resident memory, idle, MiB', 'residentMiB'),
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function measured(
  args: readonly string[],
  folder: string,
  env: Record<string, string>,
): Promise<Sample> {
  const started = performance.now()
  const server = await startServer(args, folder, env)
  try {
    await untilReady(server.url)
    const readyMs = performance.now() - started
    await pause(idleMs)
    return { readyMs, residentMiB: residentMiBOf(server.pid) }
  } finally {
    await server.stop()
  }
}

async function untilReady(url: string): Promise<void> {
  const signal = AbortSignal.timeout(readyLimitMs)
  for (;;) {
    const answer = await fetch(`${url}/readyz`, { signal, headers: { connection: 'close' } })
    if (answer.ok) return
    await pause(retryMs)
  }
}
