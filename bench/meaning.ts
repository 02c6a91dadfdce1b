import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { scorePair } from '../src/core/detector/meaning-score.ts'
import { analyse } from '../src/core/detector/meaning-text.ts'
import { median } from './median.ts'
import type { Row } from './table.ts'

const repeats = 200
const rounds = 25
const loads = 5

/** Microseconds of the pair score's two halves, and milliseconds until the first score of a process. */
export function measureMeaning(): Row[] {
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

function micros(items: number, work: () => void): number[] {
  return Array.from({ length: rounds }, () => {
    const started = performance.now()
    for (let repeat = 0; repeat < repeats; repeat++) work()
    return ((performance.now() - started) * 1000) / (repeats * items)
  })
}

function load(): number {
  const script = `
    import { packagedModel } from './src/core/detector/meaning-model.ts'
    const started = performance.now()
    packagedModel()
    console.log(performance.now() - started)`
  const flags = ['--input-type=module', '--eval', script]
  return Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }))
}

function rowOf(measured: string, values: readonly number[]): Row {
  return { measured, ours: median(values), against: '', peer: null, ratios: [], target: '' }
}
