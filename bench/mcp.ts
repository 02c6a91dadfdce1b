import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { tools } from '../src/operations/tools/tools.ts'
import { realWorld, startService } from '../src/service.ts'
import { createServers } from '../src/surfaces/mcp/server.ts'
import { type Sample, startAsker } from './asker.ts'
import { checkBodies, englishGoal } from './goals.ts'
import { median } from './median.ts'
import { postOf } from './request.ts'
import { startWithKey } from './server.ts'
import { compared, type Row } from './table.ts'

const rounds = 7
const roundMs = 1500
// V8 compiles the hot code in this time.
const warmUpMs = 3000
const connections = 16
const goalsATask = 125

/** The requests to one server, by their name in the table. */
const names = {
  check: 'POST /v1/check',
  drift: 'POST /v1/drift',
  keyless: 'check_state, keyless',
  keyed: 'check_state, keyed',
}
type Name = keyof typeof names

/** Compares `tools/call check_state` of the current revision with the routes that judge the same goals. */
export async function measureMcp(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  try {
    const samples = await takeTurns(folder)
    return [...rowsOf(samples), ...(await makingRows())]
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function takeTurns(folder: string): Promise<Record<Name, Sample[]>> {
  const limit = '1000000000'
  const settings = { PLUMBLINE_CHECK_PER_DAY: limit, PLUMBLINE_TOOLS_PER_DAY: limit }
  const { server, key } = await startWithKey('sqlite:./mcp.db', folder, settings)
  const asker = startAsker()
  try {
    const asked = Object.entries(requestsOf(key)) as [Name, string[]][]
    const measure = (requests: readonly string[], ms: number) =>
      asker.measure(server, { requests, connections, ms, staysAwake: true })
    for (const [, requests] of asked) await measure(requests, warmUpMs)
    const samples: Record<Name, Sample[]> = { check: [], drift: [], keyless: [], keyed: [] }
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`mcp: round ${round} of ${rounds}\n`)
      for (const [name, requests] of asked) samples[name].push(await measure(requests, roundMs))
    }
    return samples
  } finally {
    asker.stop()
    await server.stop()
  }
}

/** Each connection has a task of its own and an address of its own. */
function requestsOf(key: string): Record<Name, string[]> {
  const authorization = `Bearer ${key}`
  const bodies = checkBodies(connections * goalsATask)
  const addressOf = (n: number) => `10.0.0.${Math.floor(n / goalsATask)}`
  const taskOf = (n: number) => `task-${Math.floor(n / goalsATask)}`
  return {
    check: bodies.map((body, n) => postOf('/v1/check', { 'cf-connecting-ip': addressOf(n) }, body)),
    drift: bodies.map((_, n) =>
      postOf('/v1/drift', { authorization }, { run_id: taskOf(n), ...stepOf(n) }),
    ),
    keyless: bodies.map((_, n) => callOf({ 'cf-connecting-ip': addressOf(n) }, stepOf(n))),
    keyed: bodies.map((_, n) => callOf({ authorization }, { session: taskOf(n), ...stepOf(n) })),
  }
}

function stepOf(n: number) {
  return { goal: englishGoal(n), progress: 'advancing', distance: n % 11 }
}

function callOf(headers: Readonly<Record<string, string>>, step: object): string {
  const version = '2026-07-28'
  const protocol = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version,
    'mcp-method': 'tools/call',
    'mcp-name': 'check_state',
  }
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return postOf(
    '/mcp',
    { ...protocol, ...headers },
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'check_state', arguments: step, _meta: meta },
    },
  )
}

function rowsOf(samples: Record<Name, readonly Sample[]>): Row[] {
  const row = (ours: Name, text: string, value: (sample: Sample) => number, peer: Name) =>
    compared(
      `mcp, ${names[ours]}: ${text}`,
      samples[ours].map(value),
      names[peer],
      samples[peer].map(value),
    )
  return (['keyless', 'keyed'] as const).flatMap((ours) => [
    row(ours, 'calls a second', ({ answersPerSecond }) => answersPerSecond, 'check'),
    row(ours, 'calls a second', ({ answersPerSecond }) => answersPerSecond, 'drift'),
    row(ours, 'processor time a call, µs', ({ cpuMicros }) => cpuMicros, 'check'),
    row(ours, 'processor time a call, µs', ({ cpuMicros }) => cpuMicros, 'drift'),
    row(ours, 'latency p99, ms', ({ p99Ms }) => p99Ms, 'drift'),
  ])
}

/** Compares a server with only the called tool, created for each call, with one that has all tools. */
async function makingRows(): Promise<Row[]> {
  const config = readConfig({ PORT: '0', DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'silent' })
  if ('faults' in config) throw new Error(config.faults.join('; '))
  const running = await startService(config, realWorld)
  const parts = { service: running.service, tools, version: '0', onFault: () => {} }
  const newServer = createServers(parts)
  const caller = {
    address: '',
    credential: undefined,
    headers: {},
    gone: () => AbortSignal.any([]),
    session: null,
  }
  const called = { method: 'tools/call', tool: 'check_state' }
  const one: number[] = []
  const all: number[] = []
  for (let round = 1; round <= rounds; round++) {
    one.push(microsOf(() => newServer(caller, called)))
    all.push(microsOf(() => newServer(caller, null)))
  }
  await running.stop()
  const text = 'mcp: making the server of a call, µs'
  return [compared(text, one, 'with everything', all)]
}

function microsOf(work: () => unknown): number {
  const windows = 20
  const times = 200
  return median(
    Array.from({ length: windows }, () => {
      const started = performance.now()
      for (let time = 0; time < times; time++) work()
      return ((performance.now() - started) * 1000) / times
    }),
  )
}
