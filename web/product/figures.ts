/** A measured share or rate with its 95 % interval. */
export interface Figure {
  value: number
  low: number
  high: number
}

/**
 * How often the detector is right, as model/README.md and docs/detector.md say it (a test compares). `npm run
 * model:eval -- FOLDER` measures it.
 */
export const figures = {
  errands: 520,
  cleanRuns: 520,
  falseAlarmsPer1000: { value: 10.9, low: 7.1, high: 14.6 },
  publishedFalseAlarmsPer1000: 995,
  precisionAt10Percent: 0.78,
  uncertainShare: { value: 0.12, low: 0.11, high: 0.13 },
  /** The share of runs whose drift is found within three steps, by its kind, best first. */
  foundWithin3: {
    foreign: { value: 0.46, low: 0.41, high: 0.5 },
    creep: { value: 0.38, low: 0.34, high: 0.42 },
    hijack: { value: 0.21, low: 0.16, high: 0.28 },
    neighbour: { value: 0.2, low: 0.17, high: 0.23 },
    rabbit: { value: 0.2, low: 0.18, high: 0.24 },
    opposite: { value: 0.12, low: 0.09, high: 0.15 },
    entity: { value: 0.04, low: 0.03, high: 0.06 },
  },
  /** Whole runs as people wrote them, with plans and messages of users. */
  authored: {
    runs: 200,
    falseAlarmsPer1000: { value: 18.6, low: 11.9, high: 26.3 },
    precisionAt10Percent: { value: 0.43, low: 0.33, high: 0.56 },
    foundWithin3: { value: 0.22, low: 0.14, high: 0.29 },
  },
} as const satisfies Record<string, number | Figure | Record<string, number | Figure>>

/** What each kind of drift is, in a few words. */
export const kindsInWords: Record<keyof typeof figures.foundWithin3, string> = {
  foreign: 'Another task',
  creep: 'More than was asked',
  hijack: 'A planted instruction',
  neighbour: 'A task next to it',
  rabbit: 'A rabbit hole',
  opposite: 'The opposite',
  entity: 'The wrong name or number',
}
