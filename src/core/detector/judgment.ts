import { parseJson } from '../text.ts'
import { judgmentLimits } from './contract/constants.ts'
import type { Memory } from './memory.ts'
import type { EarlierRuns } from './step.ts'

/**
 * A reading of the whole run since its ground was frozen.
 *
 * @example
 * ```ts
 * import { detect, type Judgment, newMemory } from 'plumbline/detector'
 *
 * const step = { goal: 'find the leak in the cache', progress: 'advancing', distance: 6 }
 * let memory = newMemory('meaning')
 * let judgment: Judgment | undefined
 * for (let at = 1; at <= 3; at++) {
 *   const detected = detect(memory, step)
 *   memory = detected.memory
 *   judgment = detected.verdict.judgment
 * }
 * console.log(judgment?.verdict) // → repeating
 * ```
 */
export interface Judgment {
  verdict: 'abandon' | 'wrong-problem' | 'repeating' | 'narrow'
  /** The measured facts. */
  because: string
  /** Their possible meaning. */
  counsel: string
}

/** Reads a stored judgment; null when it is damaged. */
export function readJudgment(text: string): Judgment | null {
  const judgment = parseJson(text) as Judgment | null | undefined
  return typeof judgment?.verdict === 'string' ? judgment : null
}

/** The input of the judgments: the run after this step, and the cycles found before it. */
interface Course {
  memory: Memory
  cyclesBefore: number
  earlier: EarlierRuns | null
  steps: number
  first: number
  now: number
  /** Total fall of the accepted distance; ≤ 0 if it has not fallen. */
  closed: number
}

const limits = judgmentLimits

/**
 * The first matching judgment, or null: it needs a ground and three steps. Steps, pace and counts start at
 * the ground, so that a redirect by the user resets them. Judgments on the distance alone need `isPaced`:
 * reported distances.
 */
export function judge(
  memory: Memory,
  cyclesBefore: number,
  earlier: EarlierRuns | null,
  isPaced: boolean,
): Judgment | null {
  if (memory.ground === null || memory.since < limits.minSteps) return null
  const first = memory.ground.distance
  const now = memory.accepted.recent.at(-1) ?? first
  const course = {
    memory,
    cyclesBefore,
    earlier,
    steps: memory.since,
    first,
    now,
    closed: first - now,
  }
  for (const judgment of isPaced ? judgments : unpacedJudgments) {
    const found = judgment(course)
    if (found !== null) return found
  }
  return null
}

/** The judgments in order; the first match is the judgment of the run. */
const judgments: readonly ((course: Course) => Judgment | null)[] = [
  abandonSlow,
  abandonTried,
  wrongProblemLeft,
  wrongProblemCycle,
  repeating,
  narrowFlat,
  narrowStalled,
]

const unpacedJudgments = [wrongProblemLeft, repeating]

function abandonSlow({ steps, closed, first, now }: Course): Judgment | null {
  if (steps < limits.abandonSteps || closed > 0) return null
  return {
    verdict: 'abandon',
    because: `${steps} steps in, the distance started at ${first} and stands at ${now}.`,
    counsel:
      'This approach has not come closer. What blocks it is worth stating to whoever set the errand.',
  }
}

function abandonTried({ earlier, closed }: Course): Judgment | null {
  if (earlier === null || earlier.runs < limits.abandonRuns || closed > 0) return null
  const best =
    earlier.lowest === null ? '' : `; the lowest distance any reached is ${earlier.lowest}`
  return {
    verdict: 'abandon',
    because: `${earlier.runs} earlier runs opened this goal${best}, and this one has not come closer.`,
    counsel:
      'The same approach has been tried before; a different one, or handing it back, is open.',
  }
}

function wrongProblemLeft({ memory, closed }: Course): Judgment | null {
  if (memory.goalDrifts < limits.goalDrifts || closed > 0) return null
  return {
    verdict: 'wrong-problem',
    because: `${memory.goalDrifts} steps left the ground, no user turn moved it, and the distance has not come down.`,
    counsel:
      'Either the errand has changed and a user turn should say so, or the original goal still stands.',
  }
}

function wrongProblemCycle({ memory, cyclesBefore }: Course): Judgment | null {
  const { highest, last } = memory.reported
  if (cyclesBefore === 0 || highest - last > 0) return null
  return {
    verdict: 'wrong-problem',
    because: `The goals have repeated in a cycle and the distance stands at ${last}, its highest.`,
    counsel:
      'Another return leads back to the same place; a different approach would break the cycle.',
  }
}

function repeating({ memory, closed }: Course): Judgment | null {
  if (memory.mostRepeated < limits.repeats || closed > 0) return null
  return {
    verdict: 'repeating',
    because: `The same goal, progress and distance have been reported ${memory.mostRepeated} times.`,
    counsel:
      'Nothing measured has changed between them; a change of approach, or what blocks it, is missing.',
  }
}

function narrowFlat({ memory, now }: Course): Judgment | null {
  const { flat } = memory.accepted
  if (now < limits.narrowDistance || flat < limits.narrowFlat) return null
  return {
    verdict: 'narrow',
    because: `The distance has not fallen for ${flat} steps and is still ${now}.`,
    counsel: 'A smaller piece of the goal that can be finished on its own would bring it down.',
  }
}

function narrowStalled({ memory, closed, now }: Course): Judgment | null {
  if (memory.stalls === 0 || closed > 0 || now < limits.stalledDistance) return null
  return {
    verdict: 'narrow',
    because: `The run has stalled ${memory.stalls === 1 ? 'once' : `${memory.stalls} times`} and the distance is still ${now}.`,
    counsel: 'There is motion without progress; one part that can be finished would show some.',
  }
}
