import type { PairRead } from '../contract/reads.ts'

/** A goal that an encoder has read beside its errand, as the later steps of the run compare with it. */
export interface ReadStep extends PairRead {
  goal: string
  /** Log-odds that it serves the errand and follows the goals before it; absent if it was not read so. */
  follows?: number
  /** Its mean and its highest likeness to the goals before it, −1 to 1; null if none was known. */
  mean: number | null
  most: number | null
}

/** The newest goals that a run keeps. */
export const mostReadSteps = 8

/** Of the newest goals, those that a later goal is read beside: so many, and so far back. */
const followed = { most: 4, newest: 6 }

/** The newest goals that seem to serve the errand: a later goal is read beside them. */
export function goalsToFollow(before: readonly ReadStep[]): string[] {
  const serving = before.slice(-followed.newest).filter(({ serves }) => serves > 0)
  return serving.slice(-followed.most).map(({ goal }) => goal)
}

/** The measurements of a step among those before it, in the order of the features. */
export const sequenceFeatures = [
  'serves',
  'alike',
  'words',
  'mean serves before',
  'mean alike before',
  'serves of the last',
  'serves of the one before it',
  'alike of the last',
  'lowest serves before',
  'middle serves before',
  'likeness to the last',
  'highest likeness to the last three',
  'highest likeness',
  'mean likeness',
  'highest likeness to all but the last two',
  'highest likeness to the first three',
  'mean of the mean likenesses before',
  'mean of the highest likenesses before',
  'mean likeness of the last',
  'mean serves of the newest two',
  'mean serves of the newest three',
  'mean serves before the newest two',
  'mean serves before the newest three',
  'mean alike of the newest two',
  'mean alike of the newest three',
  'mean alike before the newest two',
  'mean alike before the newest three',
  'mean of the mean likenesses of the newest two',
  'mean of the mean likenesses of the newest three',
  'mean of the mean likenesses before the newest two',
  'mean of the mean likenesses before the newest three',
  'follows',
  'follows of the last',
  'mean follows before',
  'mean follows of the newest two',
  'mean follows of the newest three',
  'mean follows before the newest two',
  'mean follows before the newest three',
] as const

/**
 * Measures a step among the steps before it; NaN stands for what is not known. `words` is the score of the words
 * or null, `likenesses` are the likenesses to the goals of `before`, and `follows` is what the goal scores beside them;
 * undefined stands for what has not been read.
 */
export function measureSequence(
  before: readonly ReadStep[],
  read: PairRead,
  words: number | null,
  likenesses: readonly (number | undefined)[],
  follows: number | undefined,
): Float64Array {
  const last = before.at(-1)
  const serves = before.map((step) => step.serves)
  const alike = before.map((step) => step.alike)
  // A first step follows none, and counts as it serves.
  const ofFollowing = before.map((step) => step.follows ?? step.serves)
  const known = (part: readonly (number | undefined)[]) => part.filter((each) => each !== undefined)
  const ofSteps = (pick: (step: ReadStep) => number | null) =>
    before.flatMap((step) => pick(step) ?? [])
  const likeness = meanOf(known(likenesses))
  const mean = Number.isNaN(likeness) ? null : likeness
  return Float64Array.of(
    read.serves,
    read.alike,
    words ?? Number.NaN,
    meanOf(serves),
    meanOf(alike),
    last?.serves ?? Number.NaN,
    before.at(-2)?.serves ?? Number.NaN,
    last?.alike ?? Number.NaN,
    -highestOf(serves.map((each) => -each)),
    middleOf(serves),
    likenesses.at(-1) ?? Number.NaN,
    highestOf(known(likenesses.slice(-3))),
    highestOf(known(likenesses)),
    mean ?? Number.NaN,
    highestOf(known(likenesses.slice(0, -2))),
    highestOf(known(likenesses.slice(0, 3))),
    meanOf(ofSteps(({ mean }) => mean)),
    meanOf(ofSteps(({ most }) => most)),
    last?.mean ?? Number.NaN,
    ...recentAndEarlier([...serves, read.serves]),
    ...recentAndEarlier([...alike, read.alike]),
    ...recentAndEarlier([...before.map(({ mean }) => mean), mean]),
    follows ?? Number.NaN,
    last?.follows ?? Number.NaN,
    meanOf(ofFollowing),
    ...recentAndEarlier([...ofFollowing, follows ?? read.serves]),
  )
}

/** The means of the newest two and three values, and of all before them; NaN if there are too few. */
function recentAndEarlier(given: readonly (number | null)[]): number[] {
  const values = given.filter((each) => each !== null)
  const newest = (count: number) =>
    values.length < count ? Number.NaN : meanOf(values.slice(-count))
  return [newest(2), newest(3), meanOf(values.slice(0, -2)), meanOf(values.slice(0, -3))]
}

/** Adds a step to those that the run keeps. */
export function withReadStep(
  before: readonly ReadStep[],
  goal: string,
  { serves, alike }: PairRead,
  measured: Float64Array,
): ReadStep[] {
  const feature = (name: (typeof sequenceFeatures)[number]) => {
    const value = measured[sequenceFeatures.indexOf(name)] as number
    return Number.isNaN(value) ? null : rounded(value)
  }
  const follows = feature('follows')
  const step: ReadStep = {
    goal,
    serves,
    alike,
    ...(follows === null ? {} : { follows }),
    mean: feature('mean likeness'),
    most: feature('highest likeness'),
  }
  return [...before, step].slice(-mostReadSteps)
}

function meanOf(values: readonly number[]): number {
  let sum = 0
  for (const value of values) sum += value
  return values.length === 0 ? Number.NaN : rounded(sum / values.length)
}

function highestOf(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : Math.max(...values)
}

function middleOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

// So that stored numbers stay short.
function rounded(value: number): number {
  return Math.round(value * 1024) / 1024
}
