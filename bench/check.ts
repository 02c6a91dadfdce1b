import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KeptAnswer } from './bare-server.ts'
import { checkBodies } from './goals.ts'
import type { Load, Round } from './load.ts'
import { cpuMicrosOf, plumbline, type Server, startServer } from './server.ts'
import { compared, type Row } from './table.ts'

const rounds = 11
const roundMs = 1500
// Until V8 has compiled what runs often.
const warmUpMs = 4000
const connections = 16
const bodies = 1000
const target = '≤ 1.5'

/** What one round measured of one server. */
interface Sample extends Load {
  cpuMicros: number
  answersPerSecond: number
}

const texts = {
  cpuMicros: 'processor time a request, µs',
  answersPerSecond: 'requests a second',
  p50Ms: 'latency p50, ms',
  p99Ms: 'latency p99, ms',
}

/** The servers, by what the table calls them. */
const names = {
  counted: 'check',
  uncounted: 'check, uncounted',
  ready: 'node:http, answer ready',
  judging: 'node:http, judging',
}
type Name = keyof typeof names

/**
 * `POST /v1/check` with two goals against two bare node:http servers that parse the same bodies and
 * send the same bytes, in rounds that take turns.
 */
export async function measureCheck(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const load = fork(script('load.ts'))
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

    for (const server of servers.values()) await measureRound(load, server, warmUpMs)
    const samples: Record<Name, Sample[]> = { counted: [], uncounted: [], ready: [], judging: [] }
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`check: round ${round} of ${rounds}\n`)
      for (const [name, server] of servers) {
        samples[name].push(await measureRound(load, server, roundMs))
      }
    }
    return rowsOf(samples)
  } finally {
    load.kill()
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

/** What the service answers to each body, without the headers that node:http adds by itself. */
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

async function measureRound(load: ChildProcess, { url, pid }: Server, ms: number): Promise<Sample> {
  const before = cpuMicrosOf(pid)
  const measured = await ask(load, { url, bodies, connections, ms })
  return {
    ...measured,
    cpuMicros: (cpuMicrosOf(pid) - before) / measured.answers,
    answersPerSecond: (measured.answers / measured.ms) * 1000,
  }
}

function ask(load: ChildProcess, round: Round): Promise<Load> {
  const over = new AbortController()
  const { signal } = over
  const answered = once(load, 'message', { signal }).then(([message]) => message as Load)
  const ended = once(load, 'exit', { signal }).then(() => {
    throw new Error('The load generator ended; what it says stands above.')
  })
  load.send(round)
  return Promise.race([answered, ended]).finally(() => over.abort())
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
