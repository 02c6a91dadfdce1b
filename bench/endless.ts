import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Account, astray, createKey, errand, post, setWebhook } from './alerted.ts'
import { plumbline, residentMiBOf, startServer } from './server.ts'
import { compared, type Row } from './table.ts'

const accounts = 8
const stepsABatch = 10
const batchEveryMs = 500
const lookEveryMs = 30_000
const stepsARun = 1_000

/**
 * Measures resident memory while the webhooks of 8 accounts answer with endless bodies, half of them with a
 * status that is retried. Takes a sample each half minute.
 */
export async function measureEndless(minutes: number): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const receiver = await startEndless()
  const env = {
    PORT: '0',
    DATABASE_URL: 'sqlite:./endless.db',
    LOG_LEVEL: 'error',
    PLUMBLINE_DETECTOR: 'overlap',
    PLUMBLINE_WEBHOOK_ALLOW: '127.0.0.0/8',
  }
  try {
    const keys: string[] = []
    while (keys.length < accounts) keys.push(await createKey(folder, env))
    const server = await startServer(plumbline, folder, env)
    try {
      const alerted = keys.map((key): Account => ({ server, key }))
      for (const [place, account] of alerted.entries()) {
        // Each webhook has a host of its own, because one host gets few concurrent requests.
        const status = place % 2 === 0 ? 200 : 503
        await setWebhook(account, `http://127.0.0.${place + 1}:${receiver.port}/${status}`)
      }
      const looks = await feed(alerted, minutes * 60_000, () => residentMiBOf(server.pid))
      process.stderr.write(
        `alerts, endless bodies: ${receiver.answers()} answers, MiB each half minute ${looks.map((mib) => mib.toFixed(0)).join(' ')}\n`,
      )
      return compared(
        `alerts: resident memory after ${minutes} min of endless bodies, MiB`,
        looks.slice(-1),
        'halfway',
        [looks[Math.floor(looks.length / 2)]!],
      )
    } finally {
      await server.stop()
    }
  } finally {
    receiver.stop()
    await rm(folder, { recursive: true })
  }
}

/** Produces events for `ms` milliseconds. Returns a sample of the beginning and one of each half minute. */
async function feed(alerted: readonly Account[], ms: number, look: () => number) {
  const began = performance.now()
  const looks = [look()]
  for (let batch = 0; performance.now() - began < ms; batch++) {
    const first = batch * stepsABatch
    const steps = Array.from({ length: stepsABatch }, (_, n) => ({
      run_id: `endless-${Math.floor((first + n) / stepsARun)}`,
      goal: (first + n) % stepsARun === 0 ? errand : astray,
    }))
    await Promise.all(alerted.map((account) => post(account, '/v1/drift/batch', { steps })))
    if (performance.now() - began >= looks.length * lookEveryMs) looks.push(look())
    await pause(batchEveryMs)
  }
  return [...looks, look()]
}

/** Starts webhooks that answer with the status in their path and an endless body. */
async function startEndless(): Promise<{ port: number; answers(): number; stop(): void }> {
  const chunk = Buffer.alloc(16 * 1024, 'x')
  let answers = 0
  function fill(response: ServerResponse): void {
    while (!response.destroyed && response.write(chunk));
  }
  const server = createServer((request, response) => {
    answers += 1
    request.resume()
    response.writeHead(Number(request.url?.slice(1)))
    response.on('drain', () => fill(response))
    fill(response)
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    answers: () => answers,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
