import type { DetectorName } from '../src/core/detector/contract/detector.ts'
// Times steps by either detector, in turns, in a process of its own: what other benches leave behind in
// the heap and in compiled code is not the detector's. Prints microseconds a step, a number a round.
//   node bench/steps.ts

import { detect } from '../src/core/detector/detect.ts'
import { newMemory } from '../src/core/detector/memory.ts'
import { englishGoal } from './goals.ts'

/** Microseconds a step of each round, without the rounds that warm it up. */
export type StepTimes = Record<DetectorName, number[]>

const stepsARound = 500
const rounds = 40
const warmUpRounds = 10

let next = 0

/** Every goal is new to the process, so that no text is known from before. */
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
