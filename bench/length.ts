import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Asker, type Sample, startAsker } from './asker.ts'
import { englishGoal } from './goals.ts'
import { median } from './median.ts'
import { postOf } from './request.ts'
import { type Server, startWithKey } from './server.ts'
import { compared, type Row } from './table.ts'

const sizes = [1, 1000, 100_000]
const positions = [10, 1000, 100_000]
const rounds = 7
const stepsARound = 240
const warmUpSteps = 2000
const largestBatch = 500
const batchesAtOnce = 2

const manySteps = { wanted: 1_000_000, fewer: 200_000, stepsARun: 1000, limitMs: 90_000 }
const reads = 50

/** A place to log steps: its name in the table, and the run of each step of a round. */
interface Place {
  name: string
  target: Target
  /** Prepares the place for a round and returns the run of its `n`th step. */
  ready(round: number): Promise<(n: number) => string>
}

/** A server to fill and to measure. */
interface Target {
  server: Server
  key: string
  stop(): Promise<void>
}

/** Measures how the length of a run, the number of runs and the number of steps affect the cost. */
export async function measureLength(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const asker = startAsker()
  try {
    return [
      ...(await measurePositions(folder, asker)),
      ...(await measureRuns(folder, asker)),
      ...(await measureMany(folder)),
    ]
  } finally {
    asker.stop()
    await rm(folder, { recursive: true })
  }
}

async function measurePositions(folder: string, asker: Asker): Promise<Row[]> {
  const target = await start(folder, 'positions')
  try {
    const [first = 0, ...further] = positions
    const places: Place[] = [
      {
        name: at(first),
        target,
        // Many short runs, because a run soon outgrows its first steps.
        async ready(round) {
          const runs = stepsARound / first
          const runOf = (n: number) => `short-${round}-${n % runs}`
          await fill(target, runs * (first - 1), runOf)
          return runOf
        },
      },
      ...further.map((position) => ({
        name: at(position),
        target,
        ready: async () => () => `long-${position}`,
      })),
    ]
    for (const position of further) {
      process.stderr.write(`length: a run of ${position} steps\n`)
      await fill(target, position - 1, () => `long-${position}`)
    }
    return await compareSteps('length: a step', asker, places)
  } finally {
    await target.stop()
  }
}

async function measureRuns(folder: string, asker: Asker): Promise<Row[]> {
  const places: Place[] = []
  try {
    for (const size of sizes) {
      process.stderr.write(`length: ${size} runs\n`)
      const target = await start(folder, `runs-${size}`)
      // Steps go to runs all over the table: 7,919 is prime.
      const runOf = (n: number) => `run-${(n * 7919) % size}`
      places.push({
        name: size === 1 ? '1 run' : `${written(size)} runs`,
        target,
        ready: async (round) => (n) => runOf(round * stepsARound + n),
      })
      await fill(target, size, runOf)
    }
    return await compareSteps('length: a step, stored', asker, places)
  } finally {
    for (const { target } of places) await target.stop()
  }
}

/**
 * Sends steps one after another over one connection, so that each has a transaction of its own. The first
 * place is the peer of the others.
 */
async function compareSteps(text: string, asker: Asker, places: readonly Place[]): Promise<Row[]> {
  const samples = new Map<Place, Sample[]>(places.map((place) => [place, []]))
  const measure = async ({ target, ready }: Place, round: number, steps: number) => {
    const runOf = await ready(round)
    const headers = { authorization: `Bearer ${target.key}` }
    const requests = Array.from({ length: steps }, (_, n) =>
      postOf('/v1/drift', headers, stepOf(runOf(n), n)),
    )
    return asker.measure(target.server, { requests, connections: 1, ms: null, staysAwake: true })
  }
  const servers = new Set(places.map(({ target }) => target))
  for (const target of servers) {
    const runOf = async () => () => 'warm-up'
    await measure({ name: '', target, ready: runOf }, 0, warmUpSteps)
  }
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`${text}: round ${round} of ${rounds}\n`)
    for (const [place, taken] of samples) taken.push(await measure(place, round, stepsARound))
  }
  const [[{ name: firstName } = { name: '' }, first = []] = []] = samples
  return [
    { unit: 'processor time, µs', value: ({ cpuMicros }: Sample) => cpuMicros },
    { unit: 'latency p50, ms', value: ({ p50Ms }: Sample) => p50Ms },
  ].flatMap(({ unit, value }) =>
    [...samples].map(([{ name }, taken]): Row => {
      const row = compared(
        `${text}, ${name}: ${unit}`,
        taken.map(value),
        firstName,
        first.map(value),
        'flat',
      )
      return name === firstName ? { ...row, against: '', peer: null, ratios: [], target: '' } : row
    }),
  )
}

async function measureMany(folder: string): Promise<Row[]> {
  const target = await start(folder, 'many')
  const runOf = (n: number) => `run-${Math.floor(n / manySteps.stepsARun)}`
  let steps = 0
  let fillMs = 0
  const readMs = { run: 0, cost: 0 }
  try {
    const { wanted, fewer, limitMs } = manySteps
    process.stderr.write(`length: ${fewer} steps, and ${wanted} if they are fast\n`)
    const started = performance.now()
    await fill(target, fewer, runOf)
    steps = fewer
    if ((performance.now() - started) * (wanted / fewer) <= limitMs) {
      await fill(target, wanted, runOf, fewer)
      steps = wanted
    }
    fillMs = performance.now() - started
    readMs.run = await timeReads(target, (n) => `/v1/drift/run?run_id=${runOf(n * 1009)}`)
    readMs.cost = await timeReads(target, () => '/v1/cost')
  } finally {
    await target.stop()
  }
  const counted =
    steps === manySteps.wanted
      ? written(steps)
      : `${written(steps)} (${written(manySteps.wanted)} would take too long here)`
  const row = (text: string, ours: number, target = ''): Row => ({
    measured: `length, ${counted} steps stored: ${text}`,
    ours,
    against: '',
    peer: null,
    ratios: [],
    target,
  })
  const bytes = (await stat(join(folder, 'many.db'))).size
  return [
    row('steps a second, batches of 500', (steps / fillMs) * 1000),
    row('bytes a step on disk', bytes / steps, '< 1,024'),
    row('first page of GET /v1/drift/run, ms', readMs.run),
    row('GET /v1/cost, ms', readMs.cost),
  ]
}

async function start(folder: string, name: string): Promise<Target> {
  const { server, key } = await startWithKey(`sqlite:./${name}.db`, folder)
  return { server, key, stop: server.stop }
}

/** Logs the steps from number `from` to `to` in batches. */
async function fill(
  { server, key }: Target,
  to: number,
  runOf: (n: number) => string,
  from = 0,
): Promise<void> {
  let next = from
  async function send(): Promise<void> {
    while (next < to) {
      const first = next
      next = Math.min(to, first + largestBatch)
      const steps = Array.from({ length: next - first }, (_, n) =>
        stepOf(runOf(first + n), first + n),
      )
      const answer = await fetch(`${server.url}/v1/drift/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ steps }),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`a batch was answered ${answer.status}: ${text}`)
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, send))
}

/** Returns the median of some reads in milliseconds, after as many reads to warm up. */
async function timeReads({ server, key }: Target, pathOf: (n: number) => string): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 2 * reads; n++) {
    const started = performance.now()
    const answer = await fetch(server.url + pathOf(n % reads), {
      headers: { authorization: `Bearer ${key}` },
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`a read was answered ${answer.status}: ${text}`)
    if (n >= reads) times.push(performance.now() - started)
  }
  return median(times)
}

function stepOf(run: string, n: number): object {
  return {
    run_id: run,
    goal: englishGoal(n),
    progress: 'advancing',
    distance: n % 11,
    tokens: 100 + (n % 1000),
  }
}

function at(position: number): string {
  return `step ${written(position)}`
}

function written(count: number): string {
  return count.toLocaleString('en')
}
