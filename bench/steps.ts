import type { DetectorName } from '../src/core/detector/contract/detector.ts'
// Times the steps of both detectors, in turns, in a process of its own: the heap and the compiled code of
// other benches must not count. Prints microseconds a step, one number a round.
//   node bench/steps.ts

import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { englishGoal } from './goals.ts'

/** Microseconds a step in each round, without the warm-up rounds. */
export type StepTimes = Record<DetectorName, number[]>

const stepsARound = 500
const rounds = 40
const warmUpRounds = 10

let next = 0

/** Every goal is new to the process, so that no cache knows its text. */
function round(name: DetectorName): number {
  const steps = Array.from({ length: stepsARound }, () => ({
    goal: `${englishGoal(next)} part ${next++}`,
    progress: 'advancing',
    distance: next % 11,
  }))
  let memory = newMemory(name)
  const started = performance.now()
  for (const step of steps) memory = detect(memory, step).memory
  return ((performance.now() - started) * 1000) / stepsARound
}

const times: StepTimes = { overlap: [], meaning: [] }
for (let at = 0; at < rounds; at++) {
  for (const name of ['overlap', 'meaning'] as const) {
    const micros = round(name)
    if (at >= warmUpRounds) times[name].push(micros)
  }
}
process.stdout.write(JSON.stringify(times))
