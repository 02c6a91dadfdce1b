import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { englishGoal } from './goals.ts'
import { type Asked, type Heard, marker, nowMs } from './listen.ts'
import { median } from './median.ts'
import { residentMiBOf, type Server, startServer, startWithKey } from './server.ts'
import { alone, compared, type Row } from './table.ts'

const rounds = 3
const listeners = 1_000
const stepsASecond = 100
const roundS = 5
const restMs = 1_500

/** What one side has shown in one round, or of its listeners. */
interface Round extends Heard {
  /** How much memory a listener adds, in KiB. */
  growthKiB: number
}

/**
 * Measures how long a step takes from its durable answer to 1,000 listeners of its account at 100 steps a second, and
 * the memory of a listener, against plain node:http that broadcasts as many bytes.
 */
export async function measureStream(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const { server, key } = await startWithKey('sqlite:./stream.db', folder)
  const bare = await startServer([join(import.meta.dirname, 'bare-stream-server.ts')], folder)
  try {
    const headers = { authorization: `Bearer ${key}` }
    const [ours, peer] = [
      await openSide(server, '/v1/stream', headers),
      await openSide(bare, '/', {}),
    ]
    const oursRounds: Round[] = []
    const peerRounds: Round[] = []
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`stream: round ${round} of ${rounds}\n`)
      oursRounds.push(await measureRound(ours, (n) => step(n, round), '/v1/drift', headers))
      peerRounds.push(await measureRound(peer, (n) => bareEvent(n, round), '/', {}))
    }
    ours.child.kill()
    peer.child.kill()
    const row = (text: string, field: keyof Round, target = '') =>
      compared(
        `stream: ${listeners.toLocaleString('en')} listeners, ${text}`,
        oursRounds.map((each) => each[field]),
        'node:http, broadcasting',
        peerRounds.map((each) => each[field]),
        target,
      )
    const ofOurs = (text: string, field: keyof Round) =>
      alone(
        `stream: ${listeners.toLocaleString('en')} listeners, ${text}`,
        median(oursRounds.map((each) => each[field])),
      )
    return [
      row('step sent to event, p50, ms', 'sentP50Ms'),
      row('step sent to event, p99, ms', 'sentP99Ms'),
      ofOurs('commit to event, p50, ms', 'p50Ms'),
      ofOurs('commit to event, p99, ms', 'p99Ms'),
      row('memory a listener, KiB', 'growthKiB'),
      alone(
        'stream: events that did not come',
        oursRounds.reduce((sum, { missing }) => sum + missing, 0),
        '0',
      ),
    ]
  } finally {
    await server.stop()
    await bare.stop()
    await rm(folder, { recursive: true })
  }
}

interface Side {
  server: Server
  child: ChildProcess
  growthKiB: number
}

/** Opens the listeners of a server in a process of their own, and sees how much memory they add. */
async function openSide(
  server: Server,
  path: string,
  headers: Record<string, string>,
): Promise<Side> {
  const child = fork(join(import.meta.dirname, 'listen.ts'))
  await pause(restMs)
  const before = residentMiBOf(server.pid)
  await ask(child, { open: { url: server.url + path, headers, listeners } })
  await pause(restMs)
  const growthKiB = ((residentMiBOf(server.pid) - before) * 1024) / listeners
  return { server, child, growthKiB }
}

async function ask(child: ChildProcess, asked: Asked): Promise<unknown> {
  const answered = once(child, 'message')
  child.send(asked)
  return (await answered)[0]
}

/** Sends steps at a steady pace, whether or not the ones before are answered, and hears when they came. */
async function measureRound(
  { server, child, growthKiB }: Side,
  bodyOf: (n: number) => object,
  path: string,
  headers: Record<string, string>,
): Promise<Round> {
  const count = stepsASecond * roundS
  const sentAtMs = new Array<number>(count).fill(0)
  const durableAtMs = new Array<number>(count).fill(0)
  const began = nowMs()
  const sent: Promise<void>[] = []
  for (let n = 0; n < count; n++) {
    await pause(Math.max(0, began + (n * 1000) / stepsASecond - nowMs()))
    sentAtMs[n] = nowMs()
    sent.push(
      fetch(server.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(bodyOf(n)),
      }).then(async (answer) => {
        if (!answer.ok) throw new Error(await answer.text())
        durableAtMs[n] = nowMs()
        await answer.arrayBuffer()
      }),
    )
  }
  await Promise.all(sent)
  await pause(restMs)
  return { ...((await ask(child, { heard: { sentAtMs, durableAtMs } })) as Heard), growthKiB }
}

const runs = 20

function step(n: number, round: number): object {
  return { run_id: `live ${round} ${n % runs}`, goal: `${englishGoal(n)} ${marker} ${n}` }
}

/** As many bytes as the events of a step have. */
function bareEvent(n: number, round: number): object {
  return { ...step(n, round), filling: 'x'.repeat(1_700) }
}
