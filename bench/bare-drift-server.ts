import { defaultDetector } from '../src/core/detector/contract/detector.ts'
// The peer of the drift bench: a process on nothing but node:http and the driver of a database. It reads a
// body, inserts a row for each step, and upserts the row of its run, with a memory of the service's size. The
// requests of one turn of the event loop, or of one commit in flight, share the next commit. Each answer
// follows its commit and has as many bytes as the service's. With `judging` the detector judges each step,
// and the peer answers the verdict and stores the memory.
//   node bench/bare-drift-server.ts PATTERN.json FILE.db|postgres://… [judging]

import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { detect } from '../src/core/detector/detect.ts'
import { type Memory, newMemory } from '../src/core/detector/memory.ts'

/** The answers and the stored memory of the service, for the same sizes. */
export interface Pattern {
  headers: [name: string, value: string][]
  /** The answer to a step, and the answer to a batch. */
  answer: string
  batchAnswer: string
  /** The stored memory of a run. */
  memory: string
  verdict: {
    reason: string
    phi: number
    goal_score: number
    svcscore: string | null
    context: string | null
  }
}

/** A step of a body, as the bench writes it. */
export interface Step {
  run_id: string
  goal: string
  progress: string
  distance: number
  tokens: number
}

interface Waiting {
  steps: readonly Step[]
  response: ServerResponse
  text: string
}

const account = 'acct_0123456789abcdefghijkl'

const columns = `account TEXT NOT NULL, run_id TEXT NOT NULL, step BIGINT NOT NULL,
  ts BIGINT NOT NULL, agent_id TEXT NOT NULL, goal TEXT NOT NULL, parent_goal TEXT,
  progress TEXT NOT NULL, distance BIGINT NOT NULL, reason TEXT NOT NULL, drifting BIGINT NOT NULL,
  phi DOUBLE PRECISION NOT NULL, goal_score DOUBLE PRECISION NOT NULL, svcscore TEXT, context TEXT,
  tokens DOUBLE PRECISION, overhead BIGINT, judgment TEXT`
const schema = [
  `CREATE TABLE steps (${columns}, PRIMARY KEY (account, run_id, step))`,
  `CREATE TABLE runs (account TEXT NOT NULL, run_id TEXT NOT NULL, steps BIGINT NOT NULL,
    updated BIGINT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY (account, run_id))`,
]
const putRun = `ON CONFLICT (account, run_id) DO UPDATE
  SET steps = excluded.steps, updated = excluded.updated, memory = excluded.memory`

const [file = '', database = '', kind = ''] = process.argv.slice(2)
const pattern: Pattern = JSON.parse(readFileSync(file, 'utf8'))
const headers = pattern.headers.filter(([name]) => name !== 'content-length').flat()
const counts = new Map<string, number>()
const judges = kind === 'judging'
const memories = new Map<string, Memory>()
const commit = database.startsWith('postgres') ? await openPostgres() : openSqlite()

let waiting: Waiting[] = []
let running = false

async function commitAll(): Promise<void> {
  running = true
  while (waiting.length > 0) {
    await new Promise(setImmediate)
    const taken = waiting
    waiting = []
    await commit(taken.flatMap(({ steps }) => steps))
    for (const { response, text } of taken) {
      response.writeHead(200, [...headers, 'content-length', Buffer.byteLength(text)]).end(text)
    }
  }
  running = false
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body: Step & { steps?: Step[] } = JSON.parse(Buffer.concat(chunks).toString())
    waiting.push(
      body.steps === undefined
        ? { steps: [body], response, text: judges ? judged(body) : pattern.answer }
        : {
            steps: body.steps,
            response,
            text: judges
              ? `{"results":[${body.steps.map(judged).join(',')}]}`
              : pattern.batchAnswer,
          },
    )
    if (!running) void commitAll()
  })
})
server.keepAliveTimeout = 72_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

/** Judges a step and returns the verdict as JSON. Keeps the memory of its run. */
function judged({ run_id, goal, progress, distance }: Step): string {
  const before = memories.get(run_id) ?? newMemory(defaultDetector)
  const { verdict, memory } = detect(before, { goal, progress, distance })
  memories.set(run_id, memory)
  return JSON.stringify(verdict)
}

function memoryOf(run: string): string {
  return judges ? JSON.stringify(memories.get(run)) : pattern.memory
}

/** Converts steps to rows in the order of their columns, with the number of the last step of each run. */
function rowsOf(steps: readonly Step[], now: number) {
  const { reason, phi, goal_score, svcscore, context } = pattern.verdict
  const last = new Map<string, number>()
  const rows = steps.map(({ run_id, goal, progress, distance, tokens }) => {
    const step = (counts.get(run_id) ?? 0) + 1
    counts.set(run_id, step)
    last.set(run_id, step)
    return {
      account,
      run_id,
      step,
      ts: now,
      agent_id: '',
      goal,
      parent_goal: null,
      progress,
      distance,
      reason,
      drifting: 0,
      phi,
      goal_score,
      svcscore,
      context,
      tokens,
      overhead: null,
      judgment: null,
    }
  })
  return { rows, last }
}

function openSqlite(): (steps: readonly Step[]) => void {
  const db = new DatabaseSync(database)
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('PRAGMA synchronous = FULL')
  for (const statement of schema) db.exec(statement)
  const places = columns.split(',').map(() => '?')
  const addStep = db.prepare(`INSERT INTO steps VALUES (${places.join(', ')})`)
  const saveRun = db.prepare(`INSERT INTO runs VALUES (?, ?, ?, ?, ?) ${putRun}`)
  return (steps) => {
    const now = Date.now()
    const { rows, last } = rowsOf(steps, now)
    db.exec('BEGIN IMMEDIATE')
    for (const row of rows) addStep.run(...Object.values(row))
    for (const [run, step] of last) saveRun.run(account, run, step, now, memoryOf(run))
    db.exec('COMMIT')
  }
}

async function openPostgres(): Promise<(steps: readonly Step[]) => Promise<void>> {
  const client = new pg.Client(database)
  await client.connect()
  for (const statement of schema) await client.query(statement)
  const addSteps = {
    name: 'steps',
    text: 'INSERT INTO steps SELECT * FROM json_populate_recordset(NULL::steps, $1)',
  }
  const saveRuns = {
    name: 'runs',
    text: `INSERT INTO runs SELECT * FROM json_populate_recordset(NULL::runs, $1) ${putRun}`,
  }
  return async (steps) => {
    const now = Date.now()
    const { rows, last } = rowsOf(steps, now)
    const runs = [...last].map(([run_id, step]) => ({
      account,
      run_id,
      steps: step,
      updated: now,
      memory: memoryOf(run_id),
    }))
    await client.query('BEGIN')
    await client.query({ ...addSteps, values: [JSON.stringify(rows)] })
    await client.query({ ...saveRuns, values: [JSON.stringify(runs)] })
    await client.query('COMMIT')
  }
}
