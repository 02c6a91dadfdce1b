import { detect, type Verdict } from '../../src/core/detector/detect.ts'
import { newMemory } from '../../src/core/detector/memory.ts'
import type { Step } from '../../src/core/detector/step.ts'

/** A step of a test: its goal, or a goal with what is not usual about it. */
export type Reported = string | (Partial<Step> & { goal: string })

/** The step, advancing at distance 5 unless it says otherwise. */
export function stepOf(reported: Reported): Step {
  const step = typeof reported === 'string' ? { goal: reported } : reported
  return { progress: 'advancing', distance: 5, ...step }
}

/** The verdicts of the detector `overlap` on one run. */
export function replay(reported: readonly Reported[]): Verdict[] {
  let memory = newMemory('overlap')
  return reported.map((each) => {
    const detected = detect(memory, stepOf(each))
    memory = detected.memory
    return detected.verdict
  })
}

/** The verdict on the last step of a run. */
export function lastOf(reported: readonly Reported[]): Verdict {
  return replay(reported).at(-1)!
}

/** The reason of every step of a run. */
export function reasonsOf(reported: readonly Reported[]): string[] {
  return replay(reported).map(({ reason }) => reason)
}
