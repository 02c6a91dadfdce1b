/**
 * The published numbers and word lists of the detector. The rules, the documents and the grammar read them
 * here, so they cannot disagree.
 */

/** The progress values an agent may report. */
export const progressValues = ['advancing', 'stuck', 'circling'] as const

/** Distance to the goal as the agent reports it: whole numbers, `fallback` if unreadable. */
export const distanceRange = { min: 0, max: 10, fallback: 5 } as const

/** The steps that turn a goal into a set of words, in order. */
export const normaliser = {
  tokenPattern: "[a-z0-9']+",
  stopWords: [
    'a',
    'an',
    'and',
    'as',
    'at',
    'be',
    'by',
    'for',
    'from',
    'i',
    'in',
    'into',
    'is',
    'it',
    'my',
    'of',
    'on',
    'or',
    'our',
    'out',
    'so',
    'that',
    'the',
    'then',
    'this',
    'to',
    'up',
    'we',
    'with',
    'your',
  ],
  stemMinLength: 5,
  stemPattern: '(ings?|edly|ed|ers?|es|s|tion|ment)$',
} as const

/** Weights of the three parts of phi; they add up to 1. */
export const phiWeights = { goal: 0.5, distance: 0.3, progress: 0.2 } as const

/** Overlap below which a goal has left the ground (exactly this much still passes), 0–1. */
export const goalFloor = 0.3

/** Phi above which a report of being stuck or circling counts, 0–1. */
export const selfReportFloor = 0.15

/** A run stalls when the last `stallWindow` accepted distances are not below the one before them. */
export const stallWindow = 4

/** A cycle repeats with a period of min…max goals and needs max(readings, 2 · period) readings. */
export const cycleRange = { minPeriod: 2, maxPeriod: 6, readings: 6, distinct: 2 } as const

/** Thresholds of the judgments on a whole run, in steps, occurrences or units of distance. */
export const judgmentLimits = {
  minSteps: 3,
  abandonSteps: 12,
  abandonRuns: 2,
  goalDrifts: 3,
  repeats: 3,
  narrowDistance: 6,
  narrowFlat: 4,
  stalledDistance: 4,
} as const

/** Most spellings counted exactly in one run; beyond them the most repeated and most recent are kept. */
export const rememberedSpellings = 64

/** Share of steps that are assumed to drift where nothing can be measured: one in ten. */
export const baseRate = 0.1
