import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Account, astray, createKey, errand, post, setWebhook } from './alerted.ts'
import { startAsker } from './asker.ts'
import { measureEndless } from './endless.ts'
import { englishGoal } from './goals.ts'
import { percentile } from './median.ts'
import { postOf } from './request.ts'
import { plumbline, residentMiBOf, startServer } from './server.ts'
import { alone, compared, type Row } from './table.ts'

const rounds = 5
const eventsARound = 20
const queued = 200
const gapMs = 50
const healthyEvents = 60
const hostileEvents = 200
const roundMs = 1000
const connections = 32
const warmUpMs = 1000
const stepsAnErrand = 4
/** Each run alternates between two errands. */
const quietSteps = 2 * stepsAnErrand

/**
 * Measures how long an event takes to its webhook, how much other accounts' webhooks delay it, how much
 * alerts cost a step that does not drift, and how much memory `minutes` of endless answers leave behind.
 */
export async function measureAlerts(minutes: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const receiver = await startReceiver()
  const hostile = await startHostile()
  const env = {
    PORT: '0',
    DATABASE_URL: 'sqlite:./alerts.db',
    LOG_LEVEL: 'error',
    PLUMBLINE_DETECTOR: 'overlap',
    PLUMBLINE_WEBHOOK_ALLOW: `127.0.0.1:${receiver.port},localhost:${hostile.port}`,
  }
  try {
    const newKey = () => createKey(folder, env)
    const keys = [await newKey(), await newKey(), await newKey(), await newKey()]
    const server = await startServer(plumbline, folder, env)
    try {
      const [healthy, other, silent, alerted] = keys.map((key): Account => ({ server, key }))
      for (const account of [healthy, alerted]) await setWebhook(account!, receiver.url)
      return [
        ...(await measurePath(healthy!, receiver)),
        ...(await measureBeside(healthy!, other!, receiver, hostile.url)),
        await measureThroughput(silent!, alerted!),
        await measureEndless(minutes),
      ]
    } finally {
      await server.stop()
    }
  } finally {
    receiver.stop()
    hostile.stop()
    await rm(folder, { recursive: true })
  }
}

/**
 * Measures the time from the answer to a drifting step to the request at its webhook, at rest and under load.
 */
async function measurePath(account: Account, receiver: Receiver): Promise<Row[]> {
  const idle: number[] = []
  for (let n = 0; n < rounds * eventsARound; n++) {
    idle.push(await timeOne(account, receiver, `idle-${n}`))
    await pause(gapMs)
  }
  const whole: number[] = []
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`alerts: queue ${round + 1} of ${rounds}\n`)
    const steps = Array.from({ length: queued }, (_, n) => ({
      run_id: `queue-${round}`,
      goal: n === 0 ? errand : `${astray} ${n}`,
    }))
    const arrived = receiver.count() + queued - 1
    await post(account, '/v1/drift/batch', { steps })
    const answered = performance.now()
    await receiver.wait(arrived)
    whole.push(performance.now() - answered)
  }
  return [
    alone('alerts: answer to webhook, at rest, p50, ms', percentile(idle, 50)),
    alone('alerts: answer to webhook, at rest, p99, ms', percentile(idle, 99)),
    alone(`alerts: answer to the last of ${queued - 1} queued at once, ms`, percentile(whole, 50)),
  ]
}

/** Measures the same for an account whose neighbour has endless events and a webhook that hangs. */
async function measureBeside(
  healthy: Account,
  other: Account,
  receiver: Receiver,
  hostileUrl: string,
): Promise<Row[]> {
  await setWebhook(other, hostileUrl)
  const steps = Array.from({ length: hostileEvents }, (_, n) => ({
    run_id: 'hostile',
    goal: n === 0 ? errand : `${astray} ${n}`,
  }))
  await post(other, '/v1/drift/batch', { steps })
  const before = residentMiBOf(healthy.server.pid)
  const took: number[] = []
  for (let n = 0; n < healthyEvents; n++) {
    took.push(await timeOne(healthy, receiver, `beside-${n}`))
    await pause(gapMs)
  }
  const after = residentMiBOf(healthy.server.pid)
  return [
    {
      ...alone('alerts: answer to webhook, beside a hanging one, p99, ms', percentile(took, 99)),
      target: '< 2,000',
    },
    compared('alerts: resident memory beside a hanging one, MiB', [after], 'at its beginning', [
      before,
    ]),
  ]
}

/** Measures `POST /v1/drift` of steps that do not drift, with a webhook and without. */
async function measureThroughput(silent: Account, alerted: Account): Promise<Row> {
  const asker = startAsker()
  const rates = new Map<Account, number[]>([
    [alerted, []],
    [silent, []],
  ])
  try {
    for (const [account] of rates) await asker.measure(account.server, roundOf(account, warmUpMs))
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`alerts, nothing drifts: round ${round} of ${rounds}\n`)
      for (const [account, taken] of rates) {
        const { answersPerSecond } = await asker.measure(account.server, roundOf(account, roundMs))
        taken.push(answersPerSecond)
      }
    }
  } finally {
    asker.stop()
  }
  return compared(
    `alerts: steps a second while nothing drifts, ${connections} connections`,
    rates.get(alerted) ?? [],
    'no webhook set',
    rates.get(silent) ?? [],
    '≥ 0.85',
  )
}

function roundOf({ key }: Account, ms: number) {
  const headers = { authorization: `Bearer ${key}` }
  const requests = Array.from({ length: connections * quietSteps }, (_, n) =>
    postOf('/v1/drift', headers, quietStep(Math.floor(n / quietSteps), n % quietSteps)),
  )
  return { requests, connections, ms, staysAwake: true }
}

/** Steps that advance, with a user turn to another goal before they would stall. */
function quietStep(run: number, step: number): object {
  const about = Math.floor(step / stepsAnErrand)
  const distance = 9 - (step % stepsAnErrand)
  const user_turn = step % stepsAnErrand === 0
  return { run_id: `quiet-${run}`, goal: englishGoal(about), distance, user_turn }
}

async function timeOne(account: Account, receiver: Receiver, run_id: string): Promise<number> {
  await post(account, '/v1/drift', { run_id, goal: errand })
  const arrived = receiver.count() + 1
  const arrival = receiver.wait(arrived)
  await post(account, '/v1/drift', { run_id, goal: astray })
  const answered = performance.now()
  // The event may arrive before the answer is read.
  return Math.max(0, (await arrival) - answered)
}

interface Receiver {
  port: number
  url: string
  /** The number of requests so far. */
  count(): number
  /** Resolves with the time of the request of this number, counted from 1. */
  wait(count: number): Promise<number>
  stop(): void
}

async function startReceiver(): Promise<Receiver> {
  const times: number[] = []
  const waiting = new Map<number, (at: number) => void>()
  const server = createServer((request, response) => {
    const at = performance.now()
    times.push(at)
    waiting.get(times.length)?.(at)
    request.resume()
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    count: () => times.length,
    wait: (count) =>
      new Promise((resolve) => {
        const at = times[count - 1]
        if (at === undefined) waiting.set(count, resolve)
        else resolve(at)
      }),
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A webhook that never answers. */
async function startHostile(): Promise<{ port: number; url: string; stop(): void }> {
  const server = createServer((request) => void request.resume()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { port, url: `http://localhost:${port}/hook`, stop }
}
