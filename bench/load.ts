// The load of the check bench, a process of its own: told by messages, it asks over connections it
// keeps, one question at a time on each. It speaks just enough HTTP not to be the slowest part. It
// never sleeps during a round: waking it is charged to the server that answers, and a slower server
// would be charged more often.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { checkBodies } from './goals.ts'

/** One round of asking, as this process is told. */
export interface Round {
  url: string
  /** How many different bodies there are. */
  bodies: number
  connections: number
  ms: number
}

/** What came of a round. */
export interface Load {
  answers: number
  ms: number
  p50Ms: number
  p99Ms: number
}

const answerLimitMs = 5000

process.on('message', async (round: Round) => process.send?.(await ask(round)))

async function ask({ url, bodies, connections, ms }: Round): Promise<Load> {
  const requests = checkBodies(bodies).map((body, n) => requestOf(JSON.stringify(body), n))
  const { hostname, port } = new URL(url)
  const micros = createHistogram()
  const started = performance.now()
  const share = Math.floor(bodies / connections)
  let over = false
  const stayAwake = () => {
    if (!over) setImmediate(stayAwake)
  }
  stayAwake()
  await Promise.all(
    Array.from({ length: connections }, (_, n) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      return keepAsking(socket, requests, n * share, started + ms, micros)
    }),
  )
  over = true
  return {
    answers: micros.count,
    ms: performance.now() - started,
    p50Ms: micros.percentile(50) / 1000,
    p99Ms: micros.percentile(99) / 1000,
  }
}

/** Each body comes from an address of its own, as the calls of many agents do. */
function requestOf(body: string, n: number): Buffer {
  return Buffer.from(
    [
      'POST /v1/check HTTP/1.1',
      'host: localhost',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      `cf-connecting-ip: 10.0.${n >> 8}.${n & 0xff}`,
      '',
      body,
    ].join('\r\n'),
  )
}

/** Asks until `end`. What is no answer throws, and ends the process: its round is worth nothing. */
async function keepAsking(
  socket: Socket,
  requests: readonly Buffer[],
  first: number,
  end: number,
  micros: RecordableHistogram,
): Promise<void> {
  let next = first
  let askedAt = 0
  let received = Buffer.alloc(0)

  function askNext(): void {
    askedAt = performance.now()
    socket.write(requests[next]!)
    next = (next + 1) % requests.length
  }

  socket.setTimeout(answerLimitMs, () => {
    throw new Error(`no answer within ${answerLimitMs} ms`)
  })
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    if (received.length < answerLength(received)) return
    received = Buffer.alloc(0)
    const now = performance.now()
    micros.record(Math.max(1, Math.round((now - askedAt) * 1000)))
    if (now < end) askNext()
    else socket.destroy()
  })
  socket.on('end', () => {
    throw new Error('the server closed a connection')
  })
  socket.on('connect', askNext)
  await once(socket, 'close')
}

/** Length in bytes of the answer that begins here, infinite while its head is not complete. */
function answerLength(received: Buffer): number {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return Number.POSITIVE_INFINITY
  const head = received.toString('latin1', 0, headEnd)
  const bodyLength = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (!head.startsWith('HTTP/1.1 200 ') || bodyLength === undefined) throw new Error(head)
  return headEnd + 4 + Number(bodyLength)
}
