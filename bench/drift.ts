import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defaultDetector } from '../src/core/detector/contract/detector.ts'
import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { type Sample, startAsker } from './asker.ts'
import type { Pattern } from './bare-drift-server.ts'
import { adminOf, databaseUrl } from './postgres.ts'
import { residentMiBOf, type Server, startServer, startWithKey } from './server.ts'
import { batches, batchSteps, singleSteps, stepOf, type Task } from './step-tasks.ts'
import { compared, type Row } from './table.ts'

const rounds = 7
const roundMs = 1000
// In this time V8 compiles the hot code, and the runs reach the most spellings that they remember.
const warmUpMs = 3000
const levels = [1, 8, 32, 64]
const postgresConnections = 32
const peerName = 'node:http, inserting'
const judgingName = 'node:http, judging'
const batchTarget = '≥ 30,000'

interface Peers {
  ours: Server
  key: string
  bare: Server
  judging: Server
}

/** Measures durable steps on both databases, against bare servers that insert the same rows. */
export async function measureDrift(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  try {
    return [...(await onSqlite(folder)), ...(await onPostgres(folder))]
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function onSqlite(folder: string): Promise<Row[]> {
  const files = ['bare', 'judging'].map((name) => join(folder, `${name}.db`))
  return withPeers(folder, 'sqlite:./ours.db', files, async (peers) => {
    const tasks = levels.map((connections) => singleSteps(peers.key, connections, true, roundMs))
    const samples = await takeTurns('drift, SQLite', peers, tasks)
    return [
      ...tasks.flatMap((task) => rowsOf('drift, SQLite', task, samples)),
      ...weightRows(peers, samples),
    ]
  })
}

async function onPostgres(folder: string): Promise<Row[]> {
  const admin = await adminOf()
  if (admin === null) {
    const measured = `drift, PostgreSQL: not measured, no server at ${new URL(databaseUrl).host}`
    return [{ measured, ours: null, against: '', peer: null, ratios: [], target: '' }]
  }
  const schemas = ['ours', 'bare', 'judging'].map((name) => `bench_${process.pid}_${name}`)
  const [ours = '', ...bare] = schemas.map((schema) => {
    const url = new URL(databaseUrl)
    url.searchParams.set('options', `-csearch_path=${schema}`)
    return url.href
  })
  try {
    for (const schema of schemas) await admin.query(`CREATE SCHEMA ${schema}`)
    return await withPeers(folder, ours, bare, async (peers) => {
      const tasks = [
        singleSteps(peers.key, postgresConnections, false, roundMs),
        batches(peers.key, roundMs),
      ]
      const samples = await takeTurns('drift, PostgreSQL', peers, tasks)
      return tasks.flatMap((task) => rowsOf('drift, PostgreSQL', task, samples))
    })
  } finally {
    for (const schema of schemas) await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await admin.end()
  }
}

async function withPeers<T>(
  folder: string,
  oursUrl: string,
  bareUrls: readonly string[],
  work: (peers: Peers) => Promise<T>,
): Promise<T> {
  const { server: ours, key } = await startWithKey(oursUrl, folder)
  try {
    const file = join(folder, 'pattern.json')
    await writeFile(file, JSON.stringify(await patternOf(ours.url, key)))
    const script = fileURLToPath(new URL('bare-drift-server.ts', import.meta.url))
    const [bareUrl = '', judgingUrl = ''] = bareUrls
    const bare = await startServer([script, file, bareUrl], folder)
    try {
      const judging = await startServer([script, file, judgingUrl, 'judging'], folder)
      try {
        return await work({ ours, key, bare, judging })
      } finally {
        await judging.stop()
      }
    } finally {
      await bare.stop()
    }
  } finally {
    await ours.stop()
  }
}

/**
 * Reads the answers and the stored memory of the service, after so many steps that they do not grow any more.
 */
async function patternOf(url: string, key: string): Promise<Pattern> {
  const steps = Array.from({ length: batchSteps }, (_, n) => stepOf('pattern', 0, n))
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return { headers: [...answer.headers], text }
  }
  await post('/v1/drift/batch', { steps })
  const batch = await post('/v1/drift/batch', { steps })
  const single = await post('/v1/drift', stepOf('pattern', 0, 1))

  let memory = newMemory(defaultDetector)
  for (const { goal, progress, distance } of [...steps, ...steps]) {
    memory = detect(memory, { goal, progress, distance }).memory
  }
  const byNode = ['date', 'connection', 'keep-alive']
  return {
    headers: single.headers.filter(([name]) => !byNode.includes(name)),
    answer: single.text,
    batchAnswer: batch.text,
    memory: JSON.stringify(memory),
    verdict: JSON.parse(single.text),
  }
}

type Samples = Map<Task, { ours: Sample[]; bare: Sample[]; judging: Sample[] }>

async function takeTurns(
  name: string,
  { ours, bare, judging }: Peers,
  tasks: readonly Task[],
): Promise<Samples> {
  const samples: Samples = new Map(tasks.map((task) => [task, { ours: [], bare: [], judging: [] }]))
  const asker = startAsker()
  try {
    for (const server of [ours, bare, judging]) {
      for (const { round } of tasks) {
        await asker.measure(server, { ...round, ms: warmUpMs / tasks.length })
      }
    }
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`${name}: round ${round} of ${rounds}\n`)
      for (const [task, taken] of samples) {
        taken.ours.push(await asker.measure(ours, task.round))
        taken.bare.push(await asker.measure(bare, task.round))
        taken.judging.push(await asker.measure(judging, task.round))
      }
    }
    return samples
  } finally {
    asker.stop()
  }
}

/** Measures the bytes that a server writes to disk for a step, and its memory after all steps. */
function weightRows({ ours, bare }: Peers, samples: Samples): Row[] {
  const last = [...samples].at(-1)
  if (last === undefined) return []
  const [{ name }, taken] = last
  const written = ({ writtenBytes }: Sample) => writtenBytes
  return [
    compared(
      `drift, SQLite, ${name}: bytes written a step`,
      taken.ours.map(written),
      peerName,
      taken.bare.map(written),
    ),
    compared(
      'drift, SQLite: resident memory after the load, MiB',
      [residentMiBOf(ours.pid)],
      peerName,
      [residentMiBOf(bare.pid)],
    ),
  ]
}

function rowsOf(name: string, task: Task, samples: Samples): Row[] {
  const { ours = [], bare = [], judging = [] } = samples.get(task) ?? {}
  const row = (text: string, value: (sample: Sample) => number, target = '') =>
    compared(`${name}, ${task.name}: ${text}`, ours.map(value), peerName, bare.map(value), target)
  const rate = ({ answersPerSecond }: Sample) => answersPerSecond * task.steps
  const isBatch = task.steps > 1
  return [
    row('steps a second', rate, isBatch ? batchTarget : '≥ 0.6'),
    compared(
      `${name}, ${task.name}: steps a second`,
      ours.map(rate),
      judgingName,
      judging.map(rate),
    ),
    row('latency p99, ms', ({ p99Ms }) => p99Ms),
    row('processor time a step, µs', ({ cpuMicros }) => cpuMicros / task.steps),
  ]
}
