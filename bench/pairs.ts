// Compares this checkout with others, in turns:
//   npm run bench:pairs -- FOLDER … [--rounds N]
// Each folder holds another checkout with its packages installed. A ratio is this checkout ÷ the other.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Asker, type Sample, startAsker } from './asker.ts'
import { adminOf, databaseUrl } from './postgres.ts'
import { type Server, startWithKey } from './server.ts'
import { batches, singleSteps, type Task } from './step-tasks.ts'
import { compared, type Row, tableOf } from './table.ts'

const roundMs = 1500
const warmUpMs = 4000
const sqliteLevels = [1, 32]
const postgresLevels = [1, 32]

const { positionals, values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' } },
  allowPositionals: true,
})
const rounds = Number(values.rounds)
if (positionals.length === 0 || !(rounds >= 1)) {
  process.stderr.write('pairs: name the folders of other checkouts; --rounds takes a number\n')
  process.exit(2)
}
const own = fileURLToPath(new URL('..', import.meta.url))
const checkouts = [own, ...positionals.map((folder) => resolve(folder))]

/** A server of a checkout, with its samples of each task. */
interface Side {
  readonly name: string
  readonly server: Server
  readonly tasks: readonly Task[]
  readonly samples: Sample[][]
}

const folder = await mkdtemp(join(tmpdir(), 'plumbline-pairs-'))
const admin = await adminOf()
const asker = startAsker()
try {
  const rows = await measure('SQLite', (n) => `sqlite:./pairs-${n}.db`, sqliteTasks, asker)
  if (admin !== null) {
    const schemas = checkouts.map((_, n) => `pairs_${process.pid}_${n}`)
    try {
      for (const schema of schemas) await admin.query(`CREATE SCHEMA ${schema}`)
      const urls = schemas.map((schema) => {
        const url = new URL(databaseUrl)
        url.searchParams.set('options', `-csearch_path=${schema}`)
        return url.href
      })
      rows.push(...(await measure('PostgreSQL', (n) => urls[n] ?? '', postgresTasks, asker)))
    } finally {
      for (const schema of schemas) await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    }
  }
  process.stdout.write(tableOf(rows))
} finally {
  asker.stop()
  await admin?.end()
  await rm(folder, { recursive: true })
}

function sqliteTasks(key: string): Task[] {
  return sqliteLevels.map((connections) => singleSteps(key, connections, true, roundMs))
}

function postgresTasks(key: string): Task[] {
  const singles = postgresLevels.map((connections) => singleSteps(key, connections, false, roundMs))
  return [...singles, batches(key, roundMs)]
}

async function measure(
  database: string,
  urlOf: (checkout: number) => string,
  tasksOf: (key: string) => Task[],
  asker: Asker,
): Promise<Row[]> {
  const sides: Side[] = []
  try {
    for (const [n, checkout] of checkouts.entries()) {
      const { server, key } = await startWithKey(urlOf(n), folder, {}, checkout)
      const tasks = tasksOf(key)
      sides.push({ name: basename(checkout), server, tasks, samples: tasks.map(() => []) })
    }
    for (const { server, tasks } of sides) {
      for (const { round } of tasks) {
        await asker.measure(server, { ...round, ms: warmUpMs / tasks.length })
      }
    }
    for (let round = 1; round <= rounds; round++) {
      process.stderr.write(`${database}: round ${round} of ${rounds}\n`)
      // The first server of a round changes, because it finds the database at rest.
      const turn = [...sides.slice(round % sides.length), ...sides.slice(0, round % sides.length)]
      for (const task of turn[0]?.tasks.keys() ?? []) {
        for (const { server, tasks, samples } of turn) {
          const { round: asked } = tasks[task] as Task
          samples[task]?.push(await asker.measure(server, asked))
        }
      }
    }
    return rowsOf(database, sides)
  } finally {
    for (const { server } of sides) await server.stop()
  }
}

function rowsOf(database: string, sides: readonly Side[]): Row[] {
  const [ours, ...others] = sides
  if (ours === undefined) return []
  return ours.tasks.flatMap(({ name, steps }, task) =>
    others.flatMap((other) => {
      const row = (text: string, value: (sample: Sample) => number) =>
        compared(
          `${database}, ${name}: ${text}`,
          (ours.samples[task] ?? []).map(value),
          other.name,
          (other.samples[task] ?? []).map(value),
        )
      return [
        row('steps a second', ({ answersPerSecond }) => answersPerSecond * steps),
        row('processor time a step, µs', ({ cpuMicros }) => cpuMicros / steps),
      ]
    }),
  )
}
