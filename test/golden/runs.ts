import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { detect, type Verdict } from '../../src/core/detector/detect.ts'
import { newMemory } from '../../src/core/detector/memory.ts'
import type { Step } from '../../src/core/detector/step.ts'

/** What a step can be told: still on the errand, drifting, or uncertain. */
export type Answer = 'errand' | 'drift' | 'uncertain'

/** One step of a run as an agent reports it, with what should be said of it. */
export interface GoldenStep {
  goal: string
  distance: number
  ground?: string
  parent_goal?: string
  plan?: string[]
  user_turn?: true
  /** The answers that are right: one, or two with ` or ` between them. */
  say: string
  /** What is said instead, as long as the detector is wrong about it. */
  wrong?: Answer
}

/** A run written by hand from how agents work, line by line as its file has it. */
export interface GoldenRun {
  file: string
  /** The line of its heading, from 0. */
  line: number
  run: string
  language: string
  about: string
  steps: GoldenStep[]
}

const folder = import.meta.dirname

/** Every run of this folder, in the order of the files. */
export function readRuns(): GoldenRun[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap(readFile)
}

function readFile(name: string): GoldenRun[] {
  const file = join(folder, name)
  const runs: GoldenRun[] = []
  for (const [line, text] of readFileSync(file, 'utf8').trimEnd().split('\n').entries()) {
    const read = JSON.parse(text)
    if ('run' in read) runs.push({ ...read, file, line, steps: [] })
    else runs.at(-1)?.steps.push(read)
  }
  return runs
}

/** The verdicts of `meaning` on a run. */
export function replay({ steps }: GoldenRun): Verdict[] {
  let memory = newMemory('meaning')
  return steps.map(({ goal, distance, ground, parent_goal, plan, user_turn }) => {
    const step: Step = {
      goal,
      distance,
      progress: 'advancing',
      ...(ground === undefined ? {} : { ground }),
      ...(parent_goal === undefined ? {} : { parentGoal: parent_goal }),
      ...(plan === undefined ? {} : { plan }),
      ...(user_turn === undefined ? {} : { userTurn: user_turn }),
    }
    const detected = detect(memory, step)
    memory = detected.memory
    return detected.verdict
  })
}

/** What a verdict says. */
export function answerOf({ drifting, uncertain }: Verdict): Answer {
  if (drifting) return 'drift'
  return uncertain ? 'uncertain' : 'errand'
}

/** Whether it should be said of the step. */
export function isRight({ say }: GoldenStep, answer: Answer): boolean {
  return say.split(' or ').includes(answer)
}
