// Runs the benches and prints one table:
//   npm run bench [-- NAME …] [--write] [--minutes N]

import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { measureAlerts } from './alerts.ts'
import { measureBacktest } from './backtest.ts'
import { measureCheck } from './check.ts'
import { measureDetector } from './detector.ts'
import { measureDrift } from './drift.ts'
import { measureHooks } from './hooks.ts'
import { measureLength } from './length.ts'
import { measureMcp } from './mcp.ts'
import { measureMeaning } from './meaning.ts'
import { measureStart } from './start.ts'
import { measureStream } from './stream.ts'
import { type Row, tableOf } from './table.ts'
import { measureWeb } from './web.ts'

const benches: Record<string, () => Row[] | Promise<Row[]>> = {
  alerts: () => measureAlerts(minutes),
  backtest: measureBacktest,
  check: measureCheck,
  detector: measureDetector,
  drift: measureDrift,
  hooks: measureHooks,
  length: measureLength,
  meaning: measureMeaning,
  mcp: measureMcp,
  start: measureStart,
  stream: measureStream,
  web: measureWeb,
}

const readme = new URL('README.md', import.meta.url)
const markers = { begin: '<!-- output begins -->', end: '<!-- output ends -->' }

const { positionals, values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})
/** How long the webhooks of _alerts_ send endless answers. */
const minutes = Number(values.minutes)
if (!(minutes >= 1 && minutes <= 60)) refuse('--minutes takes a number from 1 to 60')
const unknown = positionals.filter((name) => !(name in benches))
if (unknown.length > 0) {
  refuse(`there is no bench ${unknown.join(', ')}; name ${Object.keys(benches).join(', ')}`)
}
if (values.write && positionals.length > 0) refuse('--write takes the output of all benches')

const names = positionals.length === 0 ? Object.keys(benches) : positionals
const rows: Row[] = []
for (const name of names) rows.push(...(await benches[name]!()))
const output = `${machine()}\n\n${tableOf(rows)}`
process.stdout.write(output)
if (values.write) writeToReadme(output)

function refuse(fault: string): never {
  process.stderr.write(`bench: ${fault}\n`)
  process.exit(2)
}

function machine(): string {
  const memoryGiB = Math.round(totalmem() / 2 ** 30)
  return `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${memoryGiB} GiB of memory, Node ${process.versions.node}`
}

function writeToReadme(text: string): void {
  const whole = readFileSync(readme, 'utf8')
  const from = whole.indexOf(markers.begin) + markers.begin.length
  const to = whole.indexOf(markers.end)
  writeFileSync(readme, `${whole.slice(0, from)}\n\n${text}\n${whole.slice(to)}`)
}
