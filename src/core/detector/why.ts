import { two } from '../figures.ts'
import { progressValues, selfReportFloor, stallWindow } from './contract/constants.ts'
import type { Measured } from './contract/detector.ts'
import type { Memory } from './memory.ts'
import type { Reason, Situation } from './rules.ts'
import type { Reading } from './step.ts'

/** The measurements of a step, for its explanation. */
export interface Told {
  reading: Reading
  situation: Situation
  /** After the step. */
  memory: Memory
  /** Null if there was nothing to measure against. */
  measured: Measured | null
  /** Overlap of the goal with the ground, 0–1. */
  overlap: number
  /** Overlap of a declared parent with the ground, 0–1, or null if none was declared. */
  parentOverlap: number | null
  drifting: boolean
  /** Whether the step holds nothing but an acknowledgement of the user. */
  onlySays: boolean
  /** Whether the agent's acts are told, and no word of its goal. */
  isWordless: boolean
}

/** The numbers that decided the reason, as one factual sentence. */
export function explain(reason: Reason, told: Told): string {
  if (told.onlySays)
    return 'The user has spoken, and what was asked still stands; the agent has stated no goal of its own.'
  if (told.isWordless && sentences[reason] === undefined)
    return 'No word of the goal is told, so the step is not measured against the ground.'
  return (sentences[reason] ?? measurement)(told)
}

const sentences: Partial<Record<Reason, (told: Told) => string>> = {
  ungrammatical: ({ reading: { goal, progress } }) =>
    goal === ''
      ? 'The goal is blank.'
      : `The progress "${progress.slice(0, 40).toWellFormed()}" is not one of ${progressValues.join(', ')}.`,
  grounded: ({ reading }) =>
    reading.words.length === 0
      ? 'This goal is the ground, but it has no word that later goals could be compared with.'
      : 'This goal is the ground; there was nothing to measure it against.',
  'self-report:stuck': selfReport,
  'self-report:circling': selfReport,
  stalled: ({ reading: { acts }, memory: { accepted, pace } }) =>
    acts?.gives === 'stalled'
      ? acts.says
      : pace !== undefined
        ? `The distance has not fallen below ${pace.lowest} for ${pace.count - pace.lowestAt} reports.`
        : `None of the newest ${stallWindow} distances is below the one before them: ${accepted.recent.join(', ')}.`,
  oscillating: ({ reading: { acts }, memory: { period } }) =>
    acts?.gives === 'oscillating'
      ? acts.says
      : `The newest goals repeat every ${period ?? 0} steps.`,
}

function measurement({ measured, reading: { acts } }: Told): string {
  const told = measured?.why ?? ''
  return acts?.isUnexplained === true ? `${told} ${acts.says}`.trim() : told
}

function selfReport({ reading: { progress }, situation: { phi, drifted } }: Told): string {
  const before = drifted ? 'after a step with a sign of drift' : 'with no sign of drift just before'
  return `The step reports ${progress} ${before}, and phi ${two(phi)} is above ${selfReportFloor}.`
}
