import type { Adaptation } from '../detector/contract/adaptation.ts'
import { distanceRange, progressValues } from '../detector/contract/constants.ts'
import type { DetectorName } from '../detector/contract/detector.ts'
import type { Reads } from '../detector/contract/reads.ts'
import { detect } from '../detector/detect.ts'
import { readDistance } from '../detector/distance.ts'
import { type Memory, newMemory } from '../detector/memory.ts'
import type { Step } from '../detector/step.ts'
import { maxPlanLength } from '../runs/step-request.ts'

/** The label of a goal: still the ground's errand, or another one. */
export type Label = 'same' | 'drift'

/** One labelled goal of a run. */
export interface LabelledStep {
  goal: string
  label: Label
  /** The reported progress; `advancing` if the data has none. */
  progress: string
  /** 0–10, or null if the data has none. */
  distance: number | null
}

/** One line of labelled data. A pair of ground and goal is a run of one step. */
export interface Labelled {
  kind: 'pair' | 'run'
  ground: string
  /** Sub-goals declared with the first step. */
  plan?: string[]
  steps: LabelledStep[]
  /** The source of the data, or null. */
  source: string | null
}

/** The detector's answer for one item: a pair, or a step of a run. */
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

/** An item with its label and the detector's answer. */
export interface Judged extends Prediction {
  label: Label
}

/** The judged items of one line, in order. */
export interface JudgedRun {
  source: string | null
  steps: readonly Judged[]
}

/** Parses one line of labelled data; returns an error that begins with the field. */
export function readLabelled(line: unknown): Labelled | { fault: string } {
  if (!isRecord(line)) return { fault: 'must be a JSON object' }
  const { ground, steps, source, plan } = line
  if (typeof ground !== 'string' || ground.trim() === '') {
    return { fault: 'ground must be a text that is not blank' }
  }
  if (source !== undefined && source !== null && typeof source !== 'string') {
    return { fault: 'source must be a text' }
  }
  if (!isPlan(plan)) return { fault: 'plan must be a list of texts' }
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
  const run: Labelled = { kind: 'run', ground, steps: read, source: source ?? null }
  return plan ? { ...run, plan } : run
}

function isPlan(plan: unknown): plan is string[] | null | undefined {
  if (plan === undefined || plan === null) return true
  return Array.isArray(plan) && plan.every((item) => typeof item === 'string')
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

/** The part of a run's own on-errand steps that becomes its plan: every one, or every second. */
export const declaredPlans = ['all', 'half'] as const

export type DeclaredPlan = (typeof declaredPlans)[number]

/**
 * Adds a plan to the first step: the run's own steps labelled `same`, word for word. An existing plan
 * stays; a run without such steps declares none.
 */
export function withDeclaredPlan(labelled: Labelled, declared: DeclaredPlan): Labelled {
  if (labelled.kind === 'pair' || labelled.plan !== undefined) return labelled
  const own = labelled.steps.filter(({ label }) => label === 'same').map(({ goal }) => goal)
  const plan = declared === 'all' ? own : own.filter((_, place) => place % 2 === 0)
  return { ...labelled, plan: plan.slice(0, maxPlanLength) }
}

/**
 * The detector's answer for every step, in order. The ground is given, so the first goal is measured too.
 * A step without a distance interrupts the series that a stall needs, so unreported distances cause no
 * stall.
 */
export function predict(
  detector: DetectorName,
  { ground, plan, steps }: Labelled,
  adaptation: Adaptation | null = null,
  reads: Reads | null = null,
): Judged[] {
  let memory = newMemory(detector)
  return steps.map(({ goal, label, progress, distance }, place) => {
    const read: Step = { goal, progress, distance: distance ?? distanceRange.fallback, ground }
    if (distance === null) read.distanceReported = false
    if (place === 0 && plan !== undefined) read.plan = plan
    if (adaptation !== null) read.adaptation = adaptation
    if (reads !== null) read.reads = reads
    const detected = detect(distance === null ? withoutDistances(memory) : memory, read)
    memory = distance === null ? withoutDistances(detected.memory) : detected.memory
    const { drifting, uncertain, confidence, phi } = detected.verdict
    return { label, drifting, uncertain, confidence, phi, score: detected.score }
  })
}

function withoutDistances(memory: Memory): Memory {
  return { ...memory, accepted: { ...memory.accepted, recent: [] } }
}
