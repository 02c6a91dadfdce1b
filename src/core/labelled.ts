import { distanceRange, progressValues } from './detector/constants.ts'
import { detect } from './detector/detect.ts'
import type { DetectorName } from './detector/detectors.ts'
import { type Memory, newMemory } from './detector/memory.ts'
import { readDistance } from './distance.ts'

/** What a person said of a goal: still the ground's errand, or another one. */
export type Label = 'same' | 'drift'

/** One labelled goal of a run. */
export interface LabelledStep {
  goal: string
  label: Label
  /** As the agent reported it; `advancing` where the data does not say. */
  progress: string
  /** 0–10, or null where the data does not say. */
  distance: number | null
}

/** One line of labelled data. A pair of ground and goal is a run of one step. */
export interface Labelled {
  kind: 'pair' | 'run'
  ground: string
  steps: LabelledStep[]
  /** Where the data comes from, or null. */
  source: string | null
}

/** What a detector said of one item: a pair, or a step of a run. */
export interface Prediction {
  drifting: boolean
  uncertain: boolean
  /** 0–1, rounded to two decimals, as in the verdict. */
  confidence: number
  /** 0–1, rounded to two decimals, as in the verdict. */
  phi: number
  /** Evidence of drift for ranking, unrounded. */
  score: number
}

/** An item with what it is and what the detector said of it. */
export interface Judged extends Prediction {
  label: Label
}

/** One line of labelled data as it was parsed from JSON, or what is wrong with it, field first. */
export function readLabelled(line: unknown): Labelled | { fault: string } {
  if (!isRecord(line)) return { fault: 'must be a JSON object' }
  const { ground, steps, source } = line
  if (typeof ground !== 'string' || ground.trim() === '') {
    return { fault: 'ground must be a text that is not blank' }
  }
  if (source !== undefined && source !== null && typeof source !== 'string') {
    return { fault: 'source must be a text' }
  }
  if (steps === undefined) return readPair(line, ground, source ?? null)
  if (!Array.isArray(steps) || steps.length === 0) {
    return { fault: 'steps must be a list of at least one step' }
  }
  const read: LabelledStep[] = []
  for (const [place, step] of steps.entries()) {
    const result = readStep(step, ` of step ${place + 1}`)
    if ('fault' in result) return result
    read.push(result)
  }
  return { kind: 'run', ground, steps: read, source: source ?? null }
}

function readPair(
  line: Record<string, unknown>,
  ground: string,
  source: string | null,
): Labelled | { fault: string } {
  const { goal, label } = line
  if (goal === undefined) return { fault: 'needs a goal (a pair) or steps (a run)' }
  const step = readStep({ goal, label }, '')
  return 'fault' in step ? step : { kind: 'pair', ground, steps: [step], source }
}

function readStep(step: unknown, where: string): LabelledStep | { fault: string } {
  const { goal, label, progress, distance } = isRecord(step) ? step : {}
  if (typeof goal !== 'string') return { fault: `goal${where} must be a text` }
  if (label !== 'same' && label !== 'drift') {
    return { fault: `label${where} must be "same" or "drift"` }
  }
  return {
    goal,
    label,
    progress: typeof progress === 'string' ? progress : progressValues[0],
    distance: distance === undefined || distance === null ? null : readDistance(distance),
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * What `detector` says of every step, in order. The ground is given, so the first step's goal is
 * measured against it like any other. Distances nobody reported cannot make a run stall: a step
 * without one breaks the row of distances that a stall needs.
 */
export function predict(detector: DetectorName, { ground, steps }: Labelled): Judged[] {
  let memory = newMemory(detector)
  return steps.map(({ goal, label, progress, distance }) => {
    const read = { goal, progress, distance: distance ?? distanceRange.fallback, ground }
    const detected = detect(distance === null ? withoutDistances(memory) : memory, read)
    memory = distance === null ? withoutDistances(detected.memory) : detected.memory
    const { drifting, uncertain, confidence, phi } = detected.verdict
    return { label, drifting, uncertain, confidence, phi, score: detected.score }
  })
}

function withoutDistances(memory: Memory): Memory {
  return { ...memory, accepted: { ...memory.accepted, recent: [] } }
}
