import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DetectorName } from '../src/core/detector/contract/detector.ts'
import { scorePair } from '../src/core/detector/meaning/score.ts'
import { analyse } from '../src/core/detector/meaning/text.ts'
import { type Sample, startAsker } from './asker.ts'
import { checkBodies } from './goals.ts'
import { median } from './median.ts'
import { postOf } from './request.ts'
import { plumbline, type Server, startServer } from './server.ts'
import type { StepTimes } from './steps.ts'
import { compared, type Row } from './table.ts'

const repeats = 200
const rounds = 25
const loads = 5
const checkRounds = 7
const checkMs = 1000
const warmUpMs = 3000
const stepTarget = '≤ 25 µs'

/**
 * Measures microseconds of the two halves of the pair score, milliseconds until the first score of a process,
 * and both detectors side by side: on a step and on `/v1/check`.
 */
export async function measureMeaning(): Promise<Row[]> {
  return [...pairScoreRows(), stepRow(), ...(await checkRows())]
}

function pairScoreRows(): Row[] {
  process.stderr.write('meaning\n')
  const file = new URL('../test/vectors/meaning-scores.json', import.meta.url)
  const pairs: { ground: string; goal: string }[] = JSON.parse(readFileSync(file, 'utf8'))
  const read = pairs.map(({ ground, goal }) => [analyse(ground), analyse(goal)] as const)
  return [
    rowOf(
      'pair score: reading a goal, µs',
      micros(pairs.length, () => {
        for (const { goal } of pairs) analyse(goal)
      }),
    ),
    rowOf(
      'pair score: scoring two read texts, µs',
      micros(read.length, () => {
        for (const [ground, goal] of read) scorePair(ground, goal)
      }),
    ),
    rowOf(
      'pair score: decoding the model in a new process, ms',
      Array.from({ length: loads }, load),
    ),
  ]
}

function stepRow(): Row {
  process.stderr.write('meaning: a step\n')
  const script = fileURLToPath(new URL('steps.ts', import.meta.url))
  const times: StepTimes = JSON.parse(
    execFileSync(process.execPath, [script], { encoding: 'utf8' }),
  )
  return compared('a step by meaning, µs', times.meaning, 'by overlap', times.overlap, stepTarget)
}

async function checkRows(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
  const asker = startAsker()
  const servers = new Map<DetectorName, Server>()
  try {
    for (const name of ['overlap', 'meaning'] as const) {
      const env = {
        PORT: '0',
        DATABASE_URL: 'sqlite::memory:',
        PLUMBLINE_CHECK_PER_DAY: '0',
        PLUMBLINE_DETECTOR: name,
        LOG_LEVEL: 'warn',
      }
      servers.set(name, await startServer(plumbline, folder, env))
    }
    const requests = checkBodies(1000).map((body) => postOf('/v1/check', {}, body))
    const ask = (server: Server, ms: number) =>
      asker.measure(server, { requests, connections: 16, ms, staysAwake: true })
    const samples: Record<DetectorName, Sample[]> = { overlap: [], meaning: [] }
    for (const server of servers.values()) await ask(server, warmUpMs)
    for (let at = 1; at <= checkRounds; at++) {
      process.stderr.write(`meaning: /v1/check, round ${at} of ${checkRounds}\n`)
      for (const [name, server] of servers) samples[name].push(await ask(server, checkMs))
    }
    const row = (measured: string, field: 'answersPerSecond' | 'cpuMicros') =>
      compared(
        `/v1/check by meaning: ${measured}`,
        samples.meaning.map((sample) => sample[field]),
        'by overlap',
        samples.overlap.map((sample) => sample[field]),
        '',
      )
    return [
      row('requests a second', 'answersPerSecond'),
      row('processor time a request, µs', 'cpuMicros'),
    ]
  } finally {
    asker.stop()
    await Promise.all([...servers.values()].map((server) => server.stop()))
    await rm(folder, { recursive: true })
  }
}

function micros(items: number, work: () => void): number[] {
  return Array.from({ length: rounds }, () => {
    const started = performance.now()
    for (let repeat = 0; repeat < repeats; repeat++) work()
    return ((performance.now() - started) * 1000) / (repeats * items)
  })
}

function load(): number {
  const script = `
    import { packagedModel } from './src/core/detector/meaning/model.ts'
    const started = performance.now()
    packagedModel()
    console.log(performance.now() - started)`
  const flags = ['--input-type=module', '--eval', script]
  return Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }))
}

function rowOf(measured: string, values: readonly number[]): Row {
  return { measured, ours: median(values), against: '', peer: null, ratios: [], target: '' }
}
