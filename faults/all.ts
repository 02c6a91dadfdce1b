// Breaks the things that a server depends on, and checks whether its promises hold:
//   npm run faults [-- NAME …] [--size N] [--write]

import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { clock } from './clock.ts'
import { disk } from './disk.ts'
import { drain } from './drain.ts'
import { kill } from './kill.ts'
import { lostCommit } from './lost-commit.ts'
import { migration } from './migration.ts'
import { nodes } from './nodes.ts'
import { order } from './order.ts'
import { postgresRestart } from './postgres-restart.ts'
import { standstill } from './standstill.ts'
import { lineOf, type Played, tableOf } from './table.ts'
import { type Experiment, isGood, nothing, type Trial } from './trial.ts'
import { worst } from './worst.ts'

const experiments: readonly Experiment[] = [
  kill,
  order,
  disk,
  nodes,
  postgresRestart,
  standstill,
  lostCommit,
  migration,
  clock,
  drain,
  worst,
]

const readme = new URL('README.md', import.meta.url)
const markers = { begin: '<!-- results begin -->', end: '<!-- results end -->' }

const { positionals, values } = parseArgs({
  options: { size: { type: 'string' }, write: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const names = experiments.map(({ name }) => name)
const unknown = positionals.filter((name) => !names.includes(name))
if (unknown.length > 0)
  refuse(`there is no experiment ${unknown.join(', ')}; name ${names.join(', ')}`)
if (values.write && positionals.length > 0) refuse('--write takes the results of all experiments')
const size = values.size === undefined ? null : Number(values.size)
if (size !== null && !(Number.isSafeInteger(size) && size > 0)) refuse('--size is a whole number')

// `process.exit` runs the exit handlers, which clear every stage. A signal alone would not.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => process.exit(1))

const played: Played[] = []
for (const { name, play } of experiments) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const trials = await play(size).catch(failedTrial)
  played.push({ name, trials })
  process.stdout.write(`${lineOf({ name, trials })}\n`)
}
const results = `${machine()}\n\n${tableOf(played)}`
process.stdout.write(`\n${results}`)
if (values.write) writeToReadme(results)
if (!played.every(({ trials }) => trials.every(isGood))) process.exitCode = 1

/** Counts an experiment that failed as a broken promise, because it has shown nothing. */
function failedTrial(error: unknown): Trial[] {
  const found = error instanceof Error ? error.message : String(error)
  const broken = [{ promise: 'comes to its end', found }]
  return [{ on: '', wrong: null, skipped: null, measured: nothing, broken }]
}

function refuse(fault: string): never {
  process.stderr.write(`faults: ${fault}\n`)
  process.exit(2)
}

function machine(): string {
  const memoryGiB = Math.round(totalmem() / 2 ** 30)
  return `${availableParallelism()} cores, ${memoryGiB} GiB of memory, Linux, Node ${process.versions.node}`
}

function writeToReadme(text: string): void {
  const whole = readFileSync(readme, 'utf8')
  const from = whole.indexOf(markers.begin) + markers.begin.length
  const to = whole.indexOf(markers.end)
  writeFileSync(readme, `${whole.slice(0, from)}\n\n${text}\n${whole.slice(to)}`)
}
