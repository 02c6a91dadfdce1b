import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Sample, startAsker } from './asker.ts'
import type { KeptAnswer } from './bare-server.ts'
import { checkBodies } from './goals.ts'
import { postOf } from './request.ts'
import { plumbline, type Server, startServer } from './server.ts'
import { compared, type Row } from './table.ts'

const rounds = 11
const roundMs = 1500
// V8 compiles the hot code in this time.
const warmUpMs = 4000
const connections = 16
const bodies = 1000
const target = '≤ 1.5'

const texts = {
  cpuMicros: 'processor time a request, µs',
  answersPerSecond: 'requests a second',
  p50Ms: 'latency p50, ms',
  p99Ms: 'latency p99, ms',
}

/** The servers, by their names in the table. */
const names = {
  counted: 'check',
  uncounted: 'check, uncounted',
  ready: 'node:http, answer ready',
  judging: 'node:http, judging',
}
type Name = keyof typeof names

/**
 * Compares `POST /v1/check` on two goals with two bare node:http servers that parse the same bodies and send
 * the same bytes. The servers take turns, round by round.
 */
export async function measureCheck(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const asker = startAsker()
  const servers = new Map<Name, Server>()
  const start = async (name: Name, args: readonly string[], env = {}): Promise<Server> => {
    const server = await startServer(args, folder, env)
    servers.set(name, server)
    return server
  }
  try {
    const { url } = await start('counted', plumbline, settings('counted', 1_000_000_000))
    await start('uncounted', plumbline, settings('uncounted', 0))
    const answers = join(folder, 'answers.json')
    await writeFile(answers, JSON.stringify(await answersOf(url)))
    await start('ready', [script('bare-server.ts'), answers])
    await start('judging', [script('bare-server.ts'), answers, 'judging'])

    const requests = checkBodies(bodies).map((body, n) =>
      // Each request has an address of its own, as the calls of many agents have.
      postOf('/v1/check', { 'cf-connecting-ip': `10.0.${n >> 8}.${n & 0xff}` }, body),
    )
    const measure = (server: Server, ms: number) =>
      asker.measure(server, { requests, connections, ms, staysAwake: true })
    for (const server of servers.values()) await measure(server, warmUpMs)
    const samples: Record<Name, Sample[]> = { counted: [], uncounted: [], ready: [], judging: [] }
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`check: round ${round} of ${rounds}\n`)
      for (const [name, server] of servers) {
        samples[name].push(await measure(server, roundMs))
      }
    }
    return rowsOf(samples)
  } finally {
    asker.stop()
    await Promise.all([...servers.values()].map((server) => server.stop()))
    await rm(folder, { recursive: true })
  }
}

function script(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

function settings(name: string, checkPerDay: number): Record<string, string> {
  return {
    PORT: '0',
    DATABASE_URL: `sqlite:./${name}.db`,
    PLUMBLINE_CHECK_PER_DAY: String(checkPerDay),
    LOG_LEVEL: 'warn',
  }
}

/** Returns the service's answer to each body, without the headers that node:http adds by itself. */
async function answersOf(url: string): Promise<KeptAnswer[]> {
  const ownHeaders = ['date', 'connection', 'keep-alive']
  const answers: KeptAnswer[] = []
  for (const body of checkBodies(bodies)) {
    const answer = await fetch(`${url}/v1/check`, { method: 'POST', body: JSON.stringify(body) })
    const headers = [...answer.headers].filter(([name]) => !ownHeaders.includes(name))
    answers.push({ ground: body.ground, headers, text: await answer.text() })
  }
  return answers
}

function rowsOf(samples: Record<Name, readonly Sample[]>): Row[] {
  const row = (ours: Name, field: keyof typeof texts, peer: Name, ratio = ''): Row =>
    compared(
      `${names[ours]}: ${texts[field]}`,
      samples[ours].map((sample) => sample[field]),
      names[peer],
      samples[peer].map((sample) => sample[field]),
      ratio,
    )
  return [
    row('counted', 'cpuMicros', 'ready', target),
    row('counted', 'cpuMicros', 'judging'),
    row('uncounted', 'cpuMicros', 'ready', target),
    row('uncounted', 'cpuMicros', 'judging'),
    row('counted', 'answersPerSecond', 'ready'),
    row('counted', 'p50Ms', 'ready'),
    row('counted', 'p99Ms', 'ready'),
    row('counted', 'p99Ms', 'judging'),
    row('uncounted', 'p99Ms', 'ready'),
  ]
}
