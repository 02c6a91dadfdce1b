// The load of the benches. This process takes its tasks from messages and sends requests over keep-alive
// connections, one request in flight on each. It speaks only as much HTTP as it needs, so that it is not the
// bottleneck.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** The task of one round. */
export interface Round {
  url: string
  /** Complete requests. Each connection cycles through a part of its own. */
  requests: readonly string[]
  connections: number
  /** The length of the round; null sends each request once. */
  ms: number | null
  /**
   * Whether the process never sleeps during the round. The server pays for waking it, and a slower server
   * would pay more often. It then takes a whole core, which a server with a database on the same machine
   * needs more.
   */
  staysAwake: boolean
}

/** The result of a round. */
export interface Load {
  answers: number
  ms: number
  p50Ms: number
  p99Ms: number
}

const answerLimitMs = 10_000

process.on('message', async (round: Round) => process.send?.(await ask(round)))

async function ask({ url, requests, connections, ms, staysAwake }: Round): Promise<Load> {
  const { hostname, port } = new URL(url)
  const bytes = requests.map((request) => Buffer.from(request))
  const micros = createHistogram()
  const started = performance.now()
  const end = ms === null ? null : started + ms
  let over = !staysAwake
  const stayAwake = () => {
    if (!over) setImmediate(stayAwake)
  }
  stayAwake()
  await Promise.all(
    Array.from({ length: connections }, (_, n) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      const from = Math.floor((n * bytes.length) / connections)
      const to = Math.floor(((n + 1) * bytes.length) / connections)
      return keepAsking(socket, bytes.slice(from, to), end, micros)
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

/**
 * Sends requests until `end`, or each request once if `end` is null. Throws at anything but an answer, which
 * ends the process and voids the round.
 */
async function keepAsking(
  socket: Socket,
  requests: readonly Buffer[],
  end: number | null,
  micros: RecordableHistogram,
): Promise<void> {
  let asked = 0
  let askedAt = 0
  let received = Buffer.alloc(0)
  let length = Number.POSITIVE_INFINITY

  function askNext(): void {
    askedAt = performance.now()
    socket.write(requests[asked % requests.length]!)
    asked++
  }

  socket.setTimeout(answerLimitMs, () => {
    throw new Error(`no answer within ${answerLimitMs} ms`)
  })
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    if (!Number.isFinite(length)) length = answerLength(received)
    if (received.length < length) return
    received = Buffer.alloc(0)
    length = Number.POSITIVE_INFINITY
    const now = performance.now()
    micros.record(Math.max(1, Math.round((now - askedAt) * 1000)))
    const goesOn = end === null ? asked < requests.length : now < end
    if (goesOn) askNext()
    else socket.destroy()
  })
  socket.on('end', () => {
    throw new Error('the server closed a connection')
  })
  socket.on('connect', askNext)
  await once(socket, 'close')
}

/** The length in bytes of the answer that begins here; infinite while its head is incomplete. */
function answerLength(received: Buffer): number {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return Number.POSITIVE_INFINITY
  const head = received.toString('latin1', 0, headEnd)
  const bodyLength = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (!head.startsWith('HTTP/1.1 200 ') || bodyLength === undefined) throw new Error(head)
  return headEnd + 4 + Number(bodyLength)
}
