import { detect } from '../src/core/detector/detect.ts'
import { type Memory, newMemory } from '../src/core/detector/memory.ts'
import type { Step } from '../src/core/detector/step.ts'
import { chineseGoal, englishGoal } from './goals.ts'
import { median } from './median.ts'
import type { Row } from './table.ts'

const positions = [10, 1000, 100_000]
const windowSteps = 10
// A window repeats so often that the cost and the resolution of the clock do not count.
const repeats = 20
const windows = 300

/** Measures microseconds a step and bytes of memory at three positions of one run, in two languages. */
export function measureDetector(): Row[] {
  return [...rowsOf('ASCII', englishGoal), ...rowsOf('Chinese', chineseGoal)]
}

/** A position in the run: the memory before it and the steps after it. */
interface Place {
  position: number
  memory: Memory
  steps: Step[]
}

function rowsOf(language: string, goalAt: (n: number) => string): Row[] {
  process.stderr.write(`detector: ${language}\n`)
  const stepAt = (n: number): Step => ({
    goal: goalAt(n),
    progress: 'advancing',
    distance: n % 11,
  })
  const places = placesOf(stepAt)
  const timed = places.map((): number[] => [])
  // The positions take turns, so that a slow moment of the machine affects all of them.
  for (let window = 0; window < windows; window++) {
    for (const [index, place] of places.entries()) timed[index]!.push(microsAStep(place))
  }
  const micros = timed.map(median)
  const bytes = places.map(({ memory }) => Buffer.byteLength(JSON.stringify(memory)))
  return [
    ...rowsFrom(`detector, ${language}: a step, µs`, micros),
    ...rowsFrom(`detector, ${language}: memory of the run, bytes`, bytes),
  ]
}

/** Runs through the whole run once, which is also the warm-up. */
function placesOf(stepAt: (n: number) => Step): Place[] {
  const places: Place[] = []
  let memory = newMemory('overlap')
  for (let n = 1; places.length < positions.length; n++) {
    if (positions.includes(n)) {
      const steps = Array.from({ length: windowSteps }, (_, ahead) => stepAt(n + ahead))
      places.push({ position: n, memory, steps })
    }
    memory = detect(memory, stepAt(n)).memory
  }
  return places
}

function microsAStep({ memory, steps }: Place): number {
  const started = performance.now()
  for (let repeat = 0; repeat < repeats; repeat++) {
    let current = memory
    for (const step of steps) current = detect(current, step).memory
  }
  return ((performance.now() - started) * 1000) / (repeats * steps.length)
}

/** The first position is the peer of the others. */
function rowsFrom(measured: string, values: readonly number[]): Row[] {
  const [first] = values
  return values.map((ours, index) => ({
    measured: `${measured}, step ${positions[index]!.toLocaleString('en')}`,
    ours,
    against: index === 0 ? '' : `step ${positions[0]}`,
    peer: index === 0 ? null : first!,
    ratios: index === 0 ? [] : [ours / first!],
    target: '',
  }))
}
